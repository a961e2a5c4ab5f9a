//! The log that a program's output goes to: whether it still grows, and that it does not fill the disk (FAULTS kind 15).
//!
//! The program writes into the file itself, not into a pipe that would break with the daemon. So the file is cut
//! where it lies: whoever appends goes on at the new end.
//!
//! Must not know: what is written; why somebody asks.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// From this size on the middle is cut out.
const LARGEST: u64 = 4 << 20;
/// How much of the beginning, and of the end, stays.
const KEPT: usize = 512 << 10;
/// How much of the end is looked at for what the program said last.
const TAIL: u64 = 8 << 10;
/// How soon to look again at a log that grows fast, and at one that does not.
const SOONEST: Duration = Duration::from_millis(250);
const LATEST: Duration = Duration::from_secs(2);

/// The log of one running program.
pub(super) struct Output {
    file: File,
    /// Size and time of the last change.
    mark: (u64, i64, i64),
    /// By this process's own clock: a wall clock that jumps stalls nobody.
    changed: Instant,
    /// Size when it was last bounded, and how soon to look again.
    size: u64,
    again: Duration,
}

impl Output {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let mark = Self::mark(&file)?;
        Ok(Self { file, mark, changed: Instant::now(), size: mark.0, again: SOONEST })
    }

    /// The file itself.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// What was written last.
    pub(super) fn tail(&self) -> String {
        let size = self.file.metadata().map_or(0, |found| found.size());
        let mut text = vec![0; usize::try_from(size.min(TAIL)).unwrap_or_default()];
        let read = self.file.read_exact_at(&mut text, size.saturating_sub(TAIL));
        if read.is_ok() { String::from_utf8_lossy(&text).into_owned() } else { String::new() }
    }

    fn mark(file: &File) -> io::Result<(u64, i64, i64)> {
        file.metadata().map(|found| (found.size(), found.mtime(), found.mtime_nsec()))
    }

    /// For how long nothing was written.
    pub(super) fn quiet_for(&mut self) -> Duration {
        if let Ok(mark) = Self::mark(&self.file)
            && mark != self.mark
        {
            self.mark = mark;
            self.changed = Instant::now();
        }
        self.changed.elapsed()
    }

    /// How soon [`Output::bound`] should be called again: seldom while little is written.
    pub(super) fn look_again(&self) -> Duration {
        self.again
    }

    /// Cuts the middle out of a log that has become too large. What is written in that moment may be lost with it.
    pub(super) fn bound(&mut self) {
        let Ok(size) = self.file.metadata().map(|found| found.size()) else { return };
        let fast = size.saturating_sub(self.size) > LARGEST / 64;
        self.again = if fast { SOONEST } else { (self.again * 2).min(LATEST) };
        self.size = size;
        if size > LARGEST
            && let Ok(left) = self.cut(size)
        {
            self.size = left;
        }
    }

    fn cut(&self, size: u64) -> io::Result<u64> {
        let mut end = vec![0; KEPT];
        self.file.read_exact_at(&mut end, size - KEPT as u64)?;
        let dropped = size - 2 * KEPT as u64;
        let mut text = format!("\n[... yoi cut {dropped} bytes out of this log ...]\n").into_bytes();
        text.append(&mut end);
        self.file.write_all_at(&text, KEPT as u64)?;
        let left = (KEPT + text.len()) as u64;
        self.file.set_len(left)?;
        Ok(left)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn beginning_and_end_of_a_large_log_stay_and_the_writer_goes_on() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log");
        let mut writer = OpenOptions::new().append(true).create(true).open(&path).unwrap();
        let mut output = Output::of(&path).unwrap();
        for round in 0..3 {
            writer.write_all(b"begin").unwrap();
            writer.write_all(&vec![b'x'; 6 << 20]).unwrap();
            writer.write_all(b"end").unwrap();
            output.bound();
            let text = fs::read(&path).unwrap();
            assert!(text.starts_with(b"begin") && text.ends_with(b"end"), "round {round}");
            assert!(text.len() < 2 * KEPT + 100 && !text.contains(&0));
            assert_eq!(output.look_again(), SOONEST);
        }
        writer.write_all(b"more").unwrap();
        assert!(fs::read(&path).unwrap().ends_with(b"endmore"));
    }

    #[test]
    fn a_log_in_bounds_stays_as_it_is_and_is_seldom_looked_at() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, vec![b'x'; 8 * KEPT]).unwrap();
        let mut output = Output::of(&path).unwrap();
        for _ in 0..20 {
            output.bound();
        }
        assert_eq!((output.look_again(), fs::metadata(&path).unwrap().len()), (LATEST, LARGEST));
    }
}
