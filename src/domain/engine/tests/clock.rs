//! Boundaries in time: joined within 200 ms, each due time once, and clocks that jump (DESIGN.md 5).

use chrono::TimeDelta;

use super::super::{Event, Orders, Reach, RecordKind, TurnOutcome};
use super::host::Host;
use super::scripts::{failing, lazy};
use crate::domain::facts::Dirty;
use crate::domain::kick::Boundary::{self, *};
use crate::domain::policy::{DirtyGate, Policy};
use crate::domain::sample::{accepted, ids, queued, texts, ticket, with};
use crate::domain::ticket::State;
use crate::domain::workset::WaitKind;

/// The boundaries of each decision since a record.
fn causes(host: &Host, from: usize) -> Vec<String> {
    let decided = |kind| matches!(kind, RecordKind::KickSent | RecordKind::KickSuppressed);
    let later = host.records[from..].iter().filter(|r| decided(r.kind));
    later.map(|r| r.data["boundaries"].to_string().replace(['"', '[', ']'], "")).collect()
}

#[test]
fn the_first_boundary_is_decided_at_once_and_those_within_200_ms_are_joined() {
    let mut host = Host::new(Policy::default(), []);
    host.run(60);
    let from = host.records.len();
    host.boundary(PanelOpen);
    assert_eq!(causes(&host, from), ["panel_open"], "at once");
    for boundary in [TicketQueued, UserKick, TicketQueued, GateCleared] {
        host.run_ms(40);
        host.boundary(boundary);
    }
    host.run_ms(39);
    assert_eq!(causes(&host, from).len(), 1, "not before the 200 ms are over");
    host.run_ms(1);
    assert_eq!(causes(&host, from)[1..], ["ticket_queued,user_kick,gate_cleared"], "one decision with all causes");
    host.run_ms(500);
    host.boundary(PanelOpen);
    assert_eq!(causes(&host, from).len(), 3, "later, again at once");
}

#[test]
fn while_busy_every_boundary_is_suppressed_and_idle_is_one() {
    for boundary in Boundary::ALL {
        let mut host = Host::new(Policy::default(), [queued("a")]);
        host.run(60);
        let from = host.records.len();
        host.boundary(boundary);
        assert_eq!(host.decisions(from), ["busy"], "{boundary}");
        host.run(60);
        host.finish_turn(TurnOutcome::Succeeded);
        assert_eq!(causes(&host, from)[1], "orchestrator_idle");
    }
}

#[test]
fn while_idle_every_boundary_kicks_for_something_new() {
    for boundary in Boundary::ALL {
        let mut host = Host::new(Policy::default(), []);
        host.run(60);
        host.tell(Event::RateLimited(host.now + TimeDelta::seconds(1)));
        host.add(queued("a"));
        host.run(60);
        host.finish_turn(TurnOutcome::Succeeded);
        host.run(60);
        host.plan("a");
        host.run(1);
        // Planned and unseen: whatever led there has been decided on with the same kick.
        assert_eq!(host.kicks.len(), 2, "{boundary}");
        host.finish_turn(TurnOutcome::Failed("exit 1".into()));
        host.run(1);
        host.boundary(boundary);
        let explicit = matches!(boundary, PanelOpen | OrchestratorSpawn | OrchestratorRestore | UserKick);
        assert_eq!(host.kicks.len(), if explicit { 3 } else { 2 }, "{boundary} during a back-off");
        host.run(20);
        assert_eq!(host.kicks.len(), 3, "{boundary}: and at its end");
    }
}

#[test]
fn a_panel_that_opens_again_within_the_hour_is_automatic() {
    let mut host = Host::new(Policy::default(), [queued("a")]);
    host.script = Some(lazy);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(60);
    host.boundary(PanelOpen);
    host.run(60);
    assert_eq!(host.kicks.len(), 2, "presents what was seen");
    host.boundary(PanelOpen);
    host.run(3600 - 120);
    host.boundary(PanelOpen);
    host.run(59);
    assert_eq!(host.kicks.len(), 2);
    host.run(60);
    host.boundary(PanelOpen);
    assert_eq!(host.kicks.len(), 3, "an hour later");
    // A panel that presented nothing seen does not count.
    let mut host = Host::new(Policy::default(), []);
    host.script = Some(lazy);
    host.run(1);
    host.tell(Event::RateLimited(host.now + TimeDelta::seconds(1)));
    host.add(queued("a"));
    host.run_ms(300);
    host.boundary(PanelOpen);
    host.run(60);
    assert_eq!(host.kicks.len(), 1);
    host.boundary(PanelOpen);
    assert_eq!(host.kicks.len(), 2);
}

#[test]
fn an_overdue_step_is_one_boundary() {
    for with_a_pod in [false, true] {
        let mut host = Host::new(Policy::default(), [accepted("a"), accepted("b")]);
        host.script = Some(lazy);
        host.finish_turn(TurnOutcome::Succeeded);
        host.run(60);
        let span = TimeDelta::minutes(10);
        host.order("a", Orders::Await { step: "merge".into(), span }).unwrap();
        if with_a_pod {
            host.delegate("a", "coder", 9 * 3600);
        }
        host.run(60);
        let from = host.records.len();
        host.run(8 * 3600);
        let finished: Vec<_> = causes(&host, from).into_iter().filter(|c| c.contains("delegate_finished")).collect();
        assert_eq!(finished, ["delegate_finished"], "with a Pod: {with_a_pod}");
        assert!(host.handed(1).concat().contains('b'), "seen is taken off every item");
    }
}

#[test]
fn a_step_awaited_anew_is_due_anew() {
    let mut host = Host::new(Policy::default(), [accepted("a")]);
    host.script = Some(lazy);
    host.finish_turn(TurnOutcome::Succeeded);
    for _ in 0..5 {
        host.order("a", Orders::Await { step: "merge".into(), span: TimeDelta::minutes(10) }).unwrap();
        host.run(9 * 60);
    }
    assert!(host.kicks.len() == 1, "never overdue: {:?}", host.decisions(0));
    host.run(2 * 60);
    assert_eq!(host.kicks.last().unwrap().1.causes, [DelegateFinished]);
}

#[test]
fn a_clock_that_jumps_back_nine_hours_stalls_nothing() {
    let back = TimeDelta::hours(9);
    // Awaited step.
    let mut host = Host::new(Policy::default(), [accepted("a")]);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(10);
    host.order("a", Orders::Await { step: "merge".into(), span: TimeDelta::minutes(10) }).unwrap();
    host.jump_back(back);
    host.run(11 * 60);
    assert_eq!(host.kicks.len(), 2, "the step is overdue in its time");
    // Back-off.
    let mut host = Host::new(Policy::default(), [queued("a")]);
    host.script = Some(failing);
    host.finish_turn(TurnOutcome::Failed("exit 1".into()));
    host.jump_back(back);
    host.run(120);
    assert_eq!(host.kicks.len(), 3);
    // Rate limit and joined boundaries.
    let mut host = Host::new(Policy::default(), []);
    host.tell(Event::RateLimited(host.now + TimeDelta::minutes(1)));
    host.add(queued("a"));
    host.boundary(PanelOpen);
    host.jump_back(back);
    host.run(62);
    assert_eq!(host.kicks.len(), 1);
    // A file whose read was put off, and one in doubt.
    let mut host = Host::new(Policy::default(), [ticket("a", State::Ready), ticket("b", State::Ready)]);
    host.reword("a");
    host.queue("a");
    host.save("tickets/b.md", None);
    host.jump_back(back);
    host.run(2);
    assert_eq!(host.handed(0), ["a"]);
    assert_eq!(host.engine.backlog().queued().len(), 1);
    assert!(host.engine.backlog().tickets().count() == 1);
}

#[test]
fn a_clock_set_back_between_two_daemons_stalls_nothing() {
    let mut host = Host::new(Policy::default(), [queued("a")]);
    host.script = Some(failing);
    host.finish_turn(TurnOutcome::Failed("exit 1".into()));
    host.tell(Event::RateLimited(host.now + TimeDelta::minutes(1)));
    let last = host.now;
    host.now -= TimeDelta::hours(9);
    host.restart_at(Reach::Exec, last);
    host.run(120);
    assert!(host.kicks.len() > 1, "{:?}", host.decisions(0));
}

#[test]
fn a_clock_that_jumps_ahead_fires_each_due_time_once() {
    let mut host = Host::new(Policy::default(), [accepted("a"), queued("b")]);
    host.script = Some(lazy);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(10);
    host.order("a", Orders::Await { step: "merge".into(), span: TimeDelta::minutes(10) }).unwrap();
    host.run(1);
    host.now += TimeDelta::days(3);
    host.run(3600);
    let kicks = host.kicks.len();
    host.run(24 * 3600);
    assert_eq!(host.kicks.len(), kicks);
    assert_eq!(host.engine.next_wake(), None);
}

#[test]
fn the_dirty_gate_is_probed_every_minute_while_it_alone_holds_a_ticket() {
    let policy = |dirty_workspace| Policy { dirty_workspace, ..Policy::default() };
    let probes = |host: &mut Host| {
        let before = host.probes;
        host.run(600);
        host.probes - before
    };
    let mut host = Host::unstarted(policy(DirtyGate::Block), [queued("a")]);
    host.dirty = Dirty::Changed(texts(&["x"]));
    host.start(Reach::Exec, false);
    host.plan("a");
    host.finish_turn(TurnOutcome::Succeeded);
    assert_eq!(probes(&mut host), 10);
    let kicks = host.kicks.len();
    host.dirty = Dirty::Clean;
    host.run(61);
    assert_eq!(host.kicks.last().unwrap().1.causes, [GateCleared]);
    assert_eq!(host.kicks.len(), kicks + 1);
    host.finish_turn(TurnOutcome::Succeeded);
    assert_eq!(probes(&mut host), 0, "clean: nothing to wait for");
    // Another gate holds it anyway: no probes.
    let dependent = with(queued("a"), |t| t.depends_on = ids(&["nowhere"]));
    let mut host = Host::unstarted(policy(DirtyGate::Block), [dependent]);
    host.dirty = Dirty::Changed(texts(&["x"]));
    host.start(Reach::No("none".into()), false);
    assert_eq!(probes(&mut host), 0);
    // Off or only a warning: it holds nothing.
    for gate in [DirtyGate::Warn, DirtyGate::Off] {
        let mut host = Host::unstarted(policy(gate), [queued("a")]);
        host.dirty = Dirty::Changed(texts(&["x"]));
        host.start(Reach::No("none".into()), false);
        assert_eq!(probes(&mut host), 0, "{gate:?}");
    }
}

#[test]
fn a_waiting_reason_lapses_when_the_dirty_gate_clears() {
    let mut host = Host::unstarted(Policy::default(), [queued("a")]);
    host.dirty = Dirty::Changed(texts(&["x"]));
    host.start(Reach::Exec, false);
    host.order("a", Orders::Wait { kind: WaitKind::DirtyWorkspace, detail: String::new() }).unwrap();
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(30);
    host.dirty = Dirty::Clean;
    host.tell(Event::GitNoticed);
    assert_eq!(host.handed(1), ["a"]);
}
