//! What yoi's writes displaced, and a journal of them: one file of lines for each ticket's file, in the state folder, with
//! the displaced texts beside it. Read and written under the ticket's lock. DESIGN.md 2.3.
//!
//! A line is written before an exchange is made, and one after it; so whatever a crash leaves can be told apart. Must not
//! know: what becomes of a displaced text (`text::lineage` says it), the daemon.

mod bounds;
mod leftovers;
mod lines;
mod look;
mod openness;
mod review;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use self::lines::Line;
use super::files::{self, Text};
use crate::domain::ticket::{Digest, Timestamp};
use crate::text::lineage::Made;

pub(super) use self::look::{Look, settled};
pub use self::openness::Openness;
pub use self::review::{Found, Looking, Reviewed};

/// The journal's lines are sifted when there are more.
const MANY_LINES: usize = 600;
/// How many exchanges are remembered of one file at least, if they are not too old.
const REMEMBERED: usize = 200;
/// How long an exchange is remembered: so long may an editor have had the text open that it saves.
pub const OPEN_FOR: chrono::TimeDelta = chrono::TimeDelta::hours(4);
/// The folder's texts end with this; those that could not be brought together with their ticket with the other.
const TEXT: &str = "text";
const CONFLICT: &str = "conflict";
/// An empty file that says that the text lies beside its ticket, on another file system.
const BESIDE: &str = "beside";

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
    lost: Option<(Timestamp, Vec<String>, bool)>,
    /// What came to light outside a look.
    found: Vec<Found>,
    lines: usize,
}

#[derive(Clone, Debug)]
struct Place {
    folder: PathBuf,
    stem: String,
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

    /// Whether anything is remembered of this file.
    pub fn knows(&self, file: &Path) -> bool {
        self.folder.join(stem(file) + ".journal").exists()
    }

    /// The files of which displaced texts are kept; of all that are remembered with `all`.
    pub fn files(&self, all: bool) -> Vec<PathBuf> {
        let names = self.names();
        let is_text = |name: &&String| name.ends_with(&format!(".{TEXT}")) || name.ends_with(&format!(".{BESIDE}"));
        let stem = |name: &String| name.split_once('.').map(|(stem, _)| stem.to_owned());
        let mut stems: Vec<_> = names.iter().filter(|name| all || is_text(name)).filter_map(stem).collect();
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
        Self { place: None, file: file.to_owned(), entries: Vec::new(), lost: None, found: Vec::new(), lines: 0 }
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
            Line::Told { names, at, keys } => {
                let told = |entry: &&mut Entry| names.contains(&entry.made.name);
                let mut own = true;
                for entry in self.entries.iter_mut().filter(told) {
                    entry.made.told = true;
                    own &= entry.made.own;
                }
                self.lost = Some((at, keys, own));
            }
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

    /// Moves what lies beside the ticket into the folder; on another file system it stays, hidden.
    pub(super) fn put_away(&mut self) {
        let Some(place) = self.place.clone() else { return };
        for entry in &self.entries {
            let name = &entry.made.name;
            if entry.out.is_none() || !self.lies_beside(entry) {
                continue;
            }
            if fs::rename(&entry.beside, place.text(name, TEXT)).is_err() {
                review::mark(&place.text(name, BESIDE));
            }
        }
    }

    /// Where the text that an exchange displaced lies; None where it is gone, or back in the ticket.
    fn locate(&self, entry: &Entry) -> Option<PathBuf> {
        let kept = self.place.as_ref().map(|place| place.text(&entry.made.name, TEXT)).filter(|path| path.exists());
        kept.or_else(|| self.lies_beside(entry).then(|| entry.beside.clone()))
    }

    /// A later exchange with the same hidden file has taken out of it what lay there.
    fn lies_beside(&self, entry: &Entry) -> bool {
        let later = self.entries.iter().rfind(|other| other.beside == entry.beside);
        later.is_some_and(|later| later.made.name == entry.made.name) && entry.beside.exists()
    }

    /// Where somebody else's newest texts are kept, for a message.
    pub(super) fn kept_paths(&self) -> Vec<String> {
        let theirs = self.entries.iter().filter(|e| e.out.is_some_and(|out| out.digest != e.made.known()));
        theirs.filter_map(|entry| self.locate(entry)).map(|path| path.display().to_string()).collect()
    }

    /// Moves a text to where it is kept for good, for the exchange of this name; on another file system, or where nothing
    /// outlives this process, it stays, and has the hidden name. Returns where.
    fn keep_for_good(&self, path: &Path, name: &str, hidden: PathBuf) -> io::Result<PathBuf> {
        let wanted = self.place.as_ref().map_or_else(|| hidden.clone(), |place| place.text(name, CONFLICT));
        match fs::rename(path, &wanted) {
            Ok(()) => Ok(wanted),
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                fs::rename(path, &hidden)?;
                Ok(hidden)
            }
            Err(error) => Err(error),
        }
    }

    /// Lets go of a text that nothing is to be done about any more.
    fn forget(&self, entry: &Entry) {
        if let Some(path) = self.locate(entry) {
            let _ = fs::remove_file(path);
        }
        if let Some(place) = &self.place {
            let _ = fs::remove_file(place.text(&entry.made.name, BESIDE));
        }
    }

    /// What was done to the file, oldest first.
    fn made(&self) -> Vec<Made> {
        self.entries.iter().map(|entry| entry.made.clone()).collect()
    }

    /// Leaves out what is too old to matter, once there is much of it.
    fn sift(&mut self, now: Timestamp) {
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
        let mut n = 0;
        self.entries.retain(|entry| {
            n += 1;
            n > first_text || (n > surplus && !old(entry))
        });
        if self.entries.is_empty() {
            let _ = fs::remove_file(place.journal());
            return;
        }
        if let Ok(lines) = self.rewritten() {
            self.lines = lines;
        }
    }

    fn rewritten(&self) -> io::Result<usize> {
        let Some(place) = &self.place else { return Ok(self.lines) };
        let mut temporary = tempfile::Builder::new().prefix(".new-").tempfile_in(&place.folder)?;
        let mut lines = 0;
        for entry in &self.entries {
            for line in Line::of(entry, &self.file)? {
                temporary.write_all(&serde_json::to_vec(&line)?)?;
                temporary.write_all(b"\n")?;
                lines += 1;
            }
        }
        if let Some((at, keys, _)) = self.lost.clone() {
            let names = self.entries.iter().filter(|e| e.made.told).map(|e| e.made.name.clone()).collect();
            temporary.write_all(&serde_json::to_vec(&Line::Told { names, at, keys })?)?;
        }
        temporary.persist(place.journal()).map_err(|failed| failed.error)?;
        Ok(lines)
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
