//! The store for as long as a process lives: opened at its first use, and opened anew when the file was taken away or
//! could not be opened before. So a command that keeps no history does not pay for it, and a daemon that started on a
//! full disk goes on by itself.
//!
//! Must not know: what is stored.

use std::cell::RefCell;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::SqliteStore;
use crate::adapters::files::FileId;
use crate::domain::engine::{LastSeen, Record};
use crate::domain::ledger::SavedLedger;
use crate::domain::ticket::{TicketId, Timestamp};
use crate::ports::{Query, Recorded, Store, StoreError, Stored};

/// The store in the file at one path.
#[derive(Debug)]
pub struct LastingStore {
    path: PathBuf,
    opened: RefCell<Option<Opened>>,
}

#[derive(Debug)]
struct Opened {
    store: SqliteStore,
    /// Device and inode of the file that was opened.
    file: Option<FileId>,
}

impl LastingStore {
    /// The store at this path; nothing is opened or made yet.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf(), opened: RefCell::new(None) }
    }

    /// Whether it can be opened, and what is in it is whole; one that is not there yet is.
    pub fn check(&self) -> Result<(), StoreError> {
        self.read(SqliteStore::check)
    }

    fn with<T>(&self, work: impl FnOnce(&mut SqliteStore) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut opened = self.opened.borrow_mut();
        // A store whose file was deleted or replaced would write into nothing.
        let current = opened.take().filter(|opened| opened.file.is_some() && opened.file == file(&self.path));
        let opened = if let Some(current) = current {
            opened.insert(current)
        } else {
            let store = SqliteStore::open(&self.path)?;
            opened.insert(Opened { store, file: file(&self.path) })
        };
        work(&mut opened.store)
    }

    /// Where nothing was ever kept, reading makes no file.
    fn read<T: Default>(&self, work: impl FnOnce(&SqliteStore) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if fs::symlink_metadata(&self.path).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Ok(T::default());
        }
        self.with(|store| work(store))
    }
}

fn file(path: &Path) -> Option<FileId> {
    fs::metadata(path).ok().map(|found| FileId::of(&found))
}

impl Store for LastingStore {
    fn append(&mut self, records: &[Record]) -> Result<i64, StoreError> {
        self.with(|store| store.append(records))
    }

    fn records(&self, query: &Query) -> Result<Vec<Stored>, StoreError> {
        self.read(|store| store.records(query))
    }

    fn ledger(&self) -> Result<SavedLedger, StoreError> {
        self.read(Store::ledger)
    }

    fn save_ledger(&mut self, ledger: &SavedLedger) -> Result<(), StoreError> {
        self.with(|store| store.save_ledger(ledger))
    }

    fn last_seen(&self) -> Result<Option<Recorded>, StoreError> {
        self.read(Store::last_seen)
    }

    fn save_seen(&mut self, seen: &[(TicketId, Option<LastSeen>)], at: Timestamp) -> Result<(), StoreError> {
        self.with(|store| store.save_seen(seen, at))
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::domain::engine::RecordKind;
    use crate::domain::sample::at;

    fn record() -> Record {
        Record { kind: RecordKind::Inbox, at: at(0), ticket: None, data: serde_json::json!({}) }
    }

    fn kept(store: &LastingStore) -> usize {
        store.records(&Query::default()).unwrap().len()
    }

    #[test]
    fn reading_makes_no_file_and_writing_does() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("deep/store.sqlite");
        let mut store = LastingStore::new(&path);
        assert_eq!(
            (kept(&store), store.ledger().unwrap(), store.last_seen().unwrap()),
            (0, SavedLedger::default(), None)
        );
        assert!(!path.exists());
        store.append(&[record()]).unwrap();
        assert_eq!(kept(&store), 1);
        store.check().unwrap();
    }

    #[test]
    fn a_file_that_is_taken_away_or_could_not_be_opened_is_opened_anew() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("store.sqlite");
        fs::write(&path, "no store at all, but long enough to be looked at").unwrap();
        let mut store = LastingStore::new(&path);
        assert!(store.append(&[record()]).is_err());
        assert!(fs::read(&path).unwrap().starts_with(b"no store"), "it stays as it is");
        fs::remove_file(&path).unwrap();
        store.append(&[record(), record()]).unwrap();
        for beside in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{beside}", path.display()));
        }
        store.append(&[record()]).unwrap();
        assert_eq!(
            (kept(&store), kept(&LastingStore::new(&path))),
            (1, 1),
            "what was kept before is gone with its file"
        );
    }
}
