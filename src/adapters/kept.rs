//! What yoi's writes displaced, and a journal of them: one file of lines for each ticket's file, in the state folder, with
//! the displaced texts beside it. Read and written under the ticket's lock. DESIGN.md 2.3.
//!
//! A line is written before an exchange is made, and one after it; so whatever a crash leaves can be told apart. Must not
//! know: what becomes of a displaced text (`text::lineage` says it), the daemon.

mod bounds;
mod leftovers;
mod lines;
mod look;
mod looking;
mod openness;
mod owed;
mod places;
mod review;
mod sifting;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use self::lines::Line;
use super::files::{self, Text};
use crate::domain::ticket::Digest;
use crate::text::lineage::{Made, SavedOver};

pub(super) use self::look::{Look, is_same_file, returned, settled};
pub use self::looking::{Found, Looking, Reviewed};
pub use self::openness::Openness;

/// How long an exchange is remembered: so long may an editor have had the text open that it saves.
pub const OPEN_FOR: chrono::TimeDelta = chrono::TimeDelta::hours(4);
/// The folder's texts end with this; those that could not be brought together with their ticket with the other.
const TEXT: &str = "text";
const CONFLICT: &str = "conflict";
/// An empty file that says that the text lies beside its ticket, on another file system.
const BESIDE: &str = "beside";
/// And one that says that somebody has to be told of something that was taken back.
const OWED: &str = "owed";

/// The folder of displaced texts.
#[derive(Clone, Debug)]
pub struct Kept {
    folder: PathBuf,
}

/// One exchange, and where what it displaced lies.
#[derive(Clone, Debug)]
struct Entry {
    made: Made,
    /// The hidden file beside the ticket.
    beside: PathBuf,
    /// What came out; None: nobody knows whether the exchange was made.
    out: Option<Look>,
    /// What the text that this exchange is made of was last dealt with as, before it.
    before: Option<Digest>,
}

impl Entry {
    /// Somebody else's words were in the displaced text, and perhaps nowhere else for a moment.
    fn is_theirs(&self) -> bool {
        !self.made.settled || self.made.dealt_with.is_some()
    }
}

/// All that is remembered of one ticket's file.
#[derive(Debug)]
pub struct Journal {
    /// None: nothing outlives this process.
    place: Option<Place>,
    /// The ticket's file, symlinks resolved.
    pub(super) file: PathBuf,
    entries: Vec<Entry>,
    /// Acknowledged changes that were taken back, until the next request.
    lost: Option<SavedOver>,
    /// Those of which nobody is known to have been told.
    owed: Vec<SavedOver>,
    /// What came to light outside a look.
    found: Vec<Found>,
    lines: usize,
}

#[derive(Clone, Debug)]
struct Place {
    folder: PathBuf,
    stem: String,
}

/// The files of which something is remembered.
pub struct Known {
    stems: BTreeSet<String>,
}

impl Known {
    /// Whether this file (symlinks resolved) is one of them.
    pub fn has(&self, file: &Path) -> bool {
        !self.is_empty() && self.stems.contains(&stem(file))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.stems.is_empty()
    }
}

impl Kept {
    /// In this folder; it is made when the first text is kept.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The journal of a ticket's file (symlinks resolved).
    pub fn journal(&self, file: &Path) -> io::Result<Journal> {
        let place = Place { folder: self.folder.clone(), stem: stem(file) };
        Journal::read(place, file)
    }

    /// The files of which anything is remembered, as they are now.
    pub fn known(&self) -> Known {
        let stem = |name: String| name.strip_suffix(".journal").map(str::to_owned);
        Known { stems: self.names().into_iter().filter_map(stem).collect() }
    }

    /// The files of which displaced texts are kept; of all that are remembered with `all`.
    pub fn files(&self, all: bool) -> Vec<PathBuf> {
        let is_text = |name: &str| name.ends_with(&format!(".{TEXT}")) || name.ends_with(&format!(".{BESIDE}"));
        self.files_where(|name| all || is_text(name))
    }

    fn files_where(&self, is_one: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let stem = |name: String| name.split_once('.').map(|(stem, _)| stem.to_owned());
        let mut stems: Vec<_> = self.names().into_iter().filter(|name| is_one(name)).filter_map(stem).collect();
        stems.sort();
        stems.dedup();
        let journal = |stem: String| Journal::file_of(&Place { folder: self.folder.clone(), stem });
        stems.into_iter().filter_map(journal).collect()
    }

    fn names(&self) -> Vec<String> {
        let entries = files::is_own_folder(&self.folder).then(|| fs::read_dir(&self.folder));
        let entries = entries.into_iter().flatten().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }
}

/// A name for each file: readable where that is possible, and distinct.
fn stem(file: &Path) -> String {
    let bytes = file.as_os_str().as_encoded_bytes();
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).take(60).collect();
    format!("{plain}={:016x}{:08x}", Digest::of(bytes).0, Digest::of(b"yoi").and(bytes).0 >> 32)
}

impl Journal {
    /// Of a file that nothing is to be remembered of after this process.
    pub fn passing(file: &Path) -> Self {
        let (file, entries, found) = (file.to_owned(), Vec::new(), Vec::new());
        Self { place: None, file, entries, lost: None, owed: Vec::new(), found, lines: 0 }
    }

    fn read(place: Place, file: &Path) -> io::Result<Self> {
        let mut journal = Self::passing(file);
        match files::read_whole(&place.journal()) {
            Ok(text) => text.split(|byte| *byte == b'\n').for_each(|line| journal.take_in(line)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(files::named(&place.journal(), &error)),
        }
        journal.place = Some(place);
        Ok(journal)
    }

    /// The file that a journal is about.
    fn file_of(place: &Place) -> Option<PathBuf> {
        let text = files::read_whole(&place.journal()).ok()?;
        text.split(|byte| *byte == b'\n').find_map(|line| match serde_json::from_slice(line) {
            Ok(Line::Made { file, .. }) => Some(file.into()),
            _ => None,
        })
    }

    /// A line that cannot be read was not written to its end: what it would have said is found out by looking.
    fn take_in(&mut self, line: &[u8]) {
        let Ok(line) = serde_json::from_slice(line) else { return };
        self.lines += 1;
        match line {
            Line::Made { made, beside, .. } => self.add(made.into(), beside.into()),
            Line::Out { name, digest, size, written, settled } => {
                let written = i128::from(written);
                self.entry(&name, |entry| {
                    entry.out = Some(Look { digest: Digest(digest), size, written });
                    entry.made.settled = settled;
                });
            }
            Line::Void { name } => self.take_out(&name),
            Line::DealtWith { name, digest } => {
                self.entry(&name, |entry| entry.made.dealt_with = Some(Digest(digest)));
            }
            Line::Acknowledged { name, edits } => {
                self.entry(&name, |entry| {
                    entry.made.acknowledged = true;
                    entry.made.edits = lines::read_edits(&edits);
                });
            }
            Line::Told { names, at, keys, owed } => self.take_in_told(names, at, keys, owed),
            Line::Withdrawn { name } => self.not_taken_back(&name),
            Line::OnRecord { name } => self.is_on_record(&name),
        }
    }

    fn add(&mut self, made: Made, beside: PathBuf) {
        let mut before = None;
        if let Some(followed) = made.follows.clone() {
            self.entry(&followed, |entry| before = entry.made.dealt_with.replace(made.base));
        }
        if !made.edits.is_empty() && !made.own {
            self.lost = None;
        }
        self.entries.push(Entry { made, beside, out: None, before });
    }

    fn entry(&mut self, name: &str, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.made.name == name) {
            change(entry);
        }
    }

    /// Notes that an exchange is about to be made. An error means that it must not be.
    pub(super) fn begin(&mut self, made: Made, beside: &Path) -> io::Result<()> {
        let line = Line::made(&made, &self.file, beside)?;
        self.append(&line)?;
        self.add(made, beside.to_owned());
        Ok(())
    }

    /// Notes what came out. That this may fail on a full disk is no loss: it is found out by looking.
    pub(super) fn came_out(&mut self, name: &str, look: Look) {
        let mut settled = false;
        self.entry(name, |entry| {
            // Later looks say what has become of the text, and nothing about the exchange.
            entry.made.settled |= entry.out.is_none() && look.digest == entry.made.expected;
            entry.out = Some(look);
            settled = entry.made.settled;
        });
        let _ = self.append(&Line::out(name, look, settled));
    }

    /// Notes that an exchange was not made after all.
    pub(super) fn void(&mut self, name: &str) {
        let _ = self.append(&Line::Void { name: name.to_owned() });
        self.take_out(name);
    }

    /// What was to be dealt with by an exchange that was not made is not.
    fn take_out(&mut self, name: &str) {
        let Some(at) = self.entries.iter().position(|entry| entry.made.name == name) else { return };
        let entry = self.entries.remove(at);
        if let Some(followed) = &entry.made.follows {
            self.entry(followed, |followed| followed.made.dealt_with = entry.before);
        }
    }

    /// Whether this is the text that yoi has put in place last.
    pub(super) fn is_ours(&self, text: &[u8]) -> bool {
        self.entries.last().is_some_and(|last| last.made.placed == Digest::of(text))
    }

    fn append(&mut self, line: &Line) -> io::Result<()> {
        self.lines += 1;
        let Some(place) = &self.place else { return Ok(()) };
        let write = || {
            files::own_folder(&place.folder)?;
            // Whatever the last line was cut short by does not reach into this one.
            let mut text = vec![b'\n'];
            text.extend(serde_json::to_vec(line)?);
            files::open_own(&place.journal(), Text::Extended)?.write_all(&text)
        };
        write().map_err(|error| files::named(&place.journal(), &error))
    }

    /// What was done to the file, oldest first.
    fn made(&self) -> Vec<Made> {
        self.entries.iter().map(|entry| entry.made.clone()).collect()
    }
}

impl Place {
    fn journal(&self) -> PathBuf {
        self.folder.join(format!("{}.journal", self.stem))
    }

    fn text(&self, name: &str, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{name}.{ending}", self.stem))
    }
}

#[cfg(test)]
mod tests;
