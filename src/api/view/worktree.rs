//! Worktrees of tickets.
//!
//! Must not know: how anything of it is found out, how it is shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `yoi worktree list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreesView {
    /// Always 1.
    pub version: u32,
    /// By path, as git has them.
    pub worktrees: Vec<WorktreeView>,
    /// What was begun with one, was cut off, and cannot be ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// One worktree of a ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeView {
    /// Whose; null where its long name was cut and no ticket has it.
    pub ticket: Option<String>,
    /// Its folder.
    pub path: String,
    /// Its branch; null where HEAD is detached.
    pub branch: Option<String>,
    /// The worker that holds it, or whoever is to keep it.
    pub owner: Option<String>,
    /// Until when that one does.
    pub expires: Option<String>,
    /// What it is kept for after the work (`yoi close --workspace retained:...`); null for a worker's own hold.
    pub retained_for: Option<String>,
    /// Somebody else locked it: why, as they said.
    pub locked: Option<String>,
    /// Its folder is not there any more.
    pub gone: bool,
    /// There is something in it that no commit holds, or that nobody can tell.
    pub dirty: bool,
    /// Every commit of it is in the default branch, or in what the workspace is on.
    pub merged: bool,
    /// Each reason why `yoi worktree remove` would refuse.
    pub stays_because: Vec<String>,
}

/// `yoi worktree remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeRemovedView {
    /// Always 1.
    pub version: u32,
    /// Whose it was.
    pub id: String,
    /// Where it was.
    pub path: String,
    /// The ref under which all of it is saved, where there was something to save.
    pub salvage: Option<String>,
    /// Its branch, where that went too, because everything on it is merged.
    pub branch_removed: Option<String>,
    /// What else is to be said.
    pub remarks: Vec<String>,
}

/// `yoi worktree restore`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RestoredView {
    /// Always 1.
    pub version: u32,
    /// Whose it is.
    pub id: String,
    /// Where it is.
    pub path: String,
    /// Its branch; null where HEAD is detached.
    pub branch: Option<String>,
    /// The ref that it was brought back from; it is kept.
    pub salvage: String,
    /// How many files there are, symlinks included.
    pub files: usize,
    /// What differs from how it was.
    pub remarks: Vec<String>,
}
