//! What follows from a ticket's change: its new state, gates that may come out differently, history.

use std::path::PathBuf;

use serde_json::json;

use super::stamps::{last_seen, needs_human};
use super::{Actor, Effect, Engine, RecordKind};
use crate::domain::backlog::{Diff, Entry};
use crate::domain::evidence::block;
use crate::domain::ledger::{Attempt, Reached};
use crate::domain::ticket::{OrphanStatus, State, Ticket, TicketId, Timestamp};

/// A ticket as it was before its file could not be read any more.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    /// Its state then.
    pub(super) state: Option<State>,
    /// As it was read then; None where only a former daemon read it.
    pub(super) ticket: Option<Ticket>,
}

impl Engine {
    pub(super) fn ticket_written(&mut self, ticket: Ticket, by: &Actor, now: Timestamp) {
        let path = ticket.path.clone();
        self.files.written_by_us(&path, now);
        if *by == Actor::Daemon {
            self.waits_no_more(&path);
            self.unstamped.remove(&ticket.id);
        }
        self.take_in_file(path, Entry::Ticket(ticket), by, now);
    }

    /// A file is now this. A ticket that cannot be read, or whose id another file has too, is out of sight, but has
    /// not left its state: it is compared with what it was as soon as it is back.
    pub(super) fn take_in_file(&mut self, path: PathBuf, entry: Entry, by: &Actor, now: Timestamp) {
        if let Some(mut diff) = self.backlog.put(path, entry) {
            if diff.after.is_none() && self.backlog.paths_of(&diff.id).next().is_some() {
                self.judge_around(&diff.id, diff.before.as_ref(), None);
                let state = diff.before.as_ref().and_then(|t| t.state);
                self.unreadable.insert(diff.id, Known { state, ticket: diff.before });
                return;
            }
            let known = self.unreadable.remove(&diff.id);
            // Back in sight it is on lists and in gates again, even if nothing in it has changed.
            if known.is_some() {
                self.stirred = true;
                self.judge_around(&diff.id, None, diff.after.as_ref());
            }
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
        if gates_may_differ(before, after) {
            self.judge_around(&diff.id, before, after);
        }
        self.watch_writes(diff, by, now);
        self.judge_reverted(&diff.id, now);
        if from != to {
            self.state_changed(&diff.id, from, to, after, by, now);
        }
        if let (Some(before), Some(after)) = (before, after) {
            self.ended_without_being_done(before, after, by, now);
        }
        if from == to && *by == Actor::Orchestrator && put_on_record(before, after) {
            self.attempted(&diff.id, Attempt::Accepted);
        }
        let mut stamping = false;
        if let Some(ticket) = after.filter(|_| to == Some(State::Queued)) {
            let entered = from != Some(State::Queued);
            if entered || cleared {
                let former = before.filter(|_| entered).and_then(|t| t.stamps.queued_at);
                stamping = self.entered_queue(ticket, by, former, cleared, now);
            } else if let Some(before) = before {
                // Whoever wrote last may have written on what an editor had saved just before.
                self.keep_stamped(before, ticket, now);
                if *by == Actor::Unknown {
                    self.stamp_again(ticket, now);
                }
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

    /// Blocked, or decomposed: whoever reads the history need not know the file's keys.
    fn ended_without_being_done(&mut self, before: &Ticket, after: &Ticket, by: &Actor, now: Timestamp) {
        let (id, who) = (&after.id, self.name_of(by));
        if !before.has_label(block::LABEL) && after.has_label(block::LABEL) {
            self.record(RecordKind::IssueBlocked, Some(id), json!({"by": &who}), now);
        }
        if before.children != after.children && !after.children.is_empty() {
            self.record(RecordKind::IssueDecomposed, Some(id), json!({"by": &who, "children": &after.children}), now);
        }
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

    fn name_of(&self, by: &Actor) -> String {
        match by {
            Actor::Orchestrator => "orchestrator".into(),
            Actor::Somebody(name) => name.clone(),
            Actor::Unknown => self.editor_name.clone(),
            Actor::Daemon => "yoi".into(),
        }
    }
}

/// What somebody had moved to `inprogress` by hand is accepted now, or what was accepted is offered again.
fn put_on_record(before: Option<&Ticket>, after: Option<&Ticket>) -> bool {
    let accepted = |ticket: &Ticket| {
        let is_so = ticket.state == Some(State::Inprogress) && ticket.acceptance_recorded();
        ticket.stamps.accepted_at.filter(|_| is_so)
    };
    let (before, after) = (before.map(accepted), after.and_then(accepted));
    after.is_some() && before.is_some_and(|before| before < after)
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
