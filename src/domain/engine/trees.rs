//! The worktrees of tickets: what stands, and in which somebody works (DESIGN.md 3). Processes come and end without an event,
//! so that it is looked again: before anything is decided that rests on one, and by the clock while there is such a
//! ticket in progress. With no worktree there is no due time.
//!
//! Nobody vouches for such a process: a shell that goes in and out is no worker that has finished. So its end alone makes
//! nothing new to the Orchestrator but its own ticket, and that once, until something else happens to the ticket.
//!
//! Must not know: how it is looked.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;

use super::{Effect, Engine};
use crate::domain::facts::Worktree;
use crate::domain::kick::Boundary;
use crate::domain::ticket::{TicketId, Timestamp};
use crate::domain::worktree::tickets_of;

/// How often it is looked again while a ticket in progress has a worktree. Whoever was seen for this long has worked on it.
const EVERY: TimeDelta = TimeDelta::seconds(30);
/// How long a decision waits for a look. Disks and git's files hang; the Orchestrator must not.
const PATIENCE: TimeDelta = TimeDelta::seconds(10);
/// How long an answer is waited for before it is asked again; twice as long each time, since a look that hangs keeps its thread.
const ANSWERED_WITHIN: TimeDelta = TimeDelta::minutes(1);
/// How often that is doubled: about an hour.
const DOUBLED: u32 = 6;
/// A decision may rest on a look as old as this.
const FRESH: TimeDelta = TimeDelta::seconds(1);

/// What is known of looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TreeBook {
    /// When the last one answered.
    looked_at: Option<Timestamp>,
    /// Since when one is under way.
    asked_at: Option<Timestamp>,
    /// How many in a row were given up, unanswered.
    unanswered: u32,
    /// Another one is wished for: what has happened since the one under way began may not be in its answer.
    again: bool,
    /// Since when somebody has been seen to work in a ticket's worktree.
    worked_in: BTreeMap<TicketId, Timestamp>,
    /// Tickets whose worker's end was news, with nothing else having happened to them since.
    told: BTreeSet<TicketId>,
}

impl TreeBook {
    pub(super) fn shift(&mut self, back: TimeDelta) {
        let moments = self.looked_at.iter_mut().chain(&mut self.asked_at).chain(self.worked_in.values_mut());
        moments.for_each(|at| *at -= back);
    }

    /// When one that is under way is given up.
    fn given_up_at(&self) -> Option<Timestamp> {
        self.asked_at.map(|at| at + ANSWERED_WITHIN * (1 << self.unanswered.min(DOUBLED)))
    }

    /// Something else has happened to the ticket.
    pub(super) fn happened(&mut self, id: &TicketId) {
        self.told.remove(id);
    }
}

impl Engine {
    /// What a daemon finds at its start is no news.
    pub(super) fn find_worktrees(&mut self, standing: Vec<(String, Worktree)>, now: Timestamp) {
        self.facts.worktrees = tickets_of(standing, &self.backlog);
        self.trees.looked_at = Some(now);
        self.note_workers(now);
    }

    /// Worktrees may have come or gone, or processes in them.
    pub(super) fn look_at_trees(&mut self, now: Timestamp) {
        match self.trees.given_up_at() {
            Some(until) if now < until => {
                self.trees.again = true;
                return;
            }
            Some(_) => self.trees.unanswered += 1,
            None => {}
        }
        self.trees.asked_at = Some(now);
        self.want(Effect::ReadWorktrees);
    }

    /// How many looks in a row have not been answered: a folder may hang.
    pub fn unanswered_looks(&self) -> u32 {
        self.trees.unanswered
    }

    pub(super) fn worktrees_read(&mut self, standing: Vec<(String, Worktree)>, now: Timestamp) {
        self.trees.looked_at = Some(now);
        self.trees.asked_at = None;
        self.trees.unanswered = 0;
        self.facts.worktrees = tickets_of(standing, &self.backlog);
        for (id, since) in self.note_workers(now) {
            // What was kept from the Orchestrator may come to it now.
            self.stirred = true;
            if now - since >= EVERY && !self.trees.told.contains(&id) && self.backlog.inprogress().contains(&id) {
                self.no_longer_seen(&id);
                self.trees.told.insert(id);
                self.reach_boundary(Boundary::DelegateFinished);
            }
        }
        if std::mem::take(&mut self.trees.again) {
            self.look_at_trees(now);
        }
    }

    /// Returns where somebody worked, and nobody does any more, and since when he did.
    fn note_workers(&mut self, now: Timestamp) -> Vec<(TicketId, Timestamp)> {
        let live = |id: &TicketId| self.facts.worktrees.get(id).is_some_and(|tree| tree.live_process.is_some());
        let over = self.trees.worked_in.extract_if(.., |id, _| !live(id)).collect();
        let working = self.facts.worktrees.iter().filter(|(_, tree)| tree.live_process.is_some());
        for (id, _) in working {
            self.trees.worked_in.entry(id.clone()).or_insert(now);
        }
        over
    }

    pub(super) fn look_at_trees_if_due(&mut self, now: Timestamp) {
        if self.next_look().is_some_and(|at| at <= now) {
            self.look_at_trees(now);
        }
    }

    /// When it is looked again by the clock.
    pub(super) fn next_look(&self) -> Option<Timestamp> {
        let stands = || self.facts.worktrees.keys().any(|id| self.backlog.inprogress().contains(id));
        let due = self.trees.given_up_at().or_else(|| self.trees.looked_at.map(|at| at + EVERY));
        due.filter(|_| stands())
    }

    /// What is to be decided rests on processes: have they been looked at just now? If not, they are, and the decision waits.
    pub(super) fn await_look(&mut self, now: Timestamp) -> bool {
        let fresh = self.trees.looked_at.is_some_and(|at| now - at < FRESH);
        if fresh || !self.rests_on_processes() {
            return false;
        }
        if self.trees.asked_at.is_none() {
            self.look_at_trees(now);
        }
        self.look_awaited_until().is_some_and(|until| now < until)
    }

    fn rests_on_processes(&self) -> bool {
        self.trees.worked_in.keys().any(|id| self.backlog.inprogress().contains(id))
    }

    /// Until when a decision waits for the look that is under way.
    pub(super) fn look_awaited_until(&self) -> Option<Timestamp> {
        self.trees.asked_at.filter(|_| self.rests_on_processes()).map(|at| at + PATIENCE)
    }
}
