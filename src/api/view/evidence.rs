//! What ended the work on a ticket.
//!
//! Must not know: what was demanded for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `yoi block`, `yoi decompose`, `yoi close`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndView {
    /// Always 1.
    pub version: u32,
    /// Which ticket.
    pub id: String,
    /// Its file.
    pub path: String,
    /// The state before.
    pub from: Option<String>,
    /// The state now.
    pub to: Option<String>,
    /// `blocked`, `decomposed` or `done`.
    pub outcome: String,
    /// Whose claim has ended with it; null where nobody held one.
    pub worker: Option<String>,
    /// What the ticket's thread says of it.
    pub note: String,
    /// With `decomposed`: what it has become.
    pub children: Vec<ChildView>,
    /// What did not go as it should, though it is done.
    pub remarks: Vec<String>,
}

/// A child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChildView {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: String,
    /// Its title.
    pub title: String,
    /// It was there already, made when the same was asked for before and was interrupted.
    pub was_there: bool,
}
