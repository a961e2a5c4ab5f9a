//! The later look at what was displaced: whoever had a text open goes on writing into it, and what comes of that is
//! merged, or kept and reported; a text that nobody has open, and that has not changed for long, goes.
//!
//! Must not know: tickets, the daemon; what becomes of a text (`text::lineage` says it).

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::TimeDelta;

use super::super::files;
use super::super::{fault, swap};
use super::lines::Line;
use super::look::{REST, is_same_file, rested};
use super::looking::{Found, Looking, Reviewed};
use super::{CONFLICT, Entry, Journal, Look};
use crate::domain::ticket::Digest;
use crate::domain::ticket::Timestamp;
use crate::text::lineage::{Later, edited_keys, judge};
use crate::text::merge::holds_all_lines;

/// How long a displaced text is kept at least.
const KEPT_FOR: TimeDelta = TimeDelta::minutes(10);
/// How many of one file are kept; beyond that the oldest go that nobody has open and that have not changed.
const MOST: usize = 64;
/// A writer has finished when it has been quiet for this long, or for the shorter time and has closed the file.
const QUIET: Duration = Duration::from_secs(2);
const QUIET_AND_CLOSED: Duration = Duration::from_millis(200);
/// Why a text is kept that was once in the ticket.
const NOT_SEEN: &str = "it was saved over by somebody who had perhaps not seen it";
/// Half a text is waited for so long.
const UNFINISHED: Duration = Duration::from_mins(1);

impl Journal {
    /// Looks at everything that was displaced, and at what became of acknowledged changes. The caller holds the ticket's
    /// lock.
    pub fn review(&mut self, looking: &Looking) -> Reviewed {
        let mut reviewed = Reviewed { found: self.take_found(), again_in: None };
        let there: Vec<(String, PathBuf)> =
            self.entries.iter().filter_map(|e| Some((e.made.name.clone(), self.locate(e)?))).collect();
        let mut surplus = there.len().saturating_sub(MOST);
        // Half of them at once: looking through all processes for each new one would cost more.
        surplus += if surplus > 0 { MOST / 2 } else { 0 };
        for (n, (name, path)) in there.iter().enumerate() {
            let Some(entry) = self.entries.iter().find(|entry| entry.made.name == *name).cloned() else { continue };
            // An error leaves the text where it is; the next look sees it again.
            if self.look_at(entry, path, n < surplus, looking, &mut reviewed).is_err() {
                reviewed.again(Duration::from_mins(1));
            }
        }
        self.put_away();
        self.look_for_lost(&mut reviewed);
        self.sift(looking.now);
        reviewed
    }

    fn look_at(
        &mut self,
        mut entry: Entry,
        path: &Path,
        surplus: bool,
        looking: &Looking,
        reviewed: &mut Reviewed,
    ) -> io::Result<()> {
        let name = entry.made.name.clone();
        let out = match entry.out {
            Some(out) => out,
            None => match self.find_out(&entry, path)? {
                Some(out) => out,
                None => return Ok(()),
            },
        };
        entry.out = Some(out);
        let age = looking.now - entry.made.at;
        // What somebody else wrote is perhaps nowhere else, or will not be for long: it stays as long as there is room.
        let surplus = surplus && !entry.is_theirs() || looking.is_surplus(&name);
        // Who has it open is looked up after the look has begun: of what was displaced later it says nothing.
        let due = surplus && age > TimeDelta::zero() || age >= KEPT_FOR;
        let known = entry.made.known();
        if !due && out.digest == known && (out.size, out.written) == Look::times(path)? {
            reviewed.again(next_look(age));
            return Ok(());
        }
        let (bytes, look) = if looking.last { rested(path)? } else { Look::at(path)? };
        if look.digest != known {
            return self.changed(&entry, path, (&bytes, look), looking, reviewed);
        }
        if look != out {
            self.came_out(&name, look);
        }
        if !due || looking.is_open(path) {
            reviewed.again(next_look(age));
        } else if Look::times(path)? == (look.size, look.written) {
            reviewed.found.extend(self.let_go(&entry, path, &bytes)?);
        } else {
            reviewed.again(Duration::from_secs(1));
        }
        Ok(())
    }

    /// A text goes that nothing more is to be done about: unless it is somebody else's, and lines of it are not in the
    /// ticket.
    fn let_go(&mut self, entry: &Entry, path: &Path, bytes: &[u8]) -> io::Result<Option<Found>> {
        if entry.is_theirs()
            && let Ok(current) = files::read_whole(&self.file)
            && !holds_all_lines(&current, bytes, &self.edited_keys())
        {
            return self.set_aside(entry, path, NOT_SEEN).map(Some);
        }
        self.forget(entry);
        Ok(None)
    }

    /// A crash came between the two lines of an exchange. What lies there is our own text, and the exchange was not made,
    /// or what came out.
    fn find_out(&mut self, entry: &Entry, path: &Path) -> io::Result<Option<Look>> {
        let (_, look) = Look::at(path)?;
        let is_ours = look.digest == entry.made.placed && look.digest != entry.made.expected;
        // A second name of the file that is still in its place: it was to be renamed over.
        if is_ours || is_same_file(path, &self.file) {
            self.forget(entry);
            self.void(&entry.made.name);
            return Ok(None);
        }
        self.came_out(&entry.made.name, look);
        Ok(Some(look))
    }

    /// Somebody has written into the displaced text.
    fn changed(
        &mut self,
        entry: &Entry,
        path: &Path,
        (bytes, look): (&[u8], Look),
        looking: &Looking,
        reviewed: &mut Reviewed,
    ) -> io::Result<()> {
        let quiet = look.quiet_for();
        let not_yet = if looking.last { REST } else { QUIET_AND_CLOSED };
        if quiet < QUIET && (quiet < not_yet || looking.is_open(path)) {
            reviewed.again(QUIET_AND_CLOSED);
            return Ok(());
        }
        let current = match files::read_whole(&self.file) {
            Ok(current) => current,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let name = &entry.made.name;
        match judge(&self.made(), name, bytes, &current) {
            Later::AlreadyThere => self.dealt_with(name, look),
            Later::Merge(text, edits) => {
                fault::delay("before-merge");
                if swap::replace(self, name, (bytes, &current, &text), edits)? {
                    self.came_out(name, look);
                    reviewed.found.push(Found::Merged);
                } else if path.exists() {
                    let why = "the ticket's file was saved by somebody else at the same moment";
                    reviewed.found.push(self.set_aside(entry, path, why)?);
                }
            }
            Later::Unfinished(_) if quiet < UNFINISHED || looking.last => {}
            Later::Unfinished(_) if bytes.trim_ascii().is_empty() => self.dealt_with(name, look),
            Later::Conflict(why) | Later::Unfinished(why) => {
                reviewed.found.push(self.set_aside(entry, path, &why)?);
            }
        }
        reviewed.again(Duration::from_secs(1));
        Ok(())
    }

    fn dealt_with(&mut self, name: &str, look: Look) {
        let _ = self.append(&Line::DealtWith { name: name.to_owned(), digest: look.digest.0 });
        self.entry(name, |entry| entry.made.dealt_with = Some(look.digest));
        self.came_out(name, look);
    }

    /// Keeps a text for good, under a name that says why it is there.
    pub(super) fn set_aside(&mut self, entry: &Entry, path: &Path, why: &str) -> io::Result<Found> {
        fault::delay("before-keep");
        let kept = self.keep_for_good(path, &entry.made.name, entry.beside.with_extension(CONFLICT))?;
        self.forget(entry);
        Ok(Found::Conflict { kept, why: why.to_owned() })
    }

    /// Whoever wrote this text had perhaps not seen what somebody else had written: for a moment it was not in the file,
    /// because ours was in its place. What is missing here is kept for good.
    pub(super) fn miss(&mut self, theirs: &[u8], up_to: Option<&str>) {
        if self.entries.last().is_none_or(|last| last.made.placed == Digest::of(theirs)) {
            return;
        }
        let before = |entry: &&Entry| up_to.is_none_or(|name| entry.made.name != *name);
        let there: Vec<_> = self.entries.iter().take_while(before).filter(|entry| entry.is_theirs()).cloned().collect();
        let edited = self.edited_keys();
        for entry in there {
            let Some(path) = self.locate(&entry) else { continue };
            let Ok((bytes, look)) = Look::at(&path) else { continue };
            // What is not dealt with yet has its own way.
            if look.digest == entry.made.known() && !holds_all_lines(theirs, &bytes, &edited) {
                let found = self.set_aside(&entry, &path, NOT_SEEN);
                self.found.extend(found);
            }
        }
    }

    /// The keys that yoi has edited lately.
    pub(in super::super) fn edited_keys(&self) -> BTreeSet<String> {
        edited_keys(&self.made())
    }

    /// What came to light outside a look.
    pub(in super::super) fn take_found(&mut self) -> Vec<Found> {
        std::mem::take(&mut self.found)
    }

    /// One more look before the end, at what this process has displaced and will not watch any longer. What cannot be
    /// dealt with is left beside the file, and named.
    pub(in super::super) fn last_look(&mut self, now: Timestamp) -> Vec<Found> {
        let mut found = self.review(&Looking::last(now)).found;
        if self.place.is_none() {
            for entry in self.entries.clone() {
                let Some(path) = self.locate(&entry) else { continue };
                let left = match Look::at(&path) {
                    Ok((bytes, look)) if look.digest == entry.made.known() => self.let_go(&entry, &path, &bytes),
                    _ => {
                        let why = "somebody was still writing into it".to_owned();
                        Ok(Some(Found::Conflict { kept: path, why }))
                    }
                };
                found.extend(left.ok().flatten());
            }
        }
        found
    }
}

/// Soon in the beginning, when an editor may still be saving; at last when it may go.
fn next_look(age: TimeDelta) -> Duration {
    let seconds = match age.num_seconds() {
        ..10 => 1,
        10..60 => 5,
        _ => 60,
    };
    let left = (KEPT_FOR - age).to_std().unwrap_or(Duration::from_mins(1));
    Duration::from_secs(seconds).min(left + Duration::from_millis(1))
}
