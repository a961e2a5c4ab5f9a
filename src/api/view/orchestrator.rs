//! What the Orchestrator is told and has taken note of; Pods, kicks, reports.
//!
//! Must not know: how it is derived, how it is shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::TicketView;

/// `yoi work-set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkSetView {
    /// Always 1.
    pub version: u32,
    /// The Orchestrator's current session.
    pub session: String,
    /// `yoi pause` holds all kicks: since when and by whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<String>,
    /// What was taken in, in the Orchestrator's order.
    pub entries: Vec<TicketView>,
    /// What comes next: the attention list.
    pub next: Vec<ItemView>,
    /// Queued tickets that are not on it, and why.
    pub waiting: Vec<HeldView>,
    /// Tickets that hold kicks for queued work back, and their evidence.
    pub holding_back: Vec<HeldView>,
}

/// One item of a work list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemView {
    /// Which ticket.
    pub id: String,
    /// At most 120 characters.
    pub title: String,
    /// Its class.
    pub class: String,
    /// Why it is on the list.
    pub reason: String,
    /// What is to be done.
    pub next_step: String,
    /// Whether a turn has ended without doing anything about it.
    pub seen: bool,
}

/// A ticket with a reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldView {
    /// Which ticket.
    pub id: String,
    /// The reason's kind.
    pub kind: Option<String>,
    /// The reason in words.
    pub reason: String,
}

/// `yoi pod list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PodsView {
    /// Always 1.
    pub version: u32,
    /// The Orchestrator's first.
    pub pods: Vec<PodView>,
}

/// One Pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PodView {
    /// Its registered name.
    pub id: String,
    /// Its role.
    pub role: String,
    /// `idle`, `busy` or `gone`.
    pub state: String,
    /// The ticket it works on.
    pub ticket: Option<String>,
    /// The agent behind it.
    pub agent: Option<String>,
    /// Its process, if it has one now.
    pub pid: Option<u32>,
    /// Since when.
    pub since: String,
    /// Why it is not there, or what it does.
    pub detail: Option<String>,
}

/// `yoi kick`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KickView {
    /// Always 1.
    pub version: u32,
    /// Whether it was only asked what would be decided.
    pub dry_run: bool,
    /// The row of the table that decides, 1 to 7.
    pub row: u8,
    /// `kick`, or the name of the suppression.
    pub decision: String,
    /// In words.
    pub detail: String,
    /// What is, or would be, handed over.
    pub items: Vec<ItemView>,
    /// How many items the list has beyond them.
    pub left_out: usize,
    /// Kicks since midnight UTC.
    pub kicks_today: usize,
    /// How long their turns ran, in seconds.
    pub turn_seconds_today: f64,
}

/// `plan`, `wait`, `await`, `pause`, `resume`, `reload`, `orchestrator attach` and `reset`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoneView {
    /// Always 1.
    pub version: u32,
    /// What was done, in a sentence.
    pub done: String,
    /// What of it a restart would not find, as long as the disk takes nothing.
    #[serde(default)]
    pub remarks: Vec<String>,
}

/// `yoi hook`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookView {
    /// Always 1.
    pub version: u32,
    /// What was done, in a sentence.
    pub done: String,
    /// Whether the report counts; an agent's own hook that does not is told nothing.
    pub counted: bool,
    /// What is handed over as the answer: Markdown for the agent.
    pub list: Option<String>,
    /// The same for a program, where it is a kick's list.
    pub kick: Option<Value>,
    /// Why a report of the registered session itself did not count.
    pub ignored: Option<String>,
    /// What of it a restart would not find, as long as the disk takes nothing.
    #[serde(default)]
    pub remarks: Vec<String>,
}
