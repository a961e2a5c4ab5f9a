//! The ticket folder: reading, compare-and-swap editing, thread notes.
//!
//! Must not know: YAML, how a swap is made.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use crate::domain::backlog::Entry;
use crate::domain::differences::Differences;
use crate::domain::edit::Change;
use crate::domain::finding::Finding;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{Ticket, TicketId};
use crate::text::keys::KeyMap;

/// Why an edit did not happen. In every case the file holds what it held, or a newer text of somebody else's.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The decision refused on what it read.
    #[error("{0}")]
    Refused(Refusal),
    /// A key being set was changed by somebody else meanwhile (exit 3).
    #[error(
        "`{key}` was changed by somebody else meanwhile: it is now {theirs}, this edit wanted {ours}; nothing was written"
    )]
    Conflict {
        /// The key both changed.
        key: String,
        /// Its value now, as YAML.
        theirs: String,
        /// The value this edit wanted, as YAML.
        ours: String,
    },
    /// The file cannot be edited safely; the message says which key or line and why (exit 1).
    #[error("{path}: {message}", path = path.display())]
    Unsafe {
        /// The file.
        path: PathBuf,
        /// What and where.
        message: String,
    },
    /// The ticket is not there.
    #[error("{}: no such ticket file", .0.display())]
    Absent(PathBuf),
    /// It lies outside the workspace (through a symlink): read, never written.
    #[error("{}: lies outside the workspace (a symlink); yoi reads it and never writes it", .0.display())]
    Outside(PathBuf),
    /// The world outside failed: disk, permission, lock.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// What is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reviewing<'p> {
    /// All that is remembered: at the start of a daemon.
    Everything,
    /// Every ticket of which a displaced text is kept.
    Due,
    /// These files: they were noticed to have changed.
    Paths(&'p [PathBuf]),
    /// What this process edited: nobody may look again soon.
    Own,
}

/// What came of looking again.
#[derive(Clone, Debug, Default)]
pub struct Review {
    /// What came to light.
    pub findings: Vec<Finding>,
    /// When to look again; None: nothing is kept.
    pub again_in: Option<Duration>,
}

/// The ticket folder (DESIGN.md 2). One implementation: `adapters::ticket_folder`.
pub trait Tickets: Send + Sync {
    /// Reads every file at any depth, sorted by path; leaves out what is [`Entry::NotATicket`].
    /// Errors only where the folder itself cannot be read.
    fn scan(&self) -> io::Result<Vec<(PathBuf, Entry)>>;

    /// Reads one file anew. `path` is relative to the workspace.
    fn read(&self, path: &Path) -> Entry;

    /// Reads many files anew, each as [`Tickets::read`] does; in the same order.
    fn read_many(&self, paths: &[PathBuf]) -> Vec<(PathBuf, Entry)> {
        paths.iter().map(|path| (path.clone(), self.read(path))).collect()
    }

    /// Where the disk differs from what [`Tickets::scan`] and [`Tickets::read`] last saw, found without opening a file
    /// (by size, times and inode). Takes no lock that reading waits for. An error where nothing was kept to compare with.
    fn differences(&self) -> io::Result<Differences>;

    /// The whole file's text, for showing.
    fn text(&self, path: &Path) -> io::Result<String>;

    /// Edits one ticket by compare and swap, holding its kernel lock from read to exchange: `decide` gets the ticket
    /// as read, and is asked again on the newest text if somebody wrote in between. No changes decided: nothing is
    /// written, and the ticket as read is returned. Returns the ticket before and after. The key `state` stands for the
    /// configured state key, and its six values for the configured names.
    fn edit(
        &self,
        path: &Path,
        decide: &mut dyn FnMut(&Ticket) -> Result<Vec<Change>, Refusal>,
    ) -> Result<(Ticket, Ticket), EditError>;

    /// As [`Tickets::edit`], for what yoi writes by itself: stamps and labels that nobody asked for.
    fn stamp(
        &self,
        path: &Path,
        decide: &mut dyn FnMut(&Ticket) -> Result<Vec<Change>, Refusal>,
    ) -> Result<(Ticket, Ticket), EditError> {
        self.edit(path, decide)
    }

    /// The mark of an editor that has this file open or has not saved it (`.t-1.md.swp`), if there is one.
    fn editor_on(&self, _path: &Path) -> Option<String> {
        None
    }

    /// Looks again at what edits displaced, and at what became of acknowledged changes (DESIGN.md 2.3).
    fn review(&self, _which: Reviewing<'_>) -> Review {
        Review::default()
    }

    /// All that reviews have brought to light until now is on record: reports of it are owed no more. False where that
    /// could not be noted yet.
    fn on_record(&self) -> bool {
        true
    }

    /// The names that the files use for the lifecycle.
    fn keys(&self) -> &KeyMap;

    /// Creates `<id>.md` in the ticket folder with exactly this text; refuses where the file is there, and where the
    /// folder is not (`NotFound`).
    fn create(&self, id: &TicketId, text: &str) -> io::Result<PathBuf>;

    /// Makes the ticket folder, if it is not there.
    fn make_folder(&self) -> io::Result<()> {
        Ok(())
    }

    /// Why the folder as a whole cannot be read or written just now, in words.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// The Markdown files that lie where tickets lie and had no frontmatter when they were last read: no tickets. Some of
    /// them, where there are very many.
    fn without_frontmatter(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Appends one audit note to the thread of the ticket at `path` (`<id>.thread.md`, or `thread.md` beside an
    /// `item.md`).
    fn note(&self, path: &Path, note: &str) -> io::Result<()>;
}
