//! Which situations kick, and with what (DESIGN.md 5): active work, long queues, fresh data.

use chrono::TimeDelta;

use super::super::{Actor, Effect, Event, Kick, KickId, Orders, Reach, RecordKind, TurnOutcome};
use super::host::Host;
use super::scripts::{diligent, lazy};
use crate::domain::backlog::Entry;
use crate::domain::facts::{Dirty, PodState, ProcessIdentity};
use crate::domain::kick::Boundary;
use crate::domain::policy::{KickPolicy, Policy};
use crate::domain::sample::{accepted, id, ids, pod, queued, texts, ticket, with};
use crate::domain::ticket::State;
use crate::domain::workset::WaitKind;

/// Idle, with one accepted ticket under a live Pod.
fn at_work() -> (Host, crate::domain::facts::PodId) {
    let mut host = Host::new(Policy::default(), [accepted("w")]);
    let pod = host.delegate("w", "coder", 99_999);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(5);
    assert_eq!(host.kicks.len(), 1);
    (host, pod)
}

#[test]
fn active_work_suppresses_queued_work_and_its_end_presents_the_next_at_once() {
    let (mut host, pod) = at_work();
    let from = host.records.len();
    for name in ["a", "b", "c"] {
        host.add(queued(name));
        host.run(60);
    }
    assert_eq!(host.decisions(from), ["active_inprogress"; 3]);
    host.end_pod(&pod);
    assert_eq!(host.handed(1), ["w a b c"]);
    assert_eq!(host.kicks[1].0, host.now, "at once");
    assert_eq!(host.kicks[1].1.causes, [Boundary::DelegateFinished]);
}

#[test]
fn work_to_be_routed_kicks_beside_active_work_without_the_queue() {
    let (mut host, _) = at_work();
    host.add(queued("a"));
    host.add(accepted("x"));
    host.run(1);
    assert_eq!(host.handed(1), ["x"]);
}

#[test]
fn every_end_of_active_work_is_a_boundary() {
    type End = fn(&mut Host);
    let ends: [(&str, End); 5] = [
        ("done by its worker", |h| h.write("w", Actor::Somebody("worker".into()), |t| t.state = Some(State::Done))),
        ("moved back in an editor", |h| h.edit("w", |t| t.state = Some(State::Planning))),
        ("queued again", |h| h.queue("w")),
        ("its file deleted", |h| h.save("tickets/w.md", None)),
        ("its Pod on another ticket now", |h| {
            let name = h.engine.facts().pods.keys().next().unwrap().0.clone();
            h.tell(Event::PodReported { pod: pod(&name, "coder", "elsewhere"), state: PodState::Busy });
        }),
    ];
    for (name, end) in ends {
        let (mut host, _) = at_work();
        host.add(queued("a"));
        host.run(60);
        assert_eq!(host.kicks.len(), 1);
        end(&mut host);
        host.run(1);
        assert!(host.kicks.last().unwrap().1.causes.contains(&Boundary::DelegateFinished), "{name}");
        assert!(host.handed(1).concat().contains('a'), "{name}: {:?}", host.handed(0));
    }
}

#[test]
fn a_pod_that_reports_again_is_the_same_pod() {
    let (mut host, id) = at_work();
    let known = host.engine.facts().pods[&id].clone();
    let (records, kicks) = (host.records.len(), host.kicks.len());
    for state in [PodState::Idle, PodState::Busy, PodState::Idle] {
        host.tell(Event::PodReported { pod: known.clone(), state });
        host.run(1);
        assert_eq!(host.engine.facts().pods[&id].state, state);
    }
    assert_eq!((host.records.len(), host.kicks.len()), (records, kicks));
    // A second end of the same Pod is none.
    host.end_pod(&id);
    let records = host.records.len();
    host.tell(Event::PodEnded(id));
    assert_eq!(host.records.len(), records);
}

#[test]
fn five_hundred_queued_tickets_give_ten_items_and_a_count() {
    let all = (0..500).map(|n| queued(&format!("t{n:03}")));
    let mut host = Host::new(Policy::default(), all);
    let kick = &host.kicks[0].1;
    assert_eq!((kick.items.len(), kick.left_out), (10, 490));
    // To an Orchestrator that does nothing they come ten at a time until it counts as ignoring.
    host.script = Some(lazy);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(3600);
    let handed = host.handed(0);
    assert_eq!(handed.len(), 3);
    let shown: std::collections::BTreeSet<_> = handed.iter().flat_map(|kick| kick.split(' ')).collect();
    assert_eq!(shown.len(), 30, "nobody is shown twice before all others were");
}

#[test]
fn entries_within_a_moment_are_one_kick() {
    let mut host = Host::new(Policy::default(), []);
    host.run(5);
    for n in 0..30 {
        host.add(queued(&format!("t{n:02}")));
        host.run_ms(2);
    }
    host.run(5);
    assert_eq!(host.handed(0), ["t00"], "the first at once");
    host.script = Some(diligent);
    host.finish_turn(TurnOutcome::Succeeded);
    assert_eq!(host.kicks[1].1.items.len(), 10);
    assert_eq!(host.kicks[1].1.left_out, 20);
}

#[test]
fn what_is_done_between_decision_and_delivery_is_not_announced() {
    let mut host = Host::new(Policy::default(), []);
    host.run(5);
    // The file says more than has been noticed yet.
    host.add(queued("a"));
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(5);
    let quietly = |host: &mut Host, state| {
        let done = with(host.ticket("a"), |t| t.state = Some(state));
        let done = crate::domain::sample::sealed(done, "0");
        host.files.insert(done.path.clone(), Entry::Ticket(done));
    };
    quietly(&mut host, State::Done);
    let from = host.records.len();
    host.boundary(Boundary::UserKick);
    assert_eq!(host.kicks.len(), 1);
    assert_eq!(host.decisions(from), ["nothing_queued"]);
    // So is a main worktree that has become dirty: what was startable is not.
    let mut host = Host::new(Policy::default(), [queued("a")]);
    host.plan("a");
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(5);
    host.finish_turn(TurnOutcome::Succeeded);
    host.dirty = Dirty::Changed(texts(&["x"]));
    host.boundary(Boundary::UserKick);
    host.run(5);
    assert_eq!(host.kicks.len(), 2);
    assert_eq!(host.decisions(0).last().map(String::as_str), Some("nothing_startable"));
}

#[test]
fn what_comes_onto_the_list_when_another_leaves_it_is_read_again_too() {
    let kick = KickPolicy { max_items: 1, ..KickPolicy::default() };
    let mut host = Host::new(Policy { kick, ..Policy::default() }, [queued("a"), queued("b")]);
    host.finish_turn(TurnOutcome::Failed("exit 1".into()));
    host.run(1);
    // Both files say more than has been noticed yet, and only the first is among the items of the decision.
    for name in ["a", "b"] {
        let done = crate::domain::sample::sealed(with(host.ticket(name), |t| t.state = Some(State::Done)), "0");
        host.files.insert(done.path.clone(), Entry::Ticket(done));
    }
    let from = host.records.len();
    host.boundary(Boundary::UserKick);
    assert_eq!(host.kicks.len(), 1);
    assert_eq!(host.decisions(from), ["nothing_queued"]);
}

#[test]
fn what_the_fresh_data_brings_joins_the_decision() {
    let mut host = Host::new(Policy::default(), [ticket("a", State::Inprogress)]);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(1);
    let back = crate::domain::sample::sealed(with(host.ticket("a"), |t| t.state = Some(State::Queued)), "0");
    host.files.insert(back.path.clone(), Entry::Ticket(back));
    host.boundary(Boundary::UserKick);
    assert_eq!(host.kicks[1].1.causes, [Boundary::UserKick, Boundary::TicketQueued]);
}

/// What the engine wants to have read again for a kick by hand, decided now.
fn in_preparation(host: &mut Host) -> KickId {
    let effects = host.engine.step(Event::BoundaryReached(Boundary::UserKick), host.now);
    let refresh = effects.into_iter().find_map(|effect| match effect {
        Effect::Refresh { kick, .. } => Some(kick),
        _ => None,
    });
    refresh.expect("a kick is prepared")
}

fn launched(effects: Vec<Effect>) -> Option<Kick> {
    effects.into_iter().find_map(|effect| match effect {
        Effect::Launch(kick) => Some(kick),
        _ => None,
    })
}

#[test]
fn a_step_that_runs_out_between_decision_and_delivery_joins_the_decision() {
    let mut host = Host::new(Policy::default(), [accepted("a"), accepted("w")]);
    host.delegate("w", "coder", 99_999);
    host.order("w", Orders::Await { step: "merge".into(), span: TimeDelta::minutes(10) }).unwrap();
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(5);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(593);
    let kick = in_preparation(&mut host);
    host.now += TimeDelta::seconds(5);
    let kick = launched(host.engine.step(Event::Refreshed(kick), host.now)).expect("it is delivered");
    assert_eq!(kick.causes, [Boundary::UserKick, Boundary::DelegateFinished]);
    let handed: Vec<_> = kick.items.iter().map(|item| (item.id.as_str(), item.seen)).collect();
    assert_eq!(handed, [("a", false)], "its end takes seen off every item; a Pod still works on the other");
}

#[test]
fn fresh_data_of_an_older_question_delivers_nothing() {
    let mut host = Host::new(Policy::default(), [queued("a")]);
    let old = host.kicks[0].1.id.clone();
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(5);
    let new = in_preparation(&mut host);
    assert_eq!(launched(host.engine.step(Event::Refreshed(old), host.now)), None);
    assert!(launched(host.engine.step(Event::Refreshed(new), host.now)).is_some());
}

#[test]
fn an_answer_to_an_older_question_is_dropped() {
    let mut host = Host::new(Policy::default(), [queued("a")]);
    let old = host.kicks[0].1.id.clone();
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(5);
    host.boundary(Boundary::UserKick);
    assert_eq!(host.kicks.len(), 2);
    let before = host.engine.clone();
    host.tell(Event::TurnEnded { kick: old.clone(), outcome: TurnOutcome::Failed("late".into()), jitter: 0 });
    let process = ProcessIdentity { host: "h".into(), boot_id: "b".into(), pid: 99, started: 1 };
    host.tell(Event::TurnStarted { kick: old.clone(), process });
    host.tell(Event::Refreshed(old));
    let summary = |engine: &super::super::Engine| format!("{:?}", engine.summary(host.now));
    assert_eq!(summary(&host.engine), summary(&before));
}

#[test]
fn user_kick_obeys_rows_1_to_3_and_skips_4_to_6() {
    let last = |host: &Host| host.decisions(0).pop().unwrap();
    let mut host = Host::unstarted(Policy::default(), [queued("a")]);
    host.start(Reach::No("none is configured".into()), false);
    host.boundary(Boundary::UserKick);
    assert_eq!(last(&host), "no_orchestrator");
    let mut host = Host::new(Policy::default(), [queued("a")]);
    host.run(1);
    host.boundary(Boundary::UserKick);
    assert_eq!(last(&host), "busy");
    let mut host = Host::new(Policy::default(), []);
    host.run(1);
    host.boundary(Boundary::UserKick);
    assert_eq!(last(&host), "nothing_queued");
    let (mut host, _) = at_work();
    host.add(queued("a"));
    host.run(1);
    host.boundary(Boundary::UserKick);
    assert_eq!(last(&host), "active_inprogress", "not even a person kicks with queued work alone beside active work");
}

#[test]
fn a_cleared_gate_is_a_boundary_and_a_held_ticket_none() {
    let mut host = Host::new(Policy::default(), [ticket("b", State::Planning)]);
    host.script = Some(lazy);
    host.run(1);
    host.add(with(queued("a"), |t| t.depends_on = ids(&["b"])));
    host.run(60);
    host.edit("b", |t| t.state = Some(State::Ready));
    host.run(60);
    assert_eq!(host.kicks.len(), 1);
    host.edit("b", |t| t.state = Some(State::Done));
    assert_eq!(host.kicks[1].1.causes, [Boundary::GateCleared]);
    assert_eq!(host.handed(1), ["a"]);
}

#[test]
fn an_orchestrator_that_edits_a_file_as_its_last_act_buys_no_kicks() {
    let mut host = Host::new(Policy::default(), [queued("a")]);
    for _ in 0..10 {
        host.run(60);
        if host.turn.is_none() {
            break;
        }
        let path = host.ticket("a").path.clone();
        host.finish_turn(TurnOutcome::Succeeded);
        // The watcher tells a little later.
        host.run_ms(700);
        host.reword("a");
        assert!(host.ticket("a").path == path);
    }
    assert_eq!(host.kicks.len(), 3, "{:?}", host.decisions(0));
    assert_eq!(host.decisions(0).last().map(String::as_str), Some("ignored"));
}

#[test]
fn every_decision_is_recorded_with_row_boundaries_and_counts_and_no_wording() {
    let (mut host, _) = at_work();
    host.add(queued("a"));
    host.run(1);
    let wait = Orders::Wait { kind: WaitKind::Other, detail: "SECRET WORDING".into() };
    host.order("a", wait).unwrap();
    host.boundary(Boundary::OrchestratorIdle);
    host.run(1);
    let said: Vec<_> = host.records.iter().map(|r| r.data.to_string()).collect();
    assert!(said.iter().all(|s| !s.contains("SECRET")), "{said:?}");
    for record in host.records.iter().filter(|r| matches!(r.kind, RecordKind::KickSent | RecordKind::KickSuppressed)) {
        assert!(record.data["row"].is_number() && record.data["boundaries"].is_array(), "{}", record.data);
    }
    let last = &host.records.last().unwrap().data;
    assert_eq!((&last["why"], &last["held"]["a"]), (&"nothing_startable".into(), &"other".into()), "{last}");
    assert_eq!(host.engine.summary(host.now).kicks_sent, 1);
}

#[test]
fn the_engine_knows_what_it_last_decided() {
    let host = Host::new(Policy::default(), [queued("a")]);
    let summary = host.engine.summary(host.now);
    let last = summary.last_decision.unwrap();
    assert_eq!((last.row, last.decision, last.detail.as_str()), (7, "kick", "1 handed over, 0 left out"));
    assert_eq!(summary.last_boundary.map(|(b, _)| b), Some(Boundary::OrchestratorSpawn));
    assert!(host.engine.backlog().get(&id("a")).is_some());
}
