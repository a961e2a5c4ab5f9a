//! The kick decision: seven rows, the first that holds wins.
//!
//! Must not know: how a kick is delivered, timers. DESIGN.md section 5.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::attention::Item;
use super::glance::Glance;
use super::ticket::{TicketId, Timestamp};

/// A lifecycle moment at which a kick may be considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is a row of the boundary table in DESIGN.md 5")]
pub enum Boundary {
    PanelOpen,
    OrchestratorSpawn,
    OrchestratorRestore,
    OrchestratorIdle,
    TicketQueued,
    GateCleared,
    DelegateFinished,
    UserKick,
    /// `[kick] reoffer_idle` has passed over seen work: made by the clock, off by default.
    ReofferIdle,
}

impl Boundary {
    /// All boundaries.
    pub const ALL: [Boundary; 9] = [
        Boundary::PanelOpen,
        Boundary::OrchestratorSpawn,
        Boundary::OrchestratorRestore,
        Boundary::OrchestratorIdle,
        Boundary::TicketQueued,
        Boundary::GateCleared,
        Boundary::DelegateFinished,
        Boundary::UserKick,
        Boundary::ReofferIdle,
    ];

    /// The name in events and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Boundary::PanelOpen => "panel_open",
            Boundary::OrchestratorSpawn => "orchestrator_spawn",
            Boundary::OrchestratorRestore => "orchestrator_restore",
            Boundary::OrchestratorIdle => "orchestrator_idle",
            Boundary::TicketQueued => "ticket_queued",
            Boundary::GateCleared => "gate_cleared",
            Boundary::DelegateFinished => "delegate_finished",
            Boundary::UserKick => "user_kick",
            Boundary::ReofferIdle => "reoffer_idle",
        }
    }
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Whether an Orchestrator can be reached, and whether it is at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// None attached or configured; the reason in words.
    None(String),
    /// It can take a kick.
    Idle,
    /// A turn is running.
    Busy,
    /// `yoi pause` holds all kicks; since when and by whom, in words.
    Paused(String),
}

/// The ledger as far as a decision needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// A reported rate limit ends then.
    pub rate_limited_until: Option<Timestamp>,
    /// The wait after a failed turn ends then.
    pub backing_off_until: Option<Timestamp>,
    /// Failed turns in a row.
    pub failures: u32,
    /// Turns without progress in a row.
    pub fruitless: u32,
    /// The hourly brake ends then.
    pub brake_until: Option<Timestamp>,
    /// A `panel_open` presented seen items within the last hour.
    pub panel_presented_recently: bool,
}

/// How many failed, or fruitless, turns in a row end automatic kicks.
pub const PATIENCE: u32 = 3;

/// Why a boundary led to no kick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suppression {
    /// Row 1.
    NoOrchestrator(String),
    /// Row 1, by `yoi pause`; since when and by whom, in words.
    Paused(String),
    /// Row 2.
    Busy,
    /// Row 3: delegated work is under way, and it is all that keeps the list empty.
    ActiveInprogress(Vec<TicketId>),
    /// Row 3: queued tickets wait, each for its reason.
    NothingStartable,
    /// Row 3: nothing is queued and nothing to route.
    NothingQueued,
    /// Row 4: until then; None is until an explicit boundary.
    BackingOff(Option<Timestamp>),
    /// Row 5.
    AlreadyPresented,
    /// Row 6: three fruitless kicks.
    Ignored,
    /// Row 6: the hourly brake, until then.
    Brake(Timestamp),
}

impl Suppression {
    /// The row of the table.
    pub fn row(&self) -> u8 {
        match self {
            Suppression::NoOrchestrator(_) | Suppression::Paused(_) => 1,
            Suppression::Busy => 2,
            Suppression::ActiveInprogress(_) | Suppression::NothingStartable | Suppression::NothingQueued => 3,
            Suppression::BackingOff(_) => 4,
            Suppression::AlreadyPresented => 5,
            Suppression::Ignored | Suppression::Brake(_) => 6,
        }
    }

    /// The name in events and JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Suppression::NoOrchestrator(_) => "no_orchestrator",
            Suppression::Paused(_) => "paused",
            Suppression::Busy => "busy",
            Suppression::ActiveInprogress(_) => "active_inprogress",
            Suppression::NothingStartable => "nothing_startable",
            Suppression::NothingQueued => "nothing_queued",
            Suppression::BackingOff(_) => "backing_off",
            Suppression::AlreadyPresented => "already_presented",
            Suppression::Ignored => "ignored",
            Suppression::Brake(_) => "brake",
        }
    }
}

/// What a boundary leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Row 7: hand over these items; so many more were left out.
    Kick {
        /// At most `max_items`.
        items: Vec<Item>,
        /// How many the list had beyond them.
        left_out: usize,
    },
    /// Rows 1 to 6.
    Suppress(Suppression),
}

impl Decision {
    /// The row of the table that decided.
    pub fn row(&self) -> u8 {
        match self {
            Decision::Kick { .. } => 7,
            Decision::Suppress(why) => why.row(),
        }
    }
}

/// The boundaries that led to one decision.
#[derive(Clone, Copy, Debug)]
pub struct Causes<'a>(pub &'a [Boundary]);

impl Causes<'_> {
    fn has(self, boundary: Boundary) -> bool {
        self.0.contains(&boundary)
    }

    /// Whether a person asked by name.
    pub fn user(self) -> bool {
        self.has(Boundary::UserKick)
    }

    /// Whether one of the causes is explicit: spawn, restore, a person, or a panel that has not just shown the same.
    pub fn explicit(self, panel_presented_recently: bool) -> bool {
        self.user()
            || self.has(Boundary::OrchestratorSpawn)
            || self.has(Boundary::OrchestratorRestore)
            || (self.has(Boundary::PanelOpen) && !panel_presented_recently)
    }
}

/// Decides what the boundaries lead to.
pub fn decide(causes: Causes<'_>, presence: &Presence, list: &Glance, standing: &Standing, now: Timestamp) -> Decision {
    let automatic = !causes.explicit(standing.panel_presented_recently);
    let seen = list.items.iter().all(|item| item.seen);
    let over = |until: Option<Timestamp>| until.filter(|until| now < *until);
    let suppression = match presence {
        Presence::None(why) => Some(Suppression::NoOrchestrator(why.clone())),
        Presence::Paused(since) => Some(Suppression::Paused(since.clone())),
        Presence::Busy => Some(Suppression::Busy),
        Presence::Idle if list.items.is_empty() => Some(nothing(list)),
        Presence::Idle => None,
    };
    let suppression = suppression.or_else(|| {
        if causes.user() {
            return None;
        }
        let limited = over(standing.rate_limited_until).map(|until| Suppression::BackingOff(Some(until)));
        limited.or_else(|| if automatic { held_back(causes, standing, seen, over) } else { None })
    });
    match suppression {
        Some(why) => Decision::Suppress(why),
        None => Decision::Kick { items: list.items.clone(), left_out: list.left_out },
    }
}

/// Row 3.
fn nothing(list: &Glance) -> Suppression {
    if list.kept_by_active || (list.held_count == 0 && !list.active.is_empty()) {
        Suppression::ActiveInprogress(list.active.clone())
    } else if list.held_count == 0 {
        Suppression::NothingQueued
    } else {
        Suppression::NothingStartable
    }
}

/// Rows 4 (b), 4 (c), 5 and 6, for automatic boundaries.
fn held_back(
    causes: Causes<'_>,
    standing: &Standing,
    seen: bool,
    over: impl Fn(Option<Timestamp>) -> Option<Timestamp>,
) -> Option<Suppression> {
    if standing.failures >= PATIENCE {
        return Some(Suppression::BackingOff(None));
    }
    if let Some(until) = over(standing.backing_off_until) {
        return Some(Suppression::BackingOff(Some(until)));
    }
    if seen && !causes.has(Boundary::ReofferIdle) {
        return Some(Suppression::AlreadyPresented);
    }
    if standing.fruitless >= PATIENCE {
        return Some(Suppression::Ignored);
    }
    over(standing.brake_until).map(Suppression::Brake)
}

#[cfg(test)]
#[path = "kick_tests.rs"]
mod tests;
