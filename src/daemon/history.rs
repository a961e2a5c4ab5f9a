//! What is kept of the past, through the store: and what could not be kept yet, until it can.
//!
//! A full or broken disk stops nothing: records wait (a bounded number), the ledger and the last seen states wait in
//! their newest version, and all of it is written as soon as the store takes it again (FAULTS kind 15).
//!
//! Must not know: SQL; what a record means.

use std::collections::{BTreeMap, VecDeque};

use chrono::TimeDelta;

use crate::domain::engine::{LastSeen, Record};
use crate::domain::ledger::SavedLedger;
use crate::domain::ticket::{TicketId, Timestamp};
use crate::ports::{Query, Recorded, Store, StoreError, Stored};

/// How soon a store that failed is tried again.
const RETRY: TimeDelta = TimeDelta::seconds(5);
/// How many records wait at most; beyond it the oldest are lost, and counted.
const WAITING: usize = 5_000;
/// How many records are looked through for one of a ticket.
const LOOKED_AT: usize = 100;

/// The store, and what waits for it.
pub struct History {
    store: Box<dyn Store>,
    records: VecDeque<Record>,
    lost: usize,
    /// Some were lost, ever.
    has_lost: bool,
    ledger: Option<SavedLedger>,
    seen: BTreeMap<TicketId, Option<LastSeen>>,
    seen_at: Option<Timestamp>,
    trouble: Option<String>,
    retry_at: Option<Timestamp>,
    newest: Option<i64>,
}

impl History {
    /// Nothing waits yet.
    pub fn new(store: Box<dyn Store>) -> Self {
        Self {
            store,
            records: VecDeque::new(),
            lost: 0,
            has_lost: false,
            ledger: None,
            seen: BTreeMap::new(),
            seen_at: None,
            trouble: None,
            retry_at: None,
            newest: None,
        }
    }

    /// What the last daemon left: last seen states and the ledger. What cannot be read is as if it were not there, and
    /// is said.
    pub(super) fn left(&mut self) -> (Option<Recorded>, SavedLedger) {
        match (self.store.last_seen(), self.store.ledger()) {
            (Ok(recorded), Ok(ledger)) => (recorded, ledger),
            (Err(error), _) | (_, Err(error)) => {
                self.trouble = Some(error.to_string());
                (None, SavedLedger::default())
            }
        }
    }

    /// The kept ledger; the default where it cannot be read.
    pub fn ledger(&self) -> SavedLedger {
        self.store.ledger().unwrap_or_default()
    }

    /// Reads records.
    pub fn records(&self, query: &Query) -> Result<Vec<Stored>, StoreError> {
        self.store.records(query)
    }

    /// What keeps the store from being written, and what that costs so far.
    pub fn trouble(&self) -> Option<String> {
        let trouble = self.trouble.as_ref()?;
        Some(match (self.records.len(), self.lost) {
            (0, 0) => trouble.clone(),
            (1, 0) => format!("{trouble} (1 event waits to be written)"),
            (waiting, 0) => format!("{trouble} ({waiting} events wait to be written)"),
            (waiting, lost) => format!("{trouble} ({waiting} events wait to be written, {lost} older ones are lost)"),
        })
    }

    /// The same without what it costs.
    pub(super) fn why(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// The records that wait to be written, oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &Record> {
        self.records.iter()
    }

    /// Whether the store has every record that it was ever to have.
    pub(super) fn has_all_records(&self) -> bool {
        self.records.is_empty() && !self.has_lost
    }

    /// When the store is tried again, if something waits for it.
    pub(super) fn retry_at(&self) -> Option<Timestamp> {
        self.retry_at
    }

    /// Adds records. Like every write it is tried at once, together with what waits.
    pub(super) fn append(&mut self, records: Vec<Record>, now: Timestamp) {
        if records.is_empty() {
            return;
        }
        self.records.extend(records);
        let over = self.records.len().saturating_sub(WAITING);
        self.records.drain(..over);
        self.lost += over;
        self.has_lost |= over > 0;
        self.write(now);
    }

    /// Keeps the ledger.
    pub(super) fn save_ledger(&mut self, ledger: SavedLedger, now: Timestamp) {
        self.ledger = Some(ledger);
        self.write(now);
    }

    /// Tries again at once what waits, for somebody who wants to know.
    pub(super) fn insist(&mut self, now: Timestamp) {
        if self.waits() || self.trouble.is_some() {
            self.retry_at = None;
            self.write(now);
        }
    }

    fn waits(&self) -> bool {
        !self.records.is_empty() || self.ledger.is_some() || self.seen_at.is_some()
    }

    /// What waits to be written, in words: all of it is lost if this process ends before the store takes it.
    pub(super) fn unkept(&self) -> Vec<String> {
        let mut unkept = Vec::new();
        if let Some(waiting) = &self.ledger {
            let kept = self.store.ledger().ok();
            let known = |ledger: &SavedLedger| SavedLedger { paused: None, ..ledger.clone() };
            if !has_pause_of(kept.as_ref(), waiting) {
                unkept.push(match &waiting.paused {
                    Some(paused) => format!("the pause ({paused})"),
                    None => "that the pause has ended".into(),
                });
            }
            if kept.is_none_or(|kept| known(&kept) != known(waiting)) {
                unkept.push("the counts and waits that bound the kicks".into());
            }
        }
        match self.records.len() + self.lost {
            0 => {}
            1 => unkept.push("1 event of the history".into()),
            many => unkept.push(format!("{many} events of the history")),
        }
        if !self.seen.is_empty() {
            unkept.push("what was last seen of the tickets".into());
        }
        unkept
    }

    /// Whether the next daemon would find the pause, or none, as it is now; whatever else waits to be written.
    pub(super) fn keeps_the_pause(&self) -> bool {
        let Some(waiting) = &self.ledger else { return true };
        has_pause_of(self.store.ledger().ok().as_ref(), waiting)
    }

    /// Whether anything is kept of any ticket.
    pub(super) fn knows_tickets(&self) -> bool {
        let newest = Query { newest: Some(LOOKED_AT), ..Query::default() };
        self.store.last_seen().is_ok_and(|recorded| recorded.is_some_and(|recorded| !recorded.seen.is_empty()))
            || self.store.records(&newest).is_ok_and(|found| found.iter().any(|stored| stored.record.ticket.is_some()))
    }

    /// Keeps last seen states, as of now.
    pub(super) fn save_seen(&mut self, seen: Vec<(TicketId, Option<LastSeen>)>, now: Timestamp) {
        self.seen.extend(seen);
        self.seen_at = Some(now);
        self.write(now);
    }

    /// Tries again if it is time to.
    pub(super) fn retry(&mut self, now: Timestamp) {
        if self.retry_at.is_some_and(|at| at <= now) {
            self.retry_at = None;
            self.write(now);
        }
    }

    /// The number of the newest record, once for each write that added some.
    pub(super) fn take_newest(&mut self) -> Option<i64> {
        self.newest.take()
    }

    fn write(&mut self, now: Timestamp) {
        // A store that has just failed is not asked for every single thing.
        if self.retry_at.is_some_and(|at| at > now && at - now <= RETRY) {
            return;
        }
        match self.try_write() {
            Ok(()) => {
                self.trouble = None;
                self.retry_at = None;
                self.lost = 0;
            }
            Err(error) => {
                self.trouble = Some(error.to_string());
                self.retry_at = Some(now + RETRY);
            }
        }
    }

    fn try_write(&mut self) -> Result<(), StoreError> {
        if !self.records.is_empty() {
            let records = self.records.make_contiguous();
            self.newest = Some(self.store.append(records)?);
            self.records.clear();
        }
        if let Some(ledger) = &self.ledger {
            self.store.save_ledger(ledger)?;
            self.ledger = None;
        }
        if let Some(at) = self.seen_at {
            let seen: Vec<_> = self.seen.iter().map(|(id, seen)| (id.clone(), seen.clone())).collect();
            self.store.save_seen(&seen, at)?;
            self.seen.clear();
            self.seen_at = None;
        }
        Ok(())
    }
}

fn has_pause_of(kept: Option<&SavedLedger>, waiting: &SavedLedger) -> bool {
    kept.is_some_and(|kept| kept.paused.is_some() == waiting.paused.is_some())
}

#[cfg(test)]
pub(super) mod tests;
