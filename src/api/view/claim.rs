//! What a worker gets to see of its claim.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `yoi claim`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClaimView {
    /// Always 1.
    pub version: u32,
    /// Which ticket.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its file.
    pub path: String,
    /// Its state now.
    pub state: Option<String>,
    /// Whose claim it is: the name that the holder's commands take.
    pub worker: String,
    /// What that is.
    pub role: String,
    /// Counts the ticket's claims.
    pub generation: u64,
    /// Until when its holder may act on it without a further beat: it stops then.
    #[serde(default)]
    pub own_end: String,
    /// Until when others respect it without a further beat.
    pub until: String,
    /// The branch that is meant for the work.
    pub branch: String,
    /// Whose claim was stale, and was broken for it.
    pub broken: Option<String>,
    /// The command that makes a worktree for the work; null where a program of the role's own is what is started in one, and after
    /// `yoi start`.
    #[serde(default)]
    pub worktree_by: Option<String>,
    /// What else is to be said.
    pub remarks: Vec<String>,
}

/// `yoi start`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartView {
    /// As `yoi claim` says it.
    #[serde(flatten)]
    pub claim: ClaimView,
    /// Where the worktree lies.
    pub worktree: String,
    /// It was made just now, and was not there before.
    pub made: bool,
    /// The claim was there before: whoever asked had claimed the ticket already.
    #[serde(default)]
    pub held_before: bool,
    /// The branch it is on; null where it is on none.
    pub on_branch: Option<String>,
    /// The role's program that works on it now; null where the role has none, and whoever started it does.
    #[serde(default)]
    pub pod: Option<StartedPod>,
}

/// A program that a start has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartedPod {
    /// Its name.
    pub id: String,
    /// Its process; null where that has not been seen yet.
    pub pid: Option<u32>,
    /// Where its output goes.
    pub log: String,
}

/// `yoi heartbeat`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BeatView {
    /// Always 1.
    pub version: u32,
    /// Which ticket.
    pub id: String,
    /// Whose claim it is.
    pub worker: String,
    /// Counts the ticket's claims.
    pub generation: u64,
    /// Until when its holder may act on it without a further beat: it stops then.
    #[serde(default)]
    pub own_end: String,
    /// Until when others respect it without a further beat.
    pub until: String,
}

/// How a ticket's claim stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HolderView {
    /// Who holds it, or held it.
    pub worker: String,
    /// What that is.
    pub role: String,
    /// When it was last heard of.
    pub beat: String,
    /// Until when its holder may act on it without a further beat: it stops then.
    #[serde(default)]
    pub own_end: String,
    /// Until when others respect it.
    pub until: String,
    /// Whether they have to now; a stale claim is broken by the next one.
    pub fresh: bool,
}

/// A ticket's claim, for `status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldTicketView {
    /// Which ticket.
    pub id: String,
    /// Its claim.
    pub claim: HolderView,
}
