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

    /// The records that wait to be written, oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &Record> {
        self.records.iter()
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
        self.write(now);
    }

    /// Keeps the ledger.
    pub(super) fn save_ledger(&mut self, ledger: SavedLedger, now: Timestamp) {
        self.ledger = Some(ledger);
        self.write(now);
    }

    /// Tries again at once what waits, for somebody who wants to know.
    pub(super) fn insist(&mut self, now: Timestamp) {
        if self.ledger.is_some() || self.trouble.is_some() {
            self.retry_at = None;
            self.write(now);
        }
    }

    /// Whether the next daemon would find the pause, or none, as it is now; whatever else waits to be written.
    pub(super) fn keeps_the_pause(&self) -> bool {
        let Some(waiting) = &self.ledger else { return true };
        self.store.ledger().is_ok_and(|kept| kept.paused.is_some() == waiting.paused.is_some())
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::adapters::fakes::MemoryStore;
    use crate::domain::engine::RecordKind;
    use crate::domain::ledger::Paused;
    use crate::domain::sample::at;
    use crate::domain::ticket::State;

    /// The same store for the test and the room.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<MemoryStore>>);

    impl Store for Shared {
        fn append(&mut self, records: &[Record]) -> Result<i64, StoreError> {
            self.0.lock().unwrap().append(records)
        }
        fn records(&self, query: &Query) -> Result<Vec<Stored>, StoreError> {
            self.0.lock().unwrap().records(query)
        }
        fn ledger(&self) -> Result<SavedLedger, StoreError> {
            self.0.lock().unwrap().ledger()
        }
        fn save_ledger(&mut self, ledger: &SavedLedger) -> Result<(), StoreError> {
            self.0.lock().unwrap().save_ledger(ledger)
        }
        fn last_seen(&self) -> Result<Option<Recorded>, StoreError> {
            self.0.lock().unwrap().last_seen()
        }
        fn save_seen(&mut self, seen: &[(TicketId, Option<LastSeen>)], at: Timestamp) -> Result<(), StoreError> {
            self.0.lock().unwrap().save_seen(seen, at)
        }
    }

    fn record(n: usize) -> Record {
        Record { kind: RecordKind::Inbox, at: at(0), ticket: None, data: serde_json::json!({"n": n}) }
    }

    fn seen(second: i64) -> LastSeen {
        LastSeen { state: Some(State::Queued), needs_human: false, at: at(second) }
    }

    #[test]
    fn what_a_full_disk_keeps_out_is_written_when_there_is_room_again() {
        let shared = Shared::default();
        let mut history = History::new(Box::new(shared.clone()));
        shared.0.lock().unwrap().full = true;
        history.append(vec![record(1)], at(0));
        assert_eq!(history.retry_at(), Some(at(5)));
        history.append(vec![record(2)], at(1));
        history.save_ledger(SavedLedger { fruitless: 1, ..SavedLedger::default() }, at(2));
        history.save_ledger(SavedLedger { fruitless: 2, ..SavedLedger::default() }, at(3));
        history.save_seen(vec![("a".into(), Some(seen(1))), ("b".into(), Some(seen(1)))], at(3));
        history.save_seen(vec![("a".into(), Some(seen(4))), ("b".into(), None)], at(4));
        assert!(history.trouble().unwrap().ends_with("(2 events wait to be written)"));

        history.retry(at(5));
        assert_eq!(history.retry_at(), Some(at(10)), "it is tried again and again");
        shared.0.lock().unwrap().full = false;
        history.retry(at(9));
        assert!(history.trouble().is_some(), "not before its time");
        history.retry(at(10));
        assert_eq!((history.trouble(), history.retry_at(), history.take_newest()), (None, None, Some(2)));
        assert_eq!(history.ledger().fruitless, 2);
        let kept = shared.last_seen().unwrap().unwrap();
        assert_eq!((kept.at, kept.seen.into_iter().collect::<Vec<_>>()), (at(4), vec![("a".into(), seen(4))]));
    }

    #[test]
    fn no_more_than_a_bounded_number_waits_and_what_is_lost_is_counted() {
        let shared = Shared::default();
        let mut history = History::new(Box::new(shared.clone()));
        shared.0.lock().unwrap().full = true;
        for n in 0..WAITING + 3 {
            history.append(vec![record(n)], at(0));
        }
        assert!(history.trouble().unwrap().ends_with("(5000 events wait to be written, 3 older ones are lost)"));
        shared.0.lock().unwrap().full = false;
        history.append(vec![record(9)], at(5));
        let first = &shared.records(&Query { oldest: Some(1), ..Query::default() }).unwrap()[0].record;
        assert_eq!((history.trouble(), first.data["n"].as_u64()), (None, Some(4)));
    }

    #[test]
    fn a_pause_is_kept_when_the_store_says_so_whatever_else_waits() {
        let paused = |held: bool| {
            let by = Paused { at: at(0), by: "ana".into(), reason: None };
            SavedLedger { paused: held.then_some(by), ..SavedLedger::default() }
        };
        let shared = Shared::default();
        let mut history = History::new(Box::new(shared.clone()));
        shared.0.lock().unwrap().full = true;
        history.save_ledger(SavedLedger { fruitless: 1, ..paused(false) }, at(0));
        assert!(history.keeps_the_pause(), "none, and none is kept");
        history.save_ledger(paused(true), at(1));
        assert!(!history.keeps_the_pause());
        shared.0.lock().unwrap().full = false;
        history.insist(at(2));
        assert_eq!(history.trouble(), None);
        assert!(history.keeps_the_pause() && history.ledger().paused.is_some(), "not only when it is time");
        shared.0.lock().unwrap().full = true;
        history.save_ledger(SavedLedger { fruitless: 2, ..paused(true) }, at(3));
        assert!(history.keeps_the_pause());
        history.save_ledger(paused(false), at(3));
        assert!(!history.keeps_the_pause(), "its end is not");
    }

    #[test]
    fn a_clock_set_back_does_not_put_the_next_try_off() {
        let shared = Shared::default();
        let mut history = History::new(Box::new(shared.clone()));
        shared.0.lock().unwrap().full = true;
        history.append(vec![record(1)], at(1_000_000));
        shared.0.lock().unwrap().full = false;
        history.append(vec![record(2)], at(0));
        assert_eq!(history.trouble(), None);
    }
}
