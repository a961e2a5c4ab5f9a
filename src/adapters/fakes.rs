//! Fakes of ports for tests: stricter than the real thing, and held to the same contract.
//!
//! Must not know: the daemon; files.

mod claims;

pub use claims::MemoryClaims;

use crate::domain::engine::{LastSeen, Record};
use crate::domain::ledger::SavedLedger;
use crate::domain::ticket::{TicketId, Timestamp};
use crate::ports::{Query, Recorded, Store, StoreError, Stored};

/// A store in memory. Stricter: a record's data must be an object, an id must not be empty, and the time of recording
/// must not run backwards.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    records: Vec<Stored>,
    ledger: SavedLedger,
    recorded: Option<Recorded>,
    /// Everything fails from now on, as on a full disk.
    pub full: bool,
}

impl MemoryStore {
    fn refuse(&self, when: bool, message: &str) -> Result<(), StoreError> {
        let message = if self.full { "the disk is full" } else { message };
        let failed = || StoreError::Failed { path: "memory".into(), message: message.into() };
        if when || self.full { Err(failed()) } else { Ok(()) }
    }
}

impl Store for MemoryStore {
    fn append(&mut self, records: &[Record]) -> Result<i64, StoreError> {
        let odd = |record: &Record| {
            !record.data.is_object() || record.ticket.as_ref().is_some_and(|ticket| ticket.as_str().is_empty())
        };
        self.refuse(records.iter().any(odd), "a record's data must be an object, its ticket an id")?;
        for record in records {
            let seq = self.records.last().map_or(1, |last| last.seq + 1);
            self.records.push(Stored { seq, record: record.clone() });
        }
        Ok(self.records.last().map_or(0, |last| last.seq))
    }

    fn records(&self, query: &Query) -> Result<Vec<Stored>, StoreError> {
        let wanted = |stored: &&Stored| {
            query.after.is_none_or(|after| stored.seq > after)
                && query.ticket.as_ref().is_none_or(|ticket| stored.record.ticket.as_ref() == Some(ticket))
                && query.since.is_none_or(|since| stored.record.at >= since)
        };
        let found: Vec<Stored> = self.records.iter().filter(wanted).cloned().collect();
        if let Some(oldest) = query.oldest {
            return Ok(found.into_iter().take(oldest).collect());
        }
        let skipped = query.newest.map_or(0, |newest| found.len().saturating_sub(newest));
        Ok(found.into_iter().skip(skipped).collect())
    }

    fn ledger(&self) -> Result<SavedLedger, StoreError> {
        Ok(self.ledger.clone())
    }

    fn save_ledger(&mut self, ledger: &SavedLedger) -> Result<(), StoreError> {
        self.refuse(false, "")?;
        self.ledger = ledger.clone();
        Ok(())
    }

    fn last_seen(&self) -> Result<Option<Recorded>, StoreError> {
        Ok(self.recorded.clone())
    }

    fn save_seen(&mut self, seen: &[(TicketId, Option<LastSeen>)], at: Timestamp) -> Result<(), StoreError> {
        let backwards = self.recorded.as_ref().is_some_and(|recorded| recorded.at > at);
        let nameless = seen.iter().any(|(ticket, _)| ticket.as_str().is_empty());
        self.refuse(backwards || nameless, "time must not run backwards, and a ticket must have an id")?;
        let recorded = self.recorded.get_or_insert_with(|| Recorded { seen: [].into(), at });
        recorded.at = at;
        for (ticket, seen) in seen {
            match seen {
                Some(seen) => drop(recorded.seen.insert(ticket.clone(), seen.clone())),
                None => drop(recorded.seen.remove(ticket)),
            }
        }
        Ok(())
    }
}
