//! Who works in a folder, by what `/proc` says: whose working folder it is, and who has a file in it open.
//!
//! Other users' processes do not say where they work: they are not seen. Must not know: what follows from it.

use std::collections::BTreeSet;
use std::fs;
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::super::processes::proc_files::{Stat, pids};
use super::paths::{is_in, shown};
use crate::domain::worktree::Occupant;

/// How far up it is looked whom a process descends from.
const MOST_ABOVE: usize = 256;

/// For each folder a process whose working folder lies in it; yoi's own do not count.
pub(super) fn working_in<'a>(folders: impl Iterator<Item = &'a Path>) -> Vec<Option<u32>> {
    let folders: Vec<_> = folders.map(canonical).collect();
    let mut found = vec![None; folders.len()];
    if folders.is_empty() {
        return found;
    }
    for pid in others() {
        let Some(works) = link(pid, "cwd") else { continue };
        let inside = folders.iter().position(|folder| is_in(&works, folder));
        if let Some(at) = inside
            && found[at].is_none()
            && !is_yois(pid)
        {
            found[at] = Some(pid);
        }
    }
    found
}

/// Every process whose working folder lies in this one: not yoi's own, not `but`, and nobody whom one of those descends from.
pub(super) fn others_in(folder: &Path, but: &[u32]) -> Vec<Occupant> {
    let folder = canonical(folder);
    let own: BTreeSet<u32> = but.iter().flat_map(|pid| line_of(*pid)).collect();
    let inside = others().filter(|pid| link(*pid, "cwd").is_some_and(|works| is_in(&works, &folder)));
    let strange = inside.filter(|pid| !own.contains(pid) && !is_yois(*pid));
    strange.map(|pid| Occupant { pid, program: program(pid), open: None }).collect()
}

/// A process, and whom it descends from.
fn line_of(pid: u32) -> impl Iterator<Item = u32> {
    let parent = |pid: &u32| Stat::of(*pid).ok().map(|stat| stat.parent).filter(|parent| *parent > 0);
    iter::successors(Some(pid), parent).take(MOST_ABOVE)
}

/// Every process that works in the folder, or has a file in it open; this one does not count.
pub(super) fn all_in(folder: &Path) -> Vec<Occupant> {
    let folder = canonical(folder);
    let occupant = |pid: u32| {
        let works = ["cwd", "root"].iter().any(|what| link(pid, what).is_some_and(|path| is_in(&path, &folder)));
        let open = if works { None } else { Some(open_file(pid, &folder)?) };
        let occupant = Occupant { pid, program: program(pid), open };
        // A copy of this process that has become another program since has nothing of this one's open any more.
        let still_there = works || open_file(pid, &folder).is_some();
        (still_there && !is_of_this(&occupant)).then_some(occupant)
    };
    others().filter_map(occupant).collect()
}

fn open_file(pid: u32, folder: &Path) -> Option<String> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let paths = open.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    let mut inside = paths.filter(|path| is_in(path.as_os_str().as_bytes(), folder));
    inside.next().map(|path| path.display().to_string())
}

fn others() -> impl Iterator<Item = u32> {
    let own = std::process::id();
    pids().filter(move |pid| *pid != own)
}

/// Whether this process started it to ask git something, or is just about to: until it becomes that program it has all open
/// that this one has.
fn is_of_this(occupant: &Occupant) -> bool {
    let of = |pid: u32, what: &str| fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
    let status = String::from_utf8_lossy(&of(occupant.pid, "status")).into_owned();
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).map(str::trim);
    let own = std::process::id();
    parent == Some(own.to_string().as_str())
        && (occupant.program == "git" || of(occupant.pid, "cmdline") == of(own, "cmdline"))
}

/// Whether it is a yoi, daemon or command, or a git that one asks something: nobody's work.
fn is_yois(pid: u32) -> bool {
    is_yoi(pid) || (program(pid) == "git" && Stat::of(pid).is_ok_and(|stat| is_yoi(stat.parent)))
}

/// By its program's file, which another build may have replaced since.
fn is_yoi(pid: u32) -> bool {
    let file = |pid: &str| fs::read_link(format!("/proc/{pid}/exe")).ok();
    let own = file("self");
    let Some(its) = file(&pid.to_string()) else { return false };
    let its_name = its.as_os_str().as_bytes();
    let its_name = its_name.strip_suffix(b" (deleted)").unwrap_or(its_name);
    own.is_some_and(|own| {
        let own = own.as_os_str().as_bytes();
        its_name == own.strip_suffix(b" (deleted)").unwrap_or(own)
    }) || its_name.ends_with(b"/yoi")
}

fn canonical(folder: &Path) -> std::path::PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

fn link(pid: u32, what: &str) -> Option<Vec<u8>> {
    fs::read_link(format!("/proc/{pid}/{what}")).ok().map(|path| path.as_os_str().as_bytes().to_vec())
}

fn program(pid: u32) -> String {
    fs::read(format!("/proc/{pid}/comm")).map_or_else(|_| "?".into(), |name| shown(name.trim_ascii_end()))
}
