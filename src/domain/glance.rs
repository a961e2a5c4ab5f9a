//! The attention list at a glance: its beginning, and how much more there is. A decision needs no more, and so costs
//! what is handed over and what the session has noted, not the number of tickets.
//!
//! Must not know: whether the Orchestrator is told. DESIGN.md section 5; `attention` is the rule, in full.

use std::collections::BTreeSet;

use super::attention::{Attention, Item, View, offer, place, route, standing};
use super::backlog::Backlog;
use super::classify::{Class, classify};
use super::facts::Facts;
use super::ticket::{State, Ticket, TicketId};
use super::workset::{WaitKind, WorkSet};

/// How many held tickets are named.
const NAMED: usize = 20;

/// What a decision needs to know of the attention list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// The first items.
    pub items: Vec<Item>,
    /// How many more the list has.
    pub left_out: usize,
    /// The first queued tickets, by id, that are not on the list, and what holds each; None: delegated work alone.
    pub held: Vec<(TicketId, Option<WaitKind>)>,
    /// How many there are of them.
    pub held_count: usize,
    /// Delegated work alone keeps some of them off.
    pub kept_by_active: bool,
    /// Tickets that are `active_inprogress`.
    pub active: Vec<TicketId>,
}

impl Attention {
    /// The whole list at a glance.
    pub fn glance(&self, max_items: usize) -> Glance {
        let (first, rest) = self.items.split_at(self.items.len().min(max_items));
        Glance {
            items: first.to_vec(),
            left_out: rest.len(),
            held: self.held.iter().take(NAMED).map(|held| (held.id.clone(), held.kind)).collect(),
            held_count: self.held.len(),
            kept_by_active: self.held.iter().any(|held| held.kind.is_none()),
            active: self.active.clone(),
        }
    }
}

/// Those `inprogress` of which anything is known that can show delegated work: few, however many there are.
pub fn watched_over<'a>(backlog: &'a Backlog, work_set: &'a WorkSet, facts: &'a Facts) -> BTreeSet<&'a TicketId> {
    let awaited = work_set.iter().filter(|(_, note)| note.awaited.is_some()).map(|(id, _)| id);
    let pods = facts.pods.values().filter_map(|pod| pod.ticket.as_ref());
    let elsewhere = facts.claims.keys().chain(facts.worktrees.keys());
    awaited.chain(pods).chain(elsewhere).filter(|id| backlog.inprogress().contains(*id)).collect()
}

/// The same as the whole list's, from the indices.
pub fn glance(view: View<'_>, max_items: usize) -> Glance {
    let queue = Queue::of(view);
    let active = active(view);
    let indices = view.ground.backlog.indices();
    let unrouted = active.union(view.reverted).filter(|id| indices.running.contains(*id)).count();
    let routed = indices.running.len() - unrouted;
    let listed = if active.is_empty() { queue.listed() } else { 0 };
    let on_list = |ticket: &Ticket| match ticket.state {
        Some(State::Inprogress) => {
            let waits = active.contains(&ticket.id) || view.reverted.contains(&ticket.id);
            indices.running.contains(&ticket.id) && !waits
        }
        Some(State::Queued) => active.is_empty() && standing(ticket, view).is_ok(),
        _ => false,
    };
    let doubted = tickets(view, view.doubted.iter()).filter(|ticket| on_list(ticket)).count();
    let items = first_items(view, &queue, &active, max_items);
    Glance {
        left_out: routed + listed - doubted - items.len(),
        items,
        held: queue.not_listed(!active.is_empty()),
        held_count: indices.queued.len() - listed,
        kept_by_active: !active.is_empty() && queue.listed() > 0,
        active: active.into_iter().collect(),
    }
}

fn active(view: View<'_>) -> BTreeSet<TicketId> {
    let watched = watched_over(view.ground.backlog, view.work_set, view.ground.facts);
    let class = |ticket: &Ticket| classify(ticket, view.work_set, view.ground.facts, view.now).map(|c| c.class);
    let active = tickets(view, watched.into_iter()).filter(|ticket| class(ticket) == Some(Class::ActiveInprogress));
    active.map(|ticket| ticket.id.clone()).collect()
}

fn tickets<'a>(view: View<'a>, ids: impl Iterator<Item = &'a TicketId>) -> impl Iterator<Item = &'a Ticket> {
    ids.filter_map(move |id| view.ground.backlog.get(id))
}

/// Unseen ones first, then by class; nothing is put in words that is not handed over.
fn first_items(view: View<'_>, queue: &Queue<'_>, active: &BTreeSet<TicketId>, max_items: usize) -> Vec<Item> {
    let indices = view.ground.backlog.indices();
    let mut items = Vec::new();
    for seen in [false, true] {
        let fits = |id: &TicketId| view.seen.contains(id) == seen && !view.doubted.contains(id);
        let waits = |id: &TicketId| active.contains(id) || view.reverted.contains(id);
        let routed = indices.routed.iter().map(|urgency| &urgency.id).filter(|id| fits(id) && !waits(id));
        let routed = tickets(view, routed).filter_map(|ticket| {
            let classified = classify(ticket, view.work_set, view.ground.facts, view.now)?;
            Some(route(ticket, &classified, view))
        });
        let new = indices.offered.iter().map(|urgency| &urgency.id);
        let new = tickets(view, new.filter(|id| fits(id) && view.work_set.get(id).is_none()))
            .filter(|ticket| standing(ticket, view).is_ok())
            .map(|ticket| offer(ticket, Class::NewQueued, view));
        let planned = queue.planned.iter().filter(|ticket| fits(&ticket.id));
        let planned = planned.map(|ticket| offer(ticket, Class::PlannedQueued, view));
        let queued = new.chain(planned).take(if active.is_empty() { usize::MAX } else { 0 });
        let wanted = max_items - items.len();
        items.extend(routed.chain(queued).take(wanted));
    }
    items
}

/// The queue as far as it is not simply new to the session, or held by a label.
struct Queue<'a> {
    view: View<'a>,
    /// Planned tickets that nothing holds, in the order in which they are handed over.
    planned: Vec<&'a Ticket>,
    /// Planned ones that are held, and new ones that were shown once, or are reverted, and wait for a person.
    held: Vec<(&'a TicketId, WaitKind)>,
}

impl<'a> Queue<'a> {
    fn of(view: View<'a>) -> Self {
        let indices = view.ground.backlog.indices();
        let noted = view.work_set.iter().map(|(id, _)| id);
        let shown = view.shown_gated.iter().filter(|id| view.work_set.get(id).is_none());
        let reverted = view.reverted.iter().filter(|id| view.work_set.get(id).is_none());
        let of_queue: BTreeSet<_> = noted
            .chain(shown)
            .chain(reverted)
            .filter(|id| indices.queued.contains(*id) && !indices.labelled.contains(*id))
            .collect();
        let mut queue = Self { view, planned: Vec::new(), held: Vec::new() };
        for ticket in tickets(view, of_queue.into_iter()) {
            match standing(ticket, view) {
                Ok(Class::PlannedQueued) => queue.planned.push(ticket),
                Ok(_) => {}
                Err(kind) => queue.held.push((&ticket.id, kind)),
            }
        }
        queue.planned.sort_by_cached_key(|ticket| place(ticket, Class::PlannedQueued, view.work_set));
        queue
    }

    /// How many are on the list when nothing delegated is under way.
    fn listed(&self) -> usize {
        self.view.ground.backlog.indices().offered.len() - self.held.len()
    }

    /// The first that are not on it.
    fn not_listed(&self, active: bool) -> Vec<(TicketId, Option<WaitKind>)> {
        let indices = self.view.ground.backlog.indices();
        if active {
            let first = tickets(self.view, indices.queued.iter().take(NAMED));
            return first.map(|ticket| (ticket.id.clone(), standing(ticket, self.view).err())).collect();
        }
        let labelled = indices.labelled.iter().take(NAMED).map(|id| (id, WaitKind::HumanGate));
        let mut held: Vec<_> = labelled.chain(self.held.iter().copied()).collect();
        held.sort_unstable();
        held.into_iter().take(NAMED).map(|(id, kind)| (id.clone(), Some(kind))).collect()
    }
}
