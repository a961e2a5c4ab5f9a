//! The state folder on disk: locks, registers, kick files, logs (DESIGN.md section 9).
//!
//! Must not know: what is decided by any of it.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{locks, state_files};
use crate::domain::engine::{KickId, RunningTurn};
use crate::domain::facts::Pod;
use crate::ports;

/// How many turns' logs are kept.
const KEPT_LOGS: usize = 50;
/// An acceptance walks the ticket folder and asks git, and others may be in front. Shorter than a caller's patience, so
/// that it is told why.
const ACCEPTING: Duration = Duration::from_secs(30);

/// The state folder of one workspace. Made by the workspace; subfolders are made on demand.
#[derive(Clone, Debug)]
pub struct StateFolder {
    path: PathBuf,
    /// How long the accept lock is waited for.
    accept_patience: Duration,
}

impl StateFolder {
    /// At this path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), accept_patience: ACCEPTING }
    }

    /// The daemon's lock file.
    pub fn daemon_lock(&self) -> PathBuf {
        self.path.join("daemon.lock")
    }

    /// The store.
    pub fn store(&self) -> PathBuf {
        self.path.join("store.sqlite")
    }

    /// The folder of the tickets' lock files.
    pub fn ticket_locks(&self) -> PathBuf {
        self.path.join("locks")
    }

    /// The daemon's log.
    pub fn log(&self) -> PathBuf {
        self.path.join("daemon.log")
    }

    /// The folder of the turns' logs.
    pub fn turn_logs(&self) -> PathBuf {
        self.path.join("turns")
    }

    /// The newest turn's log.
    pub fn newest_turn_log(&self) -> Option<PathBuf> {
        let mut logs = self.by_age();
        logs.pop()
    }

    /// The turns' logs, oldest first.
    fn by_age(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.turn_logs()) else { return Vec::new() };
        let mut logs: Vec<_> = entries
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        logs.sort();
        logs.into_iter().map(|(_, path)| path).collect()
    }

    fn private_folder(path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
    }
}

/// A kick's id is made of a session's and a number: still, only plain characters become a file name.
fn file_name(kick: &KickId, ending: &str) -> String {
    let plain: String = kick.0.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    format!("{plain}.{ending}")
}

impl ports::Held for locks::Held {}

impl ports::StateFolder for StateFolder {
    fn pods(&self) -> io::Result<Vec<Pod>> {
        Ok(state_files::read_json(&self.path.join("pods.json"))?.unwrap_or_default())
    }

    fn save_pods(&self, pods: &[Pod]) -> io::Result<()> {
        state_files::write_json(&self.path.join("pods.json"), &pods)
    }

    fn turn(&self) -> io::Result<Option<RunningTurn>> {
        state_files::read_json(&self.path.join("turn.json"))
    }

    fn save_turn(&self, turn: Option<&RunningTurn>) -> io::Result<()> {
        let path = self.path.join("turn.json");
        match turn {
            Some(turn) => state_files::write_json(&path, turn),
            None => state_files::remove(&path),
        }
    }

    fn write_kick(&self, kick: &KickId, json: &str) -> io::Result<PathBuf> {
        let folder = self.path.join("kicks");
        Self::private_folder(&folder)?;
        let path = folder.join(file_name(kick, "json"));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        io::Write::write_all(&mut file, json.as_bytes())?;
        Ok(path)
    }

    fn remove_kick(&self, kick: &KickId) -> io::Result<()> {
        state_files::remove(&self.path.join("kicks").join(file_name(kick, "json")))
    }

    fn forget_kicks(&self, but: Option<&KickId>) -> io::Result<()> {
        let kept = but.map(|kick| file_name(kick, "json"));
        let entries = match fs::read_dir(self.path.join("kicks")) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for entry in entries.flatten() {
            if kept.as_ref().is_none_or(|name| entry.file_name() != name.as_str()) {
                state_files::remove(&entry.path())?;
            }
        }
        Ok(())
    }

    fn kick_log(&self, kick: &KickId) -> PathBuf {
        // Old logs go when a new one comes: nothing else ever looks at their number.
        let logs = self.by_age();
        for old in logs.iter().take((logs.len() + 1).saturating_sub(KEPT_LOGS)) {
            let _ = fs::remove_file(old);
        }
        self.turn_logs().join(file_name(kick, "log"))
    }

    fn accept_lock(&self) -> io::Result<Box<dyn ports::Held>> {
        Self::private_folder(&self.path)?;
        let path = self.path.join("accept.lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path)?;
        Ok(Box::new(locks::wait(file, &path, self.accept_patience)?))
    }
}

#[cfg(test)]
mod tests {
    use ports::StateFolder as _;

    use super::*;

    #[test]
    fn the_accept_lock_of_somebody_who_hangs_is_not_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder { path: folder.path().join("yoi"), accept_patience: Duration::from_millis(20) };
        let held = state.accept_lock().unwrap();
        let message = state.accept_lock().err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains("accept.lock: another process has held this lock"), "{message}");
        drop(held);
        state.accept_lock().unwrap();
    }
}
