//! The host between an inbox and fake ports, on a clock of its own: what it puts off, joins, and leaves alone.

mod bench;
mod claims;
mod evidence;
mod seeking;

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use bench::Bench;

use super::{AcceptRequest, Message, MoveRequest, Stop, VerbError};
use crate::domain::accept::Way;
use crate::domain::edit::Change;
use crate::domain::engine::Actor;
use crate::domain::finding::Finding;
use crate::domain::sample::{self, queued, ticket};
use crate::domain::ticket::State;

#[test]
fn under_an_obstacle_that_stays_reading_goes_on_after_a_minute() {
    let mut bench = Bench::new([ticket("a", State::Ready)]);
    bench.obstacle(Some("a rebase is under way"));
    bench.save(queued("a"));
    assert_eq!(bench.state("a"), Some(State::Ready), "nothing is concluded meanwhile");
    bench.pass(61);
    assert_eq!(bench.state("a"), Some(State::Queued), "reading has gone on");
    bench.save(ticket("a", State::Planning));
    assert_eq!(bench.state("a"), Some(State::Planning), "and goes on for what changes later");
}

#[test]
fn notices_of_one_kind_that_wait_in_the_inbox_are_one() {
    let mut bench = Bench::new([queued("a")]);
    let (scans, probes) = (bench.scans(), bench.probes());
    for _ in 0..50 {
        bench.mail(Message::Everything(Some("the watcher's queue overflowed".into())));
        bench.mail(Message::Git);
    }
    bench.mail(Message::Paths(vec![PathBuf::from("tickets/a.md")]));
    bench.work();
    assert_eq!((bench.scans() - scans, bench.probes() - probes), (1, 1));
}

#[test]
fn whoever_moves_a_ticket_is_told_that_its_note_was_not_written() {
    let mut bench = Bench::new([ticket("a", State::Ready)]);
    *bench.world.notes_fail.lock().unwrap() = true;
    let actor = Actor::Somebody("bob".into());
    let (id, by) = ("a".into(), "bob".into());
    let request = MoveRequest { id, to: State::Planning, by, force: false, reason: None, actor };
    let moved = bench.host.move_ticket(&request).unwrap();
    assert_eq!(moved.after.state, Some(State::Planning));
    assert_eq!(moved.remarks, ["the note could not be added to the thread of tickets/a.md: the disk is full"]);
}

#[test]
fn an_acceptance_is_written_under_the_accept_lock_and_not_without_it() {
    let mut bench = Bench::new([queued("a"), queued("b")]);
    let accept = |bench: &mut Bench, id: &str| {
        let actor = Actor::Somebody("bob".into());
        bench.host.accept(&AcceptRequest { id: id.into(), by: "bob".into(), way: Way::Accept, actor })
    };
    // What does not reach the file is no record.
    bench.world.forgetful.store(true, Ordering::Relaxed);
    assert!(matches!(accept(&mut bench, "a"), Err(VerbError::Edit(_))));
    assert_eq!(*bench.world.edited_accepting.lock().unwrap(), [true]);
    bench.world.accept_lock_is_held.store(true, Ordering::Relaxed);
    let Err(VerbError::Refused(refusal)) = accept(&mut bench, "b") else { panic!() };
    assert!(refusal.passing && refusal.message.contains("is just accepting a ticket"), "{refusal}");
    assert_eq!(bench.world.edited_accepting.lock().unwrap().len(), 1);
}

#[test]
fn the_state_is_not_set_past_the_lifecycle_by_its_own_name_in_the_files() {
    let mut bench = Bench::new([ticket("a", State::Ready)]);
    for key in ["state", "status", "accepted_by"] {
        let refused = bench.host.set_keys(&"a".into(), &[Change::text(key, "done")], Actor::Unknown);
        assert!(matches!(refused, Err(VerbError::Refused(_))), "{key}");
    }
}

#[test]
fn whoever_ends_leaves_runs_to_the_next_daemon() {
    for why in [Stop::Asked, Stop::LockLost] {
        let mut bench = Bench::new([queued("a")]);
        bench.mail(Message::Stop(why));
        assert_eq!(bench.work(), Some(why));
        bench.host.finish(why);
        assert_eq!(bench.world.ended.load(Ordering::Relaxed), 0, "{why:?}");
    }
}

/// A report is owed until the store has it: also where a look comes upon others that are not told yet.
#[test]
fn what_was_saved_over_is_on_record_when_the_store_has_it() {
    let mut bench = Bench::new([queued("a")]);
    let told = |bench: &Bench| bench.world.on_record.load(Ordering::Relaxed);
    let found = |at: i64| {
        let (ticket, keys, at) = ("a".into(), vec!["k".into()], sample::at(at));
        Finding::SavedOver { ticket, keys, at, own: false, news: true }
    };
    bench.world.found.lock().unwrap().push(found(0));
    bench.world.store.0.lock().unwrap().full = true;
    bench.save(queued("a"));
    assert_eq!(told(&bench), 0, "the disk is full");
    bench.world.store.0.lock().unwrap().full = false;
    bench.pass(10);
    bench.host.insist();
    assert_eq!(told(&bench), 1);
    bench.pass(10);
    assert_eq!(told(&bench), 1, "there is nothing more to note");
    bench.world.found.lock().unwrap().push(found(1));
    bench.save(queued("a"));
    assert_eq!(told(&bench), 2);
}
