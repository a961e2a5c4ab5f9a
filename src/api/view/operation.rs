//! The daemon, its history, and what is wrong.
//!
//! Must not know: how it is derived, how it is shown.

use std::collections::BTreeMap;
use std::fmt::Display;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{FaultView, HeldTicketView, PodView};
use crate::api::connections::ConnectionsView;
use crate::api::watching::WatchView;

/// `yoi events`: one object a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventView {
    /// Always 1.
    pub version: u32,
    /// Number in the workspace's stream.
    pub seq: i64,
    /// What happened.
    pub kind: String,
    /// When.
    pub at: String,
    /// The ticket's stream.
    pub ticket: Option<String>,
    /// Whatever else there is to say.
    pub data: Value,
}

/// `yoi doctor`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorView {
    /// Always 1.
    pub version: u32,
    /// What was looked at and found well.
    pub well: Vec<String>,
    /// What is wrong or odd.
    pub findings: Vec<FindingView>,
    /// With `--fix`: what was mended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<String>,
}

/// What a finding about the ticket folder as a whole is about.
pub const TICKET_FOLDER: &str = "ticket folder";

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingView {
    /// `error`: something does not work; `remark`: something is odd.
    pub severity: String,
    /// The file, or what else it is about.
    pub subject: String,
    /// 1-based; 0 where no line is meant.
    pub line: usize,
    /// 1-based; 0 where no column is meant.
    pub column: usize,
    /// One sentence: what, and what to do.
    pub message: String,
}

impl FindingView {
    /// About the whole of something.
    pub fn new(severity: &str, subject: impl Display, message: impl Into<String>) -> Self {
        Self { severity: severity.into(), subject: subject.to_string(), line: 0, column: 0, message: message.into() }
    }

    /// About one place in it.
    #[must_use]
    pub fn at(self, line: usize, column: usize) -> Self {
        Self { line, column, ..self }
    }
}

/// One due time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimerView {
    /// What happens then.
    pub what: String,
    /// When.
    pub at: String,
}

/// The remote that says who has a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteView {
    /// Its name in git.
    pub name: String,
    /// When it last said which claims there are; null: not since the daemon started, or no daemon is running.
    pub seen_at: Option<String>,
    /// Since when it does not answer; null where it does.
    pub silent_since: Option<String>,
    /// Why it does not.
    pub why: Option<String>,
}

/// `yoi status`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusView {
    /// Always 1.
    pub version: u32,
    /// Whether a daemon is running.
    pub running: bool,
    /// The workspace.
    pub workspace: String,
    /// Its state folder.
    pub state_folder: String,
    /// Its socket.
    pub socket: String,
    /// The daemon's process.
    pub pid: Option<u32>,
    /// Since when it runs.
    pub started_at: Option<String>,
    /// `orchestrated` or `pull`.
    pub mode: String,
    /// How changes are seen, and why.
    pub watcher: Option<String>,
    /// The watching in detail; null where nobody watches.
    pub watching: Option<WatchView>,
    /// Who is connected; null where nobody can.
    #[serde(default)]
    pub connections: Option<ConnectionsView>,
    /// How many tickets there are in each state.
    pub tickets: BTreeMap<String, usize>,
    /// How many tickets there are of each class.
    pub classes: BTreeMap<String, usize>,
    /// Claims that nobody has ended, fresh and stale.
    #[serde(default)]
    pub claims: Vec<HeldTicketView>,
    /// The remote that says who has a claim; null where this repository does.
    #[serde(default)]
    pub remote: Option<RemoteView>,
    /// Files that are listed as errors.
    pub errors: Vec<FaultView>,
    /// Markdown files in the ticket folder that may have been meant as tickets, and have no frontmatter.
    #[serde(default)]
    pub without_frontmatter: usize,
    /// The Orchestrator's Pod.
    pub orchestrator: Option<PodView>,
    /// Its session.
    pub session: Option<String>,
    /// The last boundary, and when it was.
    pub last_boundary: Option<String>,
    /// What was last decided, and why.
    pub last_decision: Option<String>,
    /// What is waited for, the soonest first.
    pub timers: Vec<TimerView>,
    /// Kicks sent since it started.
    pub kicks_sent: u64,
    /// Boundaries since it started that led to none.
    pub kicks_saved: u64,
    /// A kick that waits for the session's next contact, and what is in its way.
    pub pending: Option<String>,
    /// The last delivery: when, how, and what came of it.
    pub delivery: Option<String>,
    /// Kicks that could not be delivered, and wakes that failed, since it started.
    pub failed_deliveries: u64,
    /// What is in the way: a merge, a rebase, an untrusted command, a store that cannot be written.
    pub obstacles: Vec<String>,
    /// The newest alerts and inbox entries.
    pub attention: Vec<EventView>,
}

/// `yoi up`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UpView {
    /// Always 1.
    pub version: u32,
    /// The daemon's process.
    pub pid: u32,
    /// Whether it was running already.
    pub already: bool,
    /// The workspace.
    pub workspace: String,
    /// What is in the way.
    pub obstacles: Vec<String>,
}

/// `yoi down`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DownView {
    /// Always 1.
    pub version: u32,
    /// The process that has ended; null where none was running.
    pub pid: Option<u32>,
    /// Role Pods that go on.
    pub pods: usize,
    /// Kicks whose turns go on: the next daemon takes them over.
    pub turns: Vec<String>,
    /// Kicks whose turns were ended (`--pods`).
    pub ended_turns: Vec<String>,
    /// Pods that yoi had started and has ended (`--pods`).
    #[serde(default)]
    pub ended_pods: Vec<String>,
    /// What the daemon could not keep, and the next one does not find; why.
    #[serde(default)]
    pub unkept: Vec<String>,
}
