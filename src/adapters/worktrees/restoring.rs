//! Brings a saved worktree back: branch or HEAD, index, every file with its bytes and mode, and what git was in the middle of.
//!
//! Must not know: whether it may be restored.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::super::fault;
use super::manifest::{FILE, Manifest};
use super::paths::{bytes_of, words};
use super::printing::{Kind, walk};
use super::trouble::{failed, io_at};
use super::verifying::Saved;
use super::{GitWorktrees, asking::text};
use crate::domain::refusal::Refusal;
use crate::domain::worktree::{BranchAt, SALVAGE};
use crate::ports::worktrees::{Holding, Restoration, Restored, Salvage, WorktreesError};

/// The place of the fault points.
const PLACE: &str = "worktree-restore";

impl GitWorktrees {
    /// What was saved under a name, the newest last.
    pub(super) fn saved_of(&self, name: &str) -> Result<Vec<Salvage>, WorktreesError> {
        let said = self.ask(&["for-each-ref", "--format=%(objectname) %(refname)", &format!("{SALVAGE}{name}/")])?;
        let salvage = |line: &str| {
            let (commit, reference) = line.split_once(' ')?;
            Some(Salvage { reference: reference.into(), commit: commit.into() })
        };
        Ok(text(&said).lines().filter_map(salvage).collect())
    }

    /// The commit that holds what git kept for it.
    fn kept(&self, salvage: &Salvage) -> Result<String, WorktreesError> {
        for parent in ["^3", "^2"] {
            let commit = format!("{}{parent}", salvage.commit);
            if self.line(&["rev-parse", "--quiet", "--verify", &format!("{commit}:{FILE}")]).ok().flatten().is_some() {
                return Ok(commit);
            }
        }
        Err(failed(format!("{} is nothing that yoi saved", salvage.reference)))
    }

    fn manifest(&self, salvage: &Salvage) -> Result<Manifest, WorktreesError> {
        let text = self.ask(&["cat-file", "blob", &format!("{}:{FILE}", self.kept(salvage)?)])?;
        Manifest::read(&text, &salvage.reference)
    }

    /// What bringing it back takes.
    pub(super) fn planned_restoration(&self, name: &str, salvage: &Salvage) -> Result<Restoration, WorktreesError> {
        let manifest = self.manifest(salvage)?;
        if manifest.name != name {
            return Err(
                Refusal::new(format!("{} was saved of the worktree `{}`", salvage.reference, manifest.name)).into()
            );
        }
        let mut wanted = Restoration {
            salvage: salvage.clone(),
            branch: manifest.branch,
            head: manifest.head,
            makes: None,
            detached_because: None,
        };
        let Some(branch) = wanted.branch.clone() else { return Ok(wanted) };
        let now = self.commit_of(&branch)?;
        let busy = || self.checked_out(&branch);
        let why = match (&now, &wanted.head) {
            (None, Some(head)) => {
                wanted.makes = Some(BranchAt { name: branch, at: head.clone() });
                return Ok(wanted);
            }
            (None, None) => return Ok(wanted),
            (Some(now), Some(head)) if now == head => match busy()? {
                None => return Ok(wanted),
                Some(place) => format!("{branch} is checked out in {place}"),
            },
            (Some(now), Some(_)) => format!("{branch} is at {now} by now"),
            (Some(_), None) => {
                return Err(
                    Refusal::new(format!("{branch} had no commit yet when this was saved, and has one now")).into()
                );
            }
        };
        wanted.branch = None;
        wanted.detached_because = Some(why);
        Ok(wanted)
    }

    /// Makes it anew, and compares every byte.
    pub(super) fn bring_back(
        &self,
        holding: &Holding,
        path: &Path,
        wanted: &Restoration,
    ) -> Result<Restored, WorktreesError> {
        if let Some(BranchAt { name, at }) = &wanted.makes {
            self.change(&["update-ref", "-m", "yoi worktree restore", name, at, ""])?;
        }
        fault::point(PLACE, "branch");
        self.add_empty(holding, path, wanted)?;
        fault::point(PLACE, "entry");
        let (manifest, kept) = (self.manifest(&wanted.salvage)?, self.kept(&wanted.salvage)?);
        let folders = manifest.folders();
        for (folder, _) in &folders {
            make_folder(&path.join(folder))?;
        }
        let saved = self.saved_in(&wanted.salvage.commit)?;
        self.each(&saved, |one, content| write(&path.join(&one.path), one.mode == "120000", content).map(|()| true))?;
        let submodules: Vec<_> = saved.iter().filter(|one| one.mode == "160000").collect();
        submodules.iter().try_for_each(|one| make_folder(&path.join(&one.path)))?;
        // Outer folders last: one that may not be written in is filled by then.
        for (entry, mode) in manifest.files().into_iter().chain(folders.into_iter().rev()) {
            let place = path.join(entry);
            fs::set_permissions(&place, Permissions::from_mode(mode)).map_err(io_at(&place))?;
        }
        fault::point(PLACE, "files");
        self.bring_back_own(path, &kept)?;
        fault::point(PLACE, "own");
        // A submodule's folder is empty here: it is compared as what it is.
        let entries: Result<Vec<_>, _> = walk(path, &[]).collect();
        let mut entries = entries.map_err(failed)?;
        for entry in &mut entries {
            if submodules.iter().any(|one| one.path == entry.path) {
                entry.kind = Kind::Repository;
            }
        }
        self.verify(&wanted.salvage, path, &entries)?;
        Ok(Restored { files: saved.len() - submodules.len(), remarks: remarks(wanted, &submodules) })
    }

    /// Git's entry, and a folder with nothing in it.
    fn add_empty(&self, holding: &Holding, path: &Path, wanted: &Restoration) -> Result<(), WorktreesError> {
        let short = wanted.branch.as_deref().map(|branch| branch.trim_start_matches("refs/heads/"));
        let how = match (short, &wanted.head) {
            (Some(short), None) => {
                let arguments = ["worktree", "add", "--quiet", "--orphan", "-b", short];
                return self.change_holding(holding, &words(&arguments, path));
            }
            (Some(_), Some(_)) => &["worktree", "add", "--quiet", "--no-checkout", "--"][..],
            (None, _) => &["worktree", "add", "--quiet", "--no-checkout", "--detach", "--"],
        };
        let mut arguments = words(how, path);
        arguments.extend(short.or(wanted.head.as_deref()).map(OsStr::new));
        self.change_holding(holding, &arguments)
    }

    /// What git kept for it: the index above all.
    fn bring_back_own(&self, path: &Path, kept: &str) -> Result<(), WorktreesError> {
        let admin = self.admin(path).ok_or_else(|| failed(format!("{}: git has no entry", path.display())))?;
        let own: Vec<Saved> = self
            .saved_in(kept)?
            .into_iter()
            .filter_map(|one| Some(Saved { path: one.path.strip_prefix("admin").ok()?.to_owned(), ..one }))
            .filter(|one| one.path != Path::new("HEAD"))
            .collect();
        self.each(&own, |one, content| {
            let place = admin.folder.join(&one.path);
            if let Some(above) = place.parent() {
                fs::create_dir_all(above)?;
            }
            // What git has just made itself is replaced.
            match fs::remove_file(&place) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            write(&place, false, content).map(|()| true)
        })?;
        Ok(())
    }

    /// Where a branch is checked out.
    pub(super) fn checked_out(&self, branch: &str) -> Result<Option<String>, WorktreesError> {
        let said = self.ask(&["for-each-ref", "--format=%(worktreepath)", branch])?;
        Ok(Some(text(&said)).filter(|place| !place.is_empty()))
    }
}

fn make_folder(place: &Path) -> Result<(), WorktreesError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(place).map_err(io_at(place))
}

/// A file, or symlink, that is not there yet.
fn write(place: &Path, is_link: bool, content: &mut dyn Read) -> io::Result<()> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", place.display()));
    if is_link {
        let mut target = Vec::new();
        content.read_to_end(&mut target)?;
        return symlink(PathBuf::from(std::ffi::OsString::from_vec(target)), place).map_err(named);
    }
    let mut file = File::create_new(place).map_err(named)?;
    io::copy(content, &mut file).map(drop).map_err(named)
}

fn remarks(wanted: &Restoration, submodules: &[&Saved]) -> Vec<String> {
    let detached = wanted.detached_because.as_ref().map(|why| format!("HEAD is detached: {why}"));
    let submodule = |one: &&Saved| {
        let path = String::from_utf8_lossy(bytes_of(&one.path)).into_owned();
        format!("the submodule {path} is empty: `git submodule update --init` fetches it")
    };
    detached.into_iter().chain(submodules.iter().map(submodule)).collect()
}
