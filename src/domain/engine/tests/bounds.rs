//! Rows 4 and 6: failures, rate limits, fruitless turns, the brake (DESIGN.md 5).

use chrono::TimeDelta;

use super::super::{Actor, Event, Orders, RecordKind, TurnOutcome};
use super::host::Host;
use super::scripts::{diligent, failing, lazy, making};
use crate::domain::kick::{Boundary, Presence};
use crate::domain::policy::{KickPolicy, Policy};
use crate::domain::sample::{accepted, at, id, queued, ticket};
use crate::domain::ticket::State;

pub(super) fn host(names: &[&str]) -> Host {
    let mut host = Host::new(Policy::default(), []);
    host.run(1);
    for name in names {
        host.add(queued(name));
        host.run(1);
    }
    host
}

pub(super) fn alerts(host: &Host) -> Vec<String> {
    let alerts = host.records.iter().filter(|r| r.kind == RecordKind::Alert);
    alerts.map(|r| r.data["what"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn three_fruitless_kicks_then_ignored_with_one_alert_that_names_the_items() {
    let mut host = host(&[]);
    host.script = Some(lazy);
    for n in 0..8 {
        host.add(queued(&format!("t{n}")));
        host.run(600);
    }
    // Each turn brought nothing, although the tickets themselves are entries into the queue: those are progress.
    assert_eq!(host.kicks.len(), 8);
    // Without any such entry, new items alone: a panel presents, then nothing is new.
    let kicks = host.kicks.len();
    for _ in 0..5 {
        host.delegate("t0", "coder", 5);
        host.run(600);
    }
    let more = host.kicks.len() - kicks;
    assert!(more <= 10, "{more} kicks for ten attempts");
    let before = host.records.len();
    for _ in 0..12 {
        host.delegate("t0", "coder", 5);
        host.run(600);
    }
    let decisions = host.decisions(before);
    assert_eq!(decisions.last().map(String::as_str), Some("ignored"), "{decisions:?}");
    assert_eq!(host.engine.summary(host.now).standing.fruitless, 3);
    let about: Vec<_> = host.records.iter().filter(|r| r.kind == RecordKind::Alert).collect();
    assert_eq!(about.len(), 1, "{:?}", alerts(&host));
    assert!(about[0].data["items"].to_string().contains("t0"), "{}", about[0].data);
}

#[test]
fn ignored_ends_with_an_explicit_boundary_or_a_change_by_somebody() {
    let mut host = ignored();
    let kicks = host.kicks.len();
    host.boundary(Boundary::UserKick);
    host.run(10);
    assert_eq!(host.kicks.len(), kicks + 1, "a person asks");
    host.boundary(Boundary::PanelOpen);
    host.run(10);
    assert_eq!(host.kicks.len(), kicks + 2, "a panel opens");
    assert_eq!(alerts(&host).len(), 1, "no further alert");
    host.reword("a");
    host.run(10);
    assert_eq!(host.engine.summary(host.now).standing.fruitless, 1, "three were forgotten, one came");
    assert_eq!(host.kicks.len(), kicks + 3, "what somebody changed is new");
}

/// Three fruitless kicks have been, and nothing kicks any more by itself.
fn ignored() -> Host {
    let mut host = Host::new(Policy::default(), [accepted("a")]);
    host.finish_turn(TurnOutcome::Succeeded);
    host.script = Some(lazy);
    for _ in 0..20 {
        if host.engine.summary(host.now).standing.fruitless >= 3 {
            break;
        }
        let pod = host.delegate("a", "coder", 900);
        host.run(1);
        host.end_pod(&pod);
        host.run(600);
    }
    assert_eq!(host.engine.summary(host.now).standing.fruitless, 3, "{:?}", host.decisions(0));
    assert_eq!(host.decisions(0).last().map(String::as_str), Some("already_presented"));
    host
}

#[test]
fn three_failures_wait_10_s_and_60_s_and_then_stay_silent() {
    let mut host = Host::new(Policy::default(), []);
    host.script = Some(failing);
    host.run(1);
    host.add(queued("a"));
    host.run(3600 * 5);
    let times: Vec<_> = host.kicks.iter().map(|(when, _)| (*when - at(1)).num_seconds()).collect();
    // Each turn takes one second.
    assert_eq!(times, [0, 11, 72]);
    assert_eq!(host.decisions(0).last().map(String::as_str), Some("backing_off"));
    let gave_up: Vec<_> = alerts(&host).into_iter().filter(|what| what.contains("failed")).collect();
    assert_eq!(gave_up.len(), 1);
    assert_eq!(host.engine.next_wake(), None, "nothing is due any more");
    // New work does not change it; a person does.
    host.add(queued("b"));
    host.run(60);
    assert_eq!(host.kicks.len(), 3);
    host.boundary(Boundary::UserKick);
    host.run(60);
    assert_eq!(host.kicks.len(), 4);
    // A turn that succeeds starts the count anew.
    host.script = Some(diligent);
    host.boundary(Boundary::UserKick);
    host.run(60);
    assert_eq!(host.engine.summary(host.now).standing.failures, 0);
    assert!(host.kicks.len() > 5, "automatic kicks go on");
}

#[test]
fn failures_leave_nothing_seen() {
    let mut host = host(&["a"]);
    host.finish_turn(TurnOutcome::Failed("exit 1".into()));
    assert!(host.engine.attention(false, host.now).items.iter().all(|i| !i.seen));
    // Not started at all: a failed delivery waits too, and is no fruitless turn.
    host.run(11);
    assert_eq!(host.kicks.len(), 2);
    let fruitless = host.engine.summary(host.now).standing.fruitless;
    host.finish_turn(TurnOutcome::NotDelivered("no such program".into()));
    let standing = host.engine.summary(host.now).standing;
    assert_eq!((standing.failures, standing.fruitless), (2, fruitless));
    assert_eq!(host.records.last().map(|r| r.kind), Some(RecordKind::KickSuppressed));
}

#[test]
fn a_rate_limit_holds_even_explicit_boundaries_until_its_time_and_ends_in_one_boundary() {
    let mut host = host(&[]);
    host.tell(Event::RateLimited(host.now + TimeDelta::minutes(30)));
    host.add(queued("a"));
    host.boundary(Boundary::PanelOpen);
    host.run(29 * 60);
    assert_eq!(host.kicks.len(), 0);
    host.run(2 * 60);
    assert_eq!(host.handed(0), ["a"]);
    assert_eq!(host.kicks[0].1.causes, [Boundary::OrchestratorIdle]);
    // A shorter one does not end a longer one; a person may ask all the same.
    host.finish_turn(TurnOutcome::Failed("429".into()));
    host.tell(Event::RateLimited(host.now + TimeDelta::minutes(30)));
    host.tell(Event::RateLimited(host.now + TimeDelta::minutes(5)));
    host.run(20 * 60);
    assert_eq!(host.kicks.len(), 1);
    host.boundary(Boundary::UserKick);
    assert_eq!(host.kicks.len(), 2);
}

#[test]
fn the_brake_of_20_an_hour_holds_what_people_keep_stirring_up() {
    let mut host = host(&["a"]);
    host.finish_turn(TurnOutcome::Succeeded);
    host.script = Some(lazy);
    for _ in 0..40 {
        host.reword("a");
        host.run(60);
    }
    assert_eq!(host.kicks.len(), 20, "{:?}", host.decisions(0));
    assert_eq!(host.decisions(0).last().map(String::as_str), Some("brake"));
    let braked: Vec<_> = alerts(&host).into_iter().filter(|what| what.contains("within an hour")).collect();
    assert_eq!(braked.len(), 1);
    // Its end is a boundary, once.
    host.run(3600);
    assert_eq!(host.kicks.len(), 21);
}

#[test]
fn whoever_saves_again_and_again_is_news_once_a_minute() {
    let mut host = host(&["a"]);
    host.finish_turn(TurnOutcome::Succeeded);
    host.script = Some(lazy);
    let kicks = host.kicks.len();
    for _ in 0..36 {
        host.reword("a");
        host.run(5);
    }
    // One a minute, and one for what changed while that one's turn ran.
    assert!(host.kicks.len() - kicks <= 6, "{:?}", host.decisions(0));
    // The last of them is not lost.
    host.run(120);
    assert!(host.engine.attention(false, host.now).items.iter().all(|item| item.seen));
}

#[test]
fn one_that_makes_itself_work_for_ever_comes_to_an_end() {
    let mut host = host(&["a"]);
    host.finish_turn(TurnOutcome::Succeeded);
    host.script = Some(making);
    host.boundary(Boundary::UserKick);
    // Soon: one that goes on makes more and more, and no test would see the end of it.
    host.run(300);
    assert_eq!(host.decisions(0).last().map(String::as_str), Some("ignored"));
    host.run(3600);
    assert!((50..=55).contains(&host.kicks.len()), "{}", host.kicks.len());
    // What a person does then is work as ever, and what it makes itself counts anew.
    let kicks = host.kicks.len();
    host.add(queued("b"));
    host.run(300);
    assert!((50..=55).contains(&(host.kicks.len() - kicks)), "{}", host.kicks.len() - kicks);
}

/// Room comes without anybody's telling: there is always a next time.
#[test]
fn want_of_room_never_ends_automatic_kicks() {
    let mut host = host(&["a"]);
    for n in 0..6 {
        assert!(host.turn.is_some(), "after {n}");
        host.finish_turn(TurnOutcome::NoRoom("no space left on device".into()));
        host.run(61);
    }
    assert_eq!(alerts(&host), [""; 0]);
}

/// A process of its that outlives the turn gets something further: what lay there as ignored is offered again.
#[test]
fn progress_between_two_turns_is_news() {
    let mut host = Host::new(Policy::default(), [accepted("a"), accepted("b")]);
    host.run(1);
    host.plan("a");
    for _ in 0..4 {
        host.reword("b");
        host.finish_turn(TurnOutcome::Succeeded);
        host.run(5);
    }
    assert_eq!(host.decisions(0).last().map(String::as_str), Some("ignored"));
    let kicks = host.kicks.len();
    host.order("a", Orders::Await { step: "merge".into(), span: TimeDelta::hours(1) }).unwrap();
    host.run(61);
    assert_eq!(host.handed(kicks), ["b"]);
}

#[test]
fn an_acceptance_put_on_record_is_progress_a_limited_number_of_times() {
    let mut host = Host::new(Policy::default(), [ticket("a", State::Inprogress)]);
    for n in 1..=20 {
        if host.turn.is_none() {
            host.boundary(Boundary::UserKick);
            host.run(1);
        }
        host.edit("a", |t| t.stamps.accepted_at = None);
        let now = host.now;
        host.write("a", Actor::Orchestrator, |t| {
            t.stamps.accepted_by = Some("orchestrator".into());
            t.stamps.accepted_at = Some(now);
        });
        host.finish_turn(TurnOutcome::Succeeded);
        let progress = host.records.iter().rfind(|r| r.kind == RecordKind::TurnEnded).unwrap().data["progress"] == true;
        // A person's change starts the count anew.
        assert_eq!(progress, n <= 10 || n > 15, "turn {n}");
        host.run(1);
        if n == 15 {
            host.write("a", Actor::Somebody("al".into()), |t| t.title.push('!'));
            host.run(90);
        }
    }
}

#[test]
fn workers_that_only_leave_notes_come_to_an_end() {
    for late in [false, true] {
        let mut host = Host::new(Policy::default(), [accepted("a")]);
        host.script = Some(diligent);
        host.finish_turn(TurnOutcome::Succeeded);
        host.boundary(Boundary::UserKick);
        for _ in 0..40 {
            // It is never done: each worker writes a note into the ticket, and ends.
            host.memo.clear();
            let pods: Vec<_> = host.pod_ends.keys().cloned().collect();
            for pod in pods {
                if !late {
                    host.reword("a");
                }
                host.end_pod(&pod);
                if late {
                    host.reword("a");
                }
            }
            host.run(10);
        }
        // Ten delegations count; the next three turns are fruitless.
        assert!((12..=16).contains(&host.kicks.len()), "late: {late}: {} kicks", host.kicks.len());
        assert_eq!(alerts(&host).len(), 1, "late: {late}");
        // A person's note is a person's.
        let kicks = host.kicks.len();
        host.reword("a");
        host.run(90);
        assert!(host.kicks.len() > kicks, "late: {late}");
    }
}

#[test]
fn marks_that_a_person_left_on_an_entry_are_taken_off() {
    let mut host = host(&["a"]);
    let now = host.now;
    let mut marked = queued("b");
    marked.stamps.queued_at = Some(now);
    marked.labels = vec!["needs-human".into()];
    host.add(marked);
    host.run(5);
    assert!(host.ticket("b").labels.is_empty());
    assert_eq!(host.ticket("b").stamps.queued_at, Some(now), "the person's own stamp stays");
}

#[test]
fn another_bound_can_be_set() {
    let kick = KickPolicy { max_per_hour: 2, max_items: 1, ..KickPolicy::default() };
    let mut host = Host::new(Policy { kick, ..Policy::default() }, [ticket("z", State::Planning)]);
    host.script = Some(lazy);
    for name in ["a", "b", "c", "d"] {
        host.add(queued(name));
        host.run(60);
    }
    assert_eq!(host.handed(0), ["a", "b"]);
}

#[test]
fn a_turn_that_asks_for_kicks_in_its_last_moments_is_not_kicked_for_them() {
    let mut host = Host::new(Policy::default(), [queued("a")]);
    for _ in 0..20 {
        if host.engine.presence() != Presence::Busy {
            break;
        }
        // The first is decided at once, the others would be joined with the turn's end.
        for _ in 0..3 {
            host.boundary(Boundary::UserKick);
            host.boundary(Boundary::PanelOpen);
        }
        host.finish_turn(TurnOutcome::Succeeded);
        host.run(1);
    }
    assert_eq!(host.kicks.len(), 1);
    assert!(host.decisions(0).contains(&"busy".to_owned()));
}

#[test]
fn a_change_beside_delegated_work_that_nobody_is_kicked_for_is_said_once() {
    let mut host = Host::new(Policy::default(), [accepted("w"), accepted("x")]);
    let pod = host.delegate("w", "coder", 99_999);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(5);
    for _ in 0..3 {
        host.finish_turn(TurnOutcome::Succeeded);
        host.run(5);
        host.boundary(Boundary::UserKick);
    }
    host.finish_turn(TurnOutcome::Succeeded);
    assert!(host.saved.fruitless >= 3);
    let inbox = |host: &Host| {
        let said = host.records.iter().filter(|r| r.kind == RecordKind::Inbox && r.ticket == Some(id("w")));
        said.count()
    };
    host.run(120);
    host.reword("w");
    host.run(120);
    host.reword("w");
    assert_eq!(inbox(&host), 1);
    let from = host.records.len();
    host.end_pod(&pod);
    host.run(5);
    assert_eq!(host.decisions(from), ["ignored"], "its end is a boundary that row 6 bounds");
    let kicks = host.kicks.len();
    host.reword("w");
    host.run(1);
    assert_eq!(host.kicks.len(), kicks + 1, "nothing is under way on it: a person's change counts");
}
