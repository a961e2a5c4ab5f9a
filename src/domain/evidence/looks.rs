//! What was looked at before a ticket is closed or blocked: its branch, its worktree; and where that is not as it is said.
//!
//! Must not know: how anything is looked at.

use std::fmt;

use super::close::{Closing, MergeState, Workspace};
use crate::domain::worktree::Hold;

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// The ticket's branch, where there is one.
    pub branch: Option<String>,
    /// Whether all of it is in the target branch; None where nobody can say.
    pub merged: Option<bool>,
    /// The ticket's worktree.
    pub worktree: Standing,
    /// What is in it, where it is there.
    pub unsaved: Unsaved,
}

/// What is in a worktree that no commit has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsaved {
    /// Tracked files that are changed.
    pub changed: usize,
    /// Files, or whole folders, that git does not know.
    pub untracked: usize,
    /// Why nobody can say, if so.
    pub unreadable: Option<String>,
}

impl fmt::Display for Unsaved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsaved { unreadable: Some(why), .. } => write!(f, "it cannot be looked at, and counts as dirty: {why}"),
            Unsaved { changed: 0, untracked: 0, .. } => f.write_str("clean"),
            Unsaved { changed, untracked, .. } => write!(f, "dirty: {changed} changed, {untracked} untracked"),
        }
    }
}

/// Whether something is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Nobody can say.
    #[default]
    Unknown,
    /// It is not.
    Gone,
    /// It is, at this place.
    There(String),
}

impl Closing {
    /// Who is to keep the worktree after the work, if anybody is.
    pub fn retained(&self) -> Option<Hold> {
        let Workspace::Retained { owner, reason, until } = &self.workspace else { return None };
        Some(Hold { worker: owner.clone(), until: *until, retained_for: Some(reason.clone()) })
    }
}

/// A branch that is not where it is said to be.
pub(super) fn unmerged(state: Option<MergeState>, checks: &Checks) -> Option<String> {
    let branch = checks.branch.as_deref().filter(|_| checks.merged == Some(false))?;
    let squashed = format!("if it was squashed or rebased, look once more and remove it: git branch -D {branch}");
    match state {
        Some(MergeState::Merged) => Some(format!("the branch {branch} is not merged, as git has it here; {squashed}")),
        None => Some(format!(
            "the branch {branch} has commits that are not merged: --merge-state open or closed says what becomes of them; \
             {squashed}"
        )),
        Some(_) => None,
    }
}

/// A worktree that is there, or is not, otherwise than is said.
pub(super) fn otherwise(workspace: &Workspace, found: &Standing) -> Option<String> {
    match (workspace, found) {
        (Workspace::Removed, Standing::There(path)) => Some(format!(
            "--workspace removed: the worktree {path} is there still (`yoi worktree remove` takes it away)"
        )),
        (Workspace::Retained { .. }, Standing::Gone) => {
            Some("--workspace retained: there is no worktree of this ticket; say removed".to_owned())
        }
        _ => None,
    }
}
