//! How the claim of a supervised worker is kept: renewed while it shows life, given up when it shows none, and what its
//! supervisor makes of a claim that is not its own any more (DESIGN.md 6.5).
//!
//! Must not know: how life is seen; who ends a process.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::step::{StepKind, Tip};
use crate::domain::classify::clock;

/// One part in so many of the time, at least, is what a program at work uses of a processor: one that waits for ever on a dead
/// connection uses less, whatever timers it has.
const IDLE_PART: u32 = 300;
/// How many times a renewal that failed is tried again in the time of one.
const TRIES: u32 = 10;
/// How soon at the earliest, and at the latest.
const SOONEST: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_mins(1);
/// How long a program may go on that has ended its claim itself: it says its last words.
pub const WINDING_UP: Duration = Duration::from_mins(1);
/// How long one may go on whose ticket somebody took from it.
pub const CALLED_OFF: Duration = Duration::from_secs(10);

/// How a claim is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upkeep {
    /// How long a beat holds.
    pub ttl: Duration,
    /// How often it is renewed while there is life.
    pub every: Duration,
}

/// What was seen of a program since its claim was last renewed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// It printed something.
    pub printed: bool,
    /// What it, and what it started, used of a processor.
    pub worked: Duration,
}

impl Life {
    fn shows_in(self, span: Duration) -> bool {
        self.printed || (!self.worked.is_zero() && self.worked >= span / IDLE_PART)
    }
}

/// What is to be done for a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// Nothing for so long.
    Wait(Duration),
    /// Renew it.
    Renew,
    /// It has run out: its holder stops (DESIGN.md 6.2).
    Stop,
}

impl Upkeep {
    /// What is due, so long after the last beat and, if renewing failed since, after the last try. The time is that which the
    /// machine was awake.
    pub fn duty(&self, since_beat: Duration, since_try: Option<Duration>, life: Life) -> Duty {
        let again = (self.every / TRIES).clamp(SOONEST, LATEST);
        let shows = life.shows_in(since_beat);
        let due = since_beat >= self.every;
        let left = self.ttl.saturating_sub(since_beat);
        match since_try {
            // One that went on meanwhile, unseen (its supervisor was stopped), is renewed late, if nobody broke its claim.
            None if due && shows => Duty::Renew,
            Some(tried) if shows && tried >= again && since_beat < self.ttl => Duty::Renew,
            _ if since_beat >= self.ttl => Duty::Stop,
            Some(tried) if shows => Duty::Wait(again.saturating_sub(tried).min(left)),
            _ if due => Duty::Wait(again.min(left)),
            _ => Duty::Wait(self.every.saturating_sub(since_beat).min(left)),
        }
    }
}

/// Whose a claim is, from where its former holder stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Still the holder's own.
    Own,
    /// The holder has ended it; in words.
    Ended(String),
    /// It is not its own any more; in words.
    Lost(String),
}

impl Hold {
    /// By the newest step of the ticket's chain.
    pub fn of(tip: Option<&Tip>, worker: &str, generation: u64) -> Self {
        let Some(tip) = tip else { return Hold::Lost("there is no trace of its claim any more".into()) };
        let step = &tip.step;
        let (own, at) = (step.worker == worker && step.generation == generation, clock(step.at));
        match &step.kind {
            StepKind::Claim | StepKind::Heartbeat if own => Hold::Own,
            StepKind::Release { outcome } if own => Hold::Ended(format!("it had ended its claim as {outcome} at {at}")),
            StepKind::StaleBreak { .. } if step.generation == generation => {
                Hold::Lost(format!("its claim went stale and was broken by {} at {at}", step.worker))
            }
            _ => Hold::Lost(format!(
                "its claim is over: {} has had the ticket since (generation {})",
                step.worker, step.generation
            )),
        }
    }
}

#[cfg(test)]
#[path = "upkeep_tests.rs"]
mod tests;
