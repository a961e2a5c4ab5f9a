//! The files of one run: its order, its lock, what its supervisor wrote down.
//!
//! Must not know: who reads or writes them when.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::adapters::files::{self, Text};
use crate::adapters::state_files;
use crate::domain::facts::ProcessIdentity;
use crate::ports::runs::{End, Order};

/// Who runs: written as soon as there is somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::adapters) struct Started {
    /// The supervisor.
    pub(in crate::adapters) supervisor: ProcessIdentity,
    /// The program, the leader of its group.
    pub(in crate::adapters) program: ProcessIdentity,
}

/// The files of one run.
#[derive(Clone, Debug)]
pub(in crate::adapters) struct RunFiles {
    folder: PathBuf,
    name: String,
}

impl RunFiles {
    /// `name` is a plain file name without an ending.
    pub(super) fn new(folder: &Path, name: &str) -> Self {
        Self { folder: folder.to_owned(), name: name.to_owned() }
    }

    /// Those of the run with this order file.
    pub(in crate::adapters) fn of(order: &Path) -> Option<Self> {
        let name = order.file_name()?.to_str()?.strip_suffix(".json")?;
        Some(Self { folder: order.parent()?.to_owned(), name: name.to_owned() })
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.name))
    }

    pub(in crate::adapters) fn order_path(&self) -> PathBuf {
        self.path("json")
    }

    /// Where the program that becomes the agent says why it could not.
    pub(in crate::adapters) fn failed_path(&self) -> PathBuf {
        self.path("failed")
    }

    pub(in crate::adapters) fn order(&self) -> io::Result<Option<Order>> {
        state_files::read_json(&self.order_path())
    }

    pub(super) fn write_order(&self, order: &Order) -> io::Result<()> {
        state_files::write_json(&self.order_path(), order)
    }

    /// None while nothing is written there, or nothing that can be read.
    pub(in crate::adapters) fn started(&self) -> Option<Started> {
        state_files::read_json(&self.path("started")).ok().flatten()
    }

    pub(in crate::adapters) fn write_started(&self, started: &Started) -> io::Result<()> {
        state_files::write_json(&self.path("started"), started)
    }

    pub(super) fn end(&self) -> Option<End> {
        state_files::read_json(&self.path("exit")).ok().flatten()
    }

    pub(in crate::adapters) fn write_end(&self, end: &End) -> io::Result<()> {
        state_files::write_json(&self.path("exit"), end)
    }

    /// The lock file, opened; made where it is missing.
    pub(in crate::adapters) fn open_lock(&self) -> io::Result<File> {
        let path = self.path("lock");
        files::open_own(&path, Text::Kept)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    /// Whether a supervisor holds the lock. Makes no file.
    pub(super) fn is_held(&self) -> bool {
        let Ok(file) = files::open(&self.path("lock")) else { return false };
        // Shared: two that look at once do not see one another.
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }

    /// Returns when no supervisor holds the lock.
    pub(super) fn wait_until_free(&self) {
        let Ok(file) = files::open(&self.path("lock")) else { return };
        while file.lock_shared().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
    }

    /// Removes them all, the order first: what is left without it is nobody's run.
    pub(super) fn remove(&self) -> io::Result<()> {
        for ending in ["json", "started", "exit", "failed", "lock"] {
            state_files::remove(&self.path(ending))?;
        }
        Ok(())
    }

    /// When the order was written.
    pub(super) fn modified(&self) -> Option<std::time::SystemTime> {
        ["json", "lock"].iter().find_map(|ending| fs::symlink_metadata(self.path(ending)).ok()?.modified().ok())
    }
}

/// The names of all runs that left anything in the folder, in order.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = files::is_own_folder(folder).then(|| fs::read_dir(folder));
    let names = entries.into_iter().flatten().flatten().flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> = names
        .filter_map(|name| {
            let (name, ending) = name.to_str()?.rsplit_once('.')?;
            (!name.is_empty() && matches!(ending, "json" | "lock" | "started" | "exit" | "failed"))
                .then(|| name.to_owned())
        })
        .collect();
    names.sort();
    names.dedup();
    names
}
