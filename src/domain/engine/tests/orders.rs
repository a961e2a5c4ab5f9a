//! The work set: whose it is, what it takes, what ends an entry and what lapses (DESIGN.md 4).

use chrono::TimeDelta;

use super::super::{Actor, Event, Orders, Reach, TurnOutcome};
use super::host::Host;
use super::scripts::{lazy, shelving};
use crate::domain::classify::Class;
use crate::domain::facts::Dirty;
use crate::domain::kick::Boundary;
use crate::domain::policy::{Capacity, Policy};
use crate::domain::refusal::Refusal;
use crate::domain::sample::{accepted, id, ids, queued, texts, ticket, with};
use crate::domain::ticket::{State, Ticket};
use crate::domain::workset::{MAX_DETAIL, MAX_STEP, WaitKind};

fn wait(kind: WaitKind) -> Orders {
    Orders::Wait { kind, detail: "in my own words".into() }
}

fn awaits(step: &str, span: TimeDelta) -> Orders {
    Orders::Await { step: step.into(), span }
}

fn plan() -> Orders {
    Orders::Plan { order: Some(1) }
}

#[track_caller]
fn check_refused(result: Result<(), Refusal>, says: &str) {
    let refused = result.expect_err("a refusal");
    let said = format!("{} {:?}", refused.message, refused.evidence);
    assert!(said.contains(says), "`{says}` is missing in: {said}");
}

fn host(it: Ticket) -> Host {
    let mut host = Host::new(Policy::default(), [it, ticket("b", State::Planning)]);
    host.run(1);
    host
}

#[test]
fn only_the_current_session_writes() {
    let mut host = host(queued("a"));
    host.tell(Event::Ticked);
    let before = host.engine.clone();
    let refused = host.engine.order("s0", &id("a"), plan(), host.now).unwrap_err();
    assert!(refused.message.contains("`s0`") && refused.message.contains("`s1`"), "{}", refused.message);
    assert_eq!(host.engine, before, "nothing is changed by a refusal");
    host.restart_at(Reach::No("none is configured".into()), host.now);
    check_refused(host.order("a", plan()), "none is configured");
}

#[test]
fn each_note_belongs_to_its_states() {
    for state in State::ALL {
        let it = || ticket("a", state);
        let queued = state == State::Queued;
        let inprogress = state == State::Inprogress;
        assert_eq!(host(it()).order("a", plan()).is_ok(), queued || inprogress, "plan of {state}");
        assert_eq!(host(it()).order("a", wait(WaitKind::Other)).is_ok(), queued, "wait of {state}");
        assert_eq!(host(it()).order("a", awaits("merge", TimeDelta::hours(2))).is_ok(), inprogress, "await of {state}");
    }
    check_refused(host(queued("a")).order("nowhere", plan()), "`nowhere` is no ticket");
    check_refused(host(ticket("a", State::Done)).order("a", plan()), "`a` is done");
}

#[test]
fn limits_of_notes() {
    let long = |n: usize| Orders::Wait { kind: WaitKind::Other, detail: "ü".repeat(n) };
    assert!(host(queued("a")).order("a", long(MAX_DETAIL)).is_ok());
    check_refused(host(queued("a")).order("a", long(MAX_DETAIL + 1)), "281 characters");
    let rows = [
        ("merge", 24 * 3600, true),
        ("merge", 24 * 3600 + 1, false),
        ("merge", 1, true),
        ("merge", 0, false),
        ("merge", -5, false),
        ("", 60, false),
        ("  ", 60, false),
    ];
    for (step, seconds, taken) in rows {
        let result = host(accepted("a")).order("a", awaits(step, TimeDelta::seconds(seconds)));
        assert_eq!(result.is_ok(), taken, "`{step}` for {seconds} s");
    }
    check_refused(host(accepted("a")).order("a", awaits(&"x".repeat(MAX_STEP + 1), TimeDelta::hours(1))), "characters");
}

#[test]
fn a_checkable_reason_whose_gate_does_not_hold_is_refused() {
    for kind in WaitKind::ALL.into_iter().filter(|k| *k != WaitKind::Other) {
        check_refused(host(queued("a")).order("a", wait(kind)), "does not hold it");
        assert!(host(queued("a")).engine.work_set().get(&id("a")).is_none());
    }
    let mut held = host(with(queued("a"), |t| t.depends_on = ids(&["b"])));
    check_refused(held.order("a", wait(WaitKind::Conflict)), "depends on `b`, which is planning");
    assert!(held.order("a", wait(WaitKind::Dependency)).is_ok());
}

/// Held by one gate, waiting for it; when the gate clears the reason is gone and the ticket is handed over.
#[track_caller]
fn check_lapses(kind: WaitKind, policy: Policy, tickets: Vec<Ticket>, hold: fn(&mut Host), clear: fn(&mut Host)) {
    let mut host = Host::unstarted(policy, tickets);
    hold(&mut host);
    host.start(Reach::Exec, false);
    host.order("a", wait(kind)).unwrap();
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(10);
    while host.turn.is_some() {
        host.finish_turn(TurnOutcome::Succeeded);
        host.run(10);
    }
    let kicks = host.kicks.len();
    let waiting = |h: &Host| h.engine.work_set().get(&id("a")).unwrap().waiting.clone();
    host.reword("b");
    host.run(300);
    assert!(waiting(&host).is_some(), "{kind}: survives turns, time and other changes");
    assert_eq!(host.engine.row(&host.ticket("a"), host.now).class.unwrap().class, Class::PlannedQueued);
    while host.turn.is_some() {
        host.finish_turn(TurnOutcome::Succeeded);
        host.run(10);
    }
    clear(&mut host);
    host.run(61);
    assert_eq!(waiting(&host), None, "{kind}: lapsed");
    assert!(host.handed(kicks).concat().contains('a'), "{kind}: {:?}", host.decisions(0));
}

#[test]
fn a_reason_lapses_when_its_gate_clears() {
    let unlimited = Policy::default;
    let one = || Policy { capacity: Capacity { max_inprogress: Some(1) }, ..Policy::default() };
    let open = |it: Ticket| vec![it, ticket("b", State::Planning)];
    let depends = with(queued("a"), |t| t.depends_on = ids(&["b"]));
    let no_hold = |_: &mut Host| {};
    check_lapses(WaitKind::Dependency, unlimited(), open(depends), no_hold, |h| {
        h.edit("b", |t| t.state = Some(State::Done));
    });
    let conflicts = with(queued("a"), |t| t.conflicts_with = ids(&["b"]));
    let clear_b = |h: &mut Host| {
        h.edit("b", |t| t.state = Some(State::Done));
    };
    check_lapses(WaitKind::Conflict, unlimited(), vec![conflicts, accepted("b")], no_hold, clear_b);
    check_lapses(WaitKind::Capacity, one(), vec![queued("a"), accepted("b")], no_hold, clear_b);
    let gated = with(queued("a"), |t| t.human_gate = Some("sign-off".into()));
    check_lapses(WaitKind::HumanGate, unlimited(), open(gated), no_hold, |h| h.edit("a", |t| t.human_gate = None));
    let dirty = |h: &mut Host| h.dirty = Dirty::Changed(texts(&["x"]));
    check_lapses(WaitKind::DirtyWorkspace, unlimited(), open(queued("a")), dirty, |h| h.dirty = Dirty::Clean);
}

#[test]
fn a_reason_stays_while_its_own_gate_holds_whatever_others_do() {
    let it = with(queued("a"), |t| (t.depends_on, t.human_gate) = (ids(&["b"]), Some("sign-off".into())));
    let mut host = host(it);
    host.order("a", wait(WaitKind::Dependency)).unwrap();
    host.finish_turn(TurnOutcome::Succeeded);
    host.edit("a", |t| t.human_gate = None);
    host.run(5);
    assert!(host.engine.work_set().get(&id("a")).unwrap().waiting.is_some());
    assert_eq!(host.kicks.len(), 1);
}

/// Shelved for a reason of the Orchestrator's own.
fn shelved() -> Host {
    let mut host = Host::new(Policy::default(), []);
    host.script = Some(shelving);
    host.run(1);
    host.add(queued("a"));
    host.add(ticket("z", State::Planning));
    host.run(60);
    assert_eq!(host.kicks.len(), 1);
    assert_eq!(host.decisions(0).last().map(String::as_str), Some("nothing_startable"));
    host
}

fn waits(host: &Host) -> bool {
    host.engine.work_set().get(&id("a")).is_some_and(|note| note.waiting.is_some())
}

#[test]
fn other_lapses_only_when_somebody_else_changes_the_ticket() {
    type Change = fn(&mut Host);
    let cases: [(&str, bool, Change); 7] = [
        ("a person's edit", true, |h| h.reword("a")),
        ("a person's request", true, |h| h.write("a", Actor::Somebody("al".into()), |t| t.title = "new".into())),
        ("the Orchestrator's own", false, |h| h.write("a", Actor::Orchestrator, |t| t.title = "new".into())),
        ("yoi's stamp", false, |h| h.write("a", Actor::Daemon, |t| t.labels = texts(&["orphan"]))),
        ("another ticket", false, |h| h.edit("z", |t| t.state = Some(State::Inprogress))),
        ("a gate that comes and goes", false, |h| {
            h.dirty = Dirty::Changed(texts(&["x"]));
            h.tell(Event::GitNoticed);
            h.dirty = Dirty::Clean;
            h.tell(Event::GitNoticed);
        }),
        ("time", false, |h| h.run(24 * 3600)),
    ];
    for (name, lapses, change) in cases {
        let mut host = shelved();
        host.script = Some(lazy);
        change(&mut host);
        assert_eq!(waits(&host), !lapses, "{name}");
        host.run(60);
        let offered = host.handed(1).iter().any(|kick| kick.contains('a'));
        assert_eq!(offered, lapses, "{name}: {:?}", host.decisions(0));
    }
}

#[test]
fn other_is_shown_again_at_explicit_boundaries() {
    for boundary in Boundary::ALL {
        let mut host = shelved();
        let explicit =
            [Boundary::PanelOpen, Boundary::OrchestratorSpawn, Boundary::OrchestratorRestore, Boundary::UserKick];
        host.boundary(boundary);
        host.run(60);
        assert_eq!(host.kicks.len() == 2, explicit.contains(&boundary), "{boundary}");
        assert!(waits(&host), "{boundary}: shown, not lapsed");
    }
}

#[test]
fn an_entry_ends_when_its_ticket_leaves_queued_and_inprogress() {
    let stays = [(State::Queued, true), (State::Inprogress, true)];
    for state in State::ALL {
        let mut host = shelved();
        host.script = None;
        host.edit("a", |t| t.state = Some(state));
        let expected = stays.contains(&(state, true));
        assert_eq!(host.engine.work_set().get(&id("a")).is_some(), expected, "{state}");
        if !expected {
            host.run(1);
            host.queue("a");
            let class = host.engine.row(&host.ticket("a"), host.now).class.unwrap().class;
            assert_eq!(class, Class::NewQueued, "queued again after {state}");
        }
    }
}

#[test]
fn what_belongs_to_a_state_ends_with_it() {
    let mut host = shelved();
    host.edit("a", |t| t.state = Some(State::Inprogress));
    assert!(!waits(&host), "inprogress, it waits for nothing");
    host.order("a", awaits("merge", TimeDelta::hours(1))).unwrap();
    host.run(1);
    host.queue("a");
    assert_eq!(host.engine.work_set().get(&id("a")).unwrap().awaited, None, "queued, it awaits nothing");
}

#[test]
fn a_step_awaited_under_a_roles_name_ends_with_its_pod() {
    let mut host = host(accepted("a"));
    host.order("a", awaits("Coder", TimeDelta::hours(2))).unwrap();
    let pod = host.delegate("a", "coder", 9999);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(1);
    host.end_pod(&pod);
    assert_eq!(host.handed(1), ["a"]);
    // A step of another name goes on.
    let mut host = self::host(accepted("a"));
    host.order("a", awaits("merge", TimeDelta::hours(2))).unwrap();
    let pod = host.delegate("a", "coder", 9999);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(1);
    host.end_pod(&pod);
    assert_eq!(host.handed(1), [""; 0]);
}

#[test]
fn a_new_session_starts_empty_and_everything_queued_is_new() {
    let mut host = shelved();
    host.script = None;
    host.restart_at(Reach::Exec, host.now);
    assert!(host.engine.work_set().iter().next().is_none());
    assert_ne!(host.session(), "s1");
    assert_eq!(host.handed(1), ["a"]);
    assert_eq!(host.kicks[1].1.causes, [Boundary::OrchestratorSpawn]);
}
