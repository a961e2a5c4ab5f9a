//! How long a notice takes: a hidden file is made and removed in the ticket folder, and its notice is timed.
//!
//! The file is there for microseconds, so that neither git nor a person meets it; its notice comes all the same.
//!
//! Must not know: who asks, what is made of the answer. DESIGN.md 8, Self-proof.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::lock;
use crate::ports::Lag;

/// The file's name. No ticket's, and left out by every reader.
pub(super) const NAME: &str = ".yoi-canary";

/// How long its notice is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// One canary at a time.
#[derive(Debug, Default)]
pub(super) struct Canary {
    one: Mutex<()>,
    noticed: Mutex<Option<Instant>>,
    told: Condvar,
    last: Mutex<Option<Lag>>,
}

impl Canary {
    /// Its notice is about to be handed on.
    pub(super) fn noticed(&self) {
        *lock(&self.noticed) = Some(Instant::now());
        self.told.notify_all();
    }

    /// What was measured last.
    pub(super) fn last(&self) -> Option<Lag> {
        lock(&self.last).clone()
    }

    pub(super) fn keep(&self, lag: Lag) {
        *lock(&self.last) = Some(lag);
    }

    /// Measures in this folder, which has to be the workspace's own.
    pub(super) fn measure(&self, folder: &Path, workspace: &Path) {
        let _one = lock(&self.one);
        let lag = self
            .time(folder, workspace)
            .unwrap_or_else(|error| Lag::NotMeasured(format!("no file can be made in {}: {error}", folder.display())));
        self.keep(lag);
    }

    fn time(&self, folder: &Path, workspace: &Path) -> io::Result<Lag> {
        if !folder.canonicalize()?.starts_with(workspace) {
            let why = "the ticket folder lies outside the workspace (a symlink), and yoi never writes there";
            return Ok(Lag::NotMeasured(why.into()));
        }
        *lock(&self.noticed) = None;
        let began = Instant::now();
        make_and_remove(&folder.join(NAME))?;
        let noticed = lock(&self.noticed);
        let wait = self.told.wait_timeout_while(noticed, PATIENCE, |noticed| noticed.is_none());
        let (noticed, _) = wait.unwrap_or_else(PoisonError::into_inner);
        Ok(noticed.map_or(Lag::Beyond(PATIENCE), |at| Lag::Of(at.saturating_duration_since(began))))
    }
}

fn make_and_remove(path: &Path) -> io::Result<()> {
    let make = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match make() {
        // Left by a daemon that was killed in between: by its name it is yoi's own.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            make()?
        }
        done => done?,
    };
    fs::remove_file(path)
}
