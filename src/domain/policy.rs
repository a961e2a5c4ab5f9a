//! The settings that decisions depend on, as plain data: the core takes them as arguments.
//!
//! Must not know: the configuration file, how a value is written there, where it came from. DESIGN.md sections 5, 6.1, 9.

use std::collections::BTreeMap;

use chrono::TimeDelta;

/// Who starts work (DESIGN.md 5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One Orchestrator accepts tickets; a claim never does.
    Orchestrated,
    /// Workers drain the queue themselves; there is no Orchestrator.
    #[default]
    Pull,
}

impl Mode {
    /// Both modes, in the order in which they are named to people.
    pub const ALL: [Mode; 2] = [Mode::Orchestrated, Mode::Pull];

    /// The name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Orchestrated => "orchestrated",
            Mode::Pull => "pull",
        }
    }
}

/// The bounds of the kick decision (DESIGN.md 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KickPolicy {
    /// Items handed over at once, at least 1.
    pub max_items: usize,
    /// Fruitless automatic kicks in an hour before the brake holds, at least 1.
    pub max_per_hour: u32,
    /// How often acceptance, delegation or awaiting of one ticket counts as progress since a person changed it, at
    /// least 1.
    pub max_attempts: u32,
    /// After how long work that was seen and has not moved becomes a boundary of its own; None: never.
    pub reoffer_idle: Option<TimeDelta>,
}

impl Default for KickPolicy {
    fn default() -> Self {
        Self { max_items: 10, max_per_hour: 20, max_attempts: 10, reoffer_idle: None }
    }
}

/// How much may be under way at once (DESIGN.md 6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    /// `inprogress` tickets that no human gate holds, at least 1; None: unlimited.
    pub max_inprogress: Option<usize>,
}

impl Capacity {
    /// What holds where nothing is configured: one at a time where an Orchestrator looks after it, else unlimited.
    pub fn of(mode: Mode) -> Self {
        match mode {
            Mode::Orchestrated => Self { max_inprogress: Some(1) },
            Mode::Pull => Self { max_inprogress: None },
        }
    }
}

/// What uncommitted changes in the main worktree do to a start (DESIGN.md 6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DirtyGate {
    /// They hold every start.
    #[default]
    Block,
    /// They are named, and hold nothing.
    Warn,
    /// Nobody looks.
    Off,
}

impl DirtyGate {
    /// All, in the order in which they are named to people.
    pub const ALL: [DirtyGate; 3] = [DirtyGate::Block, DirtyGate::Warn, DirtyGate::Off];

    /// The name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            DirtyGate::Block => "block",
            DirtyGate::Warn => "warn",
            DirtyGate::Off => "off",
        }
    }
}

/// How long things may take with an Orchestrator that registers itself (DESIGN.md 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionPolicy {
    /// How long a turn may be without any sign of life before it counts as silent.
    pub busy_max: TimeDelta,
    /// Whether there are commands that wake it, and they may run.
    pub can_wake: bool,
    /// How long a rate limit is waited for where nobody says how long it holds.
    pub rate_limit_wait: TimeDelta,
    /// With so many turns in a row that a rate limit ended, in every mode, automatic kicks end.
    pub rate_limits: u32,
}

impl Default for SessionPolicy {
    fn default() -> Self {
        Self {
            busy_max: TimeDelta::minutes(30),
            can_wake: false,
            rate_limit_wait: TimeDelta::minutes(15),
            rate_limits: 50,
        }
    }
}

/// How yoi writes files of its own accord (DESIGN.md 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WritePolicy {
    /// How long its stamps and labels wait at most for an editor that has the file open.
    pub polite_max: TimeDelta,
}

impl Default for WritePolicy {
    fn default() -> Self {
        Self { polite_max: TimeDelta::minutes(10) }
    }
}

/// A worker's lease on a ticket (DESIGN.md 6.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimPolicy {
    /// How long one beat holds.
    pub ttl: TimeDelta,
    /// The label that shows a claim; None: none does.
    pub label: Option<String>,
    /// How often the claim of a supervised program is renewed while that shows life.
    pub heartbeat: TimeDelta,
    /// The git remote that says who has a claim; None: this repository does.
    pub remote: Option<String>,
    /// How often a daemon asks it which claims there are.
    pub refresh: TimeDelta,
}

impl Default for ClaimPolicy {
    fn default() -> Self {
        Self {
            ttl: TimeDelta::minutes(90),
            label: Some("claimed".into()),
            heartbeat: TimeDelta::minutes(15),
            remote: None,
            refresh: TimeDelta::minutes(1),
        }
    }
}

/// What a role may do (`[roles.NAME]`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RolePolicy {
    /// How many tickets may be with it at once, at least 1; None: unlimited.
    pub max: Option<usize>,
}

/// All settings the core needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Orchestrated or pull.
    pub mode: Mode,
    /// Kick bounds.
    pub kick: KickPolicy,
    /// How much may be under way at once.
    pub capacity: Capacity,
    /// The dirty-workspace gate.
    pub dirty_workspace: DirtyGate,
    /// How yoi writes files of its own accord.
    pub writes: WritePolicy,
    /// How often all files are compared with what was last read of them; None: never.
    pub verify_every: Option<TimeDelta>,
    /// An Orchestrator that registers itself.
    pub session: SessionPolicy,
    /// Claims.
    pub claims: ClaimPolicy,
    /// Roles that are configured, by name.
    pub roles: BTreeMap<String, RolePolicy>,
}
