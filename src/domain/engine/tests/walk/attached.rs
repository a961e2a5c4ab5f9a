//! An Orchestrator that registers itself (DESIGN.md 5.1): its contacts as acts of a walk, what follows from them for its
//! turn, and what must hold of it at rest.

use super::super::super::{Contact, Engine, Event, Kick, KickId, Orchestrator, SessionReport, Way};
use super::super::host::Host;
use super::acts::Act;
use crate::domain::facts::ProcessIdentity;
use crate::domain::kick::{Boundary, Decision, PATIENCE};

fn contact(act: Act) -> Option<Contact> {
    Some(match act {
        Act::Starts => Contact::Started { resumed: false, takes: true },
        Act::Resumes => Contact::Started { resumed: true, takes: true },
        Act::Prompt => Contact::Prompted { takes: true },
        Act::Stop => Contact::Stopped { takes: true, first: true, background: false },
        // With `stop_hook_active`: it was made to go on, and is let go now.
        Act::StopAgain => Contact::Stopped { takes: false, first: false, background: false },
        Act::StopFails => Contact::Failed { why: "the API".into(), jitter: 0 },
        Act::Interrupt => Contact::Interrupted,
        Act::Leaves => Contact::Ended,
        _ => return None,
    })
}

/// Whether a session can do it now, as far as that can be said without doing it.
pub(super) fn is_possible(host: &Host, act: Act) -> bool {
    let session = host.engine.session.as_ref();
    let silent = session.is_some_and(|session| session.silent);
    match act {
        Act::Starts | Act::Resumes => session.is_none(),
        Act::Prompt => session.is_some() && (host.turn.is_none() || silent),
        Act::WakeRuns | Act::WakeFails => running_wake(&host.engine).is_some(),
        Act::Leaves => session.is_some(),
        _ => host.turn.is_some(),
    }
}

fn running_wake(engine: &Engine) -> Option<u64> {
    use super::super::super::session::Outstanding;
    match engine.session.as_ref()?.waking.outstanding {
        Some(Outstanding::Running(number, _)) => Some(number),
        _ => None,
    }
}

/// Does it, and writes down what an observer sees of the session's turn.
pub(super) fn act(host: &mut Host, act: Act) {
    if let (Act::WakeRuns | Act::WakeFails, Some(number)) = (act, running_wake(&host.engine)) {
        let failed = (act == Act::WakeFails).then(|| "no such pane".into());
        return host.tell(Event::WakeEnded { number, failed });
    }
    let Some(contact) = contact(act) else { return };
    let process = ProcessIdentity { host: "h".into(), boot_id: "b".into(), pid: 1, started: 7 };
    let report = SessionReport::of_known("s".into(), Way::Attached, None, Some(process));
    host.tell(Event::SessionReported { report, contact });
    if host.engine.contact_is_open() {
        host.tell(Event::ContactClosed);
    }
    let answer = answer(host);
    assert!(answer.is_none() || matches!(act, Act::Starts | Act::Resumes | Act::Prompt | Act::Stop), "{act:?}");
    match act {
        Act::Starts | Act::Resumes => host.shown = answer,
        Act::Prompt => host.turn = Some(answer.or_else(|| host.shown.take()).unwrap_or_else(|| nothing(host))),
        _ => host.turn = answer,
    }
    if act != Act::Starts && act != Act::Resumes {
        host.shown = None;
    }
    assert_eq!(host.turn.is_some(), matches!(host.engine.orchestrator, Orchestrator::Busy(_)), "after {act:?}");
}

/// What the contact was answered with: at most one list.
fn answer(host: &mut Host) -> Option<Kick> {
    let answer = host.handed_over.pop_front();
    assert!(host.handed_over.is_empty(), "two lists at once");
    host.kicks.extend(answer.clone().map(|kick| (host.now, kick)));
    answer
}

/// What a turn without a list works on.
fn nothing(host: &Host) -> Kick {
    Kick { id: KickId("none".into()), session: host.session(), causes: Vec::new(), items: Vec::new(), left_out: 0 }
}

/// Nothing unseen lies beside an idle session (or a silent one) unless it waits for the next contact; and where it can be
/// woken for that, it is, until three wakes have failed, which is told.
pub(super) fn at_rest(host: &Host) -> Result<(), String> {
    let Some(session) = &host.engine.session else { return Ok(()) };
    if host.turn.is_some() && !session.silent {
        return Ok(());
    }
    let Decision::Kick { items, .. } = host.engine.decide(&[Boundary::OrchestratorIdle], host.now) else {
        return Ok(());
    };
    if session.pending.is_none() {
        return Err(format!("unseen, and no kick is pending: {items:?}"));
    }
    let waking = &session.waking;
    let tried = waking.outstanding.is_some() || waking.retry_at.is_some() || waking.failures >= PATIENCE;
    if host.policy.session.can_wake && !tried {
        return Err(format!("unseen, and nobody wakes it: {items:?}"));
    }
    Ok(())
}
