//! What a daemon finds at its start (DESIGN.md 2.4, 5): entries nobody watched, waits that go on, a turn still running.

use std::time::Duration;

use chrono::TimeDelta;

use super::super::{
    Actor, Effect, EndedTurn, Engine, Event, KickId, LastSeen, Reach, RecordKind, RunningTurn, Start, TurnOutcome,
};
use super::host::Host;
use super::scripts::lazy;
use crate::domain::backlog::Entry;
use crate::domain::facts::{Dirty, ProcessIdentity};
use crate::domain::kick::{Boundary, Presence};
use crate::domain::ledger::SavedLedger;
use crate::domain::policy::Policy;
use crate::domain::rate_limit::RateLimit;
use crate::domain::sample::{accepted, at, id, pod, queued, sealed, ticket, with};
use crate::domain::ticket::{Digest, State, Ticket};

fn stamped(name: &str, seconds: Option<i64>) -> Ticket {
    with(queued(name), |t| t.stamps.queued_at = seconds.map(at))
}

/// What the last daemon recorded of `a`, what the file says now, and whether it is stamped.
#[track_caller]
fn check(name: &str, last: Option<LastSeen>, now: Ticket, expected: bool) {
    let mut host = Host::unstarted(Policy::default(), [now]);
    host.seen.extend(last.map(|last| (id("a"), last)));
    host.start(Reach::Exec, true);
    assert_eq!(!host.stamped.is_empty(), expected, "{name}");
    if expected {
        let stamps = host.ticket("a").stamps.clone();
        assert_eq!((stamps.queued_by.as_deref(), stamps.queued_at), (Some("ed"), Some(host.now)), "{name}");
        assert_eq!(host.count(RecordKind::IssueApproved), 1, "{name}");
    }
    // In every case it is rediscovered, and the next daemon finds nothing new.
    assert_eq!(host.handed(0), ["a"], "{name}");
    let stamps = host.stamped.len();
    host.run(600);
    host.restart_at(Reach::Exec, host.now);
    assert_eq!(host.stamped.len(), stamps, "{name}: stamped again by the next daemon");
}

#[test]
fn entries_while_the_daemon_was_down_are_stamped() {
    let last = |state, at_seconds| Some(LastSeen { state: Some(state), needs_human: false, at: at(at_seconds) });
    check("queued in an editor", last(State::Ready, -600), stamped("a", None), true);
    check("queued again with its old stamp", last(State::Ready, -600), stamped("a", Some(-3600)), true);
    check("queued by a command, which stamped it", last(State::Ready, -600), stamped("a", Some(-60)), false);
    check("queued all the time", last(State::Queued, -7200), stamped("a", Some(-7200)), false);
    check("queued all the time without a stamp", last(State::Queued, -7200), stamped("a", None), false);
    check("a new file", None, stamped("a", None), true);
    check("a new file, stamped just now", None, stamped("a", Some(-5)), false);
    check("from inprogress back", last(State::Inprogress, -600), stamped("a", Some(-3600)), true);
}

#[test]
fn needs_human_taken_off_while_the_daemon_was_down_is_an_entry() {
    let last = |needs_human| Some(LastSeen { state: Some(State::Queued), needs_human, at: at(-600) });
    check("label and status are gone", last(true), stamped("a", Some(-3600)), true);
    check("never was", last(false), stamped("a", Some(-3600)), false);
}

#[test]
fn at_the_very_first_start_nothing_is_stamped() {
    let mut host = Host::unstarted(Policy::default(), [stamped("a", None), stamped("b", Some(-9999))]);
    host.start(Reach::Exec, false);
    assert!(host.stamped.is_empty());
    let inbox: Vec<_> = host.records.iter().filter(|r| r.kind == RecordKind::Inbox).collect();
    let items: Vec<_> = inbox.iter().map(|r| r.data["items"].to_string()).collect();
    assert_eq!(items, [r#"["a"]"#], "it is in the inbox");
    assert_eq!(host.handed(0), ["b a"], "and handed over like any other");
    // It is known now, so that the next daemon does not stamp it either.
    host.restart_at(Reach::Exec, host.now);
    assert!(host.stamped.is_empty());
}

#[test]
fn a_restart_rediscovers_the_queue_once() {
    let mut host = Host::new(Policy::default(), [queued("a"), queued("b")]);
    host.plan("a");
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(60);
    let kicks = host.kicks.len();
    host.script = Some(lazy);
    host.restart_at(Reach::Exec, host.now);
    assert_eq!(host.handed(kicks), ["a b"]);
    assert_eq!(host.kicks[kicks].1.causes, [Boundary::OrchestratorSpawn]);
    host.run(3600);
    assert_eq!(host.kicks.len(), kicks + 1);
}

#[test]
fn waits_and_counts_go_on_over_a_restart() {
    let mut host = Host::new(Policy::default(), [queued("a")]);
    host.finish_turn(TurnOutcome::Failed("exit 1".into()));
    host.run(11);
    host.finish_turn(TurnOutcome::Failed("exit 1".into()));
    host.run(61);
    host.finish_turn(TurnOutcome::Failed("exit 1".into()));
    let saved = host.saved.clone();
    assert_eq!((saved.failures, saved.fruitless), (3, 3));
    host.restart_at(Reach::Exec, host.now);
    let standing = host.engine.summary(host.now).standing;
    assert_eq!((standing.failures, standing.fruitless), (3, 3));
    assert_eq!(host.kicks.len(), 4, "a start is an explicit boundary");
    // A rate limit holds even that.
    host.tell(Event::RateLimited(host.now + TimeDelta::minutes(10)));
    host.restart_at(Reach::Exec, host.now);
    assert_eq!(host.kicks.len(), 4);
    host.run(11 * 60);
    assert_eq!(host.decisions(0).last().map(String::as_str), Some("backing_off"), "three failures are still three");
}

const ONE: Option<Digest> = Some(Digest(1));
const OTHER: Option<Digest> = Some(Digest(2));

#[test]
fn another_command_since_the_last_daemon_is_not_blamed_for_the_former_one() {
    let mut host = Host::new(Policy::default(), [queued("a")]);
    for _ in 0..3 {
        host.boundary(Boundary::UserKick);
        host.run(1);
        host.finish_turn(TurnOutcome::Failed("exit 127".into()));
    }
    // A former version of yoi did not say whose they are.
    let mut restart = |whom| {
        host.whom = whom;
        host.restart_at(Reach::Exec, host.now);
        (host.saved.failures, host.saved.of)
    };
    assert_eq!(restart(ONE), (3, ONE));
    assert_eq!(restart(ONE), (3, ONE));
    assert_eq!(restart(None), (3, ONE), "nobody else took its place");
    assert_eq!(restart(OTHER), (0, OTHER));
    assert_eq!((host.saved.backing_off_until, host.saved.anew_at), (None, Some(host.now)));
    // Its own count.
    host.finish_turn(TurnOutcome::Failed("exit 1".into()));
    host.restart_at(Reach::Exec, host.now);
    assert_eq!(host.saved.failures, 1);
}

#[test]
fn turns_of_the_former_command_are_judged_as_that_ones() {
    let start = |adopted, ended_turns| {
        let ledger = SavedLedger { of: ONE, failures: 2, ..SavedLedger::default() };
        let mut engine = Engine::new(at(0));
        let start = Start { ledger, whom: OTHER, ended_turns, ..start_with(adopted) };
        let effects = engine.step(Event::Started(Box::new(start)), at(0));
        (engine, effects)
    };
    let saved = |effects: Vec<Effect>| {
        let saved =
            effects.into_iter().filter_map(|e| if let Effect::SaveLedger(saved) = e { Some(saved) } else { None });
        saved.last().map(|saved| (saved.failures, saved.of))
    };
    let failed = || TurnOutcome::Failed("exit 1".into());
    let kick = KickId("old-7".into());
    let ended = EndedTurn { kick: kick.clone(), outcome: failed(), jitter: 0, since: at(-60), at: at(-30) };
    let (engine, effects) = start(None, vec![ended]);
    assert_eq!(saved(effects), Some((0, OTHER)));
    assert_eq!(engine.summary(at(0)).standing.failures, 0);
    // One that still runs: its end is the former one's, and the next session begins with it.
    let turn = RunningTurn { kick: kick.clone(), session: "old".into(), process: None, since: at(-60) };
    let (mut engine, effects) = start(Some(turn), Vec::new());
    assert_eq!((saved(effects), engine.work_set().session.as_str()), (None, "old"));
    let effects = engine.step(Event::TurnEnded { kick, outcome: failed(), jitter: 0 }, at(9));
    assert_eq!((saved(effects), engine.work_set().session.as_str()), (Some((0, OTHER)), "new"));
}

fn start_with(adopted: Option<RunningTurn>) -> Start {
    let it = queued("a");
    Start {
        policy: Policy::default(),
        reach: Reach::Exec,
        whom: None,
        session: "new".into(),
        files: vec![(it.path.clone(), Entry::Ticket(it))],
        recorded: Some([(id("a"), LastSeen { state: Some(State::Queued), needs_human: false, at: at(-99) })].into()),
        recorded_at: Some(at(-9)),
        ledger: SavedLedger::default(),
        adopted,
        ended_turns: Vec::new(),
        pods: Vec::new(),
        ended_pods: Vec::new(),
        claims: Vec::new(),
        worktrees: Vec::new(),
        dirty: Dirty::Clean,
        editor_name: "ed".into(),
    }
}

#[test]
fn a_running_turn_is_adopted_and_not_started_twice() {
    let process = ProcessIdentity { host: "h".into(), boot_id: "b".into(), pid: 7, started: 1 };
    let kick = KickId("old-7".into());
    let turn = RunningTurn { kick: kick.clone(), session: "old".into(), process: Some(process), since: at(-60) };
    let mut engine = Engine::new(at(0));
    let effects = engine.step(Event::Started(Box::new(start_with(Some(turn)))), at(0));
    assert!(effects.contains(&Effect::WatchTurn(kick.clone())));
    assert!(!effects.iter().any(|e| matches!(e, Effect::Launch(_) | Effect::Refresh { .. })));
    assert_eq!(engine.presence(), Presence::Busy);
    let busy = |e: &Effect| matches!(e, Effect::Record(record) if record.data["why"] == "busy");
    assert!(effects.iter().any(busy), "that it was found at work is a boundary, and on record");
    assert_eq!(engine.work_set().session, "old", "it keeps its session, with an empty work set");
    assert!(engine.work_set().iter().next().is_none());
    // Its end is neither failure nor fruitless; everything is offered again.
    let ended = Event::TurnEnded { kick, outcome: TurnOutcome::Unknown, jitter: 0 };
    let effects = engine.step(ended, at(300));
    let next =
        effects.iter().find_map(|e| if let Effect::Refresh { kick, .. } = e { Some(kick.0.as_str()) } else { None });
    assert_eq!(next, Some("old-8"), "no kick of one session has another one's name");
    let standing = engine.summary(at(300)).standing;
    assert_eq!((standing.failures, standing.fruitless), (0, 0));
}

#[test]
fn live_pods_are_found_again() {
    let mut host = Host::new(Policy::default(), [accepted("w")]);
    host.delegate("w", "coder", 9999);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(5);
    let kicks = host.kicks.len();
    host.add(queued("a"));
    host.restart_at(Reach::Exec, host.now);
    assert_eq!(host.handed(kicks), [""; 0], "what is active still holds the queue");
    assert_eq!(host.decisions(0).last().map(String::as_str), Some("active_inprogress"));
    let id = host.engine.facts().pods.keys().next().unwrap().clone();
    host.run(1);
    host.end_pod(&id);
    assert_eq!(host.handed(kicks), ["w a"]);
}

#[test]
fn a_pod_that_ended_while_no_daemon_ran_is_evidence() {
    let mut engine = Engine::new(at(0));
    let it = accepted("w");
    let files = vec![(it.path.clone(), Entry::Ticket(it))];
    let start = Start { files, ended_pods: vec![pod("coder-7", "coder", "w")], ..start_with(None) };
    let effects = engine.step(Event::Started(Box::new(start)), at(0));
    let ended = |e: &Effect| matches!(e, Effect::Record(r) if r.kind == RecordKind::AgentEnded);
    assert!(effects.iter().any(ended) && effects.contains(&Effect::SavePods(Vec::new())));
    let row = engine.row(engine.backlog().get(&id("w")).unwrap(), at(0));
    let evidence: Vec<_> = row.class.unwrap().evidence.iter().map(ToString::to_string).collect();
    assert_eq!(evidence, ["its coder Pod ended at 2026-11-30T09:00:00Z"]);
}

/// Under a merge, or on a full disk, an entry is stamped later or not at all: the next daemon finds it then.
#[test]
fn an_entry_is_recorded_as_seen_when_it_is_stamped() {
    let seen = |effects: &[Effect]| effects.iter().any(|e| matches!(e, Effect::SaveSeen(_)));
    let stamp = |effects: &[Effect]| effects.iter().any(|e| matches!(e, Effect::StampQueued { .. }));
    let mut engine = Engine::new(at(0));
    let before = ticket("b", State::Ready);
    let files = vec![(before.path.clone(), Entry::Ticket(before))];
    engine.step(Event::Started(Box::new(Start { files, ..start_with(None) })), at(0));
    let it = stamped("b", None);
    let entries = vec![(it.path.clone(), Entry::Ticket(it))];
    let effects = engine.step(Event::FilesRead { entries, full: false }, at(9));
    assert!(stamp(&effects) && !seen(&effects), "{effects:?}");
    let written = Event::TicketWritten { ticket: sealed(stamped("b", Some(9)), ""), by: Actor::Daemon };
    assert!(seen(&engine.step(written, at(9))));

    let mut engine = Engine::new(at(0));
    let recorded = [(id("a"), LastSeen { state: Some(State::Ready), needs_human: false, at: at(-99) })].into();
    let start = Start { recorded: Some(recorded), ..start_with(None) };
    let effects = engine.step(Event::Started(Box::new(start)), at(0));
    assert!(stamp(&effects) && !seen(&effects), "{effects:?}");
}

#[test]
fn without_an_orchestrator_nothing_is_kicked_and_it_says_why() {
    let mut host = Host::unstarted(Policy::default(), [queued("a"), ticket("b", State::Ready)]);
    host.start(Reach::No("`[orchestrator] command` is not set".into()), true);
    host.queue("b");
    host.boundary(Boundary::PanelOpen);
    host.run(3600);
    assert!(host.kicks.is_empty());
    let last = host.records.iter().rfind(|r| r.kind == RecordKind::KickSuppressed).unwrap();
    assert_eq!(last.data["detail"], "`[orchestrator] command` is not set");
    assert_eq!(host.engine.next_wake(), None);
}

#[test]
fn a_turn_that_ended_meanwhile_is_judged_by_how_it_ended() {
    let turn = |outcome| EndedTurn { kick: KickId("old-7".into()), since: at(-120), at: at(-60), outcome, jitter: 0 };
    let start = |turn: EndedTurn| {
        let ledger = SavedLedger { failures: 2, ..SavedLedger::default() };
        let start = Start { ledger, ended_turns: vec![turn], ..start_with(None) };
        let mut engine = Engine::new(at(0));
        let effects = engine.step(Event::Started(Box::new(start)), at(0));
        let records = effects.iter().filter_map(|e| if let Effect::Record(r) = e { Some(r) } else { None });
        let ends: Vec<_> = records.clone().filter(|r| r.kind == RecordKind::TurnEnded).cloned().collect();
        let alerts = records.filter(|r| r.kind == RecordKind::Alert).count();
        let kicks = effects.iter().filter(|e| matches!(e, Effect::Refresh { .. })).count();
        assert_eq!((ends.len(), &ends[0].data["ran_ms"]), (1, &60_000.into()));
        let standing = engine.summary(at(0)).standing;
        ((standing.failures, standing.fruitless), alerts, kicks, engine.work_set().session.clone())
    };
    let new = || "new".to_owned();
    assert_eq!(start(turn(TurnOutcome::Succeeded)), ((0, 0), 0, 1, new()));
    assert_eq!(start(turn(TurnOutcome::Unknown)), ((0, 0), 0, 1, new()));
    // A start is an explicit boundary: it kicks in spite of failures, and not in spite of a rate limit.
    assert_eq!(start(turn(TurnOutcome::Failed("exit 1".into()))), ((3, 0), 1, 1, new()));
    // It ended a minute ago, and is waited for from then on.
    for (wait, kicks) in [(120, 0), (30, 1)] {
        let limit = RateLimit { wait: Duration::from_secs(wait), named: true };
        let limited = TurnOutcome::Limited { why: "exit 75".into(), limit };
        assert_eq!(start(turn(limited)), ((2, 0), 0, kicks, new()));
    }
    assert_eq!(start(turn(TurnOutcome::NotDelivered("no".into()))), ((3, 0), 1, 1, new()));
}
