//! The ledger of kicks: what was seen, what came of turns, how long to wait. Bounds every automatic kick.
//!
//! Must not know: how turns run; when boundaries happen. DESIGN.md section 5, rows 4 to 6.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::classify::clock;
use super::digest::Digest;
use super::kick::{PATIENCE, Standing};
use super::rate_limit::RateLimit;
use super::ticket::{TicketId, Timestamp};

/// How far a ticket got; a later step is further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the steps of DESIGN.md 5, `Fruitless`")]
pub enum Reached {
    Queued,
    InWorkSet,
    Accepted,
    Started,
    Done,
}

/// A step of the Orchestrator's that counts as progress a limited number of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the verbs of DESIGN.md 5, `Fruitless`")]
pub enum Attempt {
    Accepted,
    Delegated,
    Awaited,
}

/// The part that outlives the daemon: back-off, rate limit, brake, fruitless count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedLedger {
    /// A reported rate limit ends then.
    pub rate_limited_until: Option<Timestamp>,
    /// The wait after a failed turn ends then.
    pub backing_off_until: Option<Timestamp>,
    /// Failed turns in a row.
    pub failures: u32,
    /// Turns in a row that a rate limit ended.
    #[serde(default)]
    pub rate_limits: u32,
    /// Turns without progress in a row.
    pub fruitless: u32,
    /// When the fruitless turns of the last hour ended.
    pub fruitless_at: Vec<Timestamp>,
    /// All kicks are held, by whom and since when.
    #[serde(default)]
    pub paused: Option<Paused>,
    /// Another Orchestrator took the place of the former one then.
    #[serde(default)]
    pub anew_at: Option<Timestamp>,
    /// Whose turns these were: what stands for the way to the Orchestrator, its command above all. None where a former
    /// version did not say.
    #[serde(default)]
    pub of: Option<Digest>,
}

/// `yoi pause`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// Since when.
    pub at: Timestamp,
    /// By whom.
    pub by: String,
    /// Why, in the person's words.
    pub reason: Option<String>,
}

/// `paused since T by NAME (why)`.
impl fmt::Display for Paused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "paused since {} by {}", clock(self.at), self.by)?;
        self.reason.as_ref().map_or(Ok(()), |reason| write!(f, " ({reason})"))
    }
}

/// The whole ledger; all but `saved` belongs to the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// What is kept in the store.
    pub saved: SavedLedger,
    /// Items that a turn ended on without failure and without progress.
    pub seen: BTreeSet<TicketId>,
    /// Human-gated new tickets that were handed over once.
    pub shown_gated: BTreeSet<TicketId>,
    /// When a `panel_open` last presented seen items.
    pub panel_presented_at: Option<Timestamp>,
    pub(super) reached: BTreeMap<TicketId, Reached>,
    pub(super) attempts: BTreeMap<(TicketId, Attempt), u32>,
    pub(super) rounds: BTreeMap<TicketId, u32>,
    /// How many turns brought tickets into the queue, in a row without a change by somebody else.
    pub(super) self_made: u32,
    /// Those beyond the bound: nothing that becomes of them is progress.
    pub(super) barren: BTreeSet<TicketId>,
}

impl Ledger {
    /// A new session knows nothing; what is saved stays.
    pub fn new_session(&mut self) {
        *self = Self { saved: std::mem::take(&mut self.saved), ..Self::default() };
    }

    /// A ticket got so far. Returns whether that is further than ever before in this session. Progress.
    pub fn reach(&mut self, id: &TicketId, step: Reached) -> bool {
        let further = !self.barren.contains(id) && self.reached.get(id).is_none_or(|known| step > *known);
        if further {
            self.reached.insert(id.clone(), step);
        }
        further
    }

    /// The Orchestrator did a repeatable step. Returns whether it still counts as progress.
    pub fn attempt(&mut self, id: &TicketId, attempt: Attempt, max: u32) -> bool {
        let count = self.attempts.entry((id.clone(), attempt)).or_default();
        // No higher than it matters: what an Orchestrator repeats for ever must not be an endless row of new states.
        *count = count.saturating_add(1).min(max.saturating_add(1));
        *count <= max && !self.barren.contains(id)
    }

    /// A ticket came into the queue during a turn, the turn's `first` or a further one: it may be the Orchestrator's
    /// own, and an Orchestrator that makes itself work in turn after turn must not go on for ever.
    pub fn made_during_turn(&mut self, id: &TicketId, first: bool, max: u32) {
        self.self_made = self.self_made.saturating_add(u32::from(first)).min(max.saturating_add(1));
        if self.self_made > max {
            self.barren.insert(id.clone());
        }
    }

    /// Somebody else changed something: what came during turns counts anew.
    pub fn forget_self_made(&mut self) {
        self.self_made = 0;
        self.barren.clear();
    }

    /// The ticket is queued again after it had left the queue for good: how far it gets counts anew (it goes the whole
    /// way again, and must not look like one that nobody moves), a limited number of times.
    pub fn another_round(&mut self, id: &TicketId, max: u32) {
        let rounds = self.rounds.entry(id.clone()).or_default();
        if *rounds < max {
            *rounds += 1;
            self.reached.remove(id);
        }
    }

    /// A person changed the ticket: its attempts and rounds count anew.
    pub fn forget_attempts(&mut self, id: &TicketId) {
        self.rounds.remove(id);
        self.attempts.retain(|(of, _), _| of != id);
    }

    /// Progress, or a change by somebody else: the fruitless count starts anew.
    pub fn reset_fruitless(&mut self) {
        self.saved.fruitless = 0;
    }

    /// A turn ended without progress.
    pub fn fruitless_turn(&mut self, now: Timestamp) {
        self.saved.fruitless = self.saved.fruitless.saturating_add(1);
        self.fruitless_kick(now);
    }

    /// A kick led to nothing, whoever is to blame: the brake counts it.
    pub fn fruitless_kick(&mut self, now: Timestamp) {
        self.saved.fruitless_at.retain(|at| now - *at < HOUR);
        self.saved.fruitless_at.push(now);
    }

    /// A turn failed, or was not delivered: waits 10 s, then 60 s, each up to a quarter longer by `jitter` (0 to 1);
    /// after the third in a row no due time is set, since only an explicit boundary ends it.
    pub fn failed_turn(&mut self, now: Timestamp, jitter: f64) {
        self.saved.failures = self.saved.failures.saturating_add(1);
        let wait = match self.saved.failures {
            1 => Some(10_000.0),
            2 => Some(60_000.0),
            _ => None,
        };
        #[expect(clippy::cast_possible_truncation, reason = "at most 75,000 milliseconds")]
        let span = |ms: f64| TimeDelta::milliseconds((ms * (1.0 + jitter.clamp(0.0, 1.0) / 4.0)) as i64);
        self.saved.backing_off_until = wait.map(|ms| now + span(ms));
    }

    /// A rate limit ended a turn at this time: that is no failure of the Orchestrator's, and is waited out. With the
    /// `max`-th in a row it counts as given up, like three failures. Returns the end of the wait.
    pub fn limited_turn(&mut self, at: Timestamp, limit: RateLimit, max: u32) -> Timestamp {
        self.saved.rate_limits = self.saved.rate_limits.saturating_add(1).min(max);
        if self.saved.rate_limits >= max {
            self.saved.failures = PATIENCE;
            self.saved.backing_off_until = None;
        }
        let wait = TimeDelta::from_std(limit.wait_for(self.saved.rate_limits)).unwrap_or(TimeDelta::zero());
        let until = at + wait;
        self.wait_for_limit(until);
        until
    }

    /// A rate limit holds until then; a shorter one does not end a longer one.
    pub fn wait_for_limit(&mut self, until: Timestamp) {
        self.saved.rate_limited_until = Some(until).max(self.saved.rate_limited_until);
    }

    /// A turn that began while it was to hold came through: it does not.
    pub fn limit_is_over(&mut self) {
        self.saved.rate_limited_until = None;
    }

    /// A turn got somewhere before a rate limit ended it: what came before counts no more.
    pub fn forget_limits(&mut self) {
        self.saved.rate_limits = 0;
    }

    /// A turn was not delivered for want of room on the disk. It waits like a failed one, but there is always a next time:
    /// room comes without anybody's telling.
    pub fn no_room(&mut self, now: Timestamp, jitter: f64) {
        let before = self.saved.failures;
        self.saved.failures = before.min(1);
        self.failed_turn(now, jitter);
        if before >= PATIENCE {
            (self.saved.failures, self.saved.backing_off_until) = (before, None);
        }
    }

    /// A turn ended without failure.
    pub fn succeeded_turn(&mut self) {
        self.saved.failures = 0;
        self.saved.rate_limits = 0;
        self.saved.backing_off_until = None;
    }

    /// A turn that no kick began ended without failure. It says nothing of how kicks end: those that end in a rate limit
    /// count on, up to `max`, or prompts without end would give such kicks without end.
    pub fn own_turn_succeeded(&mut self, max: u32) {
        let limits = self.saved.rate_limits;
        if limits < max {
            self.succeeded_turn();
            self.saved.rate_limits = limits;
        }
    }

    /// Another Orchestrator begins: what the former one's turns came to is not its doing. A rate limit is the account's,
    /// and holds; what bounds the kicks does too.
    pub fn another_orchestrator(&mut self, now: Timestamp) {
        self.succeeded_turn();
        self.saved.anew_at = Some(now);
    }

    /// These turns are this Orchestrator's; None where none can be reached. Returns whether they were another one's.
    pub fn belongs_to(&mut self, whom: Option<Digest>) -> bool {
        let former = self.saved.of;
        self.saved.of = whom.or(former);
        whom.is_some() && former.is_some() && former != whom
    }

    /// When the hourly brake ends, if it holds: as soon as fewer than `max_per_hour` fruitless kicks lie within the
    /// last hour.
    pub fn brake_until(&self, max_per_hour: u32, now: Timestamp) -> Option<Timestamp> {
        let recent: Vec<_> = self.saved.fruitless_at.iter().filter(|at| now - **at < HOUR).collect();
        let first_that_counts = recent.len().checked_sub(max_per_hour as usize)?;
        recent.get(first_that_counts).map(|at| **at + HOUR)
    }

    /// What the decision needs to know.
    pub fn standing(&self, max_per_hour: u32, now: Timestamp) -> Standing {
        Standing {
            rate_limited_until: self.saved.rate_limited_until,
            backing_off_until: self.saved.backing_off_until,
            failures: self.saved.failures,
            fruitless: self.saved.fruitless,
            brake_until: self.brake_until(max_per_hour, now),
            panel_presented_recently: self.panel_presented_at.is_some_and(|at| now - at < HOUR),
        }
    }

    /// Whether three turns in a row have now been without progress.
    pub fn just_ignored(&self) -> bool {
        self.saved.fruitless == PATIENCE
    }

    /// Whether three turns in a row have now failed.
    pub fn just_gave_up(&self) -> bool {
        self.saved.failures == PATIENCE
    }

    /// A clock that jumped back by `by` must not make any wait longer.
    pub fn shift(&mut self, by: TimeDelta) {
        let saved = &mut self.saved;
        let moved = [
            &mut saved.rate_limited_until,
            &mut saved.backing_off_until,
            &mut saved.anew_at,
            &mut self.panel_presented_at,
        ];
        for at in moved.into_iter().flatten().chain(&mut saved.fruitless_at) {
            *at -= by;
        }
    }
}

const HOUR: TimeDelta = TimeDelta::hours(1);

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
