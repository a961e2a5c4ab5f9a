//! What the engine is told of a claim: who holds it, or how it ended.
//!
//! Must not know: how it was found out.

use serde::{Deserialize, Serialize};

use super::rules::{Standing, Stands};
use super::step::{Outcome, StepKind, Tip};
use crate::domain::facts::Claim;
use crate::domain::ticket::{TicketId, Timestamp};

/// How a claim ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// Its holder gave it up.
    Released(Outcome),
    /// It was stale, and broken.
    Broken,
}

impl End {
    /// Nothing came of it: in pull mode the ticket enters the queue again.
    pub fn is_without_result(self) -> bool {
        matches!(self, End::Broken | End::Released(Outcome::Abandoned | Outcome::LostRace))
    }
}

/// The newest claim of a ticket, which has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedClaim {
    /// Whose it was.
    pub worker: String,
    /// How.
    pub end: End,
    /// When.
    pub at: Timestamp,
}

/// The newest claim of one ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimNews {
    /// Which ticket.
    pub ticket: TicketId,
    /// Counts its claims.
    pub generation: u64,
    /// Held, fresh or not; or how it ended.
    pub stands: Result<Claim, EndedClaim>,
}

impl ClaimNews {
    /// By its newest step.
    pub fn of(tip: &Tip, machine: &Standing, now: Timestamp) -> Self {
        let step = &tip.step;
        let ended = |worker: &String, end| Err(EndedClaim { worker: worker.clone(), end, at: step.at });
        let stands = match (Stands::of(Some(tip), machine, now), &step.kind) {
            (Stands::Held(claim) | Stands::Stale(claim), _) => Ok(claim),
            (Stands::Free, StepKind::StaleBreak { prior }) => ended(prior, End::Broken),
            (Stands::Free, StepKind::Release { outcome }) => ended(&step.worker, End::Released(*outcome)),
            // Cannot be: both are held.
            (Stands::Free, StepKind::Claim | StepKind::Heartbeat) => ended(&step.worker, End::Broken),
        };
        Self { ticket: step.ticket.clone(), generation: step.generation, stands }
    }

    /// When it ends for its holder, and when for others; None where nobody holds it.
    pub fn ends(&self) -> Option<[Timestamp; 2]> {
        self.stands.as_ref().ok().map(|claim| [claim.own_end(), claim.expires()])
    }

    /// Until when others respect it; None where nobody holds it.
    pub fn expires(&self) -> Option<Timestamp> {
        self.stands.as_ref().ok().map(Claim::expires)
    }
}
