//! Whether a ticket may be accepted: its state first, then every gate, so that the message names the real obstacle.
//!
//! Must not know: how acceptance is recorded (that is `ports::Acceptance`). DESIGN.md 6.1.

use super::classify::clock;
use super::gates::{Ground, holds};
use super::refusal::Refusal;
use super::ticket::{State, Ticket};

/// Refuses with the evidence of each obstacle, or lets the acceptance pass.
pub fn acceptable(ticket: &Ticket, ground: Ground<'_>) -> Result<(), Refusal> {
    let id = &ticket.id;
    match ticket.state {
        Some(State::Queued) => {}
        // By hand or by force: an acceptance puts it on record, behind the same gates.
        Some(State::Inprogress) if !ticket.acceptance_recorded() => {}
        Some(State::Inprogress) => {
            let by = ticket.stamps.accepted_by.as_deref().unwrap_or("somebody");
            let at = ticket.stamps.accepted_at.map(clock).unwrap_or_default();
            return Err(Refusal::new(format!("`{id}` is inprogress already, accepted by {by} at {at}")));
        }
        Some(state) => {
            let way = match state {
                State::Ready => "it goes to queued first",
                State::Done => "to take it up again: `yoi move ID inprogress --force --reason TEXT`",
                _ => "it goes planning -> ready -> queued first",
            };
            return Err(Refusal::new(format!("`{id}` is {state}: only a queued ticket is accepted")).hint(way));
        }
        None => {
            let hint = format!("write one of the six states into {}", ticket.path.display());
            return Err(Refusal::new(format!("`{id}` has no state that can be read")).hint(hint));
        }
    }
    let found = holds(ticket, ground);
    if found.is_empty() {
        return Ok(());
    }
    let lines = found.into_iter().map(|hold| format!("{}: {}", hold.gate, hold.evidence));
    Err(Refusal::new(format!("`{id}` cannot start: a gate holds it")).evidence(lines))
}
