//! The files of one run: its order, its lock, what its supervisor wrote down.
//!
//! Must not know: who reads or writes them when.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::adapters::files::{self, FileId, Text};
use crate::adapters::state_files;
use crate::domain::facts::ProcessIdentity;
use crate::ports::runs::{End, Order};

/// How often a lock is looked at that ought to be let go any moment.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Who runs: written as soon as there is somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::adapters) struct Started {
    /// The supervisor.
    pub(in crate::adapters) supervisor: ProcessIdentity,
    /// The program, the leader of its group.
    pub(in crate::adapters) program: ProcessIdentity,
    /// Where the supervisor holds its lock. None in a record of a version that did not note it.
    #[serde(default)]
    pub(in crate::adapters) place: Option<Place>,
}

/// Which files a run's lock and its folder are: the same after a move, others in a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::adapters) struct Place {
    lock: FileId,
    folder: FileId,
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

    /// The same files, seen from their own folder: they are found there also when it was moved meanwhile.
    pub(in crate::adapters) fn as_seen_within(&self) -> Self {
        Self { folder: PathBuf::from("."), name: self.name.clone() }
    }

    /// The folder they lie in.
    pub(in crate::adapters) fn folder(&self) -> &Path {
        &self.folder
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

    /// Where it is said that the run has no more to do, and why.
    pub(in crate::adapters) fn off_path(&self) -> PathBuf {
        self.path("off")
    }

    /// Why the run has no more to do; None where it has.
    pub(in crate::adapters) fn called_off(&self) -> Option<String> {
        state_files::read_json(&self.off_path()).ok().flatten()
    }

    pub(in crate::adapters) fn order(&self) -> io::Result<Option<Order>> {
        state_files::read_json(&self.order_path())
    }

    pub(in crate::adapters) fn write_order(&self, order: &Order) -> io::Result<()> {
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

    pub(in crate::adapters) fn lock_path(&self) -> PathBuf {
        self.path("lock")
    }

    /// Whether the lock's file is still the one that lies there.
    pub(in crate::adapters) fn is_lock(&self, lock: &File) -> bool {
        let there = fs::symlink_metadata(self.lock_path());
        lock.metadata().is_ok_and(|ours| there.is_ok_and(|there| FileId::of(&ours) == FileId::of(&there)))
    }

    /// Where this lock of theirs lies.
    pub(in crate::adapters) fn place(&self, lock: &File) -> Option<Place> {
        let (lock, folder) = (lock.metadata().ok()?, fs::metadata(&self.folder).ok()?);
        Some(Place { lock: FileId::of(&lock), folder: FileId::of(&folder) })
    }

    /// Whether that is the lock that lies here, and not only by a further name of it, as in a copy made of hard links.
    pub(super) fn is_at(&self, place: &Place) -> bool {
        self.names_of(place).is_some_and(|(folder, names)| folder || names == 1)
    }

    /// Whether the lock that lies here is that one by a further name.
    pub(super) fn is_linked_to(&self, place: &Place) -> bool {
        self.names_of(place).is_some_and(|(folder, names)| !folder && names > 1)
    }

    /// Where that is the lock that lies here: whether this is its folder, and how many names it has.
    fn names_of(&self, place: &Place) -> Option<(bool, u64)> {
        let lock = fs::symlink_metadata(self.lock_path()).ok().filter(|lock| FileId::of(lock) == place.lock)?;
        let folder = fs::metadata(&self.folder).is_ok_and(|folder| FileId::of(&folder) == place.folder);
        Some((folder, lock.nlink()))
    }

    /// The lock file, opened; made where it is missing.
    pub(in crate::adapters) fn open_lock(&self) -> io::Result<File> {
        let path = self.lock_path();
        files::open_own(&path, Text::Kept).map_err(|error| files::named(&path, &error))
    }

    /// Whether a supervisor holds the lock. Makes no file.
    pub(super) fn is_held(&self) -> bool {
        self.lock_to_watch().is_some_and(|lock| lock.is_held())
    }

    /// The lock as it is now, to watch, whatever becomes of its name; None where there is none.
    pub(super) fn lock_to_watch(&self) -> Option<WatchedLock> {
        files::open(&self.lock_path()).ok().map(WatchedLock)
    }

    /// Removes them all, the order first: what is left without it is nobody's run.
    pub(super) fn remove(&self) -> io::Result<()> {
        for ending in ["json", "started", "exit", "failed", "off", "lock"] {
            state_files::remove(&self.path(ending))?;
        }
        Ok(())
    }

    /// When the order was written.
    pub(super) fn modified(&self) -> Option<std::time::SystemTime> {
        ["json", "lock"].iter().find_map(|ending| fs::symlink_metadata(self.path(ending)).ok()?.modified().ok())
    }
}

/// A run's lock, opened to see whether it is held: also when its file is deleted meanwhile.
pub(super) struct WatchedLock(File);

impl WatchedLock {
    pub(super) fn is_held(&self) -> bool {
        // Shared: two that look at once do not see one another.
        match self.0.try_lock_shared() {
            Err(TryLockError::WouldBlock) => true,
            Ok(()) => {
                let _ = self.0.unlock();
                false
            }
            Err(TryLockError::Error(_)) => false,
        }
    }

    /// Whether it is still held after so long; looks now and then meanwhile.
    pub(super) fn is_held_after(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while self.is_held() {
            if Instant::now() >= end {
                return true;
            }
            thread::sleep(LOOK_EVERY);
        }
        false
    }

    /// Returns when no supervisor holds it.
    pub(super) fn wait_until_free(&self) {
        while self.0.lock_shared().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
        let _ = self.0.unlock();
    }
}

/// The names of all runs that left anything in the folder, in order.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = files::is_own_folder(folder).then(|| fs::read_dir(folder));
    let names = entries.into_iter().flatten().flatten().flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> = names
        .filter_map(|name| {
            let (name, ending) = name.to_str()?.rsplit_once('.')?;
            (!name.is_empty() && matches!(ending, "json" | "lock" | "started" | "exit" | "failed" | "off"))
                .then(|| name.to_owned())
        })
        .collect();
    names.sort();
    names.dedup();
    names
}
