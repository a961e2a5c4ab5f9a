//! Keeps a journal short.
//!
//! Must not know: what a line says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};

use super::lines::Line;
use super::{Entry, Journal, OPEN_FOR};
use crate::domain::ticket::Timestamp;

/// The journal's lines are sifted when there are more.
const MANY_LINES: usize = 600;
/// How many exchanges are remembered of one file at least, if they are not too old.
const REMEMBERED: usize = 200;

impl Journal {
    /// Leaves out what is too old to matter, once there is much of it.
    pub(super) fn sift(&mut self, now: Timestamp) {
        let Some(place) = self.place.clone() else { return };
        let old = |entry: &Entry| now - entry.made.at > OPEN_FOR;
        let some_old = self.entries.iter().any(|entry| old(entry) && self.locate(entry).is_none());
        if self.lines <= MANY_LINES && !some_old {
            return;
        }
        let surplus = self.entries.len().saturating_sub(REMEMBERED);
        let texts: BTreeMap<String, bool> =
            self.entries.iter().map(|e| (e.made.name.clone(), self.locate(e).is_some())).collect();
        // From the oldest text on everything counts: what came of it is found by what followed.
        let first_text = self.entries.iter().position(|e| texts[&e.made.name]).unwrap_or(self.entries.len());
        let owed: BTreeSet<String> =
            self.entries.iter().map(|e| e.made.name.clone()).filter(|name| self.is_owed(name)).collect();
        let mut n = 0;
        self.entries.retain(|entry| {
            n += 1;
            n > first_text || (n > surplus && !old(entry)) || owed.contains(&entry.made.name)
        });
        if self.entries.is_empty() {
            let _ = fs::remove_file(place.journal());
            return;
        }
        if let Ok(lines) = self.rewritten() {
            self.lines = lines;
        }
    }

    pub(super) fn rewritten(&self) -> io::Result<usize> {
        let Some(place) = &self.place else { return Ok(self.lines) };
        let mut temporary = tempfile::Builder::new().prefix(".new-").tempfile_in(&place.folder)?;
        let mut lines = 0;
        let told = self.told();
        for entry in &self.entries {
            let told = told.iter().filter(|(last, _)| *last == entry.made.name).flat_map(|(_, lines)| lines);
            for line in Line::of(entry, &self.file)?.iter().chain(told) {
                temporary.write_all(&serde_json::to_vec(line)?)?;
                temporary.write_all(b"\n")?;
                lines += 1;
            }
        }
        temporary.persist(place.journal()).map_err(|failed| failed.error)?;
        Ok(lines)
    }
}
