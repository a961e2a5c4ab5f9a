//! `yoi hook EVENT`: lifecycle reports of panels and agents (DESIGN.md 5.1).

use chrono::TimeDelta;
use serde_json::Value;

use super::failure::Failure;
use super::operation::not_kept;
use super::request::HookRequest;
use super::session;
use super::view::{HookView, VERSION, value};
use crate::daemon::Host;
use crate::domain::classify::ORCHESTRATOR;
use crate::domain::engine::Event;
use crate::domain::facts::{Pod, PodId, PodState};
use crate::domain::kick::Boundary;
use crate::domain::refusal::no_ticket;
use crate::domain::ticket::TicketId;

/// The events that are taken.
pub const EVENTS: [&str; 12] = [
    "panel-open",
    "busy",
    "idle",
    "gone",
    "rate-limited",
    "orchestrator-spawn",
    "orchestrator-restore",
    "turn-failed",
    "interrupted",
    "compacted",
    "active",
    "alive",
];

/// Takes one report.
pub fn hook(host: &mut Host, request: HookRequest) -> Result<Value, Failure> {
    let name = request.event.replace('_', "-");
    let role = request.role.clone().filter(|role| role != ORCHESTRATOR);
    match (name.as_str(), role) {
        ("panel-open", _) => {
            host.tell(Event::BoundaryReached(Boundary::PanelOpen));
            done(host, "the panel's opening was noted")
        }
        ("rate-limited", _) => rate_limited(host, &request),
        (event, _) if request.pod.is_some() => pods_own(host, event, &request),
        ("busy" | "idle" | "gone", Some(role)) if !request.of_agent => pod(host, &name, role, request),
        ("claude-code" | "codex", _) => {
            let message =
                format!("`{name}` is told by the agent's own JSON on the standard input of `yoi hook {name}`");
            Err(Failure::usage(message))
        }
        _ => match session::contact(&name, &request) {
            Some(contact) => session::reported(host, &name, contact, request),
            None => Err(Failure::usage(format!("`{}` is not a hook event", request.event))
                .hint(format!("the events are {}, claude-code, codex", EVENTS.join(", ")))),
        },
    }
}

fn done(host: &mut Host, what: impl Into<String>) -> Result<Value, Failure> {
    let (done, remarks) = (what.into(), not_kept(host));
    value(&HookView { version: VERSION, done, counted: true, list: None, kick: None, ignored: None, remarks })
}

/// An agent's own hook in a session that was started as a Pod.
fn pods_own(host: &mut Host, event: &str, request: &HookRequest) -> Result<Value, Failure> {
    let id = PodId(request.pod.clone().unwrap_or_default());
    let state = match event {
        "busy" | "active" | "orchestrator-spawn" | "orchestrator-restore" => Some(PodState::Busy),
        "idle" | "interrupted" | "turn-failed" => Some(PodState::Idle),
        _ => None,
    };
    let known = host.engine().facts().pods.get(&id).cloned();
    match (known, state) {
        // What yoi started is over when its supervisor says so: its agent may have sessions within the session.
        (Some(pod), _) if event == "gone" && pod.supervised => {}
        (Some(_), _) if event == "gone" => host.tell(Event::PodEnded(id.clone())),
        (Some(pod), Some(state)) => host.tell(Event::PodReported { pod, state }),
        // Whoever starts a Pod registers it: its hooks alone do not say which ticket it works on.
        _ => {}
    }
    done(host, format!("Pod `{id}`: {event}"))
}

fn rate_limited(host: &mut Host, request: &HookRequest) -> Result<Value, Failure> {
    let seconds = request.retry_after.and_then(|s| i64::try_from(s).ok()).and_then(TimeDelta::try_seconds);
    let Some(span) = seconds.filter(|span| *span <= TimeDelta::days(7)) else {
        return Err(Failure::usage("`rate-limited` needs --retry-after SECONDS, at most a week"));
    };
    host.tell(Event::RateLimited(host.now() + span));
    done(host, "no kick before the rate limit ends")
}

fn pod(host: &mut Host, event: &str, role: String, request: HookRequest) -> Result<Value, Failure> {
    let Some(pid) = request.pid else {
        return Err(Failure::usage(format!(
            "`{event} --role {role}` needs --pid N: the Pod is live while that process is"
        )));
    };
    if pid <= 1 {
        return Err(Failure::refused(format!("process {pid} is no agent: a Pod of it would be live for ever")));
    }
    let id = PodId(format!("{role}-{pid}"));
    if event == "gone" {
        if !host.engine().facts().pods.contains_key(&id) {
            return Err(Failure::refused(format!("no Pod `{id}` is registered")).hint("`yoi pod list` shows which are"));
        }
        host.tell(Event::PodEnded(id.clone()));
        return done(host, format!("Pod `{id}` is gone"));
    }
    let ticket = request.ticket.map(TicketId::new);
    if let Some(ticket) = &ticket
        && host.engine().backlog().get(ticket).is_none()
    {
        return Err(Failure::refused(no_ticket(ticket.as_str())).hint("`yoi list --all` shows every id"));
    }
    let process = host
        .ports()
        .processes
        .identify(pid)
        .map_err(|error| Failure::refused(format!("process {pid} cannot be the Pod's: {error}")))?;
    let state = if event == "busy" { PodState::Busy } else { PodState::Idle };
    let pod = Pod {
        id: id.clone(),
        role,
        ticket,
        agent: request.agent,
        process,
        state,
        since: host.now(),
        supervised: false,
    };
    host.tell(Event::PodReported { pod, state });
    done(host, format!("Pod `{id}` is {event}"))
}
