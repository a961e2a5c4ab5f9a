//! Which tickets stand where, kept with every change, so that a decision costs what it is about and not the backlog's
//! size.
//!
//! Must not know: files, notes of a session, what is decided. DESIGN.md sections 3 and 5.

use std::collections::{BTreeMap, BTreeSet};

use super::ticket::{HUMAN_LABELS, Priority, State, Ticket, TicketId, Timestamp};

/// What comes first among tickets that are otherwise alike: priority, age, id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Urgency {
    priority: Priority,
    /// What has no time comes last.
    timeless: bool,
    since: Option<Timestamp>,
    /// Whose.
    pub id: TicketId,
}

impl Urgency {
    /// How urgent a ticket is.
    pub fn of(ticket: &Ticket) -> Self {
        let since = ticket.stamps.queued_at.or(ticket.stamps.created_at);
        Self { priority: ticket.priority, timeless: since.is_none(), since, id: ticket.id.clone() }
    }
}

/// The tickets that are queued or in progress, each where it belongs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Indices {
    /// State `queued`.
    pub queued: BTreeSet<TicketId>,
    /// Those of them that a label keeps off every list.
    pub labelled: BTreeSet<TicketId>,
    /// The others, the most urgent first.
    pub offered: BTreeSet<Urgency>,
    /// State `inprogress`.
    pub inprogress: BTreeSet<TicketId>,
    /// Those of them that no human gate holds: they take up capacity.
    pub running: BTreeSet<TicketId>,
    /// The same, the most urgent first.
    pub routed: BTreeSet<Urgency>,
    /// Those `inprogress` that can conflict with others by what they say themselves.
    pub exclusive: BTreeSet<TicketId>,
    /// The queued tickets that name another one as a dependency or a conflict, by that one.
    named_by: BTreeMap<TicketId, BTreeSet<TicketId>>,
}

impl Indices {
    /// A ticket is there.
    pub fn enter(&mut self, ticket: &Ticket) {
        self.place(ticket, true);
        for other in named(ticket) {
            self.named_by.entry(other.clone()).or_default().insert(ticket.id.clone());
        }
    }

    /// A ticket, as it was when it entered, is no longer there.
    pub fn leave(&mut self, ticket: &Ticket) {
        self.place(ticket, false);
        for other in named(ticket) {
            if let Some(naming) = self.named_by.get_mut(other) {
                naming.remove(&ticket.id);
                if naming.is_empty() {
                    self.named_by.remove(other);
                }
            }
        }
    }

    /// The queued tickets that name this one as a dependency or a conflict.
    pub fn naming(&self, id: &TicketId) -> impl Iterator<Item = &TicketId> {
        self.named_by.get(id).into_iter().flatten()
    }

    fn place(&mut self, ticket: &Ticket, there: bool) {
        let queued = ticket.state == Some(State::Queued);
        let labelled = HUMAN_LABELS.iter().any(|label| ticket.has_label(label));
        let inprogress = ticket.state == Some(State::Inprogress);
        let running = inprogress && !ticket.is_human_gated();
        for (belongs, set) in [
            (queued, &mut self.queued),
            (queued && labelled, &mut self.labelled),
            (inprogress, &mut self.inprogress),
            (running, &mut self.running),
            (is_exclusive(ticket), &mut self.exclusive),
        ] {
            if belongs && there {
                set.insert(ticket.id.clone());
            } else if belongs {
                set.remove(&ticket.id);
            }
        }
        for (belongs, set) in [(queued && !labelled, &mut self.offered), (running, &mut self.routed)] {
            if belongs && there {
                set.insert(Urgency::of(ticket));
            } else if belongs {
                set.remove(&Urgency::of(ticket));
            }
        }
    }
}

/// Whether a ticket is in progress and can conflict with others by what it says itself.
pub fn is_exclusive(ticket: &Ticket) -> bool {
    ticket.state == Some(State::Inprogress) && !(ticket.conflicts_with.is_empty() && ticket.touches.is_empty())
}

/// Whom a queued ticket names.
fn named(ticket: &Ticket) -> impl Iterator<Item = &TicketId> {
    let queued = ticket.state == Some(State::Queued);
    ticket.depends_on.iter().chain(&ticket.conflicts_with).filter(move |_| queued)
}
