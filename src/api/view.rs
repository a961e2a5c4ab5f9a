//! What a face gets to see: types on the wire, pinned by `docs/schema.json`. Ticket fields are `snake_case`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::connections::ConnectionsView;
use super::failure::Failure;
use super::watching::WatchView;

/// The version of every answer.
pub const VERSION: u32 = 1;

/// A view as JSON.
pub(super) fn value(view: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(view).map_err(|error| Failure::failed(format!("the answer is no JSON: {error}")))
}

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

/// `yoi move`, `yoi accept`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MoveView {
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// One due time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimerView {
    /// What happens then.
    pub what: String,
    /// When.
    pub at: String,
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
    pub tickets: std::collections::BTreeMap<String, usize>,
    /// How many tickets there are of each class.
    pub classes: std::collections::BTreeMap<String, usize>,
    /// Files that are listed as errors.
    pub errors: Vec<FaultView>,
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
    /// What the daemon could not keep, and the next one does not find; why.
    #[serde(default)]
    pub unkept: Vec<String>,
}
