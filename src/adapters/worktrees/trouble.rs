//! What went wrong, as the port says it.
//!
//! Must not know: what was being done.

use std::io;
use std::path::Path;

use super::super::files::named;
use super::super::git_program::GitError;
use super::NO_GIT;
use crate::ports::worktrees::WorktreesError;

impl From<GitError> for WorktreesError {
    fn from(error: GitError) -> Self {
        let GitError::Failed { message, .. } = &error else {
            return match error {
                GitError::NotInstalled => WorktreesError::NoGit(
                    "worktrees need the git program, and it was not found on PATH; everything about tickets works without"
                        .into(),
                ),
                other => WorktreesError::Failed(other.to_string()),
            };
        };
        if message.contains("dubious ownership") {
            let way = message.lines().map(str::trim).find(|line| line.starts_with("git config"));
            return WorktreesError::NoGit(format!(
                "git will have nothing to do with this repository, because it belongs to another user: if that is as it \
                 should be, `{}` allows it",
                way.unwrap_or("git config --global --add safe.directory PATH")
            ));
        }
        if message.contains("not a git repository") {
            return WorktreesError::NoGit(NO_GIT.into());
        }
        WorktreesError::Failed(error.to_string())
    }
}

/// Of the file system, with the path.
pub(super) fn io_at(path: &Path) -> impl Fn(io::Error) -> WorktreesError + '_ {
    move |error| WorktreesError::Failed(named(path, &error).to_string())
}

pub(super) fn failed(what: impl Into<String>) -> WorktreesError {
    WorktreesError::Failed(what.into())
}
