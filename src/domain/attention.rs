//! The attention list: the tickets about which the Orchestrator has something to decide now.
//!
//! Must not know: whether it is told (that is `kick`), how it is told. DESIGN.md section 5.

use std::collections::BTreeSet;

use super::classify::{Class, Classified, classify};
use super::gates::{Ground, Hold, holds, human};
use super::harmless::cut;
use super::ticket::{Ticket, TicketId, Timestamp};
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
    /// An explicit boundary shows tickets again that wait for `other` reasons.
    pub explicit: bool,
    /// The current time.
    pub now: Timestamp,
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
            Some(classified) if human(ticket).is_empty() => items.push((ticket, route(ticket, &classified, view))),
            _ => {}
        }
    }
    for ticket in backlog.queued().iter().filter_map(|id| backlog.get(id)) {
        let verdict = queued(ticket, view);
        match verdict {
            Verdict::Listed(item) if found.active.is_empty() => items.push((ticket, item)),
            Verdict::Listed(item) => found.held.push(Held {
                id: ticket.id.clone(),
                kind: None,
                reason: format!("{}; delegated work is under way", item.reason),
            }),
            Verdict::Held(held) => found.held.push(held),
        }
    }
    items.sort_by_cached_key(|(ticket, item)| order(ticket, item, view.work_set));
    found.items = items.into_iter().map(|(_, item)| item).collect();
    found
}

/// Whether anything on the list is unseen; found without making the list. `active`: some ticket is `active_inprogress`.
/// `counts` says of a ticket whether it is looked at.
pub fn any_unseen(view: View<'_>, active: bool, counts: impl Fn(&Ticket) -> bool) -> bool {
    let backlog = view.ground.backlog;
    let unseen = |id: &&TicketId| !view.seen.contains(*id);
    let routed = |ticket: &Ticket| {
        let class = classify(ticket, view.work_set, view.ground.facts, view.now).map(|classified| classified.class);
        class == Some(Class::ActionableInprogress) && human(ticket).is_empty()
    };
    let listed = |ticket: &Ticket| matches!(queued(ticket, view), Verdict::Listed(_));
    let any = |ids: &BTreeSet<TicketId>, on_list: &dyn Fn(&Ticket) -> bool| {
        ids.iter().filter(unseen).filter_map(|id| backlog.get(id)).any(|ticket| counts(ticket) && on_list(ticket))
    };
    any(backlog.inprogress(), &routed) || (!active && any(backlog.queued(), &listed))
}

/// Unseen first, then class, the Orchestrator's own order (planned tickets only), priority, age, id.
fn order(ticket: &Ticket, item: &Item, work_set: &WorkSet) -> impl Ord + use<> {
    let note = work_set.get(&ticket.id).filter(|_| item.class == Class::PlannedQueued);
    let planned = note.and_then(|note| note.order);
    let since = ticket.stamps.queued_at.or(ticket.stamps.created_at);
    (item.seen, item.class, planned.is_none(), planned, ticket.priority, since.is_none(), since, ticket.id.clone())
}

enum Verdict {
    Listed(Item),
    Held(Held),
}

fn queued(ticket: &Ticket, view: View<'_>) -> Verdict {
    let held = |kind, reason: String| Verdict::Held(Held { id: ticket.id.clone(), kind, reason });
    if let Some(label) = ["needs-human", "blocked"].into_iter().find(|l| ticket.has_label(l)) {
        return held(Some(WaitKind::HumanGate), format!("label `{label}`"));
    }
    let Some(note) = view.work_set.get(&ticket.id) else {
        return match human(ticket).first() {
            Some(gate) if view.shown_gated.contains(&ticket.id) => {
                held(Some(WaitKind::HumanGate), gate.evidence.clone())
            }
            _ => Verdict::Listed(inspect(ticket, view)),
        };
    };
    if let Some(Hold { gate, evidence }) = holds(ticket, view.ground).into_iter().next() {
        return held(Some(gate), evidence);
    }
    match note.waiting.as_ref().map(|w| w.kind) {
        None => Verdict::Listed(accept(ticket, view)),
        Some(WaitKind::Other) if view.explicit => Verdict::Listed(accept(ticket, view)),
        Some(kind) => held(Some(kind), "the Orchestrator lets it wait (see `yoi work-set`)".into()),
    }
}

fn item(ticket: &Ticket, class: Class, view: View<'_>, reason: String, next_step: &str) -> Item {
    let title = cut(&ticket.title);
    let seen = view.seen.contains(&ticket.id);
    Item { id: ticket.id.clone(), title, class, reason, next_step: next_step.to_owned(), seen }
}

fn route(ticket: &Ticket, classified: &Classified, view: View<'_>) -> Item {
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
