//! The settings that decisions take as arguments: plain values, resolved elsewhere.
//!
//! Must not know: files, where a value came from. DESIGN.md sections 5, 5.2, 6.1 and 9.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

/// How tickets find their workers (DESIGN.md 5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// An Orchestrator accepts; workers are offered accepted tickets.
    Orchestrated,
    /// No Orchestrator; workers drain the queue themselves.
    #[default]
    Pull,
}

/// The bounds of kicking (DESIGN.md 5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KickPolicy {
    /// Items handed over at most in one kick.
    pub max_items: usize,
    /// Fruitless kicks an hour at which automatic kicks stop.
    pub max_per_hour: usize,
    /// How often accepting, delegating or awaiting the same ticket still counts as progress, each, until a person
    /// changes it.
    pub max_attempts: u32,
    /// After how long idle work that was seen and has not moved is offered again; None is off.
    pub reoffer_idle: Option<TimeDelta>,
}

impl Default for KickPolicy {
    fn default() -> Self {
        Self { max_items: 10, max_per_hour: 20, max_attempts: 10, reoffer_idle: None }
    }
}

/// What uncommitted changes in the main worktree do to acceptance (DESIGN.md 6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DirtyGate {
    /// They hold every ticket.
    #[default]
    Block,
    /// They are mentioned and hold nothing.
    Warn,
    /// They are not looked at.
    Off,
}

/// All settings the core needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Orchestrated or pull.
    pub mode: Mode,
    /// Kick bounds.
    pub kick: KickPolicy,
    /// How many tickets may be `inprogress` at once; None is unlimited.
    pub max_inprogress: Option<usize>,
    /// The dirty-workspace gate.
    pub dirty_workspace: DirtyGate,
}
