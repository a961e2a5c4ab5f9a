//! What is kept of the past where the store takes it, and where it does not.

use std::sync::{Arc, Mutex};

use super::*;
use crate::adapters::fakes::MemoryStore;
use crate::domain::engine::RecordKind;
use crate::domain::ledger::Paused;
use crate::domain::sample::at;
use crate::domain::ticket::State;

/// The same store for the test and the room.
#[derive(Clone, Default)]
pub(in super::super) struct Shared(pub(in super::super) Arc<Mutex<MemoryStore>>);

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
fn what_waits_is_named_and_only_as_long_as_it_waits() {
    let shared = Shared::default();
    let mut history = History::new(Box::new(shared.clone()));
    history.append(vec![record(1)], at(0));
    assert_eq!(history.unkept(), [""; 0]);
    shared.0.lock().unwrap().full = true;
    let paused = Paused { at: at(0), by: "ana".into(), reason: None };
    let ledger = SavedLedger { paused: Some(paused.clone()), ..SavedLedger::default() };
    history.save_ledger(ledger.clone(), at(1));
    assert_eq!(history.unkept(), [format!("the pause ({paused})")]);
    history.save_ledger(SavedLedger { fruitless: 1, ..ledger }, at(2));
    history.append(vec![record(1)], at(2));
    history.save_seen(vec![("a".into(), Some(seen(1)))], at(3));
    let counts = "the counts and waits that bound the kicks";
    let others = ["1 event of the history", "what was last seen of the tickets"];
    assert_eq!(history.unkept()[1..], [[counts].as_slice(), &others].concat());
    // Records alone are tried again at once, too.
    shared.0.lock().unwrap().full = false;
    history.insist(at(3));
    assert_eq!(history.unkept(), [""; 0]);
    shared.0.lock().unwrap().full = true;
    history.append(vec![record(1), record(2)], at(4));
    history.save_ledger(SavedLedger { fruitless: 1, ..SavedLedger::default() }, at(4));
    assert_eq!(history.unkept(), ["that the pause has ended", "2 events of the history"]);
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
