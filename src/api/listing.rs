//! Which tickets a list shows, in which order, and what each line of it says: of tickets here, or of a daemon's answer.
//!
//! Must not know: how a line is printed.

use std::borrow::Cow;

use super::failure::Failure;
use super::present;
use super::request::ListRequest;
use super::view::{FaultView, ListView, TicketView, VERSION};
use crate::daemon::Host;
use crate::domain::classify::{Class, classify};
use crate::domain::engine::Engine;
use crate::domain::ticket::{State, Ticket, Timestamp};

/// One ticket of a list.
#[derive(Clone, Copy)]
pub enum Listed<'a> {
    /// As this process read it.
    Here(&'a Ticket, &'a Engine, Timestamp),
    /// As a daemon answered.
    There(&'a TicketView),
}

/// Why a queued ticket does not start, as far as one line says it.
pub enum Held<'a> {
    /// The Orchestrator lets it wait: for what kind of reason, in which words.
    Waits(Cow<'a, str>, Cow<'a, str>),
    /// A gate holds it: the evidence, and how many more there are.
    Gate(Cow<'a, str>, usize),
}

/// What `yoi list` shows of the tickets here, and of the files that are listed as errors.
pub fn listed<'a>(request: &ListRequest, host: &'a Host) -> Result<(Vec<Listed<'a>>, Vec<FaultView>), Failure> {
    let (engine, now) = (host.engine(), host.now());
    let tickets = chosen(request, engine, now)?;
    let errors = engine.backlog().faults().into_iter().map(present::fault).collect();
    Ok((tickets.into_iter().map(|ticket| Listed::Here(ticket, engine, now)).collect(), errors))
}

/// The same as an answer.
pub fn view(request: &ListRequest, host: &Host) -> Result<ListView, Failure> {
    let (engine, now) = (host.engine(), host.now());
    let tickets = chosen(request, engine, now)?;
    Ok(ListView {
        version: VERSION,
        daemon: host.resident(),
        tickets: tickets.into_iter().map(|ticket| present::ticket(&engine.row(ticket, now))).collect(),
        errors: engine.backlog().faults().into_iter().map(present::fault).collect(),
    })
}

/// The same as JSON text, made at once: a long list as values in between takes many times its own memory.
pub fn text(request: &ListRequest, host: &Host) -> Result<String, Failure> {
    let view = view(request, host)?;
    serde_json::to_string(&view).map_err(|error| Failure::failed(format!("JSON: {error}")))
}

fn chosen<'a>(request: &ListRequest, engine: &'a Engine, now: Timestamp) -> Result<Vec<&'a Ticket>, Failure> {
    let state: Option<State> = request.state.as_deref().map(str::parse).transpose().map_err(Failure::usage)?;
    let class: Option<Class> = request.class.as_deref().map(str::parse).transpose().map_err(Failure::usage)?;
    let hide_closed = !request.all && state.is_none();
    let class_of = |ticket| classify(ticket, engine.work_set(), engine.facts(), now).map(|classified| classified.class);
    let mut chosen: Vec<_> = engine
        .backlog()
        .tickets()
        .filter(|t| !(hide_closed && t.state == Some(State::Closed)))
        .filter(|t| state.is_none() || t.state == state)
        .filter(|t| request.label.as_deref().is_none_or(|label| t.has_label(label)))
        .filter(|t| class.is_none() || class_of(t) == class)
        .collect();
    // By id already; whatever is equal stays in that order.
    chosen.sort_by_cached_key(|ticket| {
        let since = ticket.stamps.queued_at.or(ticket.stamps.created_at);
        (present::rank(ticket.state), ticket.priority, since.is_none(), since)
    });
    Ok(chosen)
}

impl<'a> Listed<'a> {
    /// Its id.
    pub fn id(self) -> &'a str {
        match self {
            Listed::Here(ticket, ..) => ticket.id.as_str(),
            Listed::There(view) => &view.id,
        }
    }

    /// Its class, which says the state too; else the state. None where no state can be read.
    pub fn standing(self) -> Option<&'a str> {
        match self {
            Listed::Here(ticket, engine, now) => {
                let class = classify(ticket, engine.work_set(), engine.facts(), now).map(|c| c.class.as_str());
                class.or(ticket.state.map(State::as_str))
            }
            Listed::There(view) => view.class.as_deref().or(view.state.as_deref()),
        }
    }

    /// `P0` to `P4`.
    pub fn priority(self) -> &'a str {
        match self {
            Listed::Here(ticket, ..) => ticket.priority.as_str(),
            Listed::There(view) => &view.priority,
        }
    }

    /// Its title; empty where it has none.
    pub fn title(self) -> &'a str {
        match self {
            Listed::Here(ticket, ..) => &ticket.title,
            Listed::There(view) => &view.title,
        }
    }

    /// What keeps it from being started.
    pub fn held(self) -> Option<Held<'a>> {
        match self {
            Listed::Here(ticket, engine, now) => {
                let row = engine.row(ticket, now);
                let waiting = row.note.and_then(|note| note.waiting.as_ref());
                let waits = waiting.map(|w| Held::Waits(w.kind.as_str().into(), w.detail.as_str().into()));
                let more = row.holds.len().saturating_sub(1);
                waits.or_else(|| row.holds.into_iter().next().map(|hold| Held::Gate(hold.evidence.into(), more)))
            }
            Listed::There(view) => {
                let waits =
                    view.waiting.as_ref().map(|w| Held::Waits(w.kind.as_str().into(), w.detail.as_str().into()));
                let more = view.gates.len().saturating_sub(1);
                waits.or_else(|| view.gates.first().map(|gate| Held::Gate(gate.evidence.as_str().into(), more)))
            }
        }
    }

    /// Its own faults, each with its place.
    pub fn problems(self) -> Vec<FaultView> {
        let view = match self {
            Listed::Here(ticket, engine, now) => Cow::Owned(present::ticket(&engine.row(ticket, now))),
            Listed::There(view) => Cow::Borrowed(view),
        };
        let fault = |problem: &super::view::ProblemView| FaultView {
            id: view.id.clone(),
            path: view.path.clone(),
            line: problem.line,
            column: problem.column,
            message: problem.message.clone(),
        };
        view.problems.iter().map(fault).collect()
    }
}
