//! Tickets: one, several, why, and what a verb did to one.
//!
//! Must not know: how it is derived, how it is shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::claim::HolderView;

/// One ticket.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the frontmatter keys of DESIGN.md 2.1, and the words of section 1")]
pub struct TicketView {
    pub id: String,
    pub path: String,
    pub title: String,
    /// One of the six states; null where the file's cannot be read.
    pub state: Option<String>,
    pub priority: String,
    pub labels: Vec<String>,
    /// What it is right now; null where its state has no class.
    pub class: Option<String>,
    /// What the class rests on.
    pub evidence: Vec<String>,
    /// The gates that hold it, if it is queued.
    pub gates: Vec<GateView>,
    /// Why the Orchestrator lets it wait.
    pub waiting: Option<WaitingView>,
    /// Which step the Orchestrator awaits.
    pub awaited: Option<AwaitedView>,
    /// Its claim, where there is one that nobody has ended: fresh or stale.
    pub claim: Option<HolderView>,
    /// What is odd where the file says otherwise than the end of its last claim.
    pub reverted: Option<String>,
    /// The Orchestrator's order.
    pub order: Option<i64>,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
    pub queued_at: Option<String>,
    pub queued_by: Option<String>,
    pub accepted_at: Option<String>,
    pub accepted_by: Option<String>,
    pub orphan_status: Option<String>,
    pub depends_on: Vec<String>,
    pub conflicts_with: Vec<String>,
    pub touches: Vec<String>,
    pub human_gate: Option<String>,
    pub repo: Option<String>,
    pub requires: Vec<String>,
    pub parent: Option<String>,
    pub children: Vec<String>,
    pub github: Option<String>,
    pub pr: Option<String>,
    /// The ticket's own faults.
    pub problems: Vec<ProblemView>,
}

/// A gate that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GateView {
    /// `dependency`, `conflict`, `dirty_workspace`, `capacity` or `human_gate`.
    pub gate: String,
    /// What it rests on.
    pub evidence: String,
}

/// A waiting reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingView {
    /// The gate's name, or `other`.
    pub kind: String,
    /// In the Orchestrator's words.
    pub detail: String,
}

/// An awaited step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AwaitedView {
    /// In a few words.
    pub step: String,
    /// Overdue from then on.
    pub due: String,
}

/// Something wrong, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProblemView {
    /// 1-based; 0 where the whole file is meant.
    pub line: usize,
    /// 1-based; 0 where the whole line is meant.
    pub column: usize,
    /// One sentence.
    pub message: String,
}

/// A file that is listed as an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultView {
    /// The id that the file would have.
    pub id: String,
    /// Relative to the workspace.
    pub path: String,
    /// 1-based; 0 where the whole file is meant.
    pub line: usize,
    /// 1-based; 0 where the whole line is meant.
    pub column: usize,
    /// One sentence.
    pub message: String,
}

/// `yoi list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListView {
    /// Always 1.
    pub version: u32,
    /// Whether a daemon answered (without one every queued ticket is new).
    pub daemon: bool,
    /// By state, priority, age.
    pub tickets: Vec<TicketView>,
    /// Files that are listed as errors.
    pub errors: Vec<FaultView>,
}

/// `yoi show`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShowView {
    /// Always 1.
    pub version: u32,
    /// The ticket.
    pub ticket: TicketView,
    /// The whole file.
    pub text: String,
}

/// `yoi why`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhyView {
    /// Always 1.
    pub version: u32,
    /// Whether a daemon answered.
    pub daemon: bool,
    /// The ticket.
    pub ticket: TicketView,
    /// The explanation, a sentence each.
    pub because: Vec<String>,
}

/// `yoi move`, `yoi accept`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MoveView {
    /// Always 1.
    pub version: u32,
    /// Which ticket.
    pub id: String,
    /// Its file; empty where there is none any more, after the release of a claim.
    pub path: String,
    /// The state before.
    pub from: Option<String>,
    /// The state now.
    pub to: Option<String>,
    /// What else is to be said: a gate that is off, say.
    pub remarks: Vec<String>,
}

/// `yoi set ID`, `yoi set --file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetView {
    /// Always 1.
    pub version: u32,
    /// The ticket, or null with `--file`.
    pub id: Option<String>,
    /// The file.
    pub path: String,
    /// Whether anything had to change.
    pub changed: bool,
}

/// `yoi new`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewView {
    /// Always 1.
    pub version: u32,
    /// The new ticket.
    pub id: String,
    /// Its file.
    pub path: String,
}
