//! While git is in the middle of something, ticket files say nothing reliable: reading and stamping are put off, for
//! at most 60 s after the last change (DESIGN.md 2.3).
//!
//! Must not know: how the obstacle is seen.

use chrono::TimeDelta;

use super::refusal::Refusal;
use super::ticket::Timestamp;

/// How long after the last change reading is put off at most.
pub const PATIENCE: TimeDelta = TimeDelta::seconds(60);

/// What stands in the way, and since when nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstruction {
    /// In words.
    pub what: String,
    /// It is normally over within moments.
    pub passing: bool,
    last_change: Timestamp,
}

impl Obstruction {
    /// Just seen to stand in the way.
    pub fn new(what: String, passing: bool, now: Timestamp) -> Self {
        Self { what, passing, last_change: now }
    }

    /// Whether files are still left unread; afterwards reading goes on, while yoi's own writes wait for its end.
    pub fn holds_reading(&mut self, now: Timestamp) -> bool {
        // A clock set back must not make the wait longer.
        self.last_change = self.last_change.min(now);
        now - self.last_change < PATIENCE
    }

    /// The refusal of a write that somebody asked for meanwhile. A held lock passes within moments; a merge does not.
    pub fn refuse_write(&self) -> Refusal {
        let refusal = Refusal::new(format!("{}: ticket files are not written meanwhile", self.what));
        Refusal { passing: self.passing, ..refusal.hint("finish it (or end it), then try again") }
    }

    /// A ticket file changed under it, while reading still waits: what is read later is no change.
    pub fn changed(&mut self, now: Timestamp) {
        self.last_change = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sample::at;

    #[test]
    fn reading_waits_until_a_minute_after_the_last_change_and_then_goes_on() {
        let mut merge = Obstruction::new("a merge".into(), false, at(0));
        assert!(merge.holds_reading(at(59)));
        merge.changed(at(59));
        assert!(merge.holds_reading(at(118)));
        assert!(!merge.holds_reading(at(119)));
    }

    #[test]
    fn a_clock_set_back_makes_the_wait_no_longer() {
        let mut merge = Obstruction::new("a merge".into(), false, at(0));
        assert!(merge.holds_reading(at(-3600)));
        assert!(!merge.holds_reading(at(-3540)));
    }
}
