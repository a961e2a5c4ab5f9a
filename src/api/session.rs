//! The Orchestrator as a session that registers itself: attaching, its reports and what they are answered with, beginning
//! anew, reading kicks as lines (DESIGN.md 4, 5.1).

use std::time::Duration;

use serde_json::Value;

use super::failure::Failure;
use super::operation::{done, not_kept};
use super::request::{HookRequest, SessionRequest};
use super::view::{HookView, VERSION, value};
use crate::daemon::{Host, Line};
use crate::domain::classify::ORCHESTRATOR;
use crate::domain::engine::{Actor, Admission, Contact, Reach, Registers, SessionReport, Way};
use crate::domain::facts::ProcessIdentity;
use crate::domain::worklist;
use crate::text::agent_hook::is_id;

/// How many of the processes that a report comes from are looked at.
const MOST_ANCESTORS: usize = 32;

/// What an event's name says of the Orchestrator's own session; None where it is no such event.
pub(super) fn contact(name: &str, request: &HookRequest) -> Option<Contact> {
    let takes = request.takes_list;
    Some(match name {
        "orchestrator-spawn" => Contact::Started { resumed: false, takes },
        "orchestrator-restore" => Contact::Started { resumed: true, takes },
        "compacted" => Contact::Compacted,
        "busy" => Contact::Prompted { takes },
        "idle" => Contact::Stopped { takes, first: request.first, background: request.background },
        "turn-failed" => {
            let why = request.reason.clone().unwrap_or_else(|| "reported as failed".into());
            if request.rate_limited {
                Contact::Limited { why, wait: request.retry_after.map(Duration::from_secs) }
            } else {
                Contact::Failed { why, jitter: 0 }
            }
        }
        "interrupted" => Contact::Interrupted,
        "active" => Contact::Active { own: true },
        "alive" => Contact::Active { own: false },
        "gone" => Contact::Ended,
        _ => return None,
    })
}

/// Takes a contact of the Orchestrator's own session.
pub(super) fn reported(host: &mut Host, name: &str, contact: Contact, request: HookRequest) -> Result<Value, Failure> {
    let (of_agent, confirms) = (request.of_agent, request.confirms);
    let report = match report(host, name, request) {
        Ok(report) => report,
        Err(_) if of_agent => return not_counted(None),
        Err(failure) => return Err(failure),
    };
    match host.engine().admit(&report) {
        Admission::Known | Admission::New => {}
        // Whoever is not there has gone.
        Admission::Unwatched(_) if contact == Contact::Ended => return not_counted(None),
        Admission::Refused(refusal) | Admission::Unwatched(refusal) | Admission::Elsewhere(refusal) if !of_agent => {
            return Err(refusal.into());
        }
        Admission::Elsewhere(refusal) | Admission::Unwatched(refusal) => {
            host.contact(report, contact);
            return not_counted(Some(refusal.message));
        }
        Admission::Refused(_) | Admission::Stranger => {
            // The engine says so once where a second one tries.
            host.contact(report, contact);
            return not_counted(None);
        }
    }
    let compacted = contact == Contact::Compacted;
    let kick = host.contact(report, contact);
    if let Some(kick) = kick.as_ref().filter(|_| confirms) {
        host.await_print(kick);
    }
    let list = match &kick {
        Some(kick) => Some(worklist::markdown(kick)),
        None => compacted.then(|| worklist::notes(host.engine())),
    };
    // An agent's own hook can tell nobody.
    let remarks = if of_agent { Vec::new() } else { not_kept(host) };
    value(&HookView {
        version: VERSION,
        done: format!("`{name}` of the Orchestrator was noted"),
        counted: true,
        list,
        kick: kick.as_ref().map(worklist::json),
        ignored: None,
        remarks,
    })
}

/// The list is handed over.
pub(super) fn printed(host: &mut Host, kick: &str) -> Result<Value, Failure> {
    host.printed(kick);
    done(host, "the list is handed over")
}

/// `ignored`: it was the registered session's, and did not count all the same; why.
fn not_counted(ignored: Option<String>) -> Result<Value, Failure> {
    let done = "this session is not the Orchestrator's: nothing was noted".into();
    value(&HookView { version: VERSION, done, counted: false, list: None, kick: None, ignored, remarks: Vec::new() })
}

fn report(host: &Host, name: &str, request: HookRequest) -> Result<SessionReport, Failure> {
    let summary = host.engine().summary(host.now());
    if *summary.reach == Reach::Exec {
        return Err(Failure::refused(format!(
            "`{name}` for the Orchestrator is refused: it is run by [orchestrator] command (exec), so its state comes from \
             its process alone"
        ))
        .hint("for a role's Pod give --role ROLE --ticket ID --pid N"));
    }
    let process = match request.pid.map(|pid| host.ports().processes.identify(pid)) {
        Some(Err(error)) if !request.of_agent => {
            return Err(Failure::refused(format!("the process cannot be the session's: {error}")));
        }
        found => found.and_then(Result::ok),
    };
    let registers = match (request.of_agent, request.role.as_deref() == Some(ORCHESTRATOR)) {
        (true, false) => Registers::Never,
        // Where processes cannot be seen, nobody's end is; where they can, nobody is let in whose end would not be.
        (true, true) if process.is_some() || !cfg!(target_os = "linux") => Registers::Always,
        _ => Registers::IfWatched,
    };
    let registered = || summary.live.filter(|_| !request.of_agent).map(|session| session.id.clone());
    let Some(id) = request.session.or_else(registered) else {
        return Err(Failure::usage("which session? none is registered, and none was given")
            .hint("give --session S, or set YOI_SESSION"));
    };
    check(&id)?;
    let above = identified(host, &request.ancestors);
    Ok(SessionReport {
        id,
        way: Way::Attached,
        agent: request.agent,
        process,
        program: request.program,
        above,
        guessed: request.found,
        registers,
    })
}

/// Of those that are there.
fn identified(host: &Host, pids: &[u32]) -> Vec<ProcessIdentity> {
    pids.iter().take(MOST_ANCESTORS).filter_map(|pid| host.ports().processes.identify(*pid).ok()).collect()
}

fn check(id: &str) -> Result<(), Failure> {
    if is_id(id) {
        return Ok(());
    }
    Err(Failure::usage("a session's id has 1 to 128 letters, digits, `-`, `_`, `.` or `:`"))
}

/// This session becomes the Orchestrator's: from now on its hooks count.
pub(super) fn attach(host: &mut Host, request: SessionRequest) -> Result<Value, Failure> {
    let report = asked(host, request, Way::Attached)?;
    let id = report.id.clone();
    let what = match host.engine().admit(&report) {
        Admission::Refused(refusal) | Admission::Unwatched(refusal) | Admission::Elsewhere(refusal) => {
            return Err(refusal.into());
        }
        Admission::Known => {
            // It may say anew where it lives. Where that is in doubt it may be another process, which says that it goes
            // on: what that and the former one come from is a terminal.
            let in_doubt = host.engine().summary(host.now()).live.is_some_and(|session| session.doubt.is_some());
            let started = Contact::Started { resumed: true, takes: false };
            host.contact(report, if in_doubt { started } else { Contact::Active { own: false } });
            format!("session `{id}` is the Orchestrator's already")
        }
        Admission::New | Admission::Stranger => {
            let resumed = host.engine().work_set().session == id;
            host.contact(report, Contact::Started { resumed, takes: false });
            format!("session `{id}` is the Orchestrator's: what it has to decide comes with its next prompt or stop")
        }
    };
    done(host, what)
}

/// A person begins the Orchestrator's session anew.
pub(super) fn reset(host: &mut Host, by: &Actor) -> Result<Value, Failure> {
    host.engine().may_reset(by)?;
    host.reset_session();
    done(host, "the Orchestrator's session begins anew: nothing is noted, every queued ticket is new to it")
}

/// Registers a session that reads each kick as a line.
pub fn watch(host: &mut Host, request: SessionRequest, line: Line) -> Result<SessionReport, Failure> {
    let report = asked(host, request, Way::Stream)?;
    host.open_stream(report.clone(), line)?;
    Ok(report)
}

fn asked(host: &Host, request: SessionRequest, way: Way) -> Result<SessionReport, Failure> {
    let SessionRequest { session: id, pid, found, ancestors, agent } = request;
    check(&id)?;
    let process: Option<ProcessIdentity> = pid
        .map(|pid| host.ports().processes.identify(pid))
        .transpose()
        .map_err(|error| Failure::refused(format!("the process cannot be the session's: {error}")))?;
    let above = identified(host, &ancestors);
    Ok(SessionReport { id, way, agent, process, program: None, above, guessed: found, registers: Registers::Always })
}
