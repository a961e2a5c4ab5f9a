//! Making a worktree, step by step, each of which may be done once more; and looking at what one that was cut off has left.
//!
//! Must not know: which step follows which, or whether to go on.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use git2::{ObjectType, Oid};

use super::GitWorktrees;
use super::occupants;
use super::paths::{bytes_of, words};
use super::printing::{Entry, Kind, walk};
use super::removing;
use crate::domain::worktree::{Commits, Hold, Journal, Left, Lock, Phase, Tree, branch_of};
use crate::ports::worktrees::{Holding, WorktreesError};

/// Path and mode with object id (`100644 blob ID`) of one line of a listing of a tree.
fn object_at(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    Some((&line[tab + 1..], &line[..tab]))
}

impl GitWorktrees {
    /// Whether what lies there is exactly that object.
    fn is_object(&self, folder: &Path, entry: &Entry, object: &[u8]) -> bool {
        let path = folder.join(&entry.path);
        let (mode, bytes) = match entry.kind {
            Kind::File if entry.mode & 0o100 != 0 => ("100755", fs::read(path).ok()),
            Kind::File => ("100644", fs::read(path).ok()),
            Kind::Link => ("120000", fs::read_link(path).ok().map(|target| bytes_of(&target).to_vec())),
            Kind::Folder | Kind::Repository | Kind::Odd => return false,
        };
        let object = str::from_utf8(object).ok().and_then(|object| object.strip_prefix(&format!("{mode} blob ")));
        let (Some(bytes), Some(id)) = (bytes, object) else { return false };
        match Oid::hash_object(ObjectType::Blob, &bytes) {
            Ok(own) if id.len() == own.to_string().len() => own.to_string() == id,
            // Another kind of object id (SHA-256) is git's own to make: what it stands for is compared.
            _ => self.ask(&["cat-file", "blob", id]).is_ok_and(|saved| saved == bytes),
        }
    }

    /// Only where there is none of this name.
    pub(super) fn create_branch(&self, name: &str, at: &str) -> Result<(), WorktreesError> {
        self.change(&["update-ref", "-m", "yoi start", &branch_of(name), at, ""])
    }

    /// Git's entry and the folder with its files, on the ticket's branch. No upstream is set, so that no configuration file
    /// is written.
    pub(super) fn add(&self, holding: &Holding, path: &Path) -> Result<(), WorktreesError> {
        self.refuse_checked_out(holding.name())?;
        let short = branch_of(holding.name()).trim_start_matches("refs/heads/").to_owned();
        let mut arguments = words(&["worktree", "add", "--quiet", "--"], path);
        arguments.push(OsStr::new(&short));
        self.change_holding(holding, &arguments)
    }

    /// Locks it; a former lock of yoi's is replaced, one of somebody else's never comes this far.
    pub(super) fn lock_for(&self, tree: &Tree, hold: &Hold) -> Result<(), WorktreesError> {
        if tree.lock == Lock::Held(hold.clone()) {
            return Ok(());
        }
        if tree.lock != Lock::Open {
            self.change(&words(&["worktree", "unlock"], &tree.path))?;
        }
        let reason = hold.reason();
        self.change(&words(&["worktree", "lock", "--reason", &reason], &tree.path))
    }

    /// What is there of what was begun.
    pub(super) fn what_is_left(&self, journal: &Journal) -> Result<Left, WorktreesError> {
        let there = |path: &Path| path.symlink_metadata().is_ok();
        let aside = match &journal.phase {
            Phase::Saving { aside, .. } | Phase::Going { aside, .. } => there(aside),
            _ => false,
        };
        let left =
            Left { entry: self.admin(&journal.path).is_some(), folder: there(&journal.path), aside, pristine: false };
        let pristine = match &journal.phase {
            Phase::Saving { .. } | Phase::Going { .. } => false,
            _ if !left.folder => true,
            Phase::Made => self.is_as_it_was_made(journal)?,
            // Whole already, or as far as it came.
            Phase::Making => self.is_as_it_was_made(journal)? || self.holds_nothing_else(journal)?,
            Phase::Restoring | Phase::Undoing => self.holds_nothing_else(journal)?,
        };
        Ok(Left { pristine, ..left })
    }

    /// It stands, and nobody has done anything in it.
    fn is_as_it_was_made(&self, journal: &Journal) -> Result<bool, WorktreesError> {
        let trees = self.listed()?;
        let Some(tree) = trees.iter().find(|tree| super::admin::same(&tree.path, &journal.path)) else {
            return self.holds_nothing_else(journal);
        };
        let probe = self.probed(tree);
        let stays = tree.head == journal.made.from && probe.occupants.is_empty() && probe.caches.is_empty();
        Ok(stays && !probe.is_dirty() && !matches!(probe.commits, Commits::Unknown(_)))
    }

    /// However little of it was made: each file is one of those that it was made from, byte for byte, no commit was made on its
    /// branch, and nobody works there. What differs (a filter has written it) is somebody's work.
    fn holds_nothing_else(&self, journal: &Journal) -> Result<bool, WorktreesError> {
        let Some(from) = &journal.made.from else { return Ok(false) };
        if !occupants::all_in(&journal.path).is_empty() {
            return Ok(false);
        }
        if let Some(made) = &journal.made.branch
            && self.commit_of(&made.name)?.is_some_and(|now| now != made.at)
        {
            return Ok(false);
        }
        let said = self.ask(&["ls-tree", "-r", "-z", "--full-tree", from])?;
        let known: BTreeMap<&[u8], &[u8]> = said.split(|byte| *byte == 0).filter_map(object_at).collect();
        let of_it = |entry: &Entry| {
            // A folder that is there is the way to one of them, or was empty when it was saved.
            matches!(entry.kind, Kind::Folder)
                || known.get(bytes_of(&entry.path)).is_some_and(|object| self.is_object(&journal.path, entry, object))
        };
        Ok(walk(&journal.path, &[]).all(|entry| entry.is_ok_and(|entry| of_it(&entry))))
    }

    /// Takes away what was made: entry and folder, then the branch, if it is where it was made.
    pub(super) fn take_back(&self, journal: &Journal) -> Result<(), WorktreesError> {
        let there = journal.path.symlink_metadata().is_ok();
        if self.admin(&journal.path).is_some() {
            // Twice the force: git itself locks one that it is just making.
            self.change(&words(&["worktree", "remove", "--force", "--force"], &journal.path)).or_else(|error| {
                // An entry that is not whole yet is none to git, and is cleared away by it.
                if self.admin(&journal.path).is_some_and(|admin| !admin.folder.join("HEAD").exists()) {
                    self.change(&["worktree", "prune"])
                } else {
                    Err(error)
                }
            })?;
        }
        if there {
            removing::remove_folder(&journal.path)?;
        }
        journal.made.branch.as_ref().map_or(Ok(()), |branch| self.remove_branch(branch))
    }
}
