//! Acknowledged changes that somebody took back, and the reports of them that are owed until one is on record: whoever finds
//! such a change may die before he has told anybody, and the next one tells it then. Rather twice than never.
//!
//! Must not know: who is told, and how.

use std::fs;
use std::io;

use super::lines::Line;
use super::{Found, Journal, Kept, OWED, Place, Reviewed};
use crate::adapters::files::{self, Text};
use crate::domain::ticket::Timestamp;
use crate::text::lineage::{SavedOver, saved_over};

impl Journal {
    /// Looks whether a text of somebody's has taken back what was acknowledged, up to an exchange that it came out of.
    pub(in super::super) fn meet(&mut self, theirs: &[u8], up_to: Option<&str>) -> Option<SavedOver> {
        self.miss(theirs, up_to);
        let made = self.made();
        let end = up_to.and_then(|name| made.iter().position(|m| m.name == name)).unwrap_or(made.len());
        let taken = saved_over(&made[..end], theirs)?;
        // Before the line: a mark too many costs a look.
        self.place.iter().for_each(Place::mark_owed);
        let _ = self.append(&told(&taken, true));
        self.took_back(taken.clone(), true);
        Some(taken)
    }

    /// Notes that the edit of an exchange was said to be done, although something else came out of it: this text holds it.
    pub(in super::super) fn acknowledge(&mut self, name: &str, text: &[u8]) {
        self.entry(name, |entry| entry.made.acknowledge(text));
        let line = self.entries.iter().find(|entry| entry.made.name == name).map(|e| Line::acknowledged(&e.made));
        let _ = line.and_then(Result::ok).map(|line| self.append(&line));
    }

    /// The text that had taken this back did not come into the file.
    pub(in super::super) fn withdraw(&mut self, taken: &SavedOver) {
        let Some(name) = taken.names.first() else { return };
        let _ = self.append(&Line::Withdrawn { name: name.clone() });
        self.not_taken_back(name);
        self.mark_what_is_owed();
    }

    pub(super) fn not_taken_back(&mut self, name: &str) {
        let Some(at) = self.owed.iter().position(|taken| taken.names.first().is_some_and(|n| n == name)) else {
            return;
        };
        let taken = self.owed.remove(at);
        self.entries.iter_mut().filter(|e| taken.names.contains(&e.made.name)).for_each(|e| e.made.told = false);
        self.lost.take_if(|lost| lost.names == taken.names);
    }

    /// Takes in a line that says what was taken back.
    pub(super) fn take_in_told(&mut self, names: Vec<String>, at: Timestamp, keys: Vec<String>, owed: bool) {
        let own = self.entries.iter().filter(|e| names.contains(&e.made.name)).all(|e| e.made.own);
        self.took_back(SavedOver { names, at, keys: keys.into_iter().collect(), own }, owed);
    }

    fn took_back(&mut self, taken: SavedOver, owed: bool) {
        self.entries.iter_mut().for_each(|e| e.made.told |= taken.names.contains(&e.made.name));
        if owed {
            self.owed.push(taken.clone());
        }
        // None of the keys is known any more.
        self.lost = (!taken.keys.is_empty()).then_some(taken);
    }

    /// What nobody is known to have been told.
    pub(in super::super) fn owed(&self) -> Vec<Found> {
        self.owed.iter().map(|taken| found(taken, taken.names.first().cloned())).collect()
    }

    /// The report of this name is on record.
    pub fn on_record(&mut self, name: &str) -> io::Result<()> {
        self.append(&Line::OnRecord { name: name.to_owned() })?;
        self.is_on_record(name);
        self.mark_what_is_owed();
        Ok(())
    }

    fn mark_what_is_owed(&self) {
        if self.owed.is_empty() {
            self.place.iter().for_each(|place| drop(fs::remove_file(place.owed())));
        }
    }

    pub(super) fn is_on_record(&mut self, name: &str) {
        self.owed.retain(|taken| taken.names.first().is_none_or(|n| n != name));
    }

    pub(super) fn look_for_lost(&mut self, reviewed: &mut Reviewed) {
        if let Ok(current) = files::read(&self.file) {
            self.meet(&current, None);
        }
        reviewed.found.append(&mut self.found);
        reviewed.found.extend(self.owed());
        if self.owed.is_empty() {
            self.mark_what_is_owed();
            reviewed.found.extend(self.lost.iter().map(|lost| found(lost, None)));
        }
    }

    /// All that was taken back, in lines, and the last exchange of it: before the requests that came after it, for with
    /// these it is the past.
    pub(super) fn told(&self) -> Option<(String, Vec<Line>)> {
        let made: Vec<_> = self.entries.iter().map(|entry| &entry.made).filter(|made| made.told).collect();
        let last = made.last()?;
        let names = made.iter().map(|made| made.name.clone()).collect();
        let mut lines: Vec<_> = self.owed.iter().map(|taken| told(taken, true)).collect();
        lines.push(Line::Told { names, at: last.at, keys: Vec::new(), owed: false });
        lines.extend(self.lost.iter().map(|lost| told(lost, false)));
        Some((last.name.clone(), lines))
    }

    /// Whether a report of this exchange is owed.
    pub(super) fn is_owed(&self, name: &str) -> bool {
        self.owed.iter().any(|taken| taken.names.iter().any(|n| n == name))
    }
}

impl Place {
    fn owed(&self) -> std::path::PathBuf {
        self.folder.join(format!("{}.{OWED}", self.stem))
    }

    fn mark_owed(&self) {
        let _ = files::own_folder(&self.folder).and_then(|()| files::open_own(&self.owed(), Text::Replaced).map(drop));
    }
}

impl Kept {
    /// The files of which a report is owed.
    pub fn owing(&self) -> Vec<std::path::PathBuf> {
        self.files_where(|name| name.strip_suffix(OWED).is_some_and(|stem| stem.ends_with('.')))
    }
}

fn told(taken: &SavedOver, owed: bool) -> Line {
    let SavedOver { names, at, keys, .. } = taken.clone();
    Line::Told { names, at, keys: keys.into_iter().collect(), owed }
}

fn found(taken: &SavedOver, debt: Option<String>) -> Found {
    let SavedOver { at, keys, own, .. } = taken.clone();
    Found::SavedOver { keys: keys.into_iter().collect(), at, own, debt }
}
