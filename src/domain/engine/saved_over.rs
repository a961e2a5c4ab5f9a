//! What no program can prevent: an editor that had read before a write of yoi's saves over it. The acknowledged change is
//! noticed as lost, and reported (DESIGN.md 2.3).

use chrono::TimeDelta;
use serde_json::json;

use super::{Actor, Engine, RecordKind};
use crate::domain::backlog::Diff;
use crate::domain::classify::clock;
use crate::domain::ticket::{OrphanStatus, State, Ticket, TicketId, Timestamp};

/// How long an editor is taken to have had a text open.
const OPEN_FOR: TimeDelta = TimeDelta::hours(4);
/// How many writes of one ticket are remembered.
const REMEMBERED: usize = 4;

/// What a request writes of a ticket, and a person seldom writes by hand: a change of it back to the letter is an old
/// text that came back.
type Marks = (Option<State>, Option<Timestamp>, Option<Timestamp>, Option<String>, Option<OrphanStatus>);

fn marks(ticket: &Ticket) -> Marks {
    let stamps = &ticket.stamps;
    (ticket.state, stamps.queued_at, stamps.accepted_at, stamps.accepted_by.clone(), ticket.orphan_status)
}

/// One acknowledged write.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Written {
    before: Marks,
    after: Marks,
    at: Timestamp,
}

impl Engine {
    /// Remembers what a request wrote, and notices what an old text took back.
    pub(super) fn watch_writes(&mut self, diff: &Diff, by: &Actor, now: Timestamp) {
        let (Some(before), Some(after)) = (&diff.before, &diff.after) else { return };
        let (before, after) = (marks(before), marks(after));
        if before == after {
            return;
        }
        match by {
            Actor::Orchestrator | Actor::Somebody(_) => self.remember(&diff.id, Written { before, after, at: now }),
            Actor::Unknown => self.notice_saved_over(&diff.id, &before, &after, now),
            Actor::Daemon => {}
        }
    }

    fn remember(&mut self, id: &TicketId, written: Written) {
        self.saved_over.remove(id);
        let known = self.written.entry(id.clone()).or_default();
        known.push(written);
        if known.len() > REMEMBERED {
            known.remove(0);
        }
        let now = self.last_now;
        self.written.retain(|_, known| known.last().is_some_and(|last| now - last.at < OPEN_FOR));
    }

    fn notice_saved_over(&mut self, id: &TicketId, before: &Marks, after: &Marks, now: Timestamp) {
        let Some(known) = self.written.get(id) else { return };
        // What stood there until now is the last write's; what stands there now was there before one of them.
        let is_last = known.last().is_some_and(|last| last.after == *before);
        let Some(lost) = known.iter().find(|written| written.before == *after).filter(|_| is_last) else { return };
        let what = format!("what yoi wrote at {} was saved over by an editor that had read before it", clock(lost.at));
        let data = json!({"what": what, "do": "do it again, if it still holds"});
        self.record(RecordKind::Inbox, Some(id), data, now);
        self.saved_over.insert(id.clone(), what);
        self.written.remove(id);
    }

    /// What is to be said of a ticket whose last write by yoi was saved over.
    pub fn saved_over(&self, id: &TicketId) -> Option<&str> {
        self.saved_over.get(id).map(String::as_str)
    }
}
