//! What a backlog keeps of one file.
//!
//! Must not know: other files, ids that are doubled.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::backlog::Entry;
use super::ticket::{Ticket, TicketId};

/// A file, by its path as plain bytes: comparing paths part by part is slow, and this is looked up for every ticket. Small,
/// for nearly all are tickets, and of these it holds nothing but the ticket itself.
#[derive(Clone, Debug)]
pub(super) enum Filed {
    Ticket(Ticket),
    Other(Box<(PathBuf, Entry)>),
}

impl Filed {
    pub(super) fn new(path: PathBuf, entry: Entry) -> Self {
        match placed(entry, &path) {
            Entry::Ticket(ticket) => Self::Ticket(ticket),
            entry => Self::Other(Box::new((path, entry))),
        }
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Ticket(ticket) => &ticket.path,
            Self::Other(other) => &other.0,
        }
    }

    pub(super) fn id(&self) -> Option<&TicketId> {
        match self {
            Self::Ticket(ticket) => Some(&ticket.id),
            Self::Other(other) => other.1.id(),
        }
    }

    pub(super) fn entry(&self) -> Entry {
        match self {
            Self::Ticket(ticket) => Entry::Ticket(ticket.clone()),
            Self::Other(other) => other.1.clone(),
        }
    }
}

impl Borrow<OsStr> for Filed {
    fn borrow(&self) -> &OsStr {
        self.path().as_os_str()
    }
}

impl PartialEq for Filed {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Filed {}

impl PartialOrd for Filed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Filed {
    fn cmp(&self, other: &Self) -> Ordering {
        self.path().as_os_str().cmp(other.path().as_os_str())
    }
}

/// A ticket lies where its file lies: this is what the index by id goes by.
pub(super) fn placed(mut entry: Entry, path: &Path) -> Entry {
    if let Entry::Ticket(ticket) = &mut entry
        && ticket.path != path
    {
        path.clone_into(&mut ticket.path);
    }
    entry
}
