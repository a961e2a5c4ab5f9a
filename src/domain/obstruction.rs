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
    /// When a ticket file last changed under it.
    pub last_change: Timestamp,
}

impl Obstruction {
    /// Whether files are still left unread; afterwards reading goes on, while yoi's own writes wait for its end.
    pub fn holds_reading(&self, now: Timestamp) -> bool {
        now - self.last_change < PATIENCE
    }
}

/// The refusal of a write that somebody asked for meanwhile. A held lock passes within moments; a merge does not.
pub fn refuse_write(what: &str) -> Refusal {
    let passing = what.contains("index.lock");
    let refusal = Refusal::new(format!("{what}: ticket files are not written meanwhile"));
    Refusal { passing, ..refusal.hint("finish it (or end it), then try again") }
}
