//! The stamps of entries into the queue, and what is recorded so that the next daemon finds what this one missed
//! (DESIGN.md 2.3, 2.4).

use chrono::TimeDelta;
use serde_json::json;

use super::polite::Stamp;
use super::saved_over::OPEN_FOR;
use super::{Actor, Engine, LastSeen, RecordKind};
use crate::domain::kick::Boundary;
use crate::domain::lifecycle::{entry_unstamped, needs_reset};
use crate::domain::ticket::{OrphanStatus, State, Ticket, TicketId, Timestamp};

/// How long before it is noticed an entry into the queue can have happened while the daemon was watching.
const NOTICE_SLACK: chrono::TimeDelta = chrono::TimeDelta::seconds(60);

/// A stamp this much younger than another one is a different one (whole seconds are written, one of slack is given).
const FORMER_STAMP: chrono::TimeDelta = chrono::TimeDelta::seconds(2);

/// How soon a stamp that could not be written is tried again, and how seldom at last.
const RETRY: TimeDelta = TimeDelta::seconds(5);
const RETRY_MOST: TimeDelta = TimeDelta::hours(1);

/// An entry whose stamp could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unstamped {
    /// The earliest moment at which the entry can have happened.
    since: Timestamp,
    again: Timestamp,
    wait: TimeDelta,
}

/// What is recorded of a ticket.
pub(super) fn last_seen(ticket: &Ticket, now: Timestamp) -> LastSeen {
    LastSeen { state: ticket.state, needs_human: needs_human(ticket), at: now }
}

pub(super) fn needs_human(ticket: &Ticket) -> bool {
    ticket.has_label("needs-human") || ticket.orphan_status == Some(OrphanStatus::NeedsHuman)
}

impl Engine {
    pub(super) fn stamp_failed(&mut self, id: &TicketId, why: &str, now: Timestamp) {
        for path in self.backlog.paths_of(id).cloned().collect::<Vec<_>>() {
            self.waits_no_more(&path);
        }
        let known = self.unstamped.get(id);
        let since = known.map_or(now - NOTICE_SLACK, |failed| failed.since);
        let wait = known.map_or(RETRY, |failed| (failed.wait * 2).min(RETRY_MOST));
        if known.is_none() {
            self.record(RecordKind::StampFailed, Some(id), json!({"why": why}), now);
        }
        self.unstamped.insert(id.clone(), Unstamped { since, again: now + wait, wait });
    }

    /// An editor that had read before yoi's stamp has saved over it: it is set again, and said so (DESIGN.md 2.3).
    pub(super) fn keep_stamped(&mut self, before: &Ticket, after: &Ticket, now: Timestamp) {
        if before.stamps.queued_at.is_none() || after.stamps.queued_at.is_some() {
            return;
        }
        let data = json!({"what": "queued_at was saved over, by an editor that had read before it was written",
            "do": "nothing: it is set again"});
        self.record(RecordKind::Inbox, Some(&after.id), data, now);
        let by = before.stamps.queued_by.clone().unwrap_or_else(|| self.editor_name.clone());
        let since = now - NOTICE_SLACK;
        self.restamped.retain(|_, at| now - *at < OPEN_FOR);
        self.restamped.insert(after.id.clone(), now);
        self.stamp(Stamp { path: after.path.clone(), by, since, always: false }, false);
    }

    /// A ticket entered `queued`, by whatever way: it is stamped unless whoever moved it did so.
    /// `former` is the stamp it had before. Returns whether it is to be stamped.
    pub(super) fn entered_queue(
        &mut self,
        ticket: &Ticket,
        by: &Actor,
        former: Option<Timestamp>,
        cleared: bool,
        now: Timestamp,
    ) -> bool {
        if self.is_old_text(ticket) {
            return false;
        }
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
            self.stamp(Stamp { path: ticket.path.clone(), by, since, always: cleared }, false);
        }
        stamping
    }

    /// Whatever kept the stamp of an entry from being written may have gone with this change.
    pub(super) fn stamp_again(&mut self, ticket: &Ticket, now: Timestamp) {
        let Some(Unstamped { since, .. }) = self.unstamped.remove(&ticket.id) else { return };
        if ticket.state == Some(State::Queued) && entry_unstamped(ticket, since, now) {
            let by = self.editor_name.clone();
            self.stamp(Stamp { path: ticket.path.clone(), by, since, always: false }, false);
        }
    }

    /// Tries again what could not be written: a full disk has room again some time, and nobody may change the file.
    pub(super) fn stamp_what_failed(&mut self, now: Timestamp) {
        let due = self.unstamped.iter().filter(|(_, failed)| failed.again <= now);
        for id in due.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            let Some(ticket) = self.backlog.get(&id).cloned() else {
                self.unstamped.remove(&id);
                continue;
            };
            // It stays among those that failed, so that the next wait is longer, until it is written.
            let Some(failed) = self.unstamped.get_mut(&id) else { continue };
            let since = failed.since;
            failed.again = now + failed.wait;
            if ticket.state != Some(State::Queued) || !entry_unstamped(&ticket, since, now) {
                self.unstamped.remove(&id);
                continue;
            }
            let by = self.editor_name.clone();
            self.stamp(Stamp { path: ticket.path.clone(), by, since, always: false }, false);
        }
    }

    /// Whether a stamp of it could not be written, and is still to be.
    pub fn is_unstamped(&self, id: &TicketId) -> bool {
        self.unstamped.contains_key(id)
    }

    pub(super) fn unstamped_again(&self) -> Option<Timestamp> {
        self.unstamped.values().map(|failed| failed.again).min()
    }

    pub(super) fn shift_unstamped(&mut self, back: TimeDelta) {
        for failed in self.unstamped.values_mut() {
            failed.since -= back;
            failed.again -= back;
        }
    }
}
