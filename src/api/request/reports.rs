//! What agents and their hooks report of themselves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A session that is to be the Orchestrator's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SessionRequest {
    /// Its id.
    pub session: String,
    /// Its process.
    pub pid: Option<u32>,
    /// Nobody named that process: it is the nearest one above whoever asks that is no shell.
    pub found: bool,
    /// The processes that the request comes from, the nearest first.
    pub ancestors: Vec<u32>,
    /// The agent behind it.
    pub agent: Option<String>,
}

/// `yoi hook EVENT`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "what a hook says, on the wire")]
pub struct HookRequest {
    /// `panel-open`, `idle`, `busy`, `gone`, `rate-limited`, ...
    pub event: String,
    /// A role Pod's role.
    pub role: Option<String>,
    /// The ticket it works on.
    pub ticket: Option<String>,
    /// The agent behind it.
    pub agent: Option<String>,
    /// Its process.
    pub pid: Option<u32>,
    /// Nobody named that process: it is the nearest one above the hook that is no shell.
    pub found: bool,
    /// What runs there, by name.
    pub program: Option<String>,
    /// The processes that the report comes from, or that a named process comes from with itself, the nearest first.
    pub ancestors: Vec<u32>,
    /// With `rate-limited`, or a turn that failed by one, in seconds.
    pub retry_after: Option<u64>,
    /// The reporting session.
    pub session: Option<String>,
    /// An agent's own hook reports: it is told nothing but its list, and whoever is not the Orchestrator does not count.
    pub of_agent: bool,
    /// `YOI_POD`, where it reports as that Pod.
    pub pod: Option<String>,
    /// The answer can carry a list.
    pub takes_list: bool,
    /// Whoever asks says when the list is printed (`printed`); one of which that is not said is not handed over.
    pub confirms: bool,
    /// With `idle`: the agent says that it was not made to go on since the last prompt.
    pub first: bool,
    /// With `idle`: tasks of its own go on in the background.
    pub background: bool,
    /// With `turn-failed`: by a rate limit.
    pub rate_limited: bool,
    /// With `turn-failed`: in words.
    pub reason: Option<String>,
}
