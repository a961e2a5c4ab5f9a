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
/// How long the entry of a worktree may take to be whole once it is there.
const MAKING: Duration = Duration::from_secs(3);

impl GitWorktrees {
    /// Git's answer, asked in the workspace.
    pub(super) fn ask<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<u8>, WorktreesError> {
        ask(&self.workspace, arguments)
    }

    /// The same as one line; None where git says no, or nothing.
    pub(super) fn line<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Option<String>, WorktreesError> {
        match asked(&self.workspace, arguments) {
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
        let began = Instant::now();
        let mut pause = Pause::default();
        loop {
            let Err(error) = until_whole(&self.workspace, arguments, limit, &stdin) else { return Ok(()) };
            let Some(lock) = said(&error).and_then(held_lock) else { return Err(error.into()) };
            if began.elapsed() >= self.patience {
                return Err(WorktreesError::Held(format!(
                    "{lock}: another program holds this lock of git's, and has for {} s; if none of them runs any more, it \
                     was left behind: then remove that file yourself",
                    began.elapsed().as_secs()
                )));
            }
            pause.make();
        }
    }
}

/// Between two tries, longer each time.
struct Pause(Duration);

impl Default for Pause {
    fn default() -> Self {
        Self(SHORTEST_PAUSE)
    }
}

impl Pause {
    fn make(&mut self) {
        thread::sleep(self.0);
        self.0 = (self.0 * 2).min(LONGEST_PAUSE);
    }
}

/// Git's answer, asked in a folder.
pub(super) fn ask<S: AsRef<OsStr>>(folder: &Path, arguments: &[S]) -> Result<Vec<u8>, WorktreesError> {
    Ok(asked(folder, arguments)?)
}

fn asked<S: AsRef<OsStr>>(folder: &Path, arguments: &[S]) -> Result<Vec<u8>, GitError> {
    until_whole(folder, arguments, TIME_LIMIT, &Stdio::null)
}

/// Runs it again where git came upon the entry of a worktree that another git is just making: most of its commands look at all
/// of them.
fn until_whole<S: AsRef<OsStr>>(
    folder: &Path,
    arguments: &[S],
    limit: Duration,
    stdin: &impl Fn() -> Stdio,
) -> Result<Vec<u8>, GitError> {
    let arguments: Vec<_> = arguments.iter().map(AsRef::as_ref).collect();
    let began = Instant::now();
    let mut pause = Pause::default();
    loop {
        match git_program::run_holding(folder, &arguments, stdin(), limit) {
            Err(error) if said(&error).is_some_and(is_being_made) && began.elapsed() < MAKING => pause.make(),
            done => return done,
        }
    }
}

fn said(error: &GitError) -> Option<&str> {
    match error {
        GitError::Failed { message, .. } => Some(message),
        _ => None,
    }
}

/// Whether it read a file of an entry that had nothing in it yet, or was not there any more.
fn is_being_made(message: &str) -> bool {
    message.lines().any(|line| line.starts_with("fatal: failed to read ") && line.contains("worktrees/"))
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
    use super::{held_lock, is_being_made};

    #[test]
    fn an_entry_that_is_being_made_is_known_by_what_git_says() {
        for (message, expected) in [
            ("fatal: failed to read .git/worktrees/a%20b/commondir: Success", true),
            ("fatal: failed to read /w/.git/worktrees/a/HEAD: No such file or directory", true),
            ("fatal: failed to read object 12ab", false),
            ("fatal: not a git repository", false),
        ] {
            assert_eq!(is_being_made(message), expected, "{message}");
        }
    }

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
