//! Pausing, resuming, other settings while the daemon runs (DESIGN.md 5, 8).

use super::super::{Event, Reach, RecordKind, Reload, TurnOutcome};
use super::host::Host;
use super::scripts::{diligent, lazy};
use crate::domain::kick::Boundary;
use crate::domain::policy::Policy;
use crate::domain::sample::{accepted, queued};
use crate::domain::ticket::State;

fn pause(host: &mut Host) {
    host.tell(Event::Paused { by: "ana".into(), reason: Some("lunch".into()) });
}

fn resume(host: &mut Host) {
    host.tell(Event::Resumed { by: "ana".into() });
}

fn reload(host: &mut Host, reach: Reach, session: Option<&str>, change: impl FnOnce(&mut Policy)) {
    change(&mut host.policy);
    let (policy, session) = (host.policy.clone(), session.map(str::to_owned));
    host.tell(Event::Reloaded(Box::new(Reload { policy, reach, whom: None, session, changed: vec!["a.key".into()] })));
}

#[test]
fn while_paused_nothing_kicks_not_even_a_person_and_resuming_does() {
    let mut host = Host::new(Policy::default(), []);
    host.script = Some(lazy);
    pause(&mut host);
    let from = host.records.len();
    host.add(queued("a"));
    host.run(1);
    for boundary in [Boundary::UserKick, Boundary::PanelOpen] {
        host.boundary(boundary);
        host.run(3600);
    }
    assert_eq!((host.decisions(from), host.kicks.len()), (vec!["paused".to_owned(); 3], 0));
    let why = host.records.iter().rev().find(|r| r.kind == RecordKind::KickSuppressed).unwrap();
    let said = why.data["detail"].as_str().unwrap();
    assert!(said.starts_with("paused since ") && said.ends_with(" by ana (lunch); `yoi resume` goes on"), "{said}");
    resume(&mut host);
    assert_eq!((host.handed(0), host.kicks[0].1.causes.clone()), (vec!["a".to_owned()], vec![Boundary::GateCleared]));
}

#[test]
fn a_pause_outlives_the_daemon_and_a_running_turn_outlives_the_pause() {
    let mut host = Host::new(Policy::default(), [queued("a")]);
    assert!(host.turn.is_some());
    pause(&mut host);
    assert!(host.turn.is_some(), "the turn goes on");
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(60);
    host.restart_at(Reach::Exec, host.now);
    host.run(60);
    assert_eq!(host.kicks.len(), 1);
    resume(&mut host);
    assert_eq!(host.handed(0), ["a", "a"]);
}

#[test]
fn resuming_what_is_not_paused_is_nothing() {
    let mut host = Host::new(Policy::default(), [queued("a")]);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(60);
    let (records, kicks) = (host.records.len(), host.kicks.len());
    resume(&mut host);
    host.run(60);
    assert_eq!((host.records.len(), host.kicks.len()), (records, kicks));
}

#[test]
fn a_kick_in_preparation_is_not_sent_into_a_pause() {
    let mut host = Host::new(Policy::default(), []);
    // The pause comes between the decision and its delivery.
    host.inbox.push_back(Event::Paused { by: "ana".into(), reason: None });
    host.inbox.push_front(Event::BoundaryReached(Boundary::UserKick));
    host.add(queued("a"));
    host.run(1);
    assert_eq!(host.kicks.len(), 0);
}

#[test]
fn a_reload_that_opens_a_gate_is_a_boundary() {
    let mut policy = Policy::default();
    policy.capacity.max_inprogress = Some(1);
    let mut host = Host::new(policy, [accepted("w"), queued("a")]);
    host.script = Some(lazy);
    host.plan("a");
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(30);
    let kicks = host.kicks.len();
    reload(&mut host, Reach::Exec, None, |policy| policy.capacity.max_inprogress = Some(2));
    host.run(1);
    assert!(host.kicks[kicks].1.causes.contains(&Boundary::GateCleared));
    assert!(host.handed(kicks)[0].contains('a'));
    assert!(host.engine.work_set().get(&"a".into()).is_some(), "the session goes on");
}

#[test]
fn an_orchestrator_that_becomes_reachable_begins_a_session() {
    let mut host = Host::unstarted(Policy::default(), [queued("a")]);
    host.start(Reach::No("not trusted".into()), true);
    host.run(60);
    assert_eq!(host.kicks.len(), 0);
    reload(&mut host, Reach::Exec, Some("fresh"), |_| ());
    assert_eq!(
        (host.kicks[0].1.causes.clone(), host.session()),
        (vec![Boundary::OrchestratorSpawn], "fresh".to_owned())
    );
    host.finish_turn(TurnOutcome::Succeeded);
    reload(&mut host, Reach::No("changed".into()), None, |_| ());
    host.add(queued("b"));
    host.run(60);
    assert_eq!(host.kicks.len(), 1);
}

#[test]
fn another_command_waits_for_the_end_of_the_running_turn() {
    let mut host = Host::new(Policy::default(), [queued("a")]);
    let before = host.session();
    host.plan("a");
    reload(&mut host, Reach::Exec, Some("fresh"), |_| ());
    assert_eq!((host.session(), host.kicks.len()), (before, 1));
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(1);
    assert_eq!((host.session(), host.kicks.len()), ("fresh".to_owned(), 2));
    assert!(host.engine.work_set().get(&"a".into()).is_none(), "every queued ticket is new to it");
    host.script = Some(diligent);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(3600);
}

#[test]
fn what_a_former_command_failed_at_does_not_count_against_the_next() {
    let fails = || TurnOutcome::Failed("exit code 1".into());
    // Given up, between two turns, with nothing queued.
    let mut host = Host::new(Policy::default(), [queued("a")]);
    for _ in 0..3 {
        host.boundary(Boundary::UserKick);
        host.run(1);
        host.finish_turn(fails());
    }
    host.edit("a", |ticket| ticket.state = Some(State::Planning));
    host.run(60);
    assert_eq!(host.saved.failures, 3);
    let kicks = host.kicks.len();
    reload(&mut host, Reach::Exec, Some("fresh"), |_| ());
    host.run(60);
    assert_eq!((host.saved.failures, host.saved.backing_off_until, host.kicks.len()), (0, None, kicks));
    assert_eq!(host.saved.anew_at, Some(host.now - chrono::TimeDelta::seconds(60)));
    host.add(queued("b"));
    host.run(1);
    assert_eq!(host.kicks.len(), kicks + 1, "an automatic boundary is enough");
    // In a turn: its end is still the former one's.
    reload(&mut host, Reach::Exec, Some("third"), |_| ());
    host.finish_turn(fails());
    host.run(1);
    assert_eq!((host.saved.failures, host.session()), (0, "third".to_owned()));
    assert_eq!(host.kicks.len(), kicks + 2, "nothing is waited for");
    // Settings of another kind leave the counts as they are.
    host.finish_turn(fails());
    reload(&mut host, Reach::Exec, None, |_| ());
    assert_eq!(host.saved.failures, 1);
}

/// However the settings change meanwhile, a command's turn ends when its process does, and nobody is kicked beside it.
#[test]
fn a_commands_turn_outlives_every_change_of_the_way() {
    let no = || Reach::No("pull".into());
    for ways in [
        [Reach::Session, Reach::Exec],
        [Reach::Session, no()],
        [no(), Reach::Session],
        [no(), Reach::Exec],
        [Reach::Exec, Reach::Session],
    ] {
        let mut host = Host::new(Policy::default(), [queued("a")]);
        assert!(host.turn.is_some());
        for way in ways.clone() {
            reload(&mut host, way, Some("fresh"), |_| ());
            host.add(queued("b"));
            host.boundary(Boundary::UserKick);
            host.run(60);
        }
        reload(&mut host, Reach::Exec, Some("last"), |_| ());
        host.boundary(Boundary::UserKick);
        host.run(60);
        assert_eq!(host.kicks.len(), 1, "{ways:?}");
        host.finish_turn(TurnOutcome::Succeeded);
        host.run(60);
        assert_eq!((host.kicks.len(), host.session()), (2, "last".to_owned()), "{ways:?}");
    }
}
