//! The store: history, the ledger, last seen states. History, not authority: losing it loses no ticket.
//!
//! Must not know: SQL. DESIGN.md 7.3.

use std::collections::BTreeMap;

use crate::domain::engine::{LastSeen, Record};
use crate::domain::ledger::SavedLedger;
use crate::domain::ticket::{TicketId, Timestamp};

/// Why the store could not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It was written by a newer yoi: nothing is touched.
    #[error(
        "{path}: the store has schema version {found}, this yoi knows up to {known}: upgrade yoi, or move the file away (history is lost, no ticket is)"
    )]
    Newer {
        /// The file.
        path: String,
        /// Its version.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// The file itself is damaged, or no store: nothing but another file helps.
    #[error("{path}: {message}")]
    Damaged {
        /// The file.
        path: String,
        /// What the library said.
        message: String,
    },
    /// Disk, lock, permission.
    #[error("{path}: {message}")]
    Failed {
        /// The file.
        path: String,
        /// What the library or the system said.
        message: String,
    },
}

/// One record with its number in the workspace's stream, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Increasing; never used twice.
    pub seq: i64,
    /// The record.
    pub record: Record,
}

/// Which records are wanted: all conditions hold, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Only after this number.
    pub after: Option<i64>,
    /// Only this ticket's stream.
    pub ticket: Option<TicketId>,
    /// Only from this moment on.
    pub since: Option<Timestamp>,
    /// Only the newest so many of them (still oldest first).
    pub newest: Option<usize>,
    /// Only the oldest so many of them: a part of a long history at a time. Goes before `newest`.
    pub oldest: Option<usize>,
}

/// What was last recorded of the tickets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// By ticket.
    pub seen: BTreeMap<TicketId, LastSeen>,
    /// When anything was last recorded.
    pub at: Timestamp,
}

/// The store of one workspace.
pub trait Store: Send {
    /// Appends records in one transaction; returns the number of the last.
    fn append(&mut self, records: &[Record]) -> Result<i64, StoreError>;

    /// Reads records.
    fn records(&self, query: &Query) -> Result<Vec<Stored>, StoreError>;

    /// The saved ledger; the default where there is none.
    fn ledger(&self) -> Result<SavedLedger, StoreError>;

    /// Keeps the ledger.
    fn save_ledger(&mut self, ledger: &SavedLedger) -> Result<(), StoreError>;

    /// What was last recorded of each ticket; None where no daemon has ever recorded anything.
    fn last_seen(&self) -> Result<Option<Recorded>, StoreError>;

    /// Keeps last seen states in one transaction, None forgets one; `at` becomes the time of the last recording, even
    /// with an empty list.
    fn save_seen(&mut self, seen: &[(TicketId, Option<LastSeen>)], at: Timestamp) -> Result<(), StoreError>;
}
