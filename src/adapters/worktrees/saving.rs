//! Saves a worktree as it is, in one commit whose parents are what it was made of, as a stash is: HEAD, the index, and a commit
//! that holds what git keeps for the worktree (the index file itself, a merge or a rebase under way) and every mode. Further
//! parents are the commits of what was under way. The bytes are the files' own: no filter, no attribute, no line ending
//! changes them.
//!
//! Must not know: when a worktree is saved.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use chrono::Utc;
use rustix::fs::{Mode, OFlags};

use super::super::{fault, git_program};
use super::asking::{ask, text};
use super::manifest::{self, Manifest};
use super::paths::{bytes_of, quoted, shown};
use super::printing::{Entry, Kind, walk};
use super::trouble::failed;
use super::{GitWorktrees, LONG, probing};
use crate::domain::worktree::Tree;
use crate::ports::worktrees::{Salvage, WorktreesError};

/// What of a worktree's own git folder is not saved: where it lies, who locked it, others' locks, the repositories of
/// submodules (they are pushed), and the tables of a reftable, which git makes anew.
const NOT_SAVED: [&str; 5] = ["gitdir", "commondir", "locked", "modules", "reftable"];

/// Files there that name commits.
const HEADS: [&str; 12] = [
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "ORIG_HEAD",
    "MERGE_AUTOSTASH",
    "rebase-merge/orig-head",
    "rebase-merge/onto",
    "rebase-merge/stopped-sha",
    "rebase-merge/autostash",
    "rebase-apply/orig-head",
    "rebase-apply/autostash",
];

/// What a commit that saves a worktree is made from.
struct Cargo {
    folder: PathBuf,
    reference: String,
    message: String,
    head: Option<String>,
    /// Further parents.
    heads: Vec<String>,
    entries: Vec<Entry>,
    /// Submodules: path and commit.
    links: Vec<(Vec<u8>, String)>,
    /// Lines of the index's difference to HEAD, as the stream takes them.
    index: Vec<u8>,
    /// The same of what is unmerged.
    stages: Vec<u8>,
    manifest: Vec<u8>,
    admin: PathBuf,
    kept: Vec<PathBuf>,
}

impl GitWorktrees {
    /// Saves it under this ref, and reads all of it back.
    pub(super) fn salvage(&self, tree: &Tree, reference: &str) -> Result<Salvage, WorktreesError> {
        let cargo = self.cargo(tree, reference)?;
        let arguments =
            ["-c", "core.protectNTFS=false", "-c", "core.protectHFS=false", "fast-import", "--quiet", "--done"];
        let arguments = arguments.map(OsStr::new);
        git_program::stream(
            &self.workspace,
            &arguments,
            LONG,
            |out| cargo.write(out),
            |said| io::copy(said, &mut io::sink()),
        )?;
        let commit = self.commit_of(reference)?.ok_or_else(|| failed(format!("{reference} was not made")))?;
        let salvage = Salvage { reference: reference.into(), commit };
        self.verify(&salvage, &tree.path, &cargo.entries)?;
        Ok(salvage)
    }

    fn cargo(&self, tree: &Tree, reference: &str) -> Result<Cargo, WorktreesError> {
        let caches = probing::caches(&tree.path)?;
        let entries: Result<Vec<_>, _> = walk(&tree.path, &caches).collect();
        let entries = entries.map_err(failed)?;
        if let Some(odd) = entries.iter().find(|entry| entry.kind == Kind::Odd) {
            return Err(failed(format!("{}: no commit can hold it", odd.path.display())));
        }
        let links = links(&tree.path, &entries)?;
        let admin =
            self.admin(&tree.path).ok_or_else(|| failed(format!("{}: git has no entry", tree.path.display())))?;
        let admin = admin.folder;
        let manifest = Manifest::of(tree, &entries).json()?;
        let (index, stages) = index(&tree.path, tree.head.as_deref())?;
        Ok(Cargo {
            folder: tree.path.clone(),
            reference: reference.into(),
            message: format!("What the worktree of {} held\n\nFrom {}\n", tree.name, tree.path.display()),
            head: tree.head.clone(),
            heads: self.heads(tree, &admin)?,
            entries,
            links,
            index,
            stages,
            manifest,
            kept: own_files(&admin),
            admin,
        })
    }

    /// The commits of what is under way, and of refs that are this worktree's alone.
    fn heads(&self, tree: &Tree, admin: &Path) -> Result<Vec<String>, WorktreesError> {
        let own = ask(
            &tree.path,
            &["for-each-ref", "--format=%(objectname)", "refs/worktree", "refs/bisect", "refs/rewritten"],
        )?;
        let mut named: Vec<String> = text(&own).lines().map(str::to_owned).collect();
        for file in HEADS {
            named.extend(
                fs::read_to_string(admin.join(file)).iter().flat_map(|t| t.split_whitespace()).map(str::to_owned),
            );
        }
        let mut heads = Vec::new();
        for name in named.into_iter().filter(|name| name.len() >= 40 && name.bytes().all(|b| b.is_ascii_hexdigit())) {
            let commit = self.commit_of(&name)?;
            heads.extend(commit.filter(|commit| tree.head.as_ref() != Some(commit) && !heads.contains(commit)));
        }
        Ok(heads)
    }
}

/// The commit that each submodule is on.
fn links(folder: &Path, entries: &[Entry]) -> Result<Vec<(Vec<u8>, String)>, WorktreesError> {
    let inner = entries.iter().filter(|entry| entry.kind == Kind::Repository);
    let link = |entry: &Entry| {
        let commit = text(&ask(&folder.join(&entry.path), &["rev-parse", "HEAD"])?);
        Ok((bytes_of(&entry.path).to_vec(), commit))
    };
    inner.map(link).collect()
}

/// How the index differs from HEAD (or from nothing), and what in it is unmerged, as lines of the stream.
fn index(folder: &Path, head: Option<&str>) -> Result<(Vec<u8>, Vec<u8>), WorktreesError> {
    let (mut lines, mut stages) = (Vec::new(), Vec::new());
    if head.is_some() {
        let said = ask(folder, &["diff-index", "--cached", "--raw", "--no-renames", "--full-index", "-z", "HEAD"])?;
        let mut fields = said.split(|byte| *byte == 0);
        while let (Some(what), Some(path)) = (fields.next().filter(|what| what.starts_with(b":")), fields.next()) {
            let what = text(what);
            let words: Vec<_> = what.split(' ').collect();
            match words.as_slice() {
                [_, mode, _, object, state] if matches!(*state, "A" | "M" | "T") => {
                    lines.extend(modify(mode, object, path));
                }
                [.., "D"] => lines.extend([b"D ", quoted(path).as_slice(), b"\n"].concat()),
                _ => {}
            }
        }
    }
    for entry in ask(folder, &["ls-files", "--stage", "-z"])?.split(|byte| *byte == 0) {
        let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
        let (what, path) = (text(&entry[..tab]), &entry[tab + 1..]);
        match what.split(' ').collect::<Vec<_>>().as_slice() {
            [mode, object, "0"] if head.is_none() => lines.extend(modify(mode, object, path)),
            [mode, object, stage] if *stage != "0" => {
                stages.extend(modify(mode, object, &[format!("stages/{stage}/").as_bytes(), path].concat()));
            }
            _ => {}
        }
    }
    Ok((lines, stages))
}

fn modify(mode: &str, object: &str, path: &[u8]) -> Vec<u8> {
    [format!("M {mode} {object} ").as_bytes(), &quoted(path), b"\n"].concat()
}

/// What is saved of a worktree's own git folder, relative to it.
fn own_files(admin: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(admin).min_depth(1).sort_by_file_name().into_iter();
    let saved = walk.filter_entry(|entry| {
        let name = entry.file_name().to_string_lossy();
        let left_out = entry.depth() == 1 && NOT_SAVED.contains(&name.as_ref());
        !left_out && Path::new(entry.file_name()).extension().is_none_or(|end| end != "lock")
    });
    let files = saved.flatten().filter(|entry| entry.file_type().is_file());
    files.filter_map(|entry| entry.path().strip_prefix(admin).ok().map(Path::to_owned)).collect()
}

impl Cargo {
    /// The whole stream: index, what git keeps for the worktree, and the worktree itself on top of them.
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let head = self.head.as_ref().map(|head| format!("from {head}\n")).unwrap_or_default();
        self.begin(out, 1, "The index")?;
        out.write_all(head.as_bytes())?;
        out.write_all(&self.index)?;
        writeln!(out, "\nreset {}\n", self.reference)?;
        self.begin(out, 2, "What git kept for the worktree, and every mode")?;
        out.write_all(&self.stages)?;
        inline(out, "100644", manifest::FILE.as_bytes(), self.manifest.len() as u64, &mut self.manifest.as_slice())?;
        for file in &self.kept {
            regular(out, "100644", &self.admin.join(file), &[b"admin/", bytes_of(file)].concat())?;
        }
        writeln!(out, "\nreset {}\n", self.reference)?;
        self.begin(out, 3, &self.message)?;
        out.write_all(if head.is_empty() { b"from :1\n" } else { head.as_bytes() })?;
        out.write_all(if head.is_empty() { b"merge :2\n" } else { b"merge :1\nmerge :2\n" })?;
        self.heads.iter().try_for_each(|head| writeln!(out, "merge {head}"))?;
        out.write_all(b"deleteall\n")?;
        self.files(out)?;
        out.flush()?;
        fault::point("worktree-remove", "saving");
        out.write_all(b"\ndone\n")
    }

    fn begin(&self, out: &mut dyn Write, mark: u32, message: &str) -> io::Result<()> {
        let now = Utc::now().timestamp();
        write!(out, "commit {}\nmark :{mark}\ncommitter yoi <yoi@localhost> {now} +0000\n", self.reference)?;
        write!(out, "data {}\n{message}\n", message.len())
    }

    fn files(&self, out: &mut dyn Write) -> io::Result<()> {
        for entry in &self.entries {
            let (path, place) = (bytes_of(&entry.path), self.folder.join(&entry.path));
            match entry.kind {
                Kind::File if entry.mode & 0o100 != 0 => regular(out, "100755", &place, path)?,
                Kind::File => regular(out, "100644", &place, path)?,
                Kind::Link => {
                    let target = fs::read_link(&place)?;
                    let target = target.as_os_str().as_bytes();
                    inline(out, "120000", path, target.len() as u64, &mut &*target)?;
                }
                Kind::Folder | Kind::Repository | Kind::Odd => {}
            }
        }
        self.links.iter().try_for_each(|(path, commit)| out.write_all(&modify("160000", commit, path)))
    }
}

/// A regular file, which must not change its length meanwhile.
fn regular(out: &mut dyn Write, mode: &str, place: &Path, path: &[u8]) -> io::Result<()> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", place.display()));
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let mut file = File::from(rustix::fs::open(place, flags, Mode::empty()).map_err(|error| named(error.into()))?);
    let there = file.metadata().map_err(named)?;
    if !there.is_file() {
        return Err(named(io::Error::other("this was a file a moment ago")));
    }
    inline(out, mode, path, there.len(), &mut file).map_err(|error| match error.kind() {
        // Git's own end of it: what it said is worth more.
        io::ErrorKind::BrokenPipe => error,
        _ => named(error),
    })
}

fn inline(out: &mut dyn Write, mode: &str, path: &[u8], length: u64, from: &mut dyn Read) -> io::Result<()> {
    out.write_all(&[format!("M {mode} inline ").as_bytes(), &quoted(path), b"\n"].concat())?;
    writeln!(out, "data {length}")?;
    let written = io::copy(&mut Read::take(&mut *from, length), out)?;
    if written != length || from.read(&mut [0])? != 0 {
        return Err(io::Error::other(format!("{} changed while it was saved", shown(path))));
    }
    out.write_all(b"\n")
}
