//! Whether a ticket may be accepted: its state first, then every gate, so that the message names the real obstacle.
//!
//! Must not know: how acceptance is recorded (that is `ports::Acceptance`). DESIGN.md 6.1.

use super::classify::clock;
use super::gates::{Ground, holds};
use super::refusal::Refusal;
use super::ticket::{State, Ticket};

/// How an acceptance was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `yoi accept`: of a queued ticket.
    Accept,
    /// `yoi move ID inprogress`: the same, and what is done may be taken up again (DESIGN.md 2.4).
    Move,
    /// A claim in pull mode, which accepts a queued ticket.
    Claim,
}

/// Refuses with the evidence of each obstacle, or lets the acceptance pass.
pub fn acceptable(ticket: &Ticket, ground: Ground<'_>, way: Way) -> Result<(), Refusal> {
    let id = &ticket.id;
    match ticket.state {
        Some(State::Queued) => {}
        Some(State::Done) if way == Way::Move => {}
        // By hand or by force: an acceptance puts it on record, behind the same gates.
        Some(State::Inprogress) if !ticket.acceptance_recorded() => {}
        Some(State::Inprogress) => {
            let by = ticket.stamps.accepted_by.as_deref().unwrap_or("somebody");
            let at = ticket.stamps.accepted_at.map(clock).unwrap_or_default();
            return Err(Refusal::new(format!("`{id}` is inprogress already, accepted by {by} at {at}"))
                .hint(format!("`yoi why {id}` says what comes next")));
        }
        Some(state) => {
            let way = match state {
                State::Planning => "it goes planning -> ready -> queued first".into(),
                State::Ready => format!("`yoi move {id} queued` comes first"),
                State::Done => format!("`yoi move {id} inprogress` takes it up again"),
                _ => format!("`yoi move {id} planning` opens it again"),
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
    Err(Refusal::new(format!("`{id}` cannot start: a gate holds it")).evidence(lines).hint(match way {
        Way::Claim => "it can be claimed as soon as none of this holds any more; `yoi next --claim` takes another one",
        Way::Accept | Way::Move => "it can be accepted as soon as none of this holds any more",
    }))
}
