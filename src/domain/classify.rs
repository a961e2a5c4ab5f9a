//! What a ticket is right now: one pure function from state, work set, claims, Pods, worktrees and now.
//!
//! Must not know: gates, kicks. Nothing here is ever stored. DESIGN.md section 3.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::facts::Facts;
use super::ticket::{State, Ticket, TicketId, Timestamp};
use super::workset::{Note, WorkSet};

/// The four classes. A ticket that is neither queued nor in progress has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// In progress, and nothing delegated is under way: the next move is the Orchestrator's.
    ActionableInprogress,
    /// Queued, and not in the current session's work set.
    NewQueued,
    /// Queued, and in the work set.
    PlannedQueued,
    /// In progress, and a delegated step is under way.
    ActiveInprogress,
}

impl Class {
    /// All classes, in the order in which the Orchestrator is shown them.
    pub const ALL: [Class; 4] =
        [Class::ActionableInprogress, Class::NewQueued, Class::PlannedQueued, Class::ActiveInprogress];

    /// The name in output and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::NewQueued => "new_queued",
            Class::PlannedQueued => "planned_queued",
            Class::ActiveInprogress => "active_inprogress",
            Class::ActionableInprogress => "actionable_inprogress",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl std::str::FromStr for Class {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Class::ALL.into_iter().find(|c| c.as_str() == text).ok_or_else(|| {
            let names: Vec<_> = Class::ALL.iter().map(|c| c.as_str()).collect();
            format!("`{text}` is not a class; the classes are {}", names.join(", "))
        })
    }
}

/// One observation that a class rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Queued, and the session has not taken note of it.
    NotInWorkSet,
    /// Queued, and the session has.
    InWorkSet,
    /// A worker's claim that others must respect.
    FreshClaim {
        /// Its worker.
        worker: String,
        /// Until when.
        until: Timestamp,
    },
    /// A live Pod working on it.
    LivePod {
        /// Its role.
        role: String,
        /// Its process id.
        pid: u32,
    },
    /// A live process inside its worktree.
    ProcessInWorktree {
        /// Its process id.
        pid: u32,
    },
    /// A step the Orchestrator recorded as awaited, not yet due.
    Awaited {
        /// Which.
        step: String,
        /// Until when.
        due: Timestamp,
    },
    /// A claim past its time.
    StaleClaim {
        /// Its worker.
        worker: String,
    },
    /// A Pod that worked on it and is gone.
    DeadPod {
        /// Its role.
        role: String,
        /// When it ended, or a daemon that started found it ended.
        at: Timestamp,
    },
    /// An awaited step past its due time.
    OverdueStep {
        /// Which.
        step: String,
        /// Since when.
        due: Timestamp,
    },
    /// A worktree with nobody in it.
    LeftoverWorktree {
        /// Where.
        path: String,
    },
    /// `inprogress` without a recorded acceptance (by hand, or forced).
    NotAccepted,
    /// In progress, and nothing delegated is known.
    NothingDelegated,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Evidence::NotInWorkSet => write!(f, "not in the Orchestrator's work set"),
            Evidence::InWorkSet => write!(f, "in the Orchestrator's work set"),
            Evidence::FreshClaim { worker, until } => {
                write!(f, "claimed by {worker}, respected until {}", clock(*until))
            }
            Evidence::LivePod { role, pid } => write!(f, "a live {role} Pod works on it (pid {pid})"),
            Evidence::ProcessInWorktree { pid } => write!(f, "a live process works in its worktree (pid {pid})"),
            Evidence::Awaited { step, due } => write!(f, "step `{step}` is awaited until {}", clock(*due)),
            Evidence::StaleClaim { worker } => write!(f, "the claim of {worker} is stale"),
            Evidence::DeadPod { role, at } => write!(f, "its {role} Pod ended at {}", clock(*at)),
            Evidence::OverdueStep { step, due } => write!(f, "step `{step}` is overdue since {}", clock(*due)),
            Evidence::LeftoverWorktree { path } => write!(f, "a worktree is left at {path}"),
            Evidence::NotAccepted => write!(f, "no acceptance is recorded in the file (accepted_by, accepted_at)"),
            Evidence::NothingDelegated => write!(f, "no claim, no live Pod and no awaited step"),
        }
    }
}

/// A moment as it is written everywhere: RFC 3339, UTC, whole seconds.
pub fn clock(at: Timestamp) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
}

/// A class with what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classified {
    /// The class.
    pub class: Class,
    /// What it rests on; what is shown with it.
    pub evidence: Vec<Evidence>,
}

/// The class of a ticket, or None where its state has none.
pub fn classify(ticket: &Ticket, work_set: &WorkSet, facts: &Facts, now: Timestamp) -> Option<Classified> {
    let note = work_set.get(&ticket.id);
    match ticket.state? {
        State::Queued => Some(queued(note)),
        State::Inprogress => Some(inprogress(ticket, note, facts, now)),
        _ => None,
    }
}

fn queued(note: Option<&Note>) -> Classified {
    if note.is_some() {
        Classified { class: Class::PlannedQueued, evidence: vec![Evidence::InWorkSet] }
    } else {
        Classified { class: Class::NewQueued, evidence: vec![Evidence::NotInWorkSet] }
    }
}

fn inprogress(ticket: &Ticket, note: Option<&Note>, facts: &Facts, now: Timestamp) -> Classified {
    let mut evidence = under_way(&ticket.id, note, facts, now);
    let class = if evidence.is_empty() { Class::ActionableInprogress } else { Class::ActiveInprogress };
    if class == Class::ActionableInprogress {
        evidence = left_behind(ticket, note, facts, now);
    }
    if !ticket.acceptance_recorded() {
        evidence.push(Evidence::NotAccepted);
    }
    if evidence.is_empty() {
        evidence.push(Evidence::NothingDelegated);
    }
    Classified { class, evidence }
}

/// What shows that a delegated step is under way on a ticket, whatever its state.
pub fn under_way(id: &TicketId, note: Option<&Note>, facts: &Facts, now: Timestamp) -> Vec<Evidence> {
    let mut evidence = Vec::new();
    if let Some(claim) = facts.claims.get(id)
        && claim.role != ORCHESTRATOR
        && claim.fresh_for_others(now)
    {
        evidence.push(Evidence::FreshClaim { worker: claim.worker.clone(), until: claim.expires() });
    }
    for pod in facts.pods_on(id).filter(|pod| pod.role != ORCHESTRATOR) {
        evidence.push(Evidence::LivePod { role: pod.role.clone(), pid: pod.process.pid });
    }
    // A Pod's own processes are there too, and are told of by the Pod.
    let has_pod = evidence.iter().any(|known| matches!(known, Evidence::LivePod { .. }));
    if let Some(pid) = facts.worktrees.get(id).and_then(|w| w.live_process).filter(|_| !has_pod) {
        evidence.push(Evidence::ProcessInWorktree { pid });
    }
    if let Some(awaited) = note.and_then(|n| n.awaited.as_ref())
        && now < awaited.due
    {
        evidence.push(Evidence::Awaited { step: awaited.step.clone(), due: awaited.due });
    }
    evidence
}

/// What is left of steps that are not under way any more.
fn left_behind(ticket: &Ticket, note: Option<&Note>, facts: &Facts, now: Timestamp) -> Vec<Evidence> {
    let mut evidence = Vec::new();
    if let Some(claim) = facts.claims.get(&ticket.id)
        && !claim.fresh_for_others(now)
    {
        evidence.push(Evidence::StaleClaim { worker: claim.worker.clone() });
    }
    if let Some((role, at)) = facts.ended_pods.get(&ticket.id) {
        evidence.push(Evidence::DeadPod { role: role.clone(), at: *at });
    }
    if let Some(awaited) = note.and_then(|n| n.awaited.as_ref()) {
        evidence.push(Evidence::OverdueStep { step: awaited.step.clone(), due: awaited.due });
    }
    if let Some(worktree) = facts.worktrees.get(&ticket.id) {
        evidence.push(Evidence::LeftoverWorktree { path: worktree.path.clone() });
    }
    evidence
}

/// The Orchestrator's role: its own claims and Pods are no delegated step.
pub const ORCHESTRATOR: &str = "orchestrator";

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
