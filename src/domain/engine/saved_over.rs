//! What no program can prevent: an editor that had read before a write of yoi's saves over it. The acknowledged change is
//! noticed as lost, and reported (DESIGN.md 2.3).

use chrono::TimeDelta;
use serde_json::json;

use super::{Actor, Engine, RecordKind};
use crate::domain::backlog::Diff;
use crate::domain::classify::clock;
use crate::domain::finding::Finding;
use crate::domain::ticket::{OrphanStatus, Stamps, State, Ticket, TicketId, Timestamp};

/// How long an editor is taken to have had a text open.
pub(super) const OPEN_FOR: TimeDelta = TimeDelta::hours(4);
/// The keys of what the marks have shown are found within this time.
const JUST_NOW: TimeDelta = TimeDelta::seconds(10);
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
        if matches!(by, Actor::Orchestrator | Actor::Somebody(_)) {
            self.saved_over.remove(&diff.id);
            self.set_aside.remove(&diff.id);
        }
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

    /// Takes in what came to light when it was looked again at what writes displaced.
    pub(super) fn reviewed(&mut self, findings: Vec<Finding>, now: Timestamp) {
        for finding in findings {
            match finding {
                Finding::Merged { ticket, path } => {
                    let what =
                        format!("what somebody wrote slowly into {} was merged with yoi's writes", path.display());
                    let data = json!({"what": what, "do": "nothing: it is in the file"});
                    self.record(RecordKind::Inbox, Some(&ticket), data, now);
                }
                Finding::Conflict { ticket, kept, why } => {
                    let what = format!("what somebody wrote while yoi wrote could not be merged: {why}");
                    let data = json!({"what": what, "kept": kept, "do": "compare it with the ticket, then delete it"});
                    self.record(RecordKind::Inbox, Some(&ticket), data, now);
                    self.set_aside.insert(ticket, format!("{what}; it is kept in {kept}"));
                }
                Finding::Leftover { ticket, kept, is_same } => {
                    let reads =
                        if is_same { "it reads as the ticket does" } else { "it reads otherwise than the ticket" };
                    let what = format!("a text lay beside the ticket that a write of yoi's had left there: {reads}");
                    let data = json!({"what": what, "kept": kept, "do": "compare it with the ticket, then delete it"});
                    self.record(RecordKind::Inbox, Some(&ticket), data, now);
                    self.set_aside.insert(ticket, format!("{what}; it is kept in {kept}"));
                }
                Finding::SavedOver { ticket, keys, at, own: false, news } => {
                    self.lost(&ticket, &keys, at, news, now);
                }
                Finding::SavedOver { ticket, at, own: true, .. } => self.lost_stamp(&ticket, at, now),
            }
        }
    }

    fn lost(&mut self, id: &TicketId, keys: &[String], at: Timestamp, news: bool, now: Timestamp) {
        let keys: Vec<_> = keys.iter().map(|key| format!("`{key}`")).collect();
        let what = format!(
            "what yoi wrote at {} was saved over by an editor that had read before it: {}",
            clock(at),
            keys.join(", ")
        );
        self.saved_over.insert(id.clone(), what.clone());
        // Where the marks have just shown it, only the keys are new.
        let known = self.shown_by_marks.remove(id).is_some_and(|shown| now - shown < JUST_NOW);
        if news && !known {
            let data = json!({"what": what, "do": "do it again, if it still holds"});
            self.record(RecordKind::Inbox, Some(id), data, now);
        }
        self.written.remove(id);
    }

    /// A stamp of yoi's own that an old text took back while nobody was watching is set again.
    fn lost_stamp(&mut self, id: &TicketId, at: Timestamp, now: Timestamp) {
        if self.restamped.get(id).is_some_and(|done| *done >= at) {
            return;
        }
        if let Some(ticket) = self.backlog.get(id).cloned().filter(|ticket| ticket.state == Some(State::Queued)) {
            let mut before = ticket.clone();
            before.stamps = Stamps { queued_at: Some(at), ..Stamps::default() };
            self.keep_stamped(&before, &ticket, now);
        }
    }

    fn remember(&mut self, id: &TicketId, written: Written) {
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
        self.shown_by_marks.insert(id.clone(), now);
        self.written.remove(id);
    }

    /// What somebody wrote into this ticket, and could not be merged: why not, and where it is kept.
    pub fn set_aside(&self, id: &TicketId) -> Option<&str> {
        self.set_aside.get(id).map(String::as_str)
    }

    /// What is to be said of a ticket whose last write by yoi was saved over.
    pub fn saved_over(&self, id: &TicketId) -> Option<&str> {
        self.saved_over.get(id).map(String::as_str)
    }
}
