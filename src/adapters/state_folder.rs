//! The state folder on disk: locks, registers, kick files, logs (DESIGN.md section 9).
//!
//! Must not know: what is decided by any of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::daemon_lock::DaemonLock;
use super::files::{self, Text};
use super::{locks, state_files};
use crate::domain::engine::{KickId, SavedSession};
use crate::domain::facts::{Pod, PodId};
use crate::ports;

/// From this size on the log of hooks starts anew.
const MOST_HOOK_BYTES: u64 = 64 << 10;
/// The longest line in it, in characters.
const MOST_LINE: usize = 400;

/// How long it is waited for another start with the same lock: it claims, which a remote may keep it from for seconds.
const ROLE_PATIENCE: Duration = Duration::from_secs(20);
/// How many turns' logs, and how many Pods', are kept.
const KEPT_LOGS: usize = 50;

/// The state folder of one workspace. Made by the workspace; subfolders are made on demand.
#[derive(Clone, Debug)]
pub struct StateFolder {
    path: PathBuf,
    patience: Duration,
    /// The daemon's, for as long as it lies in this folder.
    lock: Option<Arc<DaemonLock>>,
}

impl StateFolder {
    /// At this path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), patience: locks::PATIENCE, lock: None }
    }

    /// The accept lock is waited for so long, and not 10 s.
    #[must_use]
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Nothing is written once this lock's file is another one: the folder is another workspace's then, or will be.
    #[must_use]
    pub fn held_by(self, lock: Arc<DaemonLock>) -> Self {
        Self { lock: Some(lock), ..self }
    }

    fn lock_named(&self, name: &str, patience: Duration) -> io::Result<Box<dyn ports::Held>> {
        self.ours()?;
        files::own_folder(&self.path)?;
        let path = self.path.join(name);
        let file = files::open_own(&path, Text::Kept).map_err(|error| files::named(&path, &error))?;
        Ok(Box::new(locks::wait(file, &path, patience)?))
    }

    fn ours(&self) -> io::Result<()> {
        if self.lock.as_ref().is_none_or(|lock| lock.still_ours()) {
            return Ok(());
        }
        let message = "the state folder is not this daemon's any more (the workspace was moved, or its files replaced)";
        Err(files::named(&self.path, &io::Error::new(io::ErrorKind::NotFound, message)))
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

    /// The folder of the marks of starts under way.
    pub fn starts(&self) -> PathBuf {
        self.path.join("starts")
    }

    /// The daemon's log.
    pub fn log(&self) -> PathBuf {
        self.path.join("daemon.log")
    }

    /// Adds a line about an agent's hook that came to nothing. The file starts anew when it is full; nothing is made
    /// where no daemon has ever been.
    pub fn note_hook(&self, line: &str) {
        let path = self.path.join("hooks.log");
        if !files::is_own_folder(&self.path) {
            return;
        }
        let full = path.symlink_metadata().is_ok_and(|there| there.len() > MOST_HOOK_BYTES);
        let how = if full { Text::Replaced } else { Text::Extended };
        let plain: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST_LINE).collect();
        if let Ok(mut file) = files::open_own(&path, how) {
            let _ = io::Write::write_all(&mut file, format!("{plain}\n").as_bytes());
        }
    }

    /// The folder of the turns' logs.
    pub fn turn_logs(&self) -> PathBuf {
        self.path.join("turns")
    }

    /// The folder of worktrees' locks and journals.
    pub fn worktrees(&self) -> PathBuf {
        self.path.join("worktrees")
    }

    /// The folder of the runs: orders, locks and records of supervisors.
    pub fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    /// The folder of the logs of Pods that yoi started.
    pub fn pod_logs(&self) -> PathBuf {
        self.path.join("pods")
    }

    /// The newest turn's log.
    pub fn newest_turn_log(&self) -> Option<PathBuf> {
        by_age(&self.turn_logs()).pop()
    }
}

/// The logs in a folder, oldest first.
fn by_age(folder: &Path) -> Vec<PathBuf> {
    let mut logs: Vec<_> = own_files(folder, "log")
        .filter_map(|path| Some((path.symlink_metadata().ok()?.modified().ok()?, path)))
        .collect();
    logs.sort();
    logs.into_iter().map(|(_, path)| path).collect()
}

/// Old logs go when a new one comes: nothing else ever looks at their number.
fn room_for_one(folder: &Path) {
    let logs = by_age(folder);
    for old in logs.iter().take((logs.len() + 1).saturating_sub(KEPT_LOGS)) {
        let _ = fs::remove_file(old);
    }
}

/// The files with this ending in a folder of yoi's own; none where a symlink leads to somebody else's.
fn own_files(folder: &Path, ending: &'static str) -> impl Iterator<Item = PathBuf> {
    let entries = files::is_own_folder(folder).then(|| fs::read_dir(folder));
    let paths = entries.into_iter().flatten().flatten().flatten().map(|entry| entry.path());
    paths.filter(move |path| path.extension().is_some_and(|found| found == ending))
}

/// A kick's id is made of a session's and a number: still, only plain characters become a file name.
pub(super) fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

fn file_name(kick: &KickId, ending: &str) -> String {
    format!("{}.{ending}", plain(&kick.0))
}

impl ports::Held for locks::Held {}

impl ports::StateFolder for StateFolder {
    fn pods(&self) -> io::Result<Vec<Pod>> {
        Ok(state_files::read_json(&self.path.join("pods.json"))?.unwrap_or_default())
    }

    fn save_pods(&self, pods: &[Pod]) -> io::Result<()> {
        self.ours()?;
        state_files::write_json(&self.path.join("pods.json"), &pods)
    }

    fn session(&self) -> io::Result<Option<SavedSession>> {
        state_files::read_json(&self.path.join("session.json"))
    }

    fn save_session(&self, session: Option<&SavedSession>) -> io::Result<()> {
        self.ours()?;
        let path = self.path.join("session.json");
        match session {
            Some(session) => state_files::write_json(&path, session),
            None => state_files::remove(&path),
        }
    }

    fn write_kick(&self, kick: &KickId, json: &str) -> io::Result<PathBuf> {
        self.ours()?;
        let folder = self.path.join("kicks");
        files::own_folder(&folder)?;
        let path = folder.join(file_name(kick, "json"));
        let written = files::open_own(&path, Text::Replaced)
            .and_then(|mut file| io::Write::write_all(&mut file, json.as_bytes()));
        written.map(|()| path.clone()).map_err(|error| files::named(&path, &error))
    }

    fn remove_kick(&self, kick: &KickId) -> io::Result<()> {
        self.ours()?;
        state_files::remove(&self.path.join("kicks").join(file_name(kick, "json")))
    }

    fn forget_kicks(&self, but: Option<&KickId>) -> io::Result<()> {
        self.ours()?;
        let kept = but.map(|kick| file_name(kick, "json"));
        for path in own_files(&self.path.join("kicks"), "json") {
            if path.file_name().is_none_or(|name| kept.as_ref().is_none_or(|kept| name != kept.as_str())) {
                state_files::remove(&path)?;
            }
        }
        Ok(())
    }

    fn kick_log(&self, kick: &KickId) -> PathBuf {
        room_for_one(&self.turn_logs());
        self.turn_logs().join(file_name(kick, "log"))
    }

    fn pod_log(&self, pod: &PodId) -> PathBuf {
        room_for_one(&self.pod_logs());
        self.pod_logs().join(format!("{}.log", plain(&pod.0)))
    }

    fn role_lock(&self) -> io::Result<Box<dyn ports::Held>> {
        self.lock_named("roles.lock", ROLE_PATIENCE)
    }

    fn accept_lock(&self) -> io::Result<Box<dyn ports::Held>> {
        self.lock_named("accept.lock", self.patience)
    }
}
