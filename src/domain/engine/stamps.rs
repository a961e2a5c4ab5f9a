//! The stamps of entries into the queue, and what is recorded so that the next daemon finds what this one missed
//! (DESIGN.md 2.3, 2.4).

use serde_json::json;

use super::{Actor, Effect, Engine, LastSeen, RecordKind};
use crate::domain::kick::Boundary;
use crate::domain::lifecycle::{entry_unstamped, needs_reset};
use crate::domain::ticket::{OrphanStatus, State, Ticket, TicketId, Timestamp};

/// How long before it is noticed an entry into the queue can have happened while the daemon was watching.
const NOTICE_SLACK: chrono::TimeDelta = chrono::TimeDelta::seconds(60);

/// A stamp this much younger than another one is a different one (whole seconds are written, one of slack is given).
const FORMER_STAMP: chrono::TimeDelta = chrono::TimeDelta::seconds(2);

/// What is recorded of a ticket.
pub(super) fn last_seen(ticket: &Ticket, now: Timestamp) -> LastSeen {
    LastSeen { state: ticket.state, needs_human: needs_human(ticket), at: now }
}

pub(super) fn needs_human(ticket: &Ticket) -> bool {
    ticket.has_label("needs-human") || ticket.orphan_status == Some(OrphanStatus::NeedsHuman)
}

impl Engine {
    pub(super) fn stamp_failed(&mut self, id: &TicketId, why: &str, now: Timestamp) {
        self.record(RecordKind::StampFailed, Some(id), json!({"why": why}), now);
        self.unstamped.insert(id.clone(), now - NOTICE_SLACK);
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
        self.want(Effect::StampQueued { path: after.path.clone(), by, since, always: false });
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
    pub(super) fn stamp_again(&mut self, ticket: &Ticket, now: Timestamp) {
        let Some(since) = self.unstamped.remove(&ticket.id) else { return };
        if ticket.state == Some(State::Queued) && entry_unstamped(ticket, since, now) {
            let by = self.editor_name.clone();
            self.want(Effect::StampQueued { path: ticket.path.clone(), by, since, always: false });
        }
    }
}
