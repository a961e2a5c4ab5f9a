//! When a claim holds, and who may take the next step.
//!
//! Must not know: how a step is written; the swap that makes it true (that is `ports::Claims`).

use chrono::TimeDelta;

use super::step::{Outcome, StepKind, Tip};
use crate::domain::classify::clock;
use crate::domain::facts::{Claim, ProcessIdentity, TimeDeltaSeconds};
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{TicketId, Timestamp};

/// The shortest and the longest time for which a claim may hold without a beat.
pub const LEAST_TTL: TimeDelta = TimeDelta::minutes(1);
/// See [`LEAST_TTL`].
pub const MOST_TTL: TimeDelta = TimeDelta::days(7);

/// This machine, for the age of its own claims: neither a jump of its clock nor its sleep counts there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The kernel's boot id.
    pub boot_id: String,
    /// How long it has been awake since.
    pub awake: TimeDelta,
}

impl Standing {
    /// When the step was made, by the clock of now: where it was made since this boot of this machine, by the time that
    /// has been awake since.
    pub fn beat(&self, tip: &Tip, now: Timestamp) -> Timestamp {
        match tip.step.awake {
            Some(awake) if tip.step.process.boot_id == self.boot_id && awake.span() <= self.awake => {
                now - (self.awake - awake.span())
            }
            _ => tip.step.at,
        }
    }
}

/// How a ticket's claim stands now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stands {
    /// Nobody holds it.
    Free,
    /// A worker holds it, and others must respect that.
    Held(Claim),
    /// A worker held it and has not been heard of for too long.
    Stale(Claim),
}

impl Stands {
    /// By its newest step.
    pub fn of(tip: Option<&Tip>, machine: &Standing, now: Timestamp) -> Self {
        let Some(tip) = tip.filter(|tip| tip.is_held()) else { return Stands::Free };
        let claim = Claim {
            worker: tip.step.worker.clone(),
            role: tip.step.role.clone(),
            beat: machine.beat(tip, now),
            ttl: tip.step.ttl,
        };
        if claim.fresh_for_others(now) { Stands::Held(claim) } else { Stands::Stale(claim) }
    }
}

/// Somebody who wants to claim a ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// One run's name.
    pub worker: String,
    /// What it is.
    pub role: String,
    /// How long a beat is to hold.
    pub ttl: TimeDeltaSeconds,
    /// Its process.
    pub process: ProcessIdentity,
    /// Its session.
    pub session: Option<String>,
}

/// Why a step is refused. Its words name the holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Who holds the ticket, if anybody does.
    pub holder: Option<String>,
    /// In words.
    pub refusal: Refusal,
}

/// Which steps a challenger takes, if it may take any: a stale claim is broken first, in the same swap.
pub fn may_claim(
    id: &TicketId,
    tip: Option<&Tip>,
    worker: &str,
    machine: &Standing,
    now: Timestamp,
) -> Result<Vec<StepKind>, Refused> {
    match Stands::of(tip, machine, now) {
        Stands::Free => Ok(vec![StepKind::Claim]),
        // Fenced by its name alone the former run, should it wake up, would pass for this one.
        Stands::Stale(claim) if claim.worker == worker => {
            let message = format!("the stale claim of `{id}` is of another run of the name {worker}");
            let hint = format!(
                "a worker's name stands for one run: claim it under another; if this is that very run, `yoi heartbeat {id} \
                 --worker {worker}` renews its claim"
            );
            Err(Refused { holder: Some(claim.worker), refusal: Refusal::new(message).hint(hint) })
        }
        Stands::Stale(claim) => Ok(vec![StepKind::StaleBreak { prior: claim.worker }, StepKind::Claim]),
        Stands::Held(claim) => {
            let until = clock(claim.expires());
            let message = format!("lost-race: `{id}` is held by {} ({}) until {until}", claim.worker, claim.role);
            let hint = if claim.worker == worker {
                format!(
                    "a worker's name stands for one run: take another one than {worker}; if this is that very run, `yoi \
                     heartbeat {id} --worker {worker}` renews that claim"
                )
            } else {
                "take another one: `yoi next --claim`".to_owned()
            };
            Err(Refused { holder: Some(claim.worker), refusal: Refusal::new(message).hint(hint) })
        }
    }
}

/// Whether the challenger holds the ticket already: by a fresh claim of its own name, role and process. The name alone is any
/// process's that was told it. Refused where another process has claimed it under that name.
pub fn holds_already(
    id: &TicketId,
    tip: &Tip,
    challenge: &Challenge,
    (machine, now): (&Standing, Timestamp),
) -> Result<bool, Refused> {
    let Challenge { worker, role, process, .. } = challenge;
    match Stands::of(Some(tip), machine, now) {
        Stands::Held(claim) if claim.worker == *worker && claim.role == *role => {
            if tip.step.process == *process {
                return Ok(true);
            }
            let message = format!("lost-race: `{id}` is held by {worker} ({role}) until {}", clock(claim.expires()));
            let hint = format!(
                "another process claimed it under this name, and a worker's name stands for one run: take another one than {worker}; \
                 if this is that very run, `yoi release {id} --worker {worker} --outcome abandoned` and start it anew"
            );
            Err(Refused { holder: Some(claim.worker), refusal: Refusal::new(message).hint(hint) })
        }
        _ => Ok(false),
    }
}

/// Whether this worker holds the ticket still, whatever the time: what fences is that nobody has broken its claim.
/// `generation`: of the claim it means, where it says so.
pub fn fence<'t>(
    id: &TicketId,
    tip: Option<&'t Tip>,
    worker: &str,
    generation: Option<u64>,
    (machine, now): (&Standing, Timestamp),
) -> Result<&'t Tip, Refused> {
    let holder = tip.filter(|tip| tip.is_held()).map(|tip| tip.step.worker.clone());
    let refuse = |message: String, hint: String| {
        Err(Refused { holder: holder.clone(), refusal: Refusal::new(message).hint(hint) })
    };
    let Some(tip) = tip else {
        return refuse(format!("`{id}` has no claim"), format!("`yoi claim {id}` takes it"));
    };
    let step = &tip.step;
    let same = step.worker == worker && generation.is_none_or(|generation| generation == step.generation);
    match &step.kind {
        StepKind::Claim | StepKind::Heartbeat if same => Ok(tip),
        StepKind::Claim | StepKind::Heartbeat => {
            let how = match Stands::of(Some(tip), machine, now) {
                Stands::Stale(_) => "was last held",
                _ => "is held",
            };
            let since = clock(step.at);
            let message = format!(
                "`{id}` {how} by {} (generation {}, last beat {since}), not by {worker}{}",
                step.worker,
                step.generation,
                generation.map(|generation| format!(" (generation {generation})")).unwrap_or_default()
            );
            refuse(message, "stop working on it; what was not pushed is still where the work was done".into())
        }
        StepKind::StaleBreak { prior } => {
            let at = clock(step.at);
            refuse(
                format!(
                    "`{id}` is held by nobody: the claim of {prior} went stale and was broken by {} at {at}",
                    step.worker
                ),
                format!("`yoi claim {id}` takes it again, if nobody else does"),
            )
        }
        StepKind::Release { outcome } => {
            let message =
                format!("`{id}` is held by nobody: {} released it as {outcome} at {}", step.worker, clock(step.at));
            refuse(message, released_hint(id, *outcome))
        }
    }
}

fn released_hint(id: &TicketId, outcome: Outcome) -> String {
    match outcome {
        Outcome::Abandoned | Outcome::Blocked | Outcome::LostRace => format!("`yoi claim {id}` takes it again"),
        _ => format!("`yoi why {id}` says what comes next"),
    }
}
