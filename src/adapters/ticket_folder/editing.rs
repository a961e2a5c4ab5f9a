//! Editing one ticket under its kernel lock, and the later look at what edits displaced.
//!
//! Must not know: any decision (the edit's is handed in); how a swap is made.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use serde_yaml::Value;

use super::super::kept::{Found, Journal, Known, Looking};
use super::super::swap::{self, SwapError};
use super::{Noticed, Said, TicketFolder};
use crate::domain::edit::Change;
use crate::domain::finding::Finding;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{State, Ticket, TicketId};
use crate::ports::{EditError, Entry, Review, Reviewing};
use crate::text::merge::Clash;

/// A ticket that is being written by somebody else is looked at again so much later.
const HELD: Duration = Duration::from_secs(1);
/// How long a ticket's lock is waited for where there is time later.
const AT_ONCE: Duration = Duration::from_millis(50);

/// Why deciding ended.
enum Stop {
    Refused(Refusal),
    Unsafe(String),
}

type Decide<'d> = &'d mut dyn FnMut(&Ticket) -> Result<Vec<Change>, Refusal>;

/// The files of which something is remembered, as a review begins.
struct Remembered {
    known: Known,
    /// The ticket folder, symlinks resolved.
    folder: PathBuf,
}

impl Remembered {
    fn of(tickets: &TicketFolder) -> Self {
        let folder = tickets.workspace.join(&tickets.folder);
        Self { known: tickets.kept.known(), folder: folder.canonicalize().unwrap_or(folder) }
    }

    /// The ticket's file, symlinks resolved, if something is remembered of it. Of thousands of files hardly any is: they
    /// are told apart by their names. Below the ticket folder nothing but a ticket's file itself may be a link.
    fn file(&self, tickets: &TicketFolder, path: &Path) -> Option<PathBuf> {
        if self.known.is_empty() {
            return None;
        }
        let full = tickets.workspace.join(path);
        let plain = path.strip_prefix(&tickets.folder).map_or_else(|_| full.clone(), |below| self.folder.join(below));
        if full.is_symlink() || !plain.starts_with(&self.folder) {
            let real = full.canonicalize().unwrap_or(full);
            return self.known.has(&real).then_some(real);
        }
        self.known.has(&plain).then_some(plain)
    }
}

impl TicketFolder {
    pub(super) fn edit_as(&self, path: &Path, own: bool, decide: Decide<'_>) -> Result<(Ticket, Ticket), EditError> {
        let io = |error: io::Error| EditError::Io { path: path.to_owned(), error };
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => EditError::Absent(path.to_owned()),
            _ => io(error),
        };
        let unsafe_ = |message: String| EditError::Unsafe { path: path.to_owned(), message };
        let id = self.id(path);
        let _lock = self.locks.lock(&id).map_err(|error| held(&id, error).unwrap_or_else(io))?;
        let real = self.inside(path).map_err(failed)?.ok_or_else(|| EditError::Outside(path.to_owned()))?;
        let mut journal = self.kept.journal(&real).map_err(io)?;
        self.look(&mut journal, path, &Looking::new(chrono::Utc::now()));
        let mut on_bytes = |bytes: &[u8]| self.decide(path, bytes, decide);
        let swapped = swap::edit(&mut journal, own, self.locks.waits(), &mut on_bytes);
        let found = [journal.take_found(), journal.owed()].concat();
        self.noticed(|noticed| {
            noticed.edited.push(path.to_owned());
            // What was known already is the past with this edit.
            let past = |finding: &Finding| matches!(finding, Finding::SavedOver { news: false, .. });
            noticed.findings.retain(|finding| !past(finding));
        });
        self.take_note(path, &real, found);
        let swapped = swapped.map_err(|error| match error {
            SwapError::Refused(Stop::Refused(reason)) => EditError::Refused(reason),
            SwapError::Refused(Stop::Unsafe(message)) | SwapError::Unsafe(message) => unsafe_(message),
            SwapError::Conflict(Clash { key, theirs, ours }) => EditError::Conflict { key, theirs, ours },
            SwapError::Absent => EditError::Absent(path.to_owned()),
            SwapError::Io(error) => held(&id, error).unwrap_or_else(io),
        })?;
        match (self.entry(&swapped.before, path), self.entry(&swapped.after, path)) {
            (Entry::Ticket(before), Entry::Ticket(after)) => Ok((before, after)),
            _ => Err(unsafe_("the file is no ticket any more".into())),
        }
    }

    /// `state` and its six names stand for the configured key and names.
    fn in_file_words(&self, change: Change) -> Change {
        if change.key() != "state" {
            return change;
        }
        let key = self.keys.state_key.clone();
        let state = |value: &Value| value.as_str().and_then(|name| name.parse::<State>().ok());
        match change {
            Change::Set(_, value) | Change::Written(_, value, _) => match state(&value) {
                Some(state) => Change::text(&key, self.keys.name(state)),
                None => Change::Set(key, value),
            },
            Change::Unset(_) => Change::Unset(key),
            Change::Add(_, item) => Change::Add(key, item),
            Change::Remove(_, item) => Change::Remove(key, item),
        }
    }

    fn decide(&self, path: &Path, bytes: &[u8], decide: Decide<'_>) -> Result<Vec<Change>, Stop> {
        match self.entry(bytes, path) {
            Entry::Ticket(ticket) => {
                let changes = decide(&ticket).map_err(Stop::Refused)?;
                Ok(changes.into_iter().map(|change| self.in_file_words(change)).collect())
            }
            Entry::Unreadable { error, .. } => {
                Err(Stop::Unsafe(format!("line {}, column {}: {}", error.line, error.column, error.message)))
            }
            Entry::NotATicket | Entry::Absent => Err(Stop::Unsafe("the file has no frontmatter (any more)".into())),
        }
    }

    pub(super) fn review_kept(&self, which: Reviewing<'_>) -> Review {
        let now = chrono::Utc::now();
        let mut review = Review::default();
        let edited = self.noticed(|noticed| std::mem::take(&mut noticed.edited));
        let (paths, looking): (Vec<PathBuf>, _) = match which {
            Reviewing::Own => {
                let owing = self.kept.owing();
                let owing = owing.iter().map(|file| self.relative(file)).filter(|path| !edited.contains(path));
                (edited.iter().cloned().chain(owing).collect(), Looking::last(now))
            }
            Reviewing::Paths(paths) => (paths.to_vec(), Looking::new(now)),
            Reviewing::Due | Reviewing::Everything => {
                review.again_in = self.look_at_leftovers(now);
                let files = self.kept.files(which == Reviewing::Everything);
                let looking = Looking::new(now).sparing(self.kept.surplus());
                (files.iter().map(|file| self.relative(file)).collect(), looking)
            }
        };
        let surplus = if which == Reviewing::Own { self.kept.surplus() } else { None };
        let known = Remembered::of(self);
        for path in paths {
            let again_in = self.review_one(&path, &looking, &known);
            review.again_in = [review.again_in, again_in].into_iter().flatten().min();
        }
        // Where no daemon runs, nobody else keeps it within bounds.
        if surplus.is_some() {
            let looking = Looking::new(now).sparing(surplus);
            for file in self.kept.files(false) {
                self.review_one(&self.relative(&file), &looking, &known);
            }
        }
        review.findings = self.noticed(|noticed| {
            noticed.said.values_mut().for_each(|said| said.handed_over = true);
            std::mem::take(&mut noticed.findings)
        });
        review
    }

    fn review_one(&self, path: &Path, looking: &Looking, known: &Remembered) -> Option<Duration> {
        let real = known.file(self, path)?;
        let Ok(_lock) = self.locks.lock(&self.id(path)) else { return Some(HELD) };
        match self.kept.journal(&real) {
            Ok(mut journal) => self.look(&mut journal, path, looking),
            Err(_) => Some(HELD),
        }
    }

    fn look(&self, journal: &mut Journal, path: &Path, looking: &Looking) -> Option<Duration> {
        let reviewed = journal.review(looking);
        self.take_note(path, &journal.file, reviewed.found);
        reviewed.again_in
    }

    /// What came to light is said when it is asked for, each report that is owed once by this process.
    fn take_note(&self, path: &Path, file: &Path, found: Vec<Found>) {
        let ticket = self.id(path);
        self.noticed(|noticed| {
            for found in found {
                if let Found::SavedOver { debt: Some(name), .. } = &found {
                    if noticed.said.contains_key(name) {
                        continue;
                    }
                    let said = Said { path: path.to_owned(), file: file.to_owned(), handed_over: false };
                    noticed.said.insert(name.clone(), said);
                }
                noticed.findings.push(finding(&ticket, path, found));
            }
        });
    }

    /// Whoever was handed what came to light has put it on record: it is owed no more. False where something is left.
    pub(super) fn put_on_record(&self) -> bool {
        let said = self.noticed(|noticed| noticed.said.clone());
        let mut all = true;
        for (name, said) in said.into_iter().filter(|(_, said)| said.handed_over) {
            // Who holds a ticket just now is not waited for: it can be noted later.
            let lock = self.locks.clone().patience(AT_ONCE).lock(&self.id(&said.path));
            let noted = lock.and_then(|_lock| self.kept.journal(&said.file)?.on_record(&name));
            if noted.is_ok() {
                self.noticed(|noticed| noticed.said.remove(&name));
            }
            all &= noted.is_ok();
        }
        all
    }

    pub(super) fn noticed<T>(&self, change: impl FnOnce(&mut Noticed) -> T) -> T {
        change(&mut self.noticed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What is said where another process is just writing the ticket: it passes.
fn held(id: &TicketId, error: io::Error) -> Result<EditError, io::Error> {
    if error.kind() != io::ErrorKind::TimedOut {
        return Err(error);
    }
    let refusal = Refusal::new(format!("`{id}` is being written by another process: {error}"));
    Ok(EditError::Refused(Refusal { passing: true, ..refusal.hint("try again") }))
}

fn finding(ticket: &TicketId, path: &Path, found: Found) -> Finding {
    let (ticket, path) = (ticket.clone(), path.to_owned());
    match found {
        Found::Merged => Finding::Merged { ticket, path },
        Found::Conflict { kept, why } => Finding::Conflict { ticket, kept: kept.display().to_string(), why },
        Found::SavedOver { keys, at, own, debt } => Finding::SavedOver { ticket, keys, at, own, news: debt.is_some() },
    }
}
