//! What workers ask for: a ticket, its claim, the end of that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Caller, is_false};
use crate::api::view::ClaimView;
use crate::domain::claim::Outcome;

/// `yoi claim`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimRequest {
    /// Exact id.
    pub id: String,
    /// The run's name; one is made up where none is given.
    #[serde(default)]
    pub worker: Option<String>,
    /// What it is; `coder` where nothing is given.
    #[serde(default)]
    pub role: Option<String>,
    /// How long a beat holds, in seconds; `[claims] ttl` where nothing is given.
    #[serde(default)]
    pub ttl: Option<i64>,
    /// The process that holds it.
    pub pid: u32,
    /// Its session.
    #[serde(default)]
    pub session: Option<String>,
    /// The process that asks and those above it, which may be in the ticket's worktree already.
    #[serde(default)]
    pub own: Vec<u32>,
    /// Beside a remote that says who has a claim: for this machine alone.
    #[serde(default, skip_serializing_if = "is_false")]
    pub local: bool,
    /// Who asks.
    #[serde(default)]
    pub caller: Caller,
}

/// `yoi next`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NextRequest {
    /// Claim it.
    pub claim: bool,
    /// Only tickets of these repositories, or of none; empty: any.
    pub repos: Vec<String>,
    /// What the worker can do; empty: whatever a ticket requires.
    pub can: Vec<String>,
    /// The run's name; one is made up where none is given.
    pub worker: Option<String>,
    /// What it is; `coder` where nothing is given.
    pub role: Option<String>,
    /// How long a beat holds, in seconds; `[claims] ttl` where nothing is given.
    pub ttl: Option<i64>,
    /// The process that is to hold the claim.
    pub pid: u32,
    /// Its session.
    pub session: Option<String>,
    /// Beside a remote that says who has a claim: for this machine alone.
    #[serde(skip_serializing_if = "is_false")]
    pub local: bool,
    /// The durable agent behind the run: the claim is noted under its name.
    pub agent: Option<String>,
    /// Who asks.
    pub caller: Caller,
}

/// Who says that he holds a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HolderRequest {
    /// Exact id.
    pub id: String,
    /// The run's name.
    pub worker: String,
    /// Which claim of the ticket; null: whichever is the worker's.
    #[serde(default)]
    pub generation: Option<u64>,
    /// Beside a remote that says who has a claim: for this machine alone.
    #[serde(default, skip_serializing_if = "is_false")]
    pub local: bool,
}

/// `yoi release`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReleaseRequest {
    /// Whose claim.
    pub holder: HolderRequest,
    /// `abandoned`, `done` or `pr-opened`.
    pub outcome: String,
    /// With `pr-opened`: the pull request's address.
    #[serde(default)]
    pub pr: Option<String>,
    /// In the worker's words.
    #[serde(default)]
    pub reason: Option<String>,
    /// Who asks.
    #[serde(default)]
    pub caller: Caller,
}

impl ReleaseRequest {
    /// A claim is given back whose worker could not be told of it.
    pub fn untold(claim: &ClaimView, local: bool) -> Self {
        let ClaimView { id, worker, generation, .. } = claim;
        Self {
            holder: HolderRequest { id: id.clone(), worker: worker.clone(), generation: Some(*generation), local },
            outcome: Outcome::Abandoned.to_string(),
            pr: None,
            reason: Some("its worker could not be told of it".into()),
            caller: Caller::default(),
        }
    }
}
