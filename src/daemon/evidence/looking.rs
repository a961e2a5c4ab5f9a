//! What is looked at before the work on a ticket ends: its branch, its worktree.
//!
//! Must not know: git; what is made of it.

use crate::daemon::{Lending, VerbError};
use crate::domain::claim::name;
use crate::domain::evidence::close::Checks;
use crate::domain::ticket::TicketId;

/// What git has of a ticket. On the asker's own thread: git may take its time.
pub fn look_at_work<L: Lending>(lending: &mut L, id: &TicketId) -> Result<Checks, VerbError> {
    let worktree = lending.lend(|host| std::sync::Arc::clone(&host.ports.worktree))?;
    Ok(worktree.of_ticket(&name::of(id)))
}
