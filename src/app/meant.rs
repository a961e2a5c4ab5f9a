//! What somebody may have meant by an id that no ticket has: a hint, no more. Nothing is carried out on a guess.
//!
//! Must not know: any rule; what the id was given for.

use std::path::Path;

use super::App;
use crate::adapters::ticket_folder::id_of;
use crate::api::failure::Failure;
use crate::config::nearest;
use crate::domain::refusal::no_ticket;
use crate::domain::ticket::TicketId;
use crate::ports::{Entry, Tickets};

impl App {
    /// Adds a better hint to the failure that there is no such ticket, where it only says how to see all; any other
    /// failure stays as it is.
    pub(super) fn meant(&self, failure: Failure, id: &str) -> Failure {
        let says_little = failure.hint.as_ref().is_none_or(|hint| hint.starts_with("`yoi list"));
        if failure.message != no_ticket(id) || !says_little {
            return failure;
        }
        match self.lying_there(id).or_else(|| self.alike(id)) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }

    /// A file that lies where this ticket's would lie; also where somebody gave the file for the id.
    fn lying_there(&self, id: &str) -> Option<String> {
        let given = Path::new(id);
        let is_path = id.contains('/') || given.extension().is_some_and(|extension| extension == "md");
        let plain = if is_path { id_of(given) } else { TicketId::new(id) };
        let folder = self.tickets();
        folder.guesses(&plain).into_iter().find_map(|path| {
            let place = path.display();
            match folder.read(&path) {
                Entry::Absent => None,
                Entry::NotATicket => Some(format!(
                    "{place} is a file without frontmatter, so it is no ticket: a ticket begins with keys between two \
                     lines `---`"
                )),
                Entry::Ticket(_) | Entry::Unreadable { .. } if is_path => Some(format!("its id is `{plain}`")),
                Entry::Ticket(_) | Entry::Unreadable { .. } => {
                    Some(format!("{place} was written just now, and is being read: try again in a moment"))
                }
            }
        })
    }

    /// The id that is nearest to it.
    fn alike(&self, id: &str) -> Option<String> {
        let entries = self.tickets().scan().ok()?;
        let ids: Vec<_> = entries
            .into_iter()
            .filter_map(|(_, entry)| match entry {
                Entry::Ticket(ticket) => Some(ticket.id.to_string()),
                Entry::Unreadable { id, .. } => Some(id.to_string()),
                Entry::NotATicket | Entry::Absent => None,
            })
            .collect();
        let meant = nearest(id, ids.iter().map(String::as_str))?;
        Some(format!("did you mean `{meant}`? `yoi list --all` shows every id"))
    }
}
