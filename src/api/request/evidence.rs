//! Requests that end the work on a ticket: `block`, `decompose`, `close`. What is missing in one is the core's to say.
//!
//! Must not know: what is demanded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Caller, is_false};

/// Of which ticket, and who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndRequest {
    /// Exact id.
    pub id: String,
    /// The worker that holds it; null: a person or the Orchestrator asks, of a ticket that nobody holds.
    #[serde(default)]
    pub worker: Option<String>,
    /// Which claim of the ticket; null: whichever is the worker's.
    #[serde(default)]
    pub generation: Option<u64>,
    /// Beside a remote that says who has a claim: for this machine alone.
    #[serde(default, skip_serializing_if = "is_false")]
    pub local: bool,
    /// Who asks.
    #[serde(default)]
    pub caller: Caller,
}

/// `yoi block`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockRequest {
    /// Of which ticket.
    #[serde(flatten)]
    pub end: EndRequest,
    /// What stands in the way.
    #[serde(default)]
    pub blocker: Option<String>,
    /// What was tried and seen.
    #[serde(default)]
    pub evidence: Option<String>,
    /// What would clear it, and who can.
    #[serde(default)]
    pub unblock: Option<String>,
    /// `retry`, `decompose` or `reassign`.
    #[serde(default)]
    pub then: Option<String>,
}

/// `yoi decompose`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DecomposeRequest {
    /// Of which ticket.
    #[serde(flatten)]
    pub end: EndRequest,
    /// What it becomes, 2 to 5.
    #[serde(default)]
    pub children: Vec<ChildRequest>,
    /// Why it is several things and not one.
    #[serde(default)]
    pub why: Option<String>,
    /// Why the children have their parent's priority, if they are to have it.
    #[serde(default)]
    pub keep_priority: Option<String>,
}

/// One child.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ChildRequest {
    /// What it is about.
    pub title: String,
    /// When it is done, at least one.
    pub acceptance: Vec<String>,
    /// How somebody sees that it is done.
    pub validation: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// Ids, or titles of other children.
    pub depends_on: Vec<String>,
    /// Files or folders.
    pub touches: Vec<String>,
    /// For scope matching.
    pub repo: Option<String>,
    /// What else there is to say, in Markdown.
    pub body: String,
    /// The line at which it was written, to name it.
    pub line: Option<usize>,
}

/// `yoi close`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CloseRequest {
    /// Of which ticket.
    #[serde(flatten)]
    pub end: EndRequest,
    /// The pull request.
    #[serde(default)]
    pub pr: Option<String>,
    /// `merged`, `auto-merge`, `open` or `closed`.
    #[serde(default)]
    pub merge_state: Option<String>,
    /// Why there is no pull request.
    #[serde(default)]
    pub no_pr: Option<String>,
    /// Which tests ran, and what they showed.
    #[serde(default)]
    pub tests: Option<String>,
    /// What there is now.
    #[serde(default)]
    pub artifact: Option<String>,
    /// Why there is nothing.
    #[serde(default)]
    pub no_artifact: Option<String>,
    /// What is left to do.
    #[serde(default)]
    pub residual: Option<String>,
    /// `removed`, or `retained:OWNER:REASON:EXPIRY`.
    #[serde(default)]
    pub workspace: Option<String>,
}
