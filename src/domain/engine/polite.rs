//! yoi's own stamps wait for an editor that has the file open: an editor that saves over a stamp would take it back, and
//! one that asks whether to reload is a nuisance. Not for ever: a dead editor leaves its mark too (DESIGN.md 2.3).
//!
//! Must not know: what an editor's mark looks like.

use std::path::{Path, PathBuf};

use chrono::TimeDelta;

use super::{Effect, Engine};
use crate::domain::backlog::Entry;
use crate::domain::classify::clock;
use crate::domain::ticket::{State, TicketId, Timestamp};

/// How often it is looked whether the editor is gone.
const LOOK_EVERY: TimeDelta = TimeDelta::seconds(2);

/// The stamp of an entry into the queue, as it is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Which file.
    pub path: PathBuf,
    /// `queued_by`.
    pub by: String,
    /// The earliest moment of the entry.
    pub since: Timestamp,
    /// A stamp from before is no excuse (a person took `needs-human` off).
    pub always: bool,
}

/// A stamp that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    stamp: Stamp,
    /// The editor's mark.
    mark: String,
    /// Until when it is waited.
    until: Timestamp,
    again: Timestamp,
}

impl Engine {
    /// A stamp was not written: an editor has the file open.
    pub(super) fn editor_seen(&mut self, stamp: Stamp, mark: String, now: Timestamp) {
        let known = self.polite.get(&stamp.path).map(|waiting| waiting.until);
        let until = known.unwrap_or(now + self.policy.writes.polite_max);
        if until <= now {
            self.polite.remove(&stamp.path);
            return self.stamp(stamp, true);
        }
        let again = (now + LOOK_EVERY).min(until);
        self.polite.insert(stamp.path.clone(), Waiting { stamp, mark, until, again });
    }

    /// Wants a stamp; with `insist` whatever editor has the file open.
    pub(super) fn stamp(&mut self, stamp: Stamp, insist: bool) {
        let Stamp { path, by, since, always } = stamp;
        self.want(Effect::StampQueued { path, by, since, always, insist });
    }

    /// The file was written, or cannot be.
    pub(super) fn waits_no_more(&mut self, path: &Path) {
        self.polite.remove(path);
    }

    /// Looks again for the editors that are waited for.
    pub(super) fn be_polite(&mut self, now: Timestamp) {
        let due: Vec<_> = self.polite.iter().filter(|(_, w)| w.again <= now).map(|(path, _)| path.clone()).collect();
        for path in due {
            let queued = matches!(self.backlog.at(&path), Some(Entry::Ticket(t)) if t.state == Some(State::Queued));
            let Some(waiting) = self.polite.get_mut(&path).filter(|_| queued) else {
                self.polite.remove(&path);
                continue;
            };
            // Answered by another look, or by the stamp.
            waiting.again = now + LOOK_EVERY;
            let (stamp, insist) = (waiting.stamp.clone(), waiting.until <= now);
            if insist {
                self.polite.remove(&path);
            }
            self.stamp(stamp, insist);
        }
    }

    pub(super) fn polite_again(&self) -> Option<Timestamp> {
        self.polite.values().map(|waiting| waiting.again).min()
    }

    pub(super) fn shift_polite(&mut self, back: TimeDelta) {
        for waiting in self.polite.values_mut() {
            waiting.until -= back;
            waiting.again -= back;
        }
    }

    /// What is to be said of a ticket whose stamp waits for an editor.
    pub fn polite_wait(&self, id: &TicketId) -> Option<String> {
        let waiting = self.backlog.paths_of(id).find_map(|path| self.polite.get(path))?;
        Some(format!(
            "yoi's stamp of its entry into the queue waits for the editor that has it open ({}), until {} at the latest",
            waiting.mark,
            clock(waiting.until)
        ))
    }
}
