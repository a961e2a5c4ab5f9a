//! The proof that an acceptance is on record. Whatever has a side effect for a ticket (worktree, branch, process,
//! hook, a role's claim) demands one (DESIGN.md 6.1).
//!
//! Must not know: gates (they are judged by the caller's decision, under the accept lock).

use std::path::Path;

use super::{EditError, Tickets};
use crate::domain::lifecycle::acceptance;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{State, Ticket, TicketId, Timestamp};

/// Proof that a ticket's acceptance stands in its file. Only [`Acceptance::record`] makes one.
#[derive(Debug)]
pub struct Acceptance {
    ticket: TicketId,
    by: String,
    at: Timestamp,
}

impl Acceptance {
    /// Records an acceptance in the file by compare and swap, after `gates` has passed on the ticket as it is there
    /// now; confirms one that is on record already. The caller holds the accept lock. Returns the ticket as it is now.
    pub fn record(
        tickets: &dyn Tickets,
        path: &Path,
        by: &str,
        now: Timestamp,
        gates: &mut dyn FnMut(&Ticket) -> Result<(), Refusal>,
    ) -> Result<(Self, Ticket), EditError> {
        let (_, ticket) = tickets.edit(path, &mut |fresh| {
            if fresh.state == Some(State::Inprogress) && fresh.acceptance_recorded() {
                return Ok(Vec::new());
            }
            gates(fresh)?;
            Ok(acceptance(fresh, by, now))
        })?;
        match (ticket.stamps.accepted_by.clone(), ticket.stamps.accepted_at) {
            (Some(by), Some(at)) => Ok((Self { ticket: ticket.id.clone(), by, at }, ticket)),
            // The file was read back after writing: this is a file that says something else than was written.
            _ => Err(EditError::Unsafe {
                path: path.to_owned(),
                message: "the acceptance cannot be read back from the file".into(),
            }),
        }
    }

    /// Which ticket.
    pub fn ticket(&self) -> &TicketId {
        &self.ticket
    }

    /// Who accepted it.
    pub fn by(&self) -> &str {
        &self.by
    }

    /// When.
    pub fn at(&self) -> Timestamp {
        self.at
    }
}
