//! Kernel locks: one file a ticket in the state folder, and the lock on a directory while a file in it is exchanged.
//!
//! A lock is the kernel's: it ends with its holder, whatever happens to it. Must not know: tickets' contents.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::files::{self, Text};
use crate::domain::ticket::{Digest, TicketId};

/// Nobody holds one of these locks for longer than a few writes take; but its holder may have been suspended.
pub const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(2);
/// Longer names go by their hash.
const MAX_NAME: usize = 200;

/// A held lock; dropping it releases it.
#[derive(Debug)]
pub struct Held {
    _file: File,
}

/// The folder that holds the lock files of one workspace's tickets.
#[derive(Clone, Debug)]
pub struct TicketLocks {
    folder: PathBuf,
    patience: Duration,
}

impl TicketLocks {
    /// The folder is made when the first lock is taken.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), patience: PATIENCE }
    }

    /// Locks are waited for so long, and not 10 s.
    #[must_use]
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// How long a lock is waited for.
    pub(super) fn waits(&self) -> Duration {
        self.patience
    }

    /// Waits for the ticket's lock; an error of the kind `TimedOut` where another process holds it for longer.
    pub fn lock(&self, id: &TicketId) -> io::Result<Held> {
        files::own_folder(&self.folder)?;
        let path = self.folder.join(file_name(id));
        let file = files::open_own(&path, Text::Kept).map_err(|error| files::named(&path, &error))?;
        wait(file, &path, self.patience)
    }
}

/// Locks a directory itself, so that no file is needed; None where the file system cannot.
pub(super) fn lock_directory(path: &Path, patience: Duration) -> io::Result<Option<Held>> {
    match wait(File::open(path)?, path, patience) {
        Ok(held) => Ok(Some(held)),
        Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(error),
        Err(_) => Ok(None),
    }
}

/// Waits for the lock on an open file, but not for longer than this.
pub(super) fn wait(file: File, path: &Path, patience: Duration) -> io::Result<Held> {
    let until = Instant::now() + patience;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Held { _file: file }),
            Err(TryLockError::Error(error)) => return Err(files::named(path, &error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                let held = format!("{}.{} s", patience.as_secs(), patience.subsec_millis() / 100);
                let message = format!("{}: another process holds this lock, and has for {held}", path.display());
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
    }
}

/// Any id as a file name: letters, digits, `-`, `_` and inner dots stay, other bytes become `%XX`.
fn file_name(id: &TicketId) -> String {
    let mut name = String::with_capacity(id.as_str().len() + 5);
    for (n, byte) in id.as_str().bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            b'.' if n > 0 => name.push('.'),
            _ => name.extend(format!("%{byte:02X}").chars()),
        }
    }
    if name.len() > MAX_NAME {
        let bytes = id.as_str().as_bytes();
        name = format!("={:016x}{:016x}", Digest::of(bytes).0, Digest::of(b"yoi").and(bytes).0);
    }
    name + ".lock"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_id_is_a_legal_and_distinct_file_name() {
        let name = |id: &str| file_name(&id.into());
        assert_eq!(name("task-1.2"), "task-1.2.lock");
        assert_eq!(name("../x y"), "%2E.%2Fx%20y.lock");
        assert_eq!(name("ü%"), "%C3%BC%25.lock");
        assert_eq!(name(""), ".lock");
        assert!(name(&"ü".repeat(100)).len() < 50);
        assert_ne!(name(&"ü".repeat(100)), name(&"ü".repeat(101)));
    }

    #[test]
    fn a_lock_is_held_until_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let locks = TicketLocks::new(folder.path().join("locks"));
        let held = locks.lock(&"a".into()).unwrap();
        let other = locks.lock(&"b".into()).unwrap();
        let path = folder.path().join("locks/a.lock");
        assert!(matches!(File::open(&path).unwrap().try_lock(), Err(TryLockError::WouldBlock)));
        drop(held);
        assert!(File::open(&path).unwrap().try_lock().is_ok());
        drop(other);
    }
}
