//! What a ticket is once it has been read: plain data, no files.
//!
//! Must not know: where the bytes came from, YAML, the current time. DESIGN.md sections 1 and 2.1.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use super::digest::Digest;
pub use super::seldom::{Apart, Seldom};

/// A moment, always UTC. Taken as an argument everywhere in this floor.
pub type Timestamp = DateTime<Utc>;

/// The id of a ticket: a file stem, or the folder name of an `item.md`. Any file name is one. Clones share its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TicketId(Arc<str>);

impl TicketId {
    /// Wraps an id as it was read; nothing is checked, because nothing is ever joined to a path.
    pub fn new(id: impl AsRef<str>) -> Self {
        Self(id.as_ref().into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for TicketId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TicketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for TicketId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for TicketId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

impl From<&str> for TicketId {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

/// The lifecycle state in the frontmatter, the only authority on a ticket's lifecycle (DESIGN.md 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the six names are the documentation")]
pub enum State {
    Planning,
    Ready,
    Queued,
    Inprogress,
    Done,
    Closed,
}

impl State {
    /// The six states in lifecycle order.
    pub const ALL: [State; 6] =
        [State::Planning, State::Ready, State::Queued, State::Inprogress, State::Done, State::Closed];

    /// The name as it stands in a file.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Planning => "planning",
            State::Ready => "ready",
            State::Queued => "queued",
            State::Inprogress => "inprogress",
            State::Done => "done",
            State::Closed => "closed",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for State {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        State::ALL.into_iter().find(|s| s.as_str() == text).ok_or_else(|| {
            format!("`{text}` is not a state; the states are planning, ready, queued, inprogress, done and closed")
        })
    }
}

/// P0 (highest) to P4; P2 where nothing is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Priority(u8);

impl Priority {
    /// The priority numbered `n`, 0 to 4.
    pub fn new(n: u8) -> Option<Self> {
        (n <= 4).then_some(Self(n))
    }

    /// `P0` to `P4`.
    pub fn as_str(self) -> &'static str {
        ["P0", "P1", "P2", "P3", "P4"].get(usize::from(self.0)).copied().unwrap_or_default()
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self(2)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Priority {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digit = text.strip_prefix(['P', 'p']).and_then(|n| n.parse().ok());
        digit
            .and_then(Priority::new)
            .ok_or_else(|| format!("`{text}` is not a priority; priorities are P0 (highest) to P4"))
    }
}

impl TryFrom<String> for Priority {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Priority> for String {
    fn from(priority: Priority) -> Self {
        priority.to_string()
    }
}

/// How far the orphan policy has gone with a ticket (DESIGN.md 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrphanStatus {
    /// Queued for 24 h without a worker.
    Orphan,
    /// Queued for 48 h: a person decides.
    NeedsHuman,
}

/// The times and names that yoi and people stamp on a ticket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the frontmatter key of the same name, DESIGN.md 2.1")]
pub struct Stamps {
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    pub queued_by: Option<String>,
    pub queued_at: Option<Timestamp>,
    pub accepted_by: Option<String>,
    pub accepted_at: Option<Timestamp>,
}

/// Something wrong with a file, in words for a person. Bad input is data (house rule 7).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Diagnostic {
    /// 1-based line in the file; 0 where the file as a whole is meant.
    pub line: usize,
    /// 1-based column in characters; 0 where the line or file as a whole is meant.
    pub column: usize,
    /// One plain sentence: what is wrong, and what to do where that is not obvious.
    pub message: String,
}

/// One ticket as its file says it now. Clones share one set of fields, until one of them is changed: a ticket is handed
/// around as cheaply as its name.
#[derive(Clone, PartialEq, Eq)]
pub struct Ticket(Arc<Fields>);

impl From<Fields> for Ticket {
    fn from(fields: Fields) -> Self {
        Self(Arc::new(fields))
    }
}

impl Deref for Ticket {
    type Target = Fields;

    fn deref(&self) -> &Fields {
        &self.0
    }
}

impl DerefMut for Ticket {
    fn deref_mut(&mut self) -> &mut Fields {
        Arc::make_mut(&mut self.0)
    }
}

impl Deref for Fields {
    type Target = Seldom;

    fn deref(&self) -> &Seldom {
        &self.seldom
    }
}

impl DerefMut for Fields {
    fn deref_mut(&mut self) -> &mut Seldom {
        &mut self.seldom
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a ticket says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    /// From the path, never from the frontmatter.
    pub id: TicketId,
    /// Relative to the workspace, as scanned.
    pub path: PathBuf,
    /// Empty where the file has none (then `problems` says so).
    pub title: String,
    /// None where the key is missing or its value is not a known state (then `problems` says so).
    pub state: Option<State>,
    /// P2 where nothing, or nothing readable, is written.
    pub priority: Priority,
    /// In file order, as written.
    pub labels: Vec<String>,
    /// `created_at` to `accepted_at`.
    pub stamps: Stamps,
    /// Ids that must be done or closed first.
    pub depends_on: Vec<TicketId>,
    /// For scope matching.
    pub repo: Option<String>,
    /// What few tickets say; read and written as if it stood here.
    pub seldom: Apart,
    /// Of the whole file: equal content is no change.
    pub content: Digest,
    /// Of what people say in it: the whole file without yoi's own stamps and labels ([`YOI_KEYS`], [`YOI_LABELS`]).
    pub meaning: Digest,
}

/// Frontmatter keys that yoi stamps by itself; a change of these alone says nothing new to an Orchestrator.
pub const YOI_KEYS: [&str; 6] = ["queued_by", "queued_at", "accepted_by", "accepted_at", "orphan_status", "updated_at"];

/// Labels that yoi sets and removes by itself.
pub const YOI_LABELS: [&str; 4] = ["orphan", "needs-human", "agent-ready", "claimed"];

/// Labels that are a human gate.
pub const HUMAN_LABELS: [&str; 2] = ["needs-human", "blocked"];

impl Ticket {
    /// Whether the ticket carries this label.
    pub fn has_label(&self, label: &str) -> bool {
        self.labels.iter().any(|l| l == label)
    }

    /// Whether a person has to move first: `human_gate`, or a label `needs-human` or `blocked` (DESIGN.md 6.1).
    pub fn is_human_gated(&self) -> bool {
        self.human_gate.is_some() || HUMAN_LABELS.iter().any(|label| self.has_label(label))
    }

    /// Whether acceptance is on record in the file (DESIGN.md 2.4: a bare `inprogress` is no proof). A record from
    /// before the ticket last entered the queue belongs to an earlier round.
    pub fn acceptance_recorded(&self) -> bool {
        let stamps = &self.stamps;
        stamps.accepted_by.is_some()
            && stamps.accepted_at.is_some_and(|accepted| stamps.queued_at.is_none_or(|queued| accepted >= queued))
    }
}

#[cfg(test)]
#[path = "ticket_tests.rs"]
mod tests;
