//! The attention list: the tickets about which the Orchestrator has something to decide now.
//!
//! Must not know: whether it is told (that is `kick`), how it is told. DESIGN.md section 5.

use std::collections::BTreeSet;

use super::claim::{EndedClaim, open_pull_request, reverted, reverted_words};
use super::classify::{Class, Classified, classify};
use super::gates::{Ground, held_by, holds, human};
use super::harmless::cut;
use super::indices::Urgency;
use super::ticket::{HUMAN_LABELS, Ticket, TicketId, Timestamp};
use super::workset::{WaitKind, WorkSet};

/// One ticket that needs the Orchestrator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Which ticket.
    pub id: TicketId,
    /// Its title, cut to [`super::harmless::LONGEST`] characters. Data, never an instruction.
    pub title: String,
    /// Its class.
    pub class: Class,
    /// Why it is on the list.
    pub reason: String,
    /// What the Orchestrator is to do.
    pub next_step: String,
    /// Whether a turn has already ended without doing anything about it.
    pub seen: bool,
}

/// A queued ticket that is not on the list, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Which ticket.
    pub id: TicketId,
    /// The kind of reason, or None where active work alone keeps it off the list.
    pub kind: Option<WaitKind>,
    /// The reason in words (never the Orchestrator's own wording).
    pub reason: String,
}

/// What deriving the list needs besides the ground of the gates.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Tickets, facts, policy.
    pub ground: Ground<'a>,
    /// The current session's notes.
    pub work_set: &'a WorkSet,
    /// Items that a turn ended on without doing anything.
    pub seen: &'a BTreeSet<TicketId>,
    /// Human-gated items that were shown once already.
    pub shown_gated: &'a BTreeSet<TicketId>,
    /// Tickets whose file may just have vanished: they are not announced.
    pub doubted: &'a BTreeSet<TicketId>,
    /// Tickets whose text is older than what their last claim brought about: all for which `claim::reverted` says so.
    pub reverted: &'a BTreeSet<TicketId>,
    /// An explicit boundary shows tickets again that wait for `other` reasons.
    pub explicit: bool,
    /// The current time.
    pub now: Timestamp,
}

impl<'a> View<'a> {
    fn reverted(&self, ticket: &Ticket) -> Option<&'a EndedClaim> {
        reverted(ticket, self.ground.facts.ended_claims.get(&ticket.id))
    }
}

/// The whole list in the order in which it is handed over, and what was kept off it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attention {
    /// Items not yet seen first, then by class, priority, age.
    pub items: Vec<Item>,
    /// Queued tickets that are not on the list.
    pub held: Vec<Held>,
    /// Tickets that are `active_inprogress`.
    pub active: Vec<TicketId>,
}

/// Derives the attention list.
pub fn attention(view: View<'_>) -> Attention {
    let backlog = view.ground.backlog;
    let mut found = Attention::default();
    let mut items = Vec::new();
    for ticket in backlog.inprogress().iter().filter_map(|id| backlog.get(id)) {
        match classify(ticket, view.work_set, view.ground.facts, view.now) {
            Some(classified) if classified.class == Class::ActiveInprogress => found.active.push(ticket.id.clone()),
            Some(classified) if human(ticket).is_empty() && view.reverted(ticket).is_none() => {
                items.push((ticket, route(ticket, &classified, view)));
            }
            _ => {}
        }
    }
    for ticket in backlog.queued().iter().filter_map(|id| backlog.get(id)) {
        let id = ticket.id.clone();
        match standing(ticket, view) {
            Ok(class) if found.active.is_empty() => items.push((ticket, offer(ticket, class, view))),
            Ok(class) => {
                let reason = format!("{}; delegated work is under way", offer(ticket, class, view).reason);
                found.held.push(Held { id, kind: None, reason });
            }
            Err(kind) => found.held.push(Held { id, kind: Some(kind), reason: why_held(ticket, view) }),
        }
    }
    items.retain(|(ticket, _)| !view.doubted.contains(&ticket.id));
    items.sort_by_cached_key(|(ticket, item)| order(ticket, item, view.work_set));
    found.items = items.into_iter().map(|(_, item)| item).collect();
    found
}

/// Unseen first, then class, the Orchestrator's own order (planned tickets only), priority, age, id.
fn order(ticket: &Ticket, item: &Item, work_set: &WorkSet) -> impl Ord + use<> {
    (item.seen, item.class, place(ticket, item.class, work_set))
}

/// The order among tickets of one class.
pub(super) fn place(ticket: &Ticket, class: Class, work_set: &WorkSet) -> impl Ord + use<> {
    let note = work_set.get(&ticket.id).filter(|_| class == Class::PlannedQueued);
    let planned = note.and_then(|note| note.order);
    (planned.is_none(), planned, Urgency::of(ticket))
}

/// The class as which a queued ticket is on the list when nothing delegated is under way, or what keeps it off.
pub(super) fn standing(ticket: &Ticket, view: View<'_>) -> Result<Class, WaitKind> {
    if human_label(ticket).is_some() || view.reverted(ticket).is_some() {
        return Err(WaitKind::HumanGate);
    }
    let Some(note) = view.work_set.get(&ticket.id) else {
        let over = ticket.human_gate.is_some() && view.shown_gated.contains(&ticket.id);
        return if over { Err(WaitKind::HumanGate) } else { Ok(Class::NewQueued) };
    };
    if let Some(gate) = held_by(ticket, view.ground).first() {
        return Err(*gate);
    }
    match note.waiting.as_ref().map(|w| w.kind) {
        None => Ok(Class::PlannedQueued),
        Some(WaitKind::Other) if view.explicit => Ok(Class::PlannedQueued),
        Some(kind) => Err(kind),
    }
}

fn human_label(ticket: &Ticket) -> Option<&'static str> {
    HUMAN_LABELS.into_iter().find(|label| ticket.has_label(label))
}

/// What keeps a queued ticket off the list, in words.
fn why_held(ticket: &Ticket, view: View<'_>) -> String {
    if let Some(label) = human_label(ticket) {
        return format!("label `{label}`");
    }
    if let Some(ended) = view.reverted(ticket) {
        return reverted_words(ticket, ended);
    }
    let gates = if view.work_set.get(&ticket.id).is_some() { holds(ticket, view.ground) } else { human(ticket) };
    let gate = gates.into_iter().next().map(|hold| hold.evidence);
    gate.unwrap_or_else(|| "the Orchestrator lets it wait (see `yoi work-set`)".into())
}

/// A queued ticket as an item.
pub(super) fn offer(ticket: &Ticket, class: Class, view: View<'_>) -> Item {
    if class == Class::NewQueued { inspect(ticket, view) } else { accept(ticket, view) }
}

fn item(ticket: &Ticket, class: Class, view: View<'_>, mut reason: String, next_step: &str) -> Item {
    // No worker is offered it, whatever else holds it or does not.
    reason.extend(open_pull_request(ticket).map(|pr| format!("; its pull request is open: {pr}")));
    let title = cut(&ticket.title);
    let seen = view.seen.contains(&ticket.id);
    Item { id: ticket.id.clone(), title, class, reason, next_step: next_step.to_owned(), seen }
}

/// A ticket in progress as an item.
pub(super) fn route(ticket: &Ticket, classified: &Classified, view: View<'_>) -> Item {
    let reason = classified.evidence.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let next_step = if ticket.acceptance_recorded() {
        "route it: delegate the next step, `yoi await` one under way, or move it on"
    } else {
        "route it: `yoi accept` it if it is to go on, or move it back"
    };
    item(ticket, Class::ActionableInprogress, view, reason, next_step)
}

fn inspect(ticket: &Ticket, view: View<'_>) -> Item {
    let gates = holds(ticket, view.ground);
    let reason = if gates.is_empty() {
        "queued, and not yet taken note of".to_owned()
    } else {
        let evidence: Vec<_> = gates.iter().take(3).map(|h| h.evidence.clone()).collect();
        format!("queued, and not yet taken note of; held by: {}", evidence.join("; "))
    };
    let next_step = if gates.is_empty() {
        "inspect it; `yoi plan` it with an order, `yoi wait` with a reason, or `yoi accept` it"
    } else {
        "inspect it; `yoi plan` it with an order, or `yoi wait` with a reason"
    };
    item(ticket, Class::NewQueued, view, reason, next_step)
}

fn accept(ticket: &Ticket, view: View<'_>) -> Item {
    let reason = "planned, and nothing holds it any more".to_owned();
    item(ticket, Class::PlannedQueued, view, reason, "`yoi accept` it, or `yoi wait` with a reason")
}

#[cfg(test)]
#[path = "attention_tests.rs"]
mod tests;
