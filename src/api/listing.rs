//! Which tickets a list shows, in which order, and what each line of it says: of tickets here, or of a daemon's answer.
//!
//! Must not know: how a line is printed.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, Serializer};

use super::failure::Failure;
use super::present;
use super::request::ListRequest;
use super::view::{FaultView, ListView, VERSION};
use crate::daemon::Host;
use crate::domain::claim::{open_pull_request, reverted_words};
use crate::domain::classify::{Class, classify, clock};
use crate::domain::engine::Engine;
use crate::domain::ticket::{Diagnostic, State, Ticket, Timestamp};

/// One ticket of a list.
#[derive(Clone, Copy)]
pub enum Listed<'a> {
    /// As this process read it.
    Here(&'a Ticket, &'a Engine, Timestamp),
    /// As a daemon answered.
    There(&'a Line<'a>),
}

/// A list as lines: the answer to a brief request.
#[derive(Debug, Serialize, Deserialize)]
pub struct Lines<'a> {
    version: u32,
    /// One for each ticket, in the list's order.
    pub lines: Vec<Line<'a>>,
    /// Files that are listed as errors.
    pub errors: Vec<FaultView>,
}

/// What a list says of one ticket.
#[derive(Debug, Serialize, Deserialize)]
pub struct Line<'a> {
    id: Cow<'a, str>,
    standing: Option<Cow<'a, str>>,
    priority: Cow<'a, str>,
    title: Cow<'a, str>,
    held: Option<Held<'a>>,
    /// Of a ticket without a known state.
    problems: Vec<FaultView>,
}

/// Why a queued ticket does not start, as far as one line says it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Held<'a> {
    /// The Orchestrator lets it wait: for what kind of reason, in which words.
    Waits(Cow<'a, str>, Cow<'a, str>),
    /// A worker holds it: who, until when, and whether others have to respect that.
    Claim(Cow<'a, str>, Cow<'a, str>, bool),
    /// It waits for its pull request, which is quoted.
    PullRequest(Cow<'a, str>),
    /// The file says otherwise than the end of its last claim.
    Reverted(Cow<'a, str>),
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

/// The same as lines.
pub fn lines<'a>(request: &ListRequest, host: &'a Host) -> Result<Lines<'a>, Failure> {
    let (tickets, errors) = listed(request, host)?;
    Ok(Lines { version: VERSION, lines: tickets.into_iter().map(Listed::line).collect(), errors })
}

/// The full view, each ticket's made when it is its turn: all of them at once take many times the room of their text.
#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    daemon: bool,
    #[serde(serialize_with = "in_turn")]
    tickets: (Vec<&'a Ticket>, &'a Engine, Timestamp),
    errors: Vec<FaultView>,
}

fn in_turn<S: Serializer>(
    (tickets, engine, now): &(Vec<&Ticket>, &Engine, Timestamp),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(tickets.iter().map(|ticket| present::ticket(&engine.row(ticket, *now))))
}

/// Either as JSON text; for people with line breaks.
pub fn text(request: &ListRequest, host: &Host, pretty: bool) -> Result<String, Failure> {
    let failed = |error| Failure::failed(format!("JSON: {error}"));
    if request.brief {
        return serde_json::to_string(&lines(request, host)?).map_err(failed);
    }
    let (engine, now) = (host.engine(), host.now());
    let tickets = (chosen(request, engine, now)?, engine, now);
    let errors = engine.backlog().faults().into_iter().map(present::fault).collect();
    let written = Written { version: VERSION, daemon: host.resident(), tickets, errors };
    if pretty { serde_json::to_string_pretty(&written) } else { serde_json::to_string(&written) }.map_err(failed)
}

fn chosen<'a>(request: &ListRequest, engine: &'a Engine, now: Timestamp) -> Result<Vec<&'a Ticket>, Failure> {
    let state: Option<State> = request.state.as_deref().map(str::parse).transpose().map_err(Failure::usage)?;
    let class: Option<Class> = request.class.as_deref().map(str::parse).transpose().map_err(Failure::usage)?;
    let hide_closed = !request.all && state.is_none();
    let class_of = |ticket| classify(ticket, engine.work_set(), engine.facts(), now).map(|classified| classified.class);
    let mut chosen: Vec<_> = candidates(engine, state, class)
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

/// Those among which a list of this state, or this class, is; by id.
fn candidates(engine: &Engine, state: Option<State>, class: Option<Class>) -> Box<dyn Iterator<Item = &Ticket> + '_> {
    let backlog = engine.backlog();
    let ids = match (state, class) {
        (Some(State::Queued), _) | (_, Some(Class::NewQueued | Class::PlannedQueued)) => backlog.queued(),
        (Some(State::Inprogress), _) | (_, Some(Class::ActiveInprogress | Class::ActionableInprogress)) => {
            backlog.inprogress()
        }
        _ => return Box::new(backlog.tickets()),
    };
    Box::new(ids.iter().filter_map(|id| backlog.get(id)))
}

impl<'a> Listed<'a> {
    /// All that its line says.
    fn line(self) -> Line<'a> {
        let standing = self.standing().map(Cow::Borrowed);
        Line {
            id: self.id().into(),
            priority: self.priority().into(),
            title: self.title().into(),
            held: self.held(),
            problems: if standing.is_none() { self.problems() } else { Vec::new() },
            standing,
        }
    }

    /// Its id.
    pub fn id(self) -> &'a str {
        match self {
            Listed::Here(ticket, ..) => ticket.id.as_str(),
            Listed::There(line) => &line.id,
        }
    }

    /// Its class, which says the state too; else the state. None where no state can be read.
    pub fn standing(self) -> Option<&'a str> {
        match self {
            Listed::Here(ticket, engine, now) => {
                let class = classify(ticket, engine.work_set(), engine.facts(), now).map(|c| c.class.as_str());
                class.or(ticket.state.map(State::as_str))
            }
            Listed::There(line) => line.standing.as_deref(),
        }
    }

    /// `P0` to `P4`.
    pub fn priority(self) -> &'a str {
        match self {
            Listed::Here(ticket, ..) => ticket.priority.as_str(),
            Listed::There(line) => &line.priority,
        }
    }

    /// Its title; empty where it has none.
    pub fn title(self) -> &'a str {
        match self {
            Listed::Here(ticket, ..) => &ticket.title,
            Listed::There(line) => &line.title,
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
                let claim = row.claim.map(|(claim, fresh)| {
                    Held::Claim(claim.worker.as_str().into(), clock(claim.expires()).into(), fresh)
                });
                let reverted = row.reverted.map(|ended| Held::Reverted(reverted_words(ticket, ended).into()));
                let is_held = row.claim.is_some_and(|(_, fresh)| fresh);
                let pr = open_pull_request(ticket).filter(|_| row.class.is_some() && !is_held);
                reverted
                    .or(pr.map(|pr| Held::PullRequest(pr.into())))
                    .or(claim)
                    .or(waits)
                    .or_else(|| row.holds.into_iter().next().map(|hold| Held::Gate(hold.evidence.into(), more)))
            }
            Listed::There(line) => line.held.clone(),
        }
    }

    /// Its own faults, each with its place; of one that a daemon answered with, where its state is not known.
    pub fn problems(self) -> Vec<FaultView> {
        let ticket = match self {
            Listed::Here(ticket, ..) => ticket,
            Listed::There(line) => return line.problems.clone(),
        };
        let fault = |problem: &Diagnostic| FaultView {
            id: ticket.id.to_string(),
            path: ticket.path.display().to_string(),
            line: problem.line,
            column: problem.column,
            message: problem.message.clone(),
        };
        ticket.problems.iter().map(fault).collect()
    }
}
