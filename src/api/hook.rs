//! `yoi hook EVENT`: lifecycle reports of panels and agents (DESIGN.md 5.1).

use chrono::TimeDelta;
use serde_json::Value;

use super::failure::Failure;
use super::request::HookRequest;
use super::view::{DoneView, VERSION, value};
use crate::daemon::Host;
use crate::domain::classify::ORCHESTRATOR;
use crate::domain::engine::Event;
use crate::domain::facts::{Pod, PodId, PodState};
use crate::domain::kick::Boundary;
use crate::domain::refusal::no_ticket;
use crate::domain::ticket::TicketId;

/// The events that this version takes.
pub const EVENTS: [&str; 8] =
    ["panel-open", "busy", "idle", "gone", "rate-limited", "orchestrator-spawn", "orchestrator-restore", "turn-failed"];

/// Takes one report.
pub fn hook(host: &mut Host, request: HookRequest) -> Result<Value, Failure> {
    let name = request.event.replace('_', "-");
    match name.as_str() {
        "panel-open" => {
            host.tell(Event::BoundaryReached(Boundary::PanelOpen));
            done("the panel's opening was noted")
        }
        "rate-limited" => rate_limited(host, &request),
        "busy" | "idle" | "gone" => match request.role.clone() {
            Some(role) if role != ORCHESTRATOR => pod(host, &name, role, request),
            _ => orchestrators_own(&name),
        },
        "orchestrator-spawn" | "orchestrator-restore" | "turn-failed" => orchestrators_own(&name),
        "claude-code" | "codex" => Err(Failure::refused(format!(
            "`{name}`: hooks of an attached session are not part of this version; the Orchestrator is reached by \
             [orchestrator] command (exec)"
        ))),
        _ => Err(Failure::usage(format!("`{}` is not a hook event", request.event))
            .hint(format!("the events are {}", EVENTS.join(", ")))),
    }
}

fn done(what: impl Into<String>) -> Result<Value, Failure> {
    value(&DoneView { version: VERSION, done: what.into() })
}

fn orchestrators_own(event: &str) -> Result<Value, Failure> {
    Err(Failure::refused(format!(
        "`{event}` for the Orchestrator is refused: it is run by [orchestrator] command (exec), so its state comes from \
         its process alone"
    ))
    .hint("for a role's Pod give --role ROLE --ticket ID --pid N"))
}

fn rate_limited(host: &mut Host, request: &HookRequest) -> Result<Value, Failure> {
    let seconds = request.retry_after.and_then(|s| i64::try_from(s).ok()).and_then(TimeDelta::try_seconds);
    let Some(span) = seconds.filter(|span| *span <= TimeDelta::days(7)) else {
        return Err(Failure::usage("`rate-limited` needs --retry-after SECONDS, at most a week"));
    };
    host.tell(Event::RateLimited(host.now() + span));
    done("no kick before the rate limit ends")
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
        return done(format!("Pod `{id}` is gone"));
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
    let pod = Pod { id: id.clone(), role, ticket, agent: request.agent, process, state, since: host.now() };
    host.tell(Event::PodReported { pod, state });
    done(format!("Pod `{id}` is {event}"))
}
