//! One step of a claim's chain, and the newest one of a ticket.
//!
//! Must not know: what a step is allowed to follow (that is `rules`).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::domain::facts::{ProcessIdentity, TimeDeltaSeconds};
use crate::domain::ticket::{TicketId, Timestamp};

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the six outcomes of DESIGN.md 6.2")]
pub enum Outcome {
    PrOpened,
    Decomposed,
    Blocked,
    Abandoned,
    Done,
    LostRace,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 6] = [
        Outcome::PrOpened,
        Outcome::Decomposed,
        Outcome::Blocked,
        Outcome::Abandoned,
        Outcome::Done,
        Outcome::LostRace,
    ];

    /// The name as it stands in a step.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::PrOpened => "pr-opened",
            Outcome::Decomposed => "decomposed",
            Outcome::Blocked => "blocked",
            Outcome::Abandoned => "abandoned",
            Outcome::Done => "done",
            Outcome::LostRace => "lost-race",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names = || Outcome::ALL.map(Outcome::as_str).join(", ");
        let found = Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == text);
        found.ok_or_else(|| format!("`{text}` is not an outcome; the outcomes are {}", names()))
    }
}

/// What one step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// The worker holds the ticket from here on.
    Claim,
    /// The worker holds it still.
    Heartbeat,
    /// A stale claim ends, by the worker of this step.
    StaleBreak {
        /// Whose claim it was.
        prior: String,
    },
    /// The worker gives it up.
    Release {
        /// What became of it.
        outcome: Outcome,
    },
}

/// One step of a claim's chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which ticket.
    pub ticket: TicketId,
    /// What it does.
    pub kind: StepKind,
    /// Whose step it is: one run's name.
    pub worker: String,
    /// `coder`, `reviewer`, ...; what the worker is.
    pub role: String,
    /// When, in whole seconds.
    pub at: Timestamp,
    /// How long a beat of this claim holds.
    pub ttl: TimeDeltaSeconds,
    /// Counts the claims of this ticket: each CLAIM has one more than what came before it.
    pub generation: u64,
    /// Two steps are never the same, not even in one second.
    pub nonce: String,
    /// The process that holds the claim.
    pub process: ProcessIdentity,
    /// The agent's session, if it has said so.
    pub session: Option<String>,
    /// How long the machine of that process had been awake since its boot.
    pub awake: Option<TimeDeltaSeconds>,
}

/// The name of a step in its chain: a git commit's object id, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(pub String);

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The newest step of a ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    /// Its name.
    pub revision: Revision,
    /// The step before it, if there is one.
    pub parent: Option<Revision>,
    /// What it says.
    pub step: Step,
}

impl Tip {
    /// What the next step follows: a heartbeat is replaced by it, so that a chain stays short.
    pub fn base(&self) -> &Revision {
        match (&self.step.kind, &self.parent) {
            (StepKind::Heartbeat, Some(parent)) => parent,
            _ => &self.revision,
        }
    }

    /// Whether somebody holds the ticket by it, fresh or not.
    pub fn is_held(&self) -> bool {
        matches!(self.step.kind, StepKind::Claim | StepKind::Heartbeat)
    }
}
