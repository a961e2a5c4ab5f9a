//! How much is kept at most.
//!
//! Must not know: which texts may go.

use std::fs;

use super::{BESIDE, Kept, TEXT};

/// How many texts lie in the folder at most, and how many bytes they have together. What goes first are the oldest; what
/// somebody still has open, or has changed, stays all the same.
const MOST: Bounds = Bounds { texts: 1_000, bytes: 64 << 20 };

#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) texts: usize,
    pub(super) bytes: u64,
}

impl Kept {
    /// The name of the youngest of the texts that have to go, where there is too much.
    pub fn surplus(&self) -> Option<String> {
        self.beyond(MOST)
    }

    pub(super) fn beyond(&self, most: Bounds) -> Option<String> {
        let mut texts: Vec<(String, u64)> = Vec::new();
        for file in self.names() {
            let mut parts = file.split('.').skip(1);
            let (Some(name), Some(TEXT | BESIDE)) = (parts.next(), parts.next()) else { continue };
            let size = fs::symlink_metadata(self.folder.join(&file)).map_or(0, |found| found.len());
            texts.push((name.to_owned(), size));
        }
        let within = |texts: usize, bytes: u64, most: Bounds| texts <= most.texts && bytes <= most.bytes;
        let (mut left, mut bytes) = (texts.len(), texts.iter().map(|(_, size)| size).sum());
        if within(left, bytes, most) {
            return None;
        }
        // A quarter more at once: looking through all processes for each new one would cost more.
        let less = Bounds { texts: most.texts / 4 * 3, bytes: most.bytes / 4 * 3 };
        // They are named by the time at which they were displaced.
        texts.sort();
        let mut last = None;
        for (name, size) in texts {
            if within(left, bytes, less) {
                break;
            }
            (left, bytes) = (left - 1, bytes - size);
            last = Some(name);
        }
        last
    }
}
