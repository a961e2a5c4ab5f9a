//! An Orchestrator that registers itself (DESIGN.md 5.1): contacts, pending kicks, waking, silence, a second one refused.

use chrono::TimeDelta;

use super::super::{
    Admission, Contact, Event, Kick, Orchestrator, Orders, Reach, RecordKind, Registers, SavedSession, SessionReport,
    SessionState, TurnOutcome, Way,
};
use super::host::Host;
use crate::domain::facts::ProcessIdentity;
use crate::domain::kick::Boundary;
use crate::domain::policy::{Policy, SessionPolicy};
use crate::domain::sample::{id, queued, ticket};
use crate::domain::ticket::{State, Ticket};

pub(super) const START: Contact = Contact::Started { resumed: false, takes: true };
const RESUME: Contact = Contact::Started { resumed: true, takes: true };
pub(super) const PROMPT: Contact = Contact::Prompted { takes: true };
pub(super) const TOOL: Contact = Contact::Active { own: true };
/// A stop, and the one that follows where the agent was made to go on.
pub(super) const STOP: Contact = Contact::Stopped { takes: true, first: true, background: false };
const AGAIN: Contact = Contact::Stopped { takes: false, first: false, background: false };
const BACKGROUND: Contact = Contact::Stopped { takes: true, first: true, background: true };

pub(super) fn waking() -> Policy {
    Policy { session: SessionPolicy { can_wake: true, ..SessionPolicy::default() }, ..Policy::default() }
}

pub(super) fn process(pid: u32) -> ProcessIdentity {
    ProcessIdentity { host: "h".into(), boot_id: "b".into(), pid, started: 7 }
}

pub(super) fn report(name: &str, pid: u32) -> SessionReport {
    SessionReport::of_known(name.into(), Way::Attached, None, Some(process(pid)))
}

/// A workspace whose Orchestrator registers itself; nobody has yet.
pub(super) fn host(policy: Policy, tickets: impl IntoIterator<Item = Ticket>) -> Host {
    let mut host = Host::unstarted(policy, tickets);
    host.start(Reach::Session, true);
    host.run(1);
    host
}

/// What the contact of session `s` is answered with, as ids; time passes after it.
pub(super) fn contact(host: &mut Host, contact: Contact) -> String {
    let answer = says(host, report("s", 1), contact);
    host.run(3);
    answer
}

pub(super) fn says(host: &mut Host, report: SessionReport, contact: Contact) -> String {
    host.tell(Event::SessionReported { report, contact });
    if host.engine.contact_is_open() {
        host.tell(Event::ContactClosed);
    }
    taken(host)
}

fn taken(host: &mut Host) -> String {
    let kicks: Vec<Kick> = host.handed_over.drain(..).collect();
    assert!(kicks.len() <= 1, "two lists at once: {kicks:?}");
    kicks.iter().flat_map(|k| &k.items).map(|i| i.id.to_string()).collect::<Vec<_>>().join(" ")
}

pub(super) fn pending(host: &Host) -> bool {
    host.engine.session.as_ref().is_some_and(|session| session.pending.is_some())
}

pub(super) fn busy(host: &Host) -> bool {
    matches!(host.engine.orchestrator, Orchestrator::Busy(_))
}

#[test]
fn a_session_is_shown_its_list_and_its_next_turn_is_judged_by_it() {
    let mut host = host(Policy::default(), [queued("a")]);
    let from = host.records.len();
    assert_eq!(contact(&mut host, START), "a");
    assert!(!busy(&host), "a start begins no turn");
    assert_eq!(contact(&mut host, PROMPT), "", "it was shown already");
    assert!(busy(&host) && host.engine.ledger.seen.is_empty());
    assert_eq!(contact(&mut host, STOP), "", "seen now");
    assert!(host.engine.ledger.seen.contains(&id("a")) && !pending(&host));
    assert_eq!(host.saved.fruitless, 1);
    assert_eq!(host.decisions(from), ["kick [\"a\"]", "already_presented"]);
}

#[test]
fn a_stop_is_answered_only_with_something_new_and_never_twice_in_a_row() {
    let mut host = host(Policy::default(), [queued("a"), ticket("b", State::Ready)]);
    contact(&mut host, START);
    contact(&mut host, PROMPT);
    host.plan("a");
    assert_eq!(contact(&mut host, STOP), "a", "a turn with progress is asked for the next step");
    assert!(busy(&host), "it goes on");
    host.queue("b");
    assert_eq!(contact(&mut host, AGAIN), "", "it was made to go on before");
    assert!(pending(&host) && !busy(&host));
    assert_eq!(contact(&mut host, PROMPT), "b a");
    assert!(!pending(&host));
    assert_eq!(contact(&mut host, STOP), "");
    assert_eq!(host.count(RecordKind::KickSent), 3);
    assert_eq!(host.count(RecordKind::KickPending), 1);
}

/// The bound of section 5 for one ticket that nobody touches: shown at the start, and never again.
#[test]
fn a_hundred_stops_over_unchanged_work_hand_over_next_to_nothing() {
    let mut host = host(Policy::default(), [queued("a"), queued("b")]);
    contact(&mut host, START);
    for _ in 0..100 {
        contact(&mut host, PROMPT);
        contact(&mut host, STOP);
        host.run(600);
    }
    assert_eq!(host.count(RecordKind::KickSent), 1);
    // New words each time are offered three times in a row, and no more.
    for _ in 0..100 {
        host.reword("a");
        host.run(120);
        contact(&mut host, PROMPT);
        contact(&mut host, STOP);
    }
    let kicks = host.count(RecordKind::KickSent);
    assert!((2..=101).contains(&kicks), "a person's words are news each time: {kicks}");
}

#[test]
fn a_prompt_alone_is_no_boundary_and_its_turn_is_never_fruitless() {
    let mut host = host(Policy::default(), [ticket("a", State::Ready)]);
    contact(&mut host, START);
    for _ in 0..5 {
        assert_eq!(contact(&mut host, PROMPT), "");
        contact(&mut host, STOP);
    }
    assert_eq!((host.saved.fruitless, host.count(RecordKind::TurnEnded)), (0, 0));
    host.queue("a");
    host.run(1);
    assert!(pending(&host), "nothing can be said to an idle session");
    assert_eq!(contact(&mut host, PROMPT), "a");
}

#[test]
fn what_was_settled_meanwhile_is_not_announced() {
    let mut host = host(Policy::default(), [ticket("a", State::Ready)]);
    contact(&mut host, START);
    host.queue("a");
    host.run(1);
    assert!(pending(&host));
    host.edit("a", |t| t.state = Some(State::Ready));
    host.run(1);
    assert!(!pending(&host), "nothing is left of it");
    host.queue("a");
    host.run(1);
    // The file changes, and nobody has noticed yet: the decision is made again on fresh data.
    let mut gone = host.ticket("a");
    let path = gone.path.clone();
    gone.state = Some(State::Done);
    host.files.insert(path, crate::domain::backlog::Entry::Ticket(crate::domain::sample::sealed(gone, "9")));
    assert_eq!(contact(&mut host, PROMPT), "");
    assert!(busy(&host) && !pending(&host));
}

#[test]
fn background_tasks_hold_the_answer_and_the_wake_back_for_half_an_hour() {
    let mut host = host(waking(), [ticket("a", State::Ready)]);
    contact(&mut host, START);
    contact(&mut host, PROMPT);
    host.queue("a");
    assert_eq!(contact(&mut host, BACKGROUND), "");
    assert!(pending(&host));
    host.run(29 * 60);
    assert!(host.woken.is_empty(), "its own tasks will make it go on");
    host.run(2 * 60);
    assert_eq!(host.woken, [1]);
}

#[test]
fn an_idle_session_is_woken_and_the_prompt_that_follows_takes_the_list() {
    let mut host = host(waking(), [ticket("a", State::Ready)]);
    contact(&mut host, START);
    host.queue("a");
    host.run(1);
    assert_eq!(host.woken, [1]);
    host.tell(Event::WakeEnded { number: 1, failed: None });
    host.add(queued("b"));
    host.run(60);
    assert_eq!(host.woken, [1], "one at a time");
    assert_eq!(contact(&mut host, PROMPT), "a b");
    contact(&mut host, STOP);
    host.run(3600);
    assert_eq!((host.woken.len(), host.engine.undelivered), (1, 0));
}

#[test]
fn a_wake_that_fails_is_tried_three_times_and_said_once() {
    let mut host = host(waking(), [ticket("a", State::Ready)]);
    contact(&mut host, START);
    host.queue("a");
    host.run(1);
    host.tell(Event::WakeEnded { number: 1, failed: Some("no such pane".into()) });
    host.run(9);
    assert_eq!(host.woken.len(), 1);
    host.run(2);
    assert_eq!(host.woken.len(), 2);
    // The second runs well, and no prompt follows.
    host.tell(Event::WakeEnded { number: 2, failed: None });
    host.run(121);
    assert_eq!(host.engine.undelivered, 2);
    host.run(61);
    host.tell(Event::WakeEnded { number: 3, failed: Some("no such pane".into()) });
    host.run(7200);
    assert_eq!((host.woken.len(), host.engine.undelivered, host.count(RecordKind::Alert)), (3, 3, 1));
    assert!(pending(&host), "the next contact takes it");
    // Somebody asks by name: it is tried anew.
    host.boundary(Boundary::UserKick);
    host.run(1);
    assert_eq!(host.woken.len(), 4);
    host.tell(Event::WakeEnded { number: 4, failed: None });
    assert_eq!(contact(&mut host, PROMPT), "a");
    assert_eq!(host.engine.session.as_ref().unwrap().waking.failures, 0);
}

#[test]
fn a_start_that_nobody_follows_up_is_woken_for() {
    let mut host = host(waking(), [queued("a")]);
    assert_eq!(says(&mut host, report("s", 1), START), "a");
    assert!(host.woken.is_empty(), "not while it is being answered");
    host.run(3);
    assert_eq!(host.woken, [1]);
    host.tell(Event::WakeEnded { number: 1, failed: None });
    assert_eq!(contact(&mut host, PROMPT), "", "shown already");
    assert_eq!(host.count(RecordKind::KickSent), 1);
}

#[test]
fn a_word_put_in_during_a_turn_does_not_end_it() {
    let mut host = host(Policy::default(), [queued("a")]);
    contact(&mut host, START);
    contact(&mut host, PROMPT);
    host.add(queued("b"));
    assert_eq!(contact(&mut host, PROMPT), "");
    assert_eq!(contact(&mut host, STOP), "a b", "the end of the turn is the boundary");
}

#[test]
fn a_stop_told_twice_judges_one_turn() {
    let mut host = host(Policy::default(), [ticket("a", State::Ready)]);
    contact(&mut host, START);
    contact(&mut host, PROMPT);
    host.queue("a");
    assert_eq!(says(&mut host, report("s", 1), STOP), "a");
    assert_eq!(says(&mut host, report("s", 1), STOP), "", "the same stop by another hook");
    assert!(busy(&host) && host.engine.ledger.seen.is_empty() && host.saved.fruitless == 0);
    host.run(5);
    assert_eq!(contact(&mut host, AGAIN), "");
    assert!(host.engine.ledger.seen.contains(&id("a")));
}

#[test]
fn a_second_session_is_refused_and_named_and_the_next_may_come_when_the_first_is_gone() {
    let mut host = host(Policy::default(), [queued("a")]);
    contact(&mut host, START);
    let Admission::Refused(refusal) = host.engine.admit(&report("t", 2)) else { panic!("there is one already") };
    assert_eq!(refusal.message, "there is an Orchestrator already: session `s` (attached, process 1)");
    for _ in 0..3 {
        assert_eq!(says(&mut host, report("t", 2), START), "");
        assert_eq!(says(&mut host, report("t", 2), STOP), "");
    }
    assert_eq!((host.session(), host.count(RecordKind::Inbox)), ("s".into(), 1));
    assert_eq!(
        host.engine.session.as_ref().unwrap().refused.as_deref(),
        Some("t"),
        "which is shown as long as `s` lives"
    );
    // The same id in another process is another session too; one that claims nothing is nobody's business.
    assert!(matches!(host.engine.admit(&report("s", 2)), Admission::Elsewhere(_)));
    let stranger = SessionReport { registers: Registers::Never, ..report("u", 3) };
    assert_eq!(host.engine.admit(&stranger), Admission::Stranger);
    assert_eq!(says(&mut host, stranger.clone(), PROMPT), "");
    host.tell(Event::SessionProcessEnded(process(1)));
    assert_eq!(says(&mut host, stranger, START), "", "nor does it become one where there is none");
    assert!(host.engine.absence().is_some());
    assert_eq!(says(&mut host, report("t", 2), START), "a");
    assert_eq!(host.session(), "t");
}

#[test]
fn a_resumed_session_keeps_its_notes_and_a_new_one_starts_empty() {
    let mut host = host(Policy::default(), [queued("a"), queued("b")]);
    contact(&mut host, START);
    contact(&mut host, PROMPT);
    host.plan("a");
    contact(&mut host, Contact::Ended);
    assert!(host.order("b", Orders::Plan { order: None }).is_err(), "nobody's notes while nobody is there");
    assert_eq!(contact(&mut host, RESUME), "b a");
    assert!(host.engine.work_set().get(&id("a")).is_some());
    contact(&mut host, Contact::Compacted);
    assert!(host.engine.work_set().get(&id("a")).is_some());
    // `clear`: the same process, another id.
    says(&mut host, report("s2", 1), START);
    assert!(host.engine.work_set().get(&id("a")).is_none());
    assert_eq!(host.session(), "s2");
    // And the same id, said to be new.
    host.plan("b");
    says(&mut host, report("s2", 1), START);
    assert!(host.engine.work_set().get(&id("b")).is_none());
}

/// `while true; do yoi orchestrator watch | head -1; done` must not be kicked for ever.
#[test]
fn a_session_that_registers_again_and_again_does_not_buy_itself_kicks() {
    let mut host = host(Policy::default(), [queued("a")]);
    let stream = |n: u32| SessionReport { way: Way::Stream, ..report(&format!("w{n}"), n) };
    for n in 1..100 {
        says(&mut host, stream(n), Contact::Started { resumed: false, takes: false });
        host.run(1);
        says(&mut host, stream(n), Contact::Ended);
        host.run(1);
    }
    assert_eq!(host.count(RecordKind::KickSent), 3);
    // An hour later somebody may look again.
    host.run(3600);
    says(&mut host, stream(100), Contact::Started { resumed: false, takes: false });
    assert_eq!(host.count(RecordKind::KickSent), 4);
}

#[test]
fn a_stream_takes_lists_at_any_time_and_is_busy_until_it_says_idle() {
    let mut host = host(Policy::default(), [ticket("a", State::Ready), queued("b")]);
    let stream = SessionReport { way: Way::Stream, ..report("w", 1) };
    assert_eq!(says(&mut host, stream.clone(), Contact::Started { resumed: false, takes: false }), "b");
    assert!(busy(&host));
    host.queue("a");
    host.run(60);
    assert_eq!(taken(&mut host), "", "never two at once");
    assert_eq!(says(&mut host, stream.clone(), AGAIN), "b a");
    host.run(1);
    says(&mut host, stream.clone(), AGAIN);
    host.add(queued("c"));
    host.run(1);
    assert_eq!(taken(&mut host), "c b a", "no contact is needed");
    // One that never says so is silent at last, and asked again.
    host.add(queued("d"));
    host.run(31 * 60);
    assert_eq!(taken(&mut host), "b a c d");
    says(&mut host, stream, Contact::Ended);
    assert!(host.engine.absence().is_some());
}

#[test]
fn while_git_is_in_the_middle_of_something_the_answer_is_nothing_and_the_kick_stays_pending() {
    let mut host = host(Policy::default(), [ticket("a", State::Ready)]);
    contact(&mut host, START);
    host.queue("a");
    host.run(1);
    let event = Event::SessionReported { report: report("s", 1), contact: PROMPT };
    let effects = host.engine.step(event, host.now);
    let refreshes = |e: &super::super::Effect| matches!(e, super::super::Effect::Refresh { .. });
    assert!(effects.iter().any(refreshes) && host.engine.contact_is_open());
    host.tell(Event::ContactClosed);
    assert!(busy(&host) && pending(&host), "the turn has begun all the same");
    assert_eq!(contact(&mut host, STOP), "a");
}

#[test]
fn the_next_daemon_finds_the_session_and_counts_its_kicks_on() {
    let mut host = host(Policy::default(), [queued("a")]);
    contact(&mut host, START);
    contact(&mut host, PROMPT);
    let saved = host.session.clone().unwrap();
    assert_eq!((saved.state, saved.kicks), (SessionState::Busy, 2));
    for state in [SessionState::Busy, SessionState::Idle, SessionState::Gone] {
        let mut next = Host::unstarted(Policy::default(), [queued("a")]);
        next.start(Reach::Session, true);
        next.tell(Event::SessionFound(SavedSession { state, ..saved.clone() }));
        next.run(1);
        assert_eq!(next.session(), "s", "{state:?}");
        assert_eq!(
            (busy(&next), pending(&next)),
            (state == SessionState::Busy, state == SessionState::Idle),
            "{state:?}"
        );
        let answer = contact(&mut next, if state == SessionState::Gone { RESUME } else { STOP });
        assert_eq!(answer, "a", "{state:?}");
    }
    // In `exec` nobody registers, and a kept session means nothing.
    let mut exec = Host::new(Policy::default(), []);
    exec.tell(Event::SessionFound(saved));
    assert!(exec.engine.session.is_none());
    assert!(matches!(exec.engine.admit(&report("s", 1)), Admission::Refused(_)));
}

#[test]
fn a_person_begins_the_session_anew() {
    let mut exec = Host::new(Policy::default(), [queued("a")]);
    assert_eq!(exec.handed(0), ["a"]);
    assert!(exec.engine.may_reset(&super::super::Actor::Unknown).is_err(), "not in the middle of a turn");
    exec.plan("a");
    exec.finish_turn(TurnOutcome::Succeeded);
    exec.run(1);
    exec.finish_turn(TurnOutcome::Succeeded);
    assert!(exec.engine.may_reset(&super::super::Actor::Orchestrator).is_err());
    exec.engine.may_reset(&super::super::Actor::Unknown).unwrap();
    exec.tell(Event::SessionReset("fresh".into()));
    exec.run(1);
    assert_eq!(exec.kicks.last().unwrap().1.causes, [Boundary::OrchestratorSpawn]);
    assert_eq!((exec.session().as_str(), exec.kicks.last().unwrap().1.id.0.as_str()), ("fresh", "fresh-1"));
    assert!(exec.engine.work_set().get(&id("a")).is_none());

    let mut host = host(Policy::default(), [queued("a")]);
    contact(&mut host, START);
    contact(&mut host, PROMPT);
    host.plan("a");
    contact(&mut host, AGAIN);
    host.tell(Event::SessionReset("other".into()));
    assert_eq!((host.session().as_str(), pending(&host)), ("s", true), "an agent's id is its own");
    assert_eq!(host.ticket("a").state, Some(State::Queued));
    assert_eq!(contact(&mut host, PROMPT), "a");
}

#[test]
fn other_settings_let_the_session_go_or_ask_for_one() {
    let reload = |reach, policy| {
        Event::Reloaded(Box::new(super::super::Reload {
            policy,
            reach,
            whom: None,
            session: Some("cmd".into()),
            changed: vec![],
        }))
    };
    let mut host = host(Policy::default(), [queued("a")]);
    contact(&mut host, START);
    host.tell(reload(Reach::Exec, Policy::default()));
    host.run(1);
    assert_eq!((host.session().as_str(), host.engine.session.is_none()), ("cmd", true));
    assert_eq!(host.handed(0), ["a"], "the command is run");
    host.tell(reload(Reach::Session, Policy::default()));
    assert!(matches!(host.engine.admit(&report("t", 2)), Admission::Refused(_)), "its turn goes on");
    host.session = None;
    host.finish_turn(TurnOutcome::Succeeded);
    assert!(host.engine.absence().is_some() && host.session().is_empty());
    assert_eq!(says(&mut host, report("t", 2), START), "a");
}

#[test]
fn paused_nothing_is_handed_over_and_afterwards_it_is() {
    let mut host = host(waking(), [queued("a")]);
    host.tell(Event::Paused { by: "ana".into(), reason: None });
    assert_eq!([contact(&mut host, START), contact(&mut host, PROMPT), contact(&mut host, STOP)], ["", "", ""]);
    assert!(host.woken.is_empty() && !pending(&host));
    host.tell(Event::Resumed { by: "ana".into() });
    host.run(3);
    assert_eq!((pending(&host), host.woken.len()), (true, 1));
    assert_eq!(contact(&mut host, PROMPT), "a");
}

#[test]
fn a_clock_set_back_puts_nothing_off() {
    let mut host = host(waking(), [ticket("a", State::Ready)]);
    contact(&mut host, START);
    host.queue("a");
    host.run(1);
    host.tell(Event::WakeEnded { number: 1, failed: Some("no".into()) });
    host.jump_back(TimeDelta::hours(5));
    host.run(11);
    assert_eq!(host.woken.len(), 2);
}
