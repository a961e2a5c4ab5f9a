//! How a look at what was displaced is made, and what comes of it.
//!
//! Must not know: what is looked at.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::openness::Openness;
use crate::domain::ticket::Timestamp;

/// What came to light.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// What a slow writer wrote into a displaced text is in the ticket now.
    Merged,
    /// It could not be brought together with the ticket.
    Conflict {
        /// Where it is kept.
        kept: PathBuf,
        /// Why, in words.
        why: String,
    },
    /// Acknowledged changes were taken back by a text of somebody who had read before them.
    SavedOver {
        /// Which keys.
        keys: Vec<String>,
        /// When they were written.
        at: Timestamp,
        /// They were yoi's own.
        own: bool,
        /// What goes on record by this name (see `Journal::on_record`); None: it was said before.
        debt: Option<String>,
    },
}

/// What came of a look.
#[derive(Clone, Debug, Default)]
pub struct Reviewed {
    /// What came to light.
    pub found: Vec<Found>,
    /// When to look again; None: nothing is kept.
    pub again_in: Option<Duration>,
}

impl Reviewed {
    pub(super) fn again(&mut self, after: Duration) {
        self.again_in = Some(self.again_in.map_or(after, |known| known.min(after)));
    }
}

/// How a look is made.
pub struct Looking {
    pub(super) now: Timestamp,
    /// What was displaced until this one was is too much.
    surplus: Option<String>,
    /// Nobody will look again soon: a writer that is just writing is waited for, a moment.
    pub(super) last: bool,
    open: OnceCell<Openness>,
}

impl Looking {
    /// A look among others.
    pub fn new(now: Timestamp) -> Self {
        Self { now, surplus: None, last: false, open: OnceCell::new() }
    }

    /// The last look of a command that ends.
    pub fn last(now: Timestamp) -> Self {
        Self { last: true, ..Self::new(now) }
    }

    /// Lets go of what need not be kept, however young it is, up to the text with this name: there is too much.
    #[must_use]
    pub fn sparing(self, up_to: Option<String>) -> Self {
        Self { surplus: up_to, ..self }
    }

    pub(super) fn is_surplus(&self, name: &str) -> bool {
        self.surplus.as_deref().is_some_and(|last| name <= last)
    }

    pub(super) fn is_open(&self, path: &Path) -> bool {
        self.open.get_or_init(Openness::now).is_open(path)
    }
}
