//! What counts as progress, whose doing a change is, and what is no longer seen (DESIGN.md 5, "Seen", "Fruitless").

use serde_json::json;

use super::{Actor, Engine, Orchestrator, RecordKind};
use crate::domain::classify::under_way;
use crate::domain::kick::PATIENCE;
use crate::domain::ledger::{Attempt, Reached};
use crate::domain::ticket::{TicketId, Timestamp};
use crate::domain::workset::WaitKind;

/// How many turns for each of `max_attempts` may bring tickets into the queue, in a row, and be counted for it: many,
/// since people queue while turns run.
const SELF_MADE: u32 = 5;

impl Engine {
    /// Whether a change may be the Orchestrator's own doing. A file that changes while a turn runs may be, also if it is
    /// noticed a little later: it must not buy it more kicks.
    pub(super) fn may_be_its_own(&self, by: &Actor, now: Timestamp) -> bool {
        match by {
            Actor::Orchestrator => true,
            Actor::Unknown => matches!(self.orchestrator, Orchestrator::Busy(_)) || self.timers.turn_just_ended(now),
            Actor::Somebody(_) | Actor::Daemon => false,
        }
    }

    /// Whether a change may be the doing of the work that was delegated on this very ticket: it must not buy the
    /// Orchestrator more attempts, or one that delegates again and again to workers that only leave notes would never
    /// come to an end.
    fn may_be_its_workers(&self, id: &TicketId, now: Timestamp) -> bool {
        let under_way = !under_way(id, self.work_set.get(id), &self.facts, now).is_empty();
        under_way || self.timers.worker_just_ended(id, now)
    }

    pub(super) fn made_during_turn(&mut self, id: &TicketId) {
        let first = match &mut self.orchestrator {
            Orchestrator::Busy(turn) => !std::mem::replace(&mut turn.made, true),
            _ => false,
        };
        self.ledger.made_during_turn(id, first, SELF_MADE * self.policy.kick.max_attempts);
    }

    /// A change by somebody else starts counts anew, and ends reasons that yoi cannot check.
    pub(super) fn changed_by(&mut self, id: &TicketId, by: &Actor, now: Timestamp) {
        let somebody = *by != Actor::Daemon && !self.may_be_its_own(by, now) && !self.may_be_its_workers(id, now);
        if matches!(by, Actor::Somebody(_) | Actor::Unknown)
            && let Some(note) = self.work_set.get_mut(id)
            && note.waiting.as_ref().is_some_and(|w| w.kind == WaitKind::Other)
        {
            note.waiting = None;
        }
        if somebody {
            self.ledger.forget_self_made();
            self.ledger.forget_attempts(id);
            self.reset_fruitless();
        } else if matches!(by, Actor::Somebody(_) | Actor::Unknown) && !self.may_be_its_own(by, now) {
            self.is_not_announced(id, now);
        }
    }

    /// A ticket changed while delegated work on it is under way, and that starts no count anew. Where the Orchestrator is
    /// not kicked any more, a person who made the change would wait in vain: it is said, once a ticket.
    fn is_not_announced(&mut self, id: &TicketId, now: Timestamp) {
        if self.ledger.saved.fruitless >= PATIENCE && self.unannounced.insert(id.clone()) {
            let what = "changed while delegated work on it is under way; three kicks in a row had led to nothing before, \
                        and this may be the work's own doing: the Orchestrator is not kicked for it";
            let data = json!({"what": what, "do": "`yoi kick`, if the change is yours"});
            self.record(RecordKind::Inbox, Some(id), data, now);
        }
    }

    /// A ticket got so far; if never before in this session, that is progress.
    pub(super) fn got(&mut self, id: &TicketId, step: Reached) {
        if self.ledger.reach(id, step) {
            self.progress();
        }
    }

    /// The Orchestrator did a repeatable step; while it still counts, that is progress.
    pub(super) fn attempted(&mut self, id: &TicketId, attempt: Attempt) {
        if self.ledger.attempt(id, attempt, self.policy.kick.max_attempts) {
            self.progress();
        }
    }

    fn progress(&mut self) {
        if let Orchestrator::Busy(turn) = &mut self.orchestrator {
            turn.progress = true;
        }
        self.reset_fruitless();
    }

    /// What was held back as ignored is offered again.
    fn reset_fruitless(&mut self) {
        self.registered_kick_at = None;
        self.unannounced.clear();
        if self.ledger.saved.fruitless > 0 {
            self.ledger.reset_fruitless();
            self.stirred = true;
            self.save_ledger();
        }
    }

    /// A turn ended without doing anything about these.
    pub(super) fn now_seen(&mut self, ids: Vec<TicketId>, now: Timestamp) {
        self.timers.lies_since(&ids, now);
        self.ledger.seen.extend(ids);
    }

    /// Nothing counts as seen any more.
    pub(super) fn all_unseen(&mut self) {
        self.ledger.seen.clear();
        self.timers.all_moved();
    }

    /// What was seen of a ticket is no longer what it is.
    pub(super) fn no_longer_seen(&mut self, id: &TicketId) {
        self.ledger.seen.remove(id);
        self.timers.moved(id);
        self.trees.happened(id);
        self.ledger.shown_gated.remove(id);
        self.stirred = true;
        if let Orchestrator::Busy(turn) = &mut self.orchestrator {
            turn.changed.insert(id.clone());
        }
    }

    /// The situation as a whole changed: a ticket left `inprogress`, a claim or Pod ended, a step is overdue.
    pub(super) fn see_all_anew(&mut self) {
        self.all_unseen();
        self.stirred = true;
        if let Orchestrator::Busy(turn) = &mut self.orchestrator {
            turn.shaken = true;
        }
    }
}
