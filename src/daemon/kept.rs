//! Looks again at what writes of ticket files displaced: at the start, when a file is noticed to have changed, on a timer
//! as long as something is kept, and before a command ends.
//!
//! Must not know: what is kept, and where.

use std::collections::VecDeque;
use std::time::Duration;

use chrono::TimeDelta;

use super::Host;
use crate::domain::engine::Event;
use crate::domain::ticket::TicketId;
use crate::ports::Reviewing;

/// Reports that were handed over to be told: they are owed until they are on record.
#[derive(Default)]
pub(super) struct Reports {
    /// Looks of which the engine has not heard yet.
    on_the_way: usize,
    /// Something was told since it was last noted to be on record.
    told: bool,
}

/// How soon after a write it is looked at what it displaced.
const SOON: Duration = Duration::from_secs(1);

impl Host {
    /// Looks, and adds what came to light to the events.
    pub(super) fn review(&mut self, which: Reviewing<'_>, events: &mut VecDeque<Event>) {
        let review = self.ports.tickets.review(which);
        if let Some(again_in) = review.again_in {
            self.review_in(again_in);
        }
        if !review.findings.is_empty() {
            self.reports.on_the_way += 1;
            events.push_back(Event::Reviewed(review.findings));
        }
    }

    /// The engine has heard of a look, and all that it wanted recorded is in the history, or waits to be.
    pub(super) fn heard_of_review(&mut self) {
        self.reports.on_the_way = self.reports.on_the_way.saturating_sub(1);
        self.reports.told = true;
    }

    /// Notes that what was told is on record, once the store has it all.
    pub(super) fn note_reports(&mut self) {
        if self.reports.told && self.reports.on_the_way == 0 && self.history.has_all_records() {
            self.reports.told = !self.ports.tickets.on_record();
        }
    }

    pub(super) fn tell_review(&mut self, which: Reviewing<'_>) {
        let mut events = VecDeque::new();
        self.review(which, &mut events);
        for event in events {
            self.tell(event);
        }
    }

    /// A file was written.
    pub(super) fn review_soon(&mut self) {
        self.review_in(SOON);
    }

    fn review_in(&mut self, wait: Duration) {
        let at = self.now() + TimeDelta::from_std(wait).unwrap_or(TimeDelta::minutes(1));
        self.review_at = Some(self.review_at.map_or(at, |known| known.min(at)));
    }

    /// Looks, if it is time.
    pub(super) fn review_if_due(&mut self) {
        let now = self.now();
        // A clock set back must not put it off.
        let due = self.review_at.is_some_and(|at| at <= now || at - now > TimeDelta::minutes(11));
        if self.resident && due {
            self.review_at = None;
            self.tell_review(Reviewing::Due);
        }
    }

    /// Looks at what became of the writes of one ticket, for whoever asks about it.
    pub fn look_at_writes(&mut self, id: &TicketId) {
        let paths: Vec<_> = self.engine.backlog().paths_of(id).cloned().collect();
        self.tell_review(Reviewing::Paths(&paths));
    }

    /// The last look of a command: nobody may look again soon at what it displaced.
    pub fn look_once_more(&mut self) {
        self.tell_review(Reviewing::Own);
    }
}
