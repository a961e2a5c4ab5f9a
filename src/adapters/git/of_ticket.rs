//! What git has of one ticket: its branch `yoi/NAME`, whether all of it is merged, and its worktree. By the git program,
//! which knows every kind of repository.
//!
//! Must not know: what is made of it.

use std::path::{Path, PathBuf};

use super::super::git_program::{self, GitError};
use super::super::trunk;
use crate::domain::evidence::close::{Checks, Standing, Unsaved};
use crate::domain::worktree::{branch_of, short_branch_of};

/// Looks. What git cannot say is left open.
pub(super) fn look(root: &Path, name: &str) -> Checks {
    let (short, branch) = (short_branch_of(name), branch_of(name));
    let merged = merged(root, &branch);
    let there = !matches!(merged, Ok(None));
    let worktree = worktree(root, &branch, name);
    let unsaved = match &worktree {
        Ok(Some(path)) => unsaved(path),
        _ => Unsaved::default(),
    };
    let shown = |path: PathBuf| path.strip_prefix(root).unwrap_or(&path).display().to_string();
    let worktree = match worktree {
        Ok(Some(path)) => Standing::There(shown(path)),
        Ok(None) => Standing::Gone,
        Err(_) => Standing::Unknown,
    };
    Checks { branch: there.then_some(short), merged: merged.ok().flatten(), worktree, unsaved }
}

/// Whether every commit of the branch is in one of the targets; None where there is no such branch.
fn merged(root: &Path, branch: &str) -> Result<Option<bool>, GitError> {
    let found = git_program::run(root, &["for-each-ref", "--format=%(refname)", branch])?;
    if !String::from_utf8_lossy(&found).lines().any(|found| found == branch) {
        return Ok(None);
    }
    let listed = git_program::run(root, &trunk::REFS)?;
    let own = git_program::run(root, &trunk::OWN).ok().map(|own| String::from_utf8_lossy(&own).trim().to_owned());
    let targets = trunk::targets(&String::from_utf8_lossy(&listed), own.as_deref());
    let mut arguments = vec!["rev-list", "--max-count=1", branch, "--not"];
    arguments.extend(targets.iter().map(String::as_str));
    Ok(Some(git_program::run(root, &arguments)?.is_empty()))
}

/// The linked worktree on the branch, or of the ticket's name, if its folder is there.
fn worktree(root: &Path, branch: &str, name: &str) -> Result<Option<PathBuf>, GitError> {
    let listed = git_program::run(root, &["worktree", "list", "--porcelain"])?;
    let listed = String::from_utf8_lossy(&listed);
    // The first one is the main worktree, whatever it is on.
    let linked = listed.split("\n\n").skip(1);
    let found = linked.filter_map(|entry| {
        let path = PathBuf::from(entry.lines().find_map(|line| line.strip_prefix("worktree "))?);
        let on_it = entry.lines().any(|line| line.strip_prefix("branch ") == Some(branch));
        (on_it || path.file_name().is_some_and(|last| last == name)).then_some(path)
    });
    Ok(found.into_iter().find(|path| path.is_dir()))
}

/// What is in a worktree that no commit has.
fn unsaved(path: &Path) -> Unsaved {
    let listed = match git_program::run(path, &["status", "--porcelain=v1", "-z", "--no-renames", "--ignored=no"]) {
        Ok(listed) => listed,
        Err(error) => return Unsaved { unreadable: Some(error.to_string()), ..Unsaved::default() },
    };
    let (untracked, changed): (Vec<_>, Vec<_>) =
        listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()).partition(|entry| entry.starts_with(b"??"));
    Unsaved { changed: changed.len(), untracked: untracked.len(), unreadable: None }
}
