//! A diligent Orchestrator is never cut off, whatever the capacity and however many tickets and steps; and whatever
//! another one does, kicks are few (DESIGN.md 5).

use std::collections::BTreeSet;

use super::super::RecordKind;
use super::host::{Host, Script};
use super::scripts::{STEPS, diligent, one_step, shelving};
use crate::domain::policy::Policy;
use crate::domain::sample::queued;
use crate::domain::ticket::State;

/// All tickets get done, with at most so many kicks.
#[track_caller]
fn check(name: &str, script: Script, tickets: usize, capacity: usize, workers_close: bool) {
    let policy =
        Policy { capacity: crate::domain::policy::Capacity { max_inprogress: Some(capacity) }, ..Policy::default() };
    let mut host = Host::new(policy, []);
    host.script = Some(script);
    host.workers_close = workers_close;
    host.run(1);
    for n in 0..tickets {
        host.add(queued(&format!("t{n:03}")));
    }
    for _ in 0..2_000 {
        if host.engine.backlog().tickets().all(|t| t.state == Some(State::Done)) {
            break;
        }
        host.run(600);
    }
    let open = host.engine.backlog().tickets().filter(|t| t.state != Some(State::Done)).count();
    assert_eq!(open, 0, "{name}: left open after {} kicks, {:?}", host.kicks.len(), host.decisions(0).last());
    let shown: BTreeSet<_> = host.kicks.iter().flat_map(|(_, k)| &k.items).map(|i| i.id.clone()).collect();
    assert_eq!(shown.len(), tickets, "{name}: everybody was presented");
    assert_eq!(host.count(RecordKind::Alert), 0, "{name}");
    // Planned, accepted, each step, done: at most one kick each.
    let steps = if workers_close { 3 } else { STEPS as usize + 3 };
    assert!(host.kicks.len() <= tickets * steps + 1, "{name}: {} kicks", host.kicks.len());
    let kicks = host.kicks.len();
    println!("{name}, capacity {capacity}, workers close: {workers_close}: {tickets} tickets done with {kicks} kicks");
    host.run(24 * 3600);
    assert_eq!(host.kicks.len(), kicks, "{name}: nothing is left to say");
    assert_eq!(host.engine.next_wake(), None, "{name}");
}

#[test]
fn two_hundred_tickets_of_four_steps_at_capacity_1() {
    check("all it can", diligent, 200, 1, false);
}

#[test]
fn two_hundred_tickets_of_four_steps_at_capacity_3() {
    check("all it can", diligent, 200, 3, false);
}

#[test]
fn one_step_a_turn() {
    check("capacity 1", one_step, 25, 1, false);
    check("capacity 3", one_step, 25, 3, false);
}

#[test]
fn with_workers_that_close_their_own_tickets() {
    check("capacity 1", diligent, 40, 1, true);
    check("capacity 3", diligent, 40, 3, true);
    check("one step, capacity 3", one_step, 25, 3, true);
}

/// `cargo test two_hundred_each_way -- --ignored --nocapture` gives the figures.
#[test]
#[ignore = "a minute: one step a turn takes a thousand kicks"]
fn two_hundred_each_way() {
    for (name, script) in [("all it can", diligent as Script), ("one step a turn", one_step)] {
        for capacity in [1, 3] {
            for workers_close in [false, true] {
                check(name, script, 200, capacity, workers_close);
            }
        }
    }
}

#[test]
fn tickets_that_people_queue_again_are_work_like_any_other() {
    let mut host = Host::new(
        Policy { capacity: crate::domain::policy::Capacity { max_inprogress: Some(1) }, ..Policy::default() },
        [],
    );
    host.script = Some(one_step);
    host.run(1);
    let names = ["a", "b", "c", "d", "e", "f"];
    for name in names {
        host.add(queued(name));
    }
    for round in 1..=3 {
        host.run(4 * 3600);
        for name in names {
            assert_eq!(
                host.ticket(name).state,
                Some(State::Done),
                "{name} in round {round}: {:?}",
                host.decisions(0).last()
            );
            host.memo.clear();
        }
        for name in names {
            host.queue(name);
        }
    }
    assert_eq!(host.count(RecordKind::Alert), 0);
}

#[test]
fn five_hundred_are_all_presented_to_one_that_takes_note() {
    let mut host = Host::new(Policy::default(), []);
    host.script = Some(shelving);
    host.run(1);
    for n in 0..500 {
        host.add(queued(&format!("t{n:03}")));
    }
    host.run(3600);
    assert_eq!(host.engine.work_set().iter().count(), 500);
    assert_eq!(host.kicks.len(), 51, "one, then ten at a time");
}
