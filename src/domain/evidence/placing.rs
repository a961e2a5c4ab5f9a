//! Where the children of a ticket lie: their ids, and which of them are there already.
//!
//! Must not know: how a file is made.

use std::collections::BTreeSet;

use crate::domain::backlog::Backlog;
use crate::domain::ticket::{Ticket, TicketId};

/// The most bytes of an id: a thread's name, and another number, still fit into a file's name.
const MOST_BYTES: usize = 160;
/// The most characters of a title that go into an id.
const MOST_OF_TITLE: usize = 40;

/// Where one child lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placed {
    /// It was made before, by whoever was interrupted then.
    There(Ticket),
    /// To be made.
    New(TicketId),
}

impl Placed {
    /// Its id.
    pub fn id(&self) -> &TicketId {
        match self {
            Placed::There(ticket) => &ticket.id,
            Placed::New(id) => id,
        }
    }
}

/// Places the children with these titles. `taken`: ids that belong to others, beside those in the backlog.
pub fn place<'t>(
    parent: &TicketId,
    titles: impl IntoIterator<Item = &'t str>,
    backlog: &Backlog,
    taken: &BTreeSet<TicketId>,
) -> Vec<Placed> {
    let mut used = taken.clone();
    let mut placed = Vec::new();
    for title in titles {
        let is_it = |ticket: &&Ticket| ticket.parent.as_ref() == Some(parent) && ticket.title == title;
        if let Some(ticket) = backlog.tickets().filter(is_it).find(|ticket| !used.contains(&ticket.id)) {
            used.insert(ticket.id.clone());
            placed.push(Placed::There(ticket.clone()));
            continue;
        }
        // A file that cannot be read has its id too.
        let is_free = |id: &TicketId| !used.contains(id) && backlog.paths_of(id).next().is_none();
        let mut ids = (1..).map(|number| candidate(parent, title, number));
        if let Some(id) = ids.find(is_free) {
            used.insert(id.clone());
            placed.push(Placed::New(id));
        }
    }
    placed
}

/// The id of a child: its parent's, words of its title, and a number from the second on.
pub fn candidate(parent: &TicketId, title: &str, number: usize) -> TicketId {
    let mut end = words(title);
    if number > 1 {
        end = format!("{end}-{number}");
    }
    let parent = parent.as_str();
    let room = MOST_BYTES.saturating_sub(end.len() + 1);
    let begin = parent[..parent.floor_char_boundary(room)].trim_end_matches(['-', '.', ' ']);
    TicketId::new(if begin.is_empty() { end } else { format!("{begin}-{end}") })
}

fn words(title: &str) -> String {
    let lower = title.to_lowercase();
    let mut text = String::new();
    for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word: String = word.chars().take(MOST_OF_TITLE).collect();
        if !text.is_empty() && text.chars().count() + word.chars().count() >= MOST_OF_TITLE {
            break;
        }
        if !text.is_empty() {
            text.push('-');
        }
        text.push_str(&word);
    }
    // No word in it, or none that a file's name has room for.
    let text = &text[..text.floor_char_boundary(MOST_BYTES / 2)];
    if text.is_empty() { "part".into() } else { text.to_owned() }
}
