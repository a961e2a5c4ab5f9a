//! The work set: what the Orchestrator's current session has taken note of. In memory only; losing it is safe.
//!
//! Must not know: how it is shown; gates (who lapses what is the engine's). DESIGN.md section 4.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::ticket::{TicketId, Timestamp};

/// The longest detail of a waiting reason, in characters.
pub const MAX_DETAIL: usize = 280;
/// The longest name of an awaited step, in characters.
pub const MAX_STEP: usize = 80;
/// The longest time a step may be awaited.
pub const MAX_AWAIT: TimeDelta = TimeDelta::hours(24);

/// What a waiting reason names. All but `other` are gates that yoi can check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are those of the gates, DESIGN.md 6.1")]
pub enum WaitKind {
    Dependency,
    Conflict,
    DirtyWorkspace,
    Capacity,
    HumanGate,
    /// Anything else: yoi cannot check it.
    Other,
}

impl WaitKind {
    /// All kinds, in the order they are documented.
    pub const ALL: [WaitKind; 6] = [
        WaitKind::Dependency,
        WaitKind::Conflict,
        WaitKind::DirtyWorkspace,
        WaitKind::Capacity,
        WaitKind::HumanGate,
        WaitKind::Other,
    ];

    /// The name on the command line and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            WaitKind::Dependency => "dependency",
            WaitKind::Conflict => "conflict",
            WaitKind::DirtyWorkspace => "dirty_workspace",
            WaitKind::Capacity => "capacity",
            WaitKind::HumanGate => "human_gate",
            WaitKind::Other => "other",
        }
    }
}

impl fmt::Display for WaitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for WaitKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.replace('-', "_");
        WaitKind::ALL.into_iter().find(|k| k.as_str() == name).ok_or_else(|| {
            let names: Vec<_> = WaitKind::ALL.iter().map(|k| k.as_str()).collect();
            format!("`{text}` is not a kind of waiting reason; the kinds are {}", names.join(", "))
        })
    }
}

/// Why the Orchestrator lets a queued ticket wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Which gate, or `other`.
    pub kind: WaitKind,
    /// The Orchestrator's wording, at most [`MAX_DETAIL`] characters.
    pub detail: String,
}

/// A delegated step that the Orchestrator waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// In a few words: coder, merge, ...
    pub step: String,
    /// From when on it counts as overdue.
    pub due: Timestamp,
}

/// What the session noted of one ticket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Lower comes first; None comes last.
    pub order: Option<i64>,
    /// For a queued ticket.
    pub waiting: Option<Waiting>,
    /// For an `inprogress` ticket.
    pub awaited: Option<Awaited>,
}

/// The notes of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkSet {
    /// The session whose writes are taken.
    pub session: String,
    notes: BTreeMap<TicketId, Note>,
}

impl WorkSet {
    /// An empty work set for a new session.
    pub fn new(session: impl Into<String>) -> Self {
        Self { session: session.into(), notes: BTreeMap::new() }
    }

    /// What was noted of a ticket.
    pub fn get(&self, id: &TicketId) -> Option<&Note> {
        self.notes.get(id)
    }

    /// The note of a ticket, made where there is none.
    pub fn entry(&mut self, id: &TicketId) -> &mut Note {
        self.notes.entry(id.clone()).or_default()
    }

    /// The note of a ticket, where there is one.
    pub fn get_mut(&mut self, id: &TicketId) -> Option<&mut Note> {
        self.notes.get_mut(id)
    }

    /// Ends an entry.
    pub fn remove(&mut self, id: &TicketId) -> Option<Note> {
        self.notes.remove(id)
    }

    /// All entries, by order, then id.
    pub fn in_order(&self) -> Vec<(&TicketId, &Note)> {
        let mut entries: Vec<_> = self.notes.iter().collect();
        entries.sort_by_key(|(id, note)| (note.order.is_none(), note.order, (*id).clone()));
        entries
    }

    /// A clock that jumped back by `by` must not make any step overdue later.
    pub fn shift(&mut self, by: TimeDelta) {
        for awaited in self.notes.values_mut().filter_map(|note| note.awaited.as_mut()) {
            awaited.due -= by;
        }
    }

    /// Every entry, by id.
    pub fn iter(&self) -> impl Iterator<Item = (&TicketId, &Note)> {
        self.notes.iter()
    }
}

#[cfg(test)]
#[path = "workset_tests.rs"]
mod tests;
