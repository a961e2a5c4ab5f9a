//! What a worker that looks for work gets to see.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::claim::ClaimView;
use super::ticket::TicketView;

/// `yoi next`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NextView {
    /// Always 1.
    pub version: u32,
    /// Nothing is to be worked on: the exit code is 3 then, and the fields below say why.
    pub idle: bool,
    /// The ticket; null where there is none.
    pub ticket: Option<TicketView>,
    /// With `--claim`: the claim of it.
    pub claim: Option<ClaimView>,
    /// When idle: tickets that are queued or in progress, and not offered; at most 20.
    pub held_back: Vec<HeldBackView>,
    /// When idle: how many there are of them.
    pub held_back_count: usize,
    /// When idle: how many tickets each kind of reason holds back.
    pub counts: BTreeMap<String, usize>,
    /// What else is to be said.
    pub remarks: Vec<String>,
}

/// A ticket that is not offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldBackView {
    /// Which ticket.
    pub id: String,
    /// Its title; empty where it cannot be read.
    pub title: String,
    /// Its state, where that can be read.
    pub state: Option<String>,
    /// Everything that holds it back, one at least.
    pub reasons: Vec<ReasonView>,
}

/// One thing that holds a ticket back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReasonView {
    /// A gate's name, or `fault`, `reverted`, `not_accepted`, `needs_human`, `pull_request`, `claimed`, `under_way`,
    /// `claimed_before`, `scope`, `capability`, `refused`.
    pub kind: String,
    /// In words.
    pub reason: String,
}
