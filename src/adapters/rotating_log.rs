//! The daemon's own log: it grows to a bound, then the file before it is replaced (FAULTS kind 15).
//!
//! Must not know: what is logged.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::files::{self, Text};

/// From this size on the log is set aside, replacing the one set aside before it.
pub const LARGEST: u64 = 5 << 20;

/// A log file that several threads write to, a line at a time.
pub struct RotatingLog {
    path: PathBuf,
    largest: u64,
    open: Mutex<Option<Open>>,
}

struct Open {
    file: File,
    size: u64,
}

impl RotatingLog {
    /// The log at this path. It is opened at the first line, and again when that was not possible.
    pub fn new(path: &Path) -> Self {
        Self::bounded(path, LARGEST)
    }

    fn bounded(path: &Path, largest: u64) -> Self {
        Self { path: path.to_path_buf(), largest, open: Mutex::new(None) }
    }

    /// Sets a log aside that has become too large.
    pub fn set_aside(path: &Path, largest: u64) {
        if fs::metadata(path).is_ok_and(|found| found.len() > largest) {
            let _ = fs::rename(path, path.with_extension("log.1"));
        }
    }

    fn append(&self, line: &[u8]) -> io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.as_ref().is_some_and(|open| open.size > self.largest) {
            *open = None;
        }
        let mut current = if let Some(current) = open.take() {
            current
        } else {
            Self::set_aside(&self.path, self.largest);
            let file = files::open_own(&self.path, Text::Extended)?;
            Open { size: file.metadata()?.len(), file }
        };
        current.file.write_all(line)?;
        current.size += line.len() as u64;
        *open = Some(current);
        Ok(())
    }
}

impl Write for &RotatingLog {
    /// A line that cannot be written (the disk is full) is lost: nobody is stopped by a log.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let _ = self.append(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn the_log_and_the_one_before_it_stay_within_their_bound() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("daemon.log");
        let log = RotatingLog::bounded(&path, 1000);
        for n in 0..200 {
            (&log).write_all(format!("line {n} {}\n", "x".repeat(40)).as_bytes()).unwrap();
        }
        let size = |path: &Path| fs::metadata(path).unwrap().len();
        assert!(size(&path) <= 1060 && size(&path.with_extension("log.1")) <= 1060);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        assert!(fs::read_to_string(&path).unwrap().contains("line 199 "));
    }

    #[test]
    fn a_log_that_cannot_be_written_stops_nobody_and_is_tried_again() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("daemon.log");
        fs::create_dir(&path).unwrap();
        let log = RotatingLog::new(&path);
        (&log).write_all(b"lost\n").unwrap();
        fs::remove_dir(&path).unwrap();
        (&log).write_all(b"kept\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "kept\n");
    }
}
