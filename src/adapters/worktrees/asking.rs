//! Asking git, and having it change something: patiently where others hold its locks, which are never removed (FAULTS kinds
//! 3 and 12).
//!
//! Must not know: what is asked.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::super::git_program::{self, GitError, TIME_LIMIT};
use super::GitWorktrees;
use crate::ports::worktrees::{Holding, WorktreesError};

/// Between two tries: from so long...
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
/// ...to so long.
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

impl GitWorktrees {
    /// Git's answer, asked in the workspace.
    pub(super) fn ask<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<u8>, WorktreesError> {
        ask(&self.workspace, arguments)
    }

    /// The same as one line; None where git says no, or nothing.
    pub(super) fn line<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Option<String>, WorktreesError> {
        let arguments: Vec<_> = arguments.iter().map(AsRef::as_ref).collect();
        match git_program::run_holding(&self.workspace, &arguments, Stdio::null(), TIME_LIMIT) {
            Ok(said) => Ok(Some(text(&said)).filter(|line| !line.is_empty())),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Has git change something; while others hold its locks it is tried again.
    pub(super) fn change<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<(), WorktreesError> {
        self.patiently(arguments, TIME_LIMIT, Stdio::null)
    }

    /// The same for what may take long: as long as it runs, the lock is held.
    pub(super) fn change_holding<S: AsRef<OsStr>>(
        &self,
        holding: &Holding,
        arguments: &[S],
    ) -> Result<(), WorktreesError> {
        self.patiently(arguments, super::LONG, || {
            holding.file().try_clone().map_or_else(|_| Stdio::null(), Stdio::from)
        })
    }

    fn patiently<S: AsRef<OsStr>>(
        &self,
        arguments: &[S],
        limit: Duration,
        stdin: impl Fn() -> Stdio,
    ) -> Result<(), WorktreesError> {
        let arguments: Vec<_> = arguments.iter().map(AsRef::as_ref).collect();
        let began = Instant::now();
        let mut pause = SHORTEST_PAUSE;
        loop {
            let Err(error) = git_program::run_holding(&self.workspace, &arguments, stdin(), limit) else {
                return Ok(());
            };
            let GitError::Failed { message, .. } = &error else { return Err(error.into()) };
            let Some(lock) = held_lock(message) else { return Err(error.into()) };
            if began.elapsed() >= self.patience {
                return Err(WorktreesError::Held(format!(
                    "{lock}: another program holds this lock of git's, and has for {} s; if none of them runs any more, it \
                     was left behind: then remove that file yourself",
                    began.elapsed().as_secs()
                )));
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// Git's answer, asked in a folder.
pub(super) fn ask<S: AsRef<OsStr>>(folder: &Path, arguments: &[S]) -> Result<Vec<u8>, WorktreesError> {
    let arguments: Vec<_> = arguments.iter().map(AsRef::as_ref).collect();
    Ok(git_program::run_holding(folder, &arguments, Stdio::null(), TIME_LIMIT)?)
}

pub(super) fn text(said: &[u8]) -> String {
    String::from_utf8_lossy(said).trim_end_matches('\n').to_owned()
}

/// The lock that somebody else holds, by what git said; None where it failed for another reason.
fn held_lock(message: &str) -> Option<String> {
    let held = |line: &&str| {
        let lock = line.contains(".lock'") && line.contains("File exists");
        lock || line.contains("could not lock config file") || line.contains("cannot lock references")
    };
    let line = message.lines().find(held)?;
    let quoted = line.split('\'').find(|part| Path::new(part).extension().is_some_and(|end| end == "lock"));
    Some(quoted.map_or_else(|| line.trim().to_owned(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::held_lock;

    #[test]
    fn a_lock_of_others_is_told_from_another_failure_by_its_file() {
        for (message, expected) in [
            (
                "Preparing worktree\nfatal: cannot lock ref 'refs/heads/yoi/a': Unable to create \
                 '/w/.git/refs/heads/yoi/a.lock': File exists.\n\nAnother git process seems to be running",
                Some("/w/.git/refs/heads/yoi/a.lock"),
            ),
            ("fatal: Unable to create '/w/.git/index.lock': File exists.", Some("/w/.git/index.lock")),
            (
                "error: could not lock config file .git/config: File exists",
                Some("error: could not lock config file .git/config: File exists"),
            ),
            ("fatal: cannot lock ref 'refs/heads/yoi/a': reference already exists", None),
            ("fatal: '/w/x' already exists", None),
            ("fatal: Unable to create '/w/.git/index.lock': Permission denied", None),
        ] {
            assert_eq!(held_lock(message).as_deref(), expected, "{message}");
        }
    }
}
