//! What comes to light when yoi looks again at what its writes displaced: data only (DESIGN.md 2.3).
//!
//! Must not know: how it was found.

use std::path::PathBuf;

use super::ticket::{TicketId, Timestamp};

/// Something that came to light about a ticket that yoi wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// What somebody wrote slowly, into the file that yoi had displaced meanwhile, is in the ticket now.
    Merged {
        /// Which ticket.
        ticket: TicketId,
        /// Its file.
        path: PathBuf,
    },
    /// It could not be brought together with the ticket, and is kept.
    Conflict {
        /// Which ticket.
        ticket: TicketId,
        /// Where it is kept.
        kept: String,
        /// Why, in words.
        why: String,
    },
    /// A text lay beside it that a write of yoi's had left there, and of which nothing else is known.
    Leftover {
        /// Which ticket.
        ticket: TicketId,
        /// Where it is kept.
        kept: String,
        /// It reads as the ticket does.
        is_same: bool,
    },
    /// Acknowledged changes were taken back by somebody who had read the file before they were made.
    SavedOver {
        /// Which ticket.
        ticket: TicketId,
        /// Which keys.
        keys: Vec<String>,
        /// When they were written.
        at: Timestamp,
        /// They were stamps or labels of yoi's own.
        own: bool,
        /// It is found for the first time.
        news: bool,
    },
}
