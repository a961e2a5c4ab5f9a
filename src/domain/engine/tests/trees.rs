//! Worktrees at the engine: somebody who works in one holds a kick back and no longer than that; nobody is kicked in circles
//! because somebody comes and goes; and with no worktree nothing is due.

use chrono::TimeDelta;

use super::super::{Actor, ClaimNews, Event, Kick, TurnOutcome};
use super::host::Host;
use crate::domain::classify::{Class, Evidence};
use crate::domain::facts::{Claim, TimeDeltaSeconds, Worktree};
use crate::domain::kick::Boundary;
use crate::domain::policy::{Mode, Policy};
use crate::domain::sample::{accepted, id, queued};
use crate::domain::ticket::{State, Ticket};

fn orchestrated(tickets: impl IntoIterator<Item = Ticket>) -> Host {
    let mut host = Host::new(Policy { mode: Mode::Orchestrated, ..Policy::default() }, tickets);
    host.script = Some(looks);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(120);
    host
}

/// An Orchestrator that looks, and does nothing.
fn looks(_: &mut Host, _: &Kick) -> (TimeDelta, TurnOutcome) {
    (TimeDelta::seconds(1), TurnOutcome::Succeeded)
}

/// From now on that is so; nobody has told.
fn stands(host: &mut Host, name: &str, live_process: Option<u32>) {
    host.trees.retain(|(other, _)| other != name);
    host.trees.push((name.into(), Worktree { path: format!("/w/{name}"), live_process }));
}

/// Git's folder changed.
fn noticed(host: &mut Host) {
    host.tell(Event::GitNoticed);
}

fn shown(host: &Host, ticket: &str) -> (Class, Vec<Evidence>) {
    let known = host.engine.backlog().get(&id(ticket)).unwrap();
    let classified = host.engine.row(known, host.now).class.unwrap();
    (classified.class, classified.evidence)
}

fn left(ticket: &str) -> (Class, Vec<Evidence>) {
    (Class::ActionableInprogress, vec![Evidence::LeftoverWorktree { path: format!("/w/{ticket}") }])
}

fn worked_in(pid: u32) -> (Class, Vec<Evidence>) {
    (Class::ActiveInprogress, vec![Evidence::ProcessInWorktree { pid }])
}

#[test]
fn who_works_in_a_worktree_makes_its_ticket_active_until_he_is_gone() {
    let mut host = orchestrated([accepted("a"), queued("b")]);
    stands(&mut host, "a", None);
    noticed(&mut host);
    assert_eq!(shown(&host, "a"), left("a"));
    // Nobody tells that a process came, or ended.
    stands(&mut host, "a", Some(7));
    host.run(30);
    assert_eq!(shown(&host, "a"), worked_in(7));
    let before = host.kicks.len();
    host.write("b", Actor::Somebody("ana".into()), |t| t.labels.push("x".into()));
    host.run(600);
    assert_eq!((shown(&host, "a"), host.kicks.len()), (worked_in(7), before), "nobody is kicked meanwhile");
    // One of several that work there is named; that it is another one now is no end.
    stands(&mut host, "a", Some(8));
    host.run(60);
    assert_eq!((shown(&host, "a"), host.kicks.len()), (worked_in(8), before));
    stands(&mut host, "a", None);
    host.run(31);
    assert_eq!((shown(&host, "a"), host.kicks.len()), (left("a"), before + 1), "the next move is the Orchestrator's");
    let (_, kick) = host.kicks.last().unwrap();
    assert!(kick.causes.contains(&Boundary::DelegateFinished) && kick.items.iter().any(|item| item.id == id("a")));
}

#[test]
fn what_a_decision_rests_on_is_looked_at_before_it_is_made() {
    // Nobody has looked since the process came: the host asserts that no kick names its ticket.
    let mut host = orchestrated([accepted("a")]);
    let before = host.kicks.len();
    stands(&mut host, "a", Some(7));
    host.tell(Event::BoundaryReached(Boundary::UserKick));
    host.run(5);
    assert_eq!((shown(&host, "a"), host.kicks.len()), (worked_in(7), before));
    // And none since it ended: what would be suppressed by it is not.
    stands(&mut host, "a", None);
    host.tell(Event::BoundaryReached(Boundary::UserKick));
    host.run(5);
    assert_eq!((shown(&host, "a"), host.kicks.len()), (left("a"), before + 1));
}

#[test]
fn nobody_is_kicked_in_circles_because_somebody_comes_and_goes() {
    for stays in [5, 40, 200] {
        let mut host = orchestrated([accepted("a"), queued("b")]);
        stands(&mut host, "a", None);
        noticed(&mut host);
        host.run(300);
        let before = host.kicks.len();
        for pid in 0..100 {
            stands(&mut host, "a", Some(100 + pid));
            host.run(stays);
            stands(&mut host, "a", None);
            host.run(stays);
        }
        host.run(60);
        let kicks = host.kicks.len() - before;
        assert!(kicks <= 1, "{kicks} kicks, where somebody stays {stays} s each time");
        assert_eq!(shown(&host, "a"), left("a"));
        // A person's change makes the ticket new, and with it the next end.
        host.write("a", Actor::Somebody("ana".into()), |t| t.labels.push("x".into()));
        host.run(120);
        let before = host.kicks.len();
        stands(&mut host, "a", Some(9));
        host.run(100);
        stands(&mut host, "a", None);
        host.run(100);
        assert_eq!(host.kicks.len(), before + 1);
    }
}

#[test]
fn what_is_new_meanwhile_is_handed_over_when_nobody_is_left_however_short_that_was() {
    let mut host = orchestrated([accepted("a")]);
    stands(&mut host, "a", Some(7));
    noticed(&mut host);
    let before = host.kicks.len();
    host.write("a", Actor::Somebody("ana".into()), |t| t.labels.push("x".into()));
    host.add(queued("b"));
    host.run(10);
    assert_eq!(host.kicks.len(), before);
    stands(&mut host, "a", None);
    host.run(120);
    assert_eq!(host.kicks.len(), before + 1);
}

#[test]
fn it_is_looked_by_the_clock_only_while_a_ticket_in_progress_has_a_worktree() {
    let mut host = orchestrated([accepted("a"), queued("b")]);
    let looks = |host: &mut Host, seconds: i64| {
        let before = host.looks;
        host.run(seconds);
        host.looks - before
    };
    assert_eq!(looks(&mut host, 3000), 0, "there is none");
    stands(&mut host, "b", Some(7));
    noticed(&mut host);
    assert_eq!(looks(&mut host, 3000), 0, "that of a queued ticket holds nobody back");
    stands(&mut host, "a", None);
    noticed(&mut host);
    assert_eq!(looks(&mut host, 300), 10);
    host.write("a", Actor::Somebody("ana".into()), |t| t.state = Some(State::Done));
    assert_eq!(looks(&mut host, 3000), 0);
}

#[test]
fn a_look_that_hangs_keeps_a_decision_for_some_seconds_and_no_longer() {
    let mut host = orchestrated([accepted("a"), accepted("b")]);
    stands(&mut host, "a", Some(7));
    noticed(&mut host);
    host.run(20);
    host.looks_hang = true;
    let decided = |host: &Host| host.engine.summary(host.now).last_decision.map(|last| last.at);
    let (before, asked) = (decided(&host), host.now);
    host.tell(Event::BoundaryReached(Boundary::UserKick));
    host.run(9);
    assert_eq!(decided(&host), before);
    host.run(1);
    assert_eq!(decided(&host), Some(asked + TimeDelta::seconds(10)));
}

#[test]
fn a_look_that_hangs_is_asked_again_ever_less_often_until_one_answers() {
    let mut host = orchestrated([accepted("a")]);
    stands(&mut host, "a", Some(7));
    noticed(&mut host);
    host.looks_hang = true;
    let looks = |host: &mut Host, seconds: i64| {
        let before = host.looks;
        host.run(seconds);
        host.looks - before
    };
    assert_eq!(looks(&mut host, 30), 1);
    assert_eq!(looks(&mut host, 60 + 120 + 240 + 1), 3, "after one minute, two, four");
    let day = looks(&mut host, 86_400);
    assert!((20..=30).contains(&day), "about one an hour: {day}");
    host.looks_hang = false;
    assert!(looks(&mut host, 2 * 3600) > 100, "as before");
}

/// In pull mode the claim of a worker that is not heard of any more is broken, but not under who works in the worktree still.
#[test]
fn a_lost_ticket_is_not_brought_back_while_somebody_works_in_its_worktree() {
    let mut host = Host::new(Policy { mode: Mode::Pull, ..Policy::default() }, [accepted("a"), accepted("b")]);
    for ticket in ["a", "b"] {
        let claim = Claim { worker: "w".into(), role: "coder".into(), beat: host.now, ttl: TimeDeltaSeconds(60) };
        host.claims.push(ClaimNews { ticket: id(ticket), generation: 1, stands: Ok(claim) });
    }
    stands(&mut host, "a", Some(7));
    stands(&mut host, "b", None);
    noticed(&mut host);
    host.run(240);
    assert_eq!(host.brought_back, [id("b")]);
    stands(&mut host, "a", None);
    host.run(31);
    assert_eq!(host.brought_back, [id("b"), id("a")]);
}

/// A name that was cut says nothing: the ticket is found by what its name would be.
#[test]
fn whose_a_worktree_is() {
    let long = "x".repeat(230);
    let mut host = orchestrated([accepted(&long), accepted("a.lock")]);
    for ticket in [long.as_str(), "a.lock"] {
        let name = crate::domain::claim::name::of(&id(ticket));
        assert_ne!(name, ticket);
        stands(&mut host, &name, Some(7));
    }
    stands(&mut host, "%zz", Some(8));
    noticed(&mut host);
    assert_eq!(host.engine.facts().worktrees.len(), 2);
    for ticket in [long.as_str(), "a.lock"] {
        assert_eq!(shown(&host, ticket), worked_in(7));
    }
}
