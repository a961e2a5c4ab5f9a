//! Which queued tickets a gate holds, judged anew where that can have changed: a held one that nothing holds any more is
//! a cleared gate (DESIGN.md 4 and 5).

use std::collections::BTreeSet;

use chrono::TimeDelta;

use super::Engine;
use crate::domain::gates::{held_by, is_held};
use crate::domain::indices::is_exclusive;
use crate::domain::kick::Boundary;
use crate::domain::policy::DirtyGate;
use crate::domain::ticket::{Ticket, TicketId, Timestamp};
use crate::domain::workset::WaitKind;

/// How often the main worktree is probed while the dirty gate alone holds a ticket.
const PROBE_EVERY: TimeDelta = TimeDelta::seconds(60);

/// What came out when gates were last judged, and whose may come out differently since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Gates {
    /// Queued tickets that some gate held.
    pub(super) held: BTreeSet<TicketId>,
    /// Those that the dirty workspace alone held.
    by_dirt: BTreeSet<TicketId>,
    /// Whether capacity was used up.
    full: bool,
    /// To be judged.
    pub(super) stale: BTreeSet<TicketId>,
    pub(super) all_stale: bool,
}

impl Gates {
    /// Something has changed on which everybody's gates rest.
    pub(super) fn judge_all(&mut self) {
        self.all_stale = true;
    }
}

impl Engine {
    /// A ticket is not what it was: its own gates may come out differently, and those of the tickets that name it. One
    /// in progress that names others, or paths, may hold anybody. (Capacity is looked at as a whole.)
    pub(super) fn judge_around(&mut self, id: &TicketId, before: Option<&Ticket>, after: Option<&Ticket>) {
        self.gates.all_stale |= [before, after].into_iter().flatten().any(is_exclusive);
        let naming = self.backlog.indices().naming(id);
        self.gates.stale.extend(naming.chain([id]).cloned());
    }

    fn is_full(&self) -> bool {
        self.policy.capacity.max_inprogress.is_some_and(|limit| self.backlog.running().len() >= limit)
    }

    /// A queued ticket that some gate held and none holds now is a cleared gate; a reason of that kind lapses.
    pub(super) fn judge_gates(&mut self, now: Timestamp) {
        let full = self.is_full();
        let filled = std::mem::replace(&mut self.gates.full, full) != full;
        let stale = std::mem::take(&mut self.gates.stale);
        let all = std::mem::take(&mut self.gates.all_stale) || filled;
        if !all && stale.is_empty() {
            return;
        }
        let whose = if all { self.backlog.queued().union(&self.gates.held).cloned().collect() } else { stale };
        let mut cleared = BTreeSet::new();
        let mut lapsed = BTreeSet::new();
        for id in whose {
            let queued = self.backlog.get(&id).filter(|_| self.backlog.queued().contains(&id));
            let found = queued.map(|ticket| held_by(ticket, self.ground())).unwrap_or_default();
            let waiting = self.work_set.get(&id).and_then(|note| note.waiting.as_ref()).map(|w| w.kind);
            if queued.is_some() && waiting.is_some_and(|kind| kind != WaitKind::Other && !found.contains(&kind)) {
                lapsed.insert(id.clone());
            }
            if queued.is_some() && found.is_empty() && self.gates.held.contains(&id) {
                cleared.insert(id.clone());
            }
            let by_dirt = !found.is_empty() && found.iter().all(|gate| *gate == WaitKind::DirtyWorkspace);
            put(&mut self.gates.by_dirt, &id, by_dirt);
            put(&mut self.gates.held, &id, !found.is_empty());
        }
        debug_assert_eq!(self.gates.held, self.all_held(), "whose gates can have changed is judged");
        for id in &lapsed {
            if let Some(note) = self.work_set.get_mut(id) {
                note.waiting = None;
            }
        }
        for id in lapsed.union(&cleared) {
            self.no_longer_seen(id);
        }
        if !cleared.is_empty() {
            self.reach_boundary(Boundary::GateCleared);
        }
        let probing = !self.gates.by_dirt.is_empty() && self.policy.dirty_workspace == DirtyGate::Block;
        self.timers.probe_at = probing.then(|| self.timers.probe_at.unwrap_or(now + PROBE_EVERY));
    }

    /// The same from scratch.
    fn all_held(&self) -> BTreeSet<TicketId> {
        let queued = self.backlog.queued().iter().filter_map(|id| self.backlog.get(id));
        queued.filter(|ticket| is_held(ticket, self.ground())).map(|ticket| ticket.id.clone()).collect()
    }
}

fn put(set: &mut BTreeSet<TicketId>, id: &TicketId, belongs: bool) {
    if belongs {
        set.insert(id.clone());
    } else {
        set.remove(id);
    }
}
