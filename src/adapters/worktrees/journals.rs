//! Locks and journals of worktrees, in the state folder: one file of each a ticket.
//!
//! Must not know: what a journal says.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use super::super::files::{self, Text};
use super::super::{locks, state_files};
use super::GitWorktrees;
use super::trouble::{failed, io_at};
use crate::domain::worktree::Journal;
use crate::ports::worktrees::{Holding, WorktreesError};

/// The version of a journal's text.
const VERSION: u32 = 1;

impl GitWorktrees {
    /// Takes the lock of one.
    pub(super) fn held(&self, name: &str, patience: Duration) -> Result<Holding, WorktreesError> {
        self.common()?;
        files::own_folder(&self.state).map_err(|error| failed(error.to_string()))?;
        let path = self.state.join(format!("{name}.lock"));
        let file = files::open_own(&path, Text::Kept).map_err(io_at(&path))?;
        let another = file.try_clone().map_err(io_at(&path))?;
        match locks::wait(another, &path, patience) {
            // Both are one open file: the lock is held as long as either is open.
            Ok(_held) => Ok(Holding::new(name, file)),
            Err(error) if error.kind() == ErrorKind::TimedOut => Err(WorktreesError::Held(format!(
                "another yoi, or what it started, is at work on this worktree: {error}"
            ))),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.state.join(format!("{name}.json"))
    }

    /// The names of those that have a journal.
    pub(super) fn journaled(&self) -> Result<Vec<String>, WorktreesError> {
        let entries = match fs::read_dir(&self.state) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(io_at(&self.state))?,
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<_> = names
            .filter(|name| !name.starts_with(state_files::UNFINISHED))
            .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
            .collect();
        names.sort();
        Ok(names)
    }

    pub(super) fn read_journal(&self, name: &str) -> Result<Option<Journal>, WorktreesError> {
        let path = self.file(name);
        let journal: Option<Journal> = state_files::read_json(&path).map_err(|error| failed(error.to_string()))?;
        match &journal {
            Some(journal) if journal.version > VERSION => {
                Err(failed(format!("{}: a newer yoi wrote this, and has to finish it", path.display())))
            }
            Some(journal) if journal.name != name => {
                Err(failed(format!("{}: this is about `{}`; move it away", path.display(), journal.name)))
            }
            _ => Ok(journal),
        }
    }

    pub(super) fn write_journal(&self, name: &str, journal: &Journal) -> Result<(), WorktreesError> {
        state_files::write_json(&self.file(name), journal).map_err(|error| failed(error.to_string()))
    }

    pub(super) fn remove_journal(&self, name: &str) -> Result<(), WorktreesError> {
        state_files::remove(&self.file(name)).map_err(|error| failed(error.to_string()))
    }
}
