//! Making a ticket file, and the folder of the first one.
//!
//! Must not know: what is written into it; how a file is made.

use std::io;
use std::path::PathBuf;

use super::verbs::unchanged;
use super::{Host, VerbError};
use crate::domain::engine::Actor;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{Ticket, TicketId};
use crate::ports::Entry;

impl Host {
    /// Creates a ticket file. Returns it as it reads.
    pub fn create(&mut self, id: &TicketId, text: &str, actor: Actor) -> Result<Ticket, VerbError> {
        self.refuse_while_obstructed()?;
        let path = self.created(id, text)?;
        match self.ports.tickets.read(&path) {
            Entry::Ticket(ticket) => {
                self.written(ticket.clone(), actor);
                Ok(ticket)
            }
            _ => Err(VerbError::Failed(format!("{} was written and cannot be read back", path.display()))),
        }
    }

    /// The first ticket makes its folder. One that was there and is gone is not made anew, unless git took it with its last
    /// ticket: whoever moved it away would move it back into the new one.
    fn created(&self, id: &TicketId, text: &str) -> Result<PathBuf, VerbError> {
        let tickets = &self.ports.tickets;
        let created = match tickets.create(id, text) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if self.knows_tickets() && !self.ports.worktree.emptied_tickets() {
                    let refusal = Refusal::new(format!("{error}; tickets are known from it, so no new one is made"));
                    return Err(refusal.hint("move it back; or make it yourself (mkdir), to begin anew").into());
                }
                tickets.make_folder().and_then(|()| tickets.create(id, text))
            }
            other => other,
        };
        created.map_err(|error| unchanged(&format!("the ticket file for `{id}` could not be created"), &error))
    }

    /// A daemon has read the folder itself.
    fn knows_tickets(&self) -> bool {
        let read = self.engine.backlog().known_paths().next().is_some();
        read || (!self.resident && self.history.knows_tickets())
    }
}
