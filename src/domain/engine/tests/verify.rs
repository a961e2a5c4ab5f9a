//! What the watcher does not tell is found, once, and counted; what it tells late is not (DESIGN.md 8, Self-proof).

use chrono::TimeDelta;

use super::super::{Event, Record, RecordKind};
use super::host::Host;
use crate::domain::backlog::{Backlog, Entry};
use crate::domain::policy::Policy;
use crate::domain::sample::{at, id, sealed, ticket, with};
use crate::domain::ticket::State;

const EVERY: i64 = 600;

fn host() -> Host {
    let policy = Policy { verify_every: Some(TimeDelta::seconds(EVERY)), ..Policy::default() };
    Host::new(policy, ["a", "b"].map(|name| ticket(name, State::Planning)))
}

/// A change that no notice tells of.
fn silently(host: &mut Host, path: &str, state: Option<State>) {
    let name = path.trim_start_matches("tickets/").trim_end_matches(".md");
    match state {
        Some(state) => {
            let entry = Entry::Ticket(sealed(with(ticket(name, state), |t| t.path = path.into()), "silent"));
            host.files.insert(path.into(), entry);
        }
        None => drop(host.files.remove(&std::path::PathBuf::from(path))),
    }
}

fn missed(host: &Host) -> (u64, Vec<&Record>) {
    let records = host.records.iter().filter(|record| record.kind == RecordKind::WatcherMissed);
    (host.engine.watch_summary().missed, records.collect())
}

#[track_caller]
fn check_true(host: &Host) {
    assert_eq!(*host.engine.backlog(), Backlog::of(host.files.clone()), "the board is what is there");
}

#[test]
fn what_nobody_told_is_found_counted_and_said() {
    type Change = fn(&mut Host);
    let changes: [(&str, &str, Change); 4] = [
        ("changed", "a", |host| silently(host, "tickets/a.md", Some(State::Ready))),
        ("new", "c", |host| silently(host, "tickets/c.md", Some(State::Queued))),
        ("gone", "a", |host| silently(host, "tickets/a.md", None)),
        ("unreadable", "a", |host| drop(host.files.insert("tickets/a.md".into(), Host::unreadable("a")))),
    ];
    for (name, which, change) in changes {
        let mut host = host();
        host.run(60);
        change(&mut host);
        host.run(EVERY - 61);
        assert_eq!(missed(&host).0, 0, "{name}: it was not time yet");
        host.run(5);
        check_true(&host);
        let (count, records) = missed(&host);
        assert_eq!((count, records.len(), host.doubts), (1, 1, 1), "{name}");
        assert_eq!(records[0].data["paths"][0], format!("tickets/{which}.md"), "{name}");
        host.run(3 * EVERY);
        assert_eq!(missed(&host).0, 1, "{name}: once");
    }
}

#[test]
fn what_is_compared_more_often_than_notices_take_is_read_all_the_same() {
    let policy = Policy { verify_every: Some(TimeDelta::seconds(1)), ..Policy::default() };
    let mut host = Host::new(policy, [ticket("a", State::Planning)]);
    host.run(60);
    silently(&mut host, "tickets/a.md", Some(State::Ready));
    host.run(4);
    check_true(&host);
    assert_eq!(missed(&host).0, 1);
}

#[test]
fn a_ticket_queued_unnoticed_is_kicked_for() {
    let mut host = host();
    host.run(60);
    silently(&mut host, "tickets/a.md", Some(State::Queued));
    host.run(EVERY);
    assert_eq!(host.kicks.len(), 1);
    assert_eq!(host.stamped, [id("a")]);
}

#[test]
fn what_is_told_late_is_not_missed() {
    for late in [1, 100, 1900] {
        let mut host = host();
        host.run(EVERY - 1);
        silently(&mut host, "tickets/a.md", Some(State::Ready));
        host.run_ms(1000 + late);
        host.tell(Event::PathsNoticed(vec!["tickets/a.md".into()]));
        host.run(10);
        check_true(&host);
        assert_eq!(missed(&host).0, 0, "{late} ms");
    }
    // Nor is what is read for another reason.
    let mut host = host();
    host.run(EVERY - 1);
    silently(&mut host, "tickets/a.md", Some(State::Ready));
    host.run(2);
    host.tell(Event::EverythingNoticed(Some("overflow".into())));
    host.run(10);
    check_true(&host);
    let said = host.engine.watch_summary();
    assert_eq!(
        (said.missed, said.rescans, said.last_rescan),
        (0, 1, Some(("overflow", host.now - TimeDelta::seconds(10))))
    );
}

#[test]
fn a_look_by_the_clock_reads_at_once_and_is_no_history() {
    let mut host = host();
    let records = host.records.len();
    silently(&mut host, "tickets/a.md", Some(State::Ready));
    silently(&mut host, "tickets/b.md", Some(State::Ready));
    host.tell(Event::EverythingNoticed(None));
    check_true(&host);
    assert_eq!((missed(&host).0, host.engine.watch_summary().rescans), (0, 0));
    assert!(host.records[records..].iter().all(|record| record.kind == RecordKind::IssueMoved));
    // Each look is a comparison: the next one is due that much later.
    host.run(EVERY - 1);
    host.tell(Event::EverythingNoticed(None));
    assert_eq!(host.engine.next_wake(), Some(host.now + TimeDelta::seconds(EVERY)));
}

#[test]
fn one_comparison_at_a_time_and_none_where_it_is_off() {
    let mut off = Host::new(Policy::default(), [ticket("a", State::Planning)]);
    off.run(5);
    assert_eq!(off.engine.next_wake(), None);
    let mut host = host();
    host.run(5);
    assert_eq!(host.engine.next_wake(), Some(at(EVERY)));
    // A host that does not answer yet: nothing more is wanted, by the clock or otherwise.
    let wanted = |host: &mut Host, event, now| host.engine.step(event, now).len();
    assert_eq!(wanted(&mut host, Event::Ticked, at(EVERY)), 1);
    assert_eq!(wanted(&mut host, Event::Ticked, at(5 * EVERY)), 0);
    assert_eq!(wanted(&mut host, Event::EverythingNoticed(None), at(5 * EVERY)), 0);
    assert_eq!(host.engine.next_wake(), None);
    // Not possible, or not the time: it is tried again when the next one is due, and the trouble is shown until then.
    for (answer, trouble) in [(Some(Err("no folder".into())), Some("no folder")), (None, Some("no folder"))] {
        assert_eq!(wanted(&mut host, Event::Compared(answer), at(6 * EVERY)), 0);
        assert_eq!(host.engine.watch_summary().trouble, trouble);
        assert_eq!(host.engine.next_wake(), Some(at(7 * EVERY)));
    }
    assert_eq!(wanted(&mut host, Event::Compared(Some(Ok(<_>::default()))), at(6 * EVERY)), 0);
    assert_eq!(host.engine.watch_summary().trouble, None);
}

#[test]
fn a_clock_set_back_puts_nothing_off() {
    let mut host = host();
    host.run(60);
    silently(&mut host, "tickets/a.md", Some(State::Ready));
    host.jump_back(TimeDelta::days(3));
    host.run(EVERY + 5);
    check_true(&host);
    assert_eq!(missed(&host).0, 1);
}
