//! What follows from a ticket's change: entries into the queue, progress, what is no longer seen, history.

use std::path::PathBuf;

use serde_json::json;

use super::start::{last_seen, needs_human};
use super::{Actor, Effect, Engine, Orchestrator, RecordKind};
use crate::domain::backlog::{Diff, Entry};
use crate::domain::kick::Boundary;
use crate::domain::ledger::{Attempt, Reached};
use crate::domain::lifecycle::{entry_unstamped, needs_reset};
use crate::domain::ticket::{OrphanStatus, State, Ticket, TicketId, Timestamp};
use crate::domain::workset::WaitKind;

/// How long before it is noticed an entry into the queue can have happened while the daemon was watching.
const NOTICE_SLACK: chrono::TimeDelta = chrono::TimeDelta::seconds(60);

/// A ticket as it was before its file could not be read any more.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    /// Its state then.
    pub(super) state: Option<State>,
    /// As it was read then; None where only a former daemon read it.
    pub(super) ticket: Option<Ticket>,
}

/// How many turns for each of `max_attempts` may bring tickets into the queue, in a row, and be counted for it: many,
/// since people queue while turns run.
const SELF_MADE: u32 = 5;

/// A stamp this much younger than another one is a different one (whole seconds are written, one of slack is given).
const FORMER_STAMP: chrono::TimeDelta = chrono::TimeDelta::seconds(2);

impl Engine {
    pub(super) fn ticket_written(&mut self, ticket: Ticket, by: &Actor, now: Timestamp) {
        let path = ticket.path.clone();
        self.files.read_by_us(&path, now);
        self.take_in_file(path, Entry::Ticket(ticket), by, now);
    }

    /// A file is now this. A ticket that cannot be read, or whose id another file has too, is out of sight, but has
    /// not left its state: it is compared with what it was as soon as it is back.
    pub(super) fn take_in_file(&mut self, path: PathBuf, entry: Entry, by: &Actor, now: Timestamp) {
        if let Some(mut diff) = self.backlog.put(path, entry) {
            if diff.after.is_none() && self.backlog.paths_of(&diff.id).next().is_some() {
                let state = diff.before.as_ref().and_then(|t| t.state);
                self.unreadable.insert(diff.id, Known { state, ticket: diff.before });
                self.gates_stale = true;
                return;
            }
            let known = self.unreadable.remove(&diff.id);
            // Back in sight it is on lists and in gates again, even if nothing in it has changed.
            self.stirred |= known.is_some();
            self.gates_stale |= known.is_some();
            let from = known.as_ref().map_or_else(|| diff.before.as_ref().and_then(|t| t.state), |known| known.state);
            diff.before = diff.before.or_else(|| known.and_then(|known| known.ticket));
            self.changed(&diff, from, by, now);
        }
        let gone = self.unreadable.keys().filter(|id| self.backlog.paths_of(id).next().is_none());
        for id in gone.cloned().collect::<Vec<_>>() {
            if let Some(known) = self.unreadable.remove(&id) {
                self.changed(&Diff { id, before: known.ticket, after: None }, known.state, by, now);
            }
        }
    }

    pub(super) fn stamp_failed(&mut self, id: &TicketId, why: &str, now: Timestamp) {
        self.record(RecordKind::StampFailed, Some(id), json!({"why": why}), now);
        self.unstamped.insert(id.clone(), now - NOTICE_SLACK);
    }

    /// One ticket is not what it was.
    fn changed(&mut self, diff: &Diff, from: Option<State>, by: &Actor, now: Timestamp) {
        let (before, after) = (diff.before.as_ref(), diff.after.as_ref());
        let to = after.and_then(|t| t.state);
        let meant = before.map(|t| t.meaning) != after.map(|t| t.meaning);
        let cleared = *by != Actor::Daemon && before.zip(after).is_some_and(|(a, b)| human_cleared(a, b));
        if meant || from != to || cleared {
            self.no_longer_seen(&diff.id);
            self.changed_by(&diff.id, by, now);
        }
        self.gates_stale |= gates_may_differ(before, after);
        if from != to {
            self.state_changed(&diff.id, from, to, after, by, now);
        }
        let mut stamping = false;
        if let Some(ticket) = after.filter(|_| to == Some(State::Queued)) {
            let entered = from != Some(State::Queued);
            if entered || cleared {
                let former = before.filter(|_| entered).and_then(|t| t.stamps.queued_at);
                stamping = self.entered_queue(ticket, by, former, cleared, now);
            } else if *by == Actor::Unknown
                && let Some(before) = before
            {
                self.keep_stamped(before, ticket, now);
                self.stamp_again(ticket, now);
            }
        }
        let moved = from != to || before.map(needs_human) != after.map(needs_human);
        // Whoever took `needs-human` off, the ticket may be on the list now.
        self.stirred |= moved;
        // An entry counts as seen when it is stamped: if that fails, the next daemon finds it again.
        if !stamping && (moved || *by == Actor::Daemon) {
            let seen = after.map(|ticket| last_seen(ticket, now));
            self.want(Effect::SaveSeen(vec![(diff.id.clone(), seen)]));
        }
    }

    /// An editor that had read before yoi's stamp has saved over it: it is set again, and said so (DESIGN.md 2.3).
    fn keep_stamped(&mut self, before: &Ticket, after: &Ticket, now: Timestamp) {
        if before.stamps.queued_at.is_none() || after.stamps.queued_at.is_some() {
            return;
        }
        let data = json!({"what": "queued_at was saved over, by an editor that had read before it was written",
            "do": "nothing: it is set again"});
        self.record(RecordKind::Inbox, Some(&after.id), data, now);
        let by = before.stamps.queued_by.clone().unwrap_or_else(|| self.editor_name.clone());
        let since = now - NOTICE_SLACK;
        self.want(Effect::StampQueued { path: after.path.clone(), by, since, always: false });
    }

    /// A change by somebody else starts counts anew, and ends reasons that yoi cannot check.
    fn changed_by(&mut self, id: &TicketId, by: &Actor, now: Timestamp) {
        let somebody = *by != Actor::Daemon && !self.may_be_its_own(by, now);
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
        }
    }

    /// Whether a change may be the Orchestrator's own doing. A file that changes while a turn runs may be, also if it is
    /// noticed a little later: it must not buy it more kicks.
    fn may_be_its_own(&self, by: &Actor, now: Timestamp) -> bool {
        match by {
            Actor::Orchestrator => true,
            Actor::Unknown => matches!(self.orchestrator, Orchestrator::Busy(_)) || self.timers.turn_just_ended(now),
            Actor::Somebody(_) | Actor::Daemon => false,
        }
    }

    fn made_during_turn(&mut self, id: &TicketId) {
        let first = match &mut self.orchestrator {
            Orchestrator::Busy(turn) => !std::mem::replace(&mut turn.made, true),
            _ => false,
        };
        self.ledger.made_during_turn(id, first, SELF_MADE * self.policy.kick.max_attempts);
    }

    fn state_changed(
        &mut self,
        id: &TicketId,
        from: Option<State>,
        to: Option<State>,
        after: Option<&Ticket>,
        by: &Actor,
        now: Timestamp,
    ) {
        if from == Some(State::Inprogress) {
            self.see_all_anew();
        }
        match to {
            Some(State::Queued) => {
                if from != Some(State::Inprogress) {
                    self.ledger.another_round(id, self.policy.kick.max_attempts);
                    if self.may_be_its_own(by, now) {
                        self.made_during_turn(id);
                    }
                }
                self.got(id, Reached::Queued);
                if let Some(note) = self.work_set.get_mut(id) {
                    note.awaited = None;
                }
            }
            Some(State::Inprogress) => self.entered_progress(id, by),
            _ => {
                if matches!(to, Some(State::Done | State::Closed)) {
                    self.got(id, Reached::Done);
                }
                self.work_set.remove(id);
                self.facts.ended_pods.remove(id);
            }
        }
        let kind = match to {
            Some(State::Queued) => RecordKind::IssueApproved,
            Some(State::Inprogress) if after.is_some_and(Ticket::acceptance_recorded) => RecordKind::IssueAccepted,
            Some(State::Done) => RecordKind::IssueDone,
            Some(State::Closed) => RecordKind::IssueClosed,
            _ => RecordKind::IssueMoved,
        };
        let name = |state: Option<State>| state.map(State::as_str);
        let who = self.name_of(by);
        self.record(kind, Some(id), json!({"from": name(from), "to": name(to), "by": who}), now);
    }

    fn entered_progress(&mut self, id: &TicketId, by: &Actor) {
        self.got(id, Reached::Accepted);
        if *by == Actor::Orchestrator {
            self.attempted(id, Attempt::Accepted);
        }
        if let Some(note) = self.work_set.get_mut(id) {
            note.waiting = None;
        }
        self.facts.ended_pods.remove(id);
    }

    /// A ticket entered `queued`, by whatever way: it is stamped unless whoever moved it did so.
    /// `former` is the stamp it had before. Returns whether it is to be stamped.
    fn entered_queue(
        &mut self,
        ticket: &Ticket,
        by: &Actor,
        former: Option<Timestamp>,
        cleared: bool,
        now: Timestamp,
    ) -> bool {
        self.reach_boundary(Boundary::TicketQueued);
        // A stamp that was there before the entry is not the entry's, however young it is.
        let after_former = former.map(|at| at + FORMER_STAMP).filter(|after| *after <= now);
        let since = (now - NOTICE_SLACK).max(after_former.unwrap_or_default());
        let stamping = cleared && matches!(by, Actor::Unknown) || entry_unstamped(ticket, since, now);
        // Marks of the orphan policy are taken off whoever stamped the entry.
        if stamping || needs_reset(ticket) {
            let by = match by {
                Actor::Somebody(name) => name.clone(),
                _ => self.editor_name.clone(),
            };
            self.want(Effect::StampQueued { path: ticket.path.clone(), by, since, always: cleared });
        }
        stamping
    }

    /// Whatever kept the stamp of an entry from being written may have gone with this change.
    fn stamp_again(&mut self, ticket: &Ticket, now: Timestamp) {
        let Some(since) = self.unstamped.remove(&ticket.id) else { return };
        if ticket.state == Some(State::Queued) && entry_unstamped(ticket, since, now) {
            let by = self.editor_name.clone();
            self.want(Effect::StampQueued { path: ticket.path.clone(), by, since, always: false });
        }
    }

    fn name_of(&self, by: &Actor) -> String {
        match by {
            Actor::Orchestrator => "orchestrator".into(),
            Actor::Somebody(name) => name.clone(),
            Actor::Unknown => self.editor_name.clone(),
            Actor::Daemon => "yoi".into(),
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

/// A person takes `needs-human` off by its label or by its status: either will do (DESIGN.md 2.4).
fn human_cleared(before: &Ticket, after: &Ticket) -> bool {
    let label = |t: &Ticket| t.has_label("needs-human");
    let status = |t: &Ticket| t.orphan_status == Some(OrphanStatus::NeedsHuman);
    (label(before) && !label(after)) || (status(before) && !status(after))
}

/// Whether any gate, of this ticket or of others, can come out differently.
fn gates_may_differ(before: Option<&Ticket>, after: Option<&Ticket>) -> bool {
    let (Some(a), Some(b)) = (before, after) else { return true };
    a.state != b.state
        || a.depends_on != b.depends_on
        || a.conflicts_with != b.conflicts_with
        || a.touches != b.touches
        || a.labels != b.labels
        || a.human_gate != b.human_gate
}
