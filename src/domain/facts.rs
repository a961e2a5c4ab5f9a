//! What is observed beside the tickets: Pods, claims, worktrees, the main worktree's changes. Data only.
//!
//! Must not know: how any of it is observed. DESIGN.md sections 1, 3 and 6.2.

use std::collections::BTreeMap;
use std::fmt;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::claim::EndedClaim;
use super::ticket::{TicketId, Timestamp};

/// A process that cannot be mistaken for another one: a recycled pid has another start time (DESIGN.md 3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Host name.
    pub host: String,
    /// The kernel's boot id.
    pub boot_id: String,
    /// Process id.
    pub pid: u32,
    /// Start time in clock ticks since boot, as the kernel counts it.
    pub started: u64,
}

/// The name under which a Pod is registered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PodId(pub String);

impl fmt::Display for PodId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a live Pod is working.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PodState {
    /// Alive, waiting.
    Idle,
    /// Alive, working.
    Busy,
}

/// A live agent session with a role other than the Orchestrator's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pod {
    /// Its registered name.
    pub id: PodId,
    /// `coder`, `reviewer`, ...
    pub role: String,
    /// The ticket it works on.
    pub ticket: Option<TicketId>,
    /// The durable identity behind it.
    pub agent: Option<String>,
    /// Its process; the Pod is live while this is.
    pub process: ProcessIdentity,
    /// Idle or busy, as it last reported.
    pub state: PodState,
    /// When it registered.
    pub since: Timestamp,
    /// yoi started it, and its supervisor says when it is over: not its process alone, nor its own words.
    #[serde(default)]
    pub supervised: bool,
}

/// A worker's lease on a ticket, as far as decisions need it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// One run.
    pub worker: String,
    /// `coder`, ...; `orchestrator` is not a delegated step.
    pub role: String,
    /// Newest CLAIM or HEARTBEAT.
    pub beat: Timestamp,
    /// How long a beat holds.
    pub ttl: TimeDeltaSeconds,
}

/// A time span that is stored as whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TimeDeltaSeconds(pub i64);

impl TimeDeltaSeconds {
    /// As a span.
    pub fn span(self) -> TimeDelta {
        TimeDelta::seconds(self.0)
    }
}

/// How much longer than its TTL a claim is respected by others (clock drift, DESIGN.md 6.2).
pub const CLAIM_DRIFT: TimeDelta = TimeDelta::minutes(2);

impl Claim {
    /// Whether the holder may still act on it: younger than its TTL.
    pub fn fresh_for_holder(&self, now: Timestamp) -> bool {
        now < self.own_end()
    }

    /// Whether others must respect it: until TTL + 2 min.
    pub fn fresh_for_others(&self, now: Timestamp) -> bool {
        now < self.expires()
    }

    /// When it ends for its holder, who stops then.
    pub fn own_end(&self) -> Timestamp {
        self.beat + self.ttl.span()
    }

    /// When it turns stale for others.
    pub fn expires(&self) -> Timestamp {
        self.own_end() + CLAIM_DRIFT
    }
}

/// A linked worktree that stands for a ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// Where it lies.
    pub path: String,
    /// A live process inside it is a Pod working on the ticket.
    pub live_process: Option<u32>,
}

/// Uncommitted changes to tracked files in the main worktree, outside the ticket folder and `.yoi/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Dirty {
    /// Not looked at (no git, or the gate is off).
    #[default]
    NotProbed,
    /// None.
    Clean,
    /// Some; the first few paths.
    Changed(Vec<String>),
    /// Git could not say; this counts as dirty, with the reason.
    Failed(String),
}

/// All that is observed beside the tickets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Live role Pods.
    pub pods: BTreeMap<PodId, Pod>,
    /// Role Pods that ended while their ticket was `inprogress`: role and time, newest only. Evidence, not authority.
    pub ended_pods: BTreeMap<TicketId, (String, Timestamp)>,
    /// Claims by ticket.
    pub claims: BTreeMap<TicketId, Claim>,
    /// Claims that have ended, the newest of each ticket that nobody holds.
    pub ended_claims: BTreeMap<TicketId, EndedClaim>,
    /// Worktrees by ticket.
    pub worktrees: BTreeMap<TicketId, Worktree>,
    /// The main worktree.
    pub dirty: Dirty,
}

impl Facts {
    /// The live Pods on a ticket.
    pub fn pods_on<'a>(&'a self, id: &'a TicketId) -> impl Iterator<Item = &'a Pod> {
        self.pods.values().filter(move |pod| pod.ticket.as_ref() == Some(id))
    }
}

#[cfg(test)]
#[path = "facts_tests.rs"]
mod tests;
