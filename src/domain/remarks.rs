//! What is odd about a ticket and no fault of its file: for `yoi doctor`. A person's edit is accepted as it is; this may
//! be remarked on it (DESIGN.md 2.4).
//!
//! Must not know: how it is shown.

use super::backlog::Backlog;
use super::gates::cycle;
use super::harmless::quoted;
use super::ticket::{State, Ticket};

/// The remarks on one ticket, a sentence each.
pub fn remarks(ticket: &Ticket, backlog: &Backlog) -> Vec<String> {
    let mut found = Vec::new();
    match ticket.state {
        Some(State::Inprogress) if !ticket.acceptance_recorded() => {
            found.push("it is inprogress without a recorded acceptance: `yoi accept` it, or move it back".into());
        }
        Some(State::Queued) if ticket.stamps.queued_at.is_none() => {
            found.push("it is queued without queued_at: its age is not known; re-queue it, or write queued_at".into());
        }
        Some(State::Done | State::Closed) => return found,
        _ => {}
    }
    let unknown = ticket.depends_on.iter().filter(|id| backlog.paths_of(id).next().is_none());
    found.extend(unknown.map(|id| format!("depends on {}, which is no ticket here", quoted(id.as_str()))));
    if let Some(circle) = cycle(ticket, backlog) {
        found.push(format!("the dependencies go in a circle: {}", circle.join(" -> ")));
    }
    found
}
