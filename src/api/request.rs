//! What a face may ask for. One vocabulary for CLI, HTTP, panel and MCP.

mod evidence;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use evidence::{BlockRequest, ChildRequest, CloseRequest, DecomposeRequest, EndRequest};

/// Who asks, as far as the asking process knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Caller {
    /// The Orchestrator's session, from `YOI_SESSION` or `--session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The name to record: `--by`, `YOI_BY`, else git's `user.name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// One request. Names are those of the commands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Request {
    /// Tickets and unreadable files.
    List(ListRequest),
    /// One ticket with its text.
    Show {
        /// Id, or a unique prefix of one.
        id: String,
        /// Without the gates that hold it: without a daemon they are the one thing that takes reading other tickets.
        #[serde(default)]
        brief: bool,
    },
    /// Why one ticket is where it is.
    Why {
        /// Id, or a unique prefix of one.
        id: String,
    },
    /// What the daemon is doing.
    Status,
    /// The Orchestrator's notes.
    WorkSet,
    /// The registered Pods.
    Pods,
    /// Faults of files and of the workspace.
    Doctor {
        /// Mend what can be.
        #[serde(default)]
        fix: bool,
        /// Who asks.
        #[serde(default)]
        caller: Caller,
    },
    /// Consider a kick now, or say what would be decided.
    Kick {
        /// Only say it.
        dry_run: bool,
        /// Who asks.
        #[serde(default)]
        caller: Caller,
    },
    /// Hold all kicks.
    Pause {
        /// In the person's words.
        reason: Option<String>,
        /// Who asks.
        caller: Caller,
    },
    /// Let them go on.
    Resume {
        /// Who asks.
        caller: Caller,
    },
    /// Read the configuration again.
    Reload,
    /// Move a ticket to another state.
    Move {
        /// Exact id.
        id: String,
        /// The state's name.
        to: String,
        /// Past the rules.
        force: bool,
        /// In the mover's words.
        reason: Option<String>,
        /// Who asks.
        caller: Caller,
    },
    /// Record the acceptance of a ticket.
    Accept {
        /// Exact id.
        id: String,
        /// Who asks.
        caller: Caller,
    },
    /// Claim a ticket for a worker.
    Claim(ClaimRequest),
    /// Claim a ticket, and make the worktree for it.
    Start(ClaimRequest),
    /// A sign of life of a claim's holder.
    Heartbeat(HolderRequest),
    /// Give a claim up.
    Release(ReleaseRequest),
    /// End the work on a ticket: it cannot go on.
    Block(BlockRequest),
    /// End it: the ticket becomes several.
    Decompose(DecomposeRequest),
    /// End it: it is done with, on evidence.
    Close(CloseRequest),
    /// The next ticket for a worker.
    Next(NextRequest),
    /// Offer a ticket to workers again that was claimed before.
    Offer {
        /// Exact id.
        id: String,
        /// Who asks.
        #[serde(default)]
        caller: Caller,
    },
    /// Set frontmatter keys.
    Set {
        /// Exact id.
        id: String,
        /// What is to change.
        changes: Vec<KeyChange>,
        /// Who asks.
        caller: Caller,
    },
    /// Create a ticket.
    New {
        /// Exact id of the new ticket.
        id: String,
        /// Its title.
        title: String,
        /// `planning`, `ready` or `queued`.
        state: String,
        /// `P0` to `P4`.
        priority: String,
        /// Its labels.
        labels: Vec<String>,
        /// Who asks.
        caller: Caller,
    },
    /// Take a ticket into the work set.
    Plan {
        /// Exact id.
        id: String,
        /// Lower comes first.
        order: Option<i64>,
        /// Who asks.
        caller: Caller,
    },
    /// Let a queued ticket wait.
    Wait {
        /// Exact id.
        id: String,
        /// The gate's name, or `other`.
        kind: String,
        /// In the Orchestrator's words.
        detail: String,
        /// Who asks.
        caller: Caller,
    },
    /// A delegated step is awaited.
    Await {
        /// Exact id.
        id: String,
        /// In a few words.
        step: String,
        /// How long at most, in seconds.
        seconds: i64,
        /// Who asks.
        caller: Caller,
    },
    /// A lifecycle report of an agent or a panel.
    Hook(HookRequest),
    /// The list that a hook was answered with is printed, to its end.
    Printed {
        /// The kick's name.
        kick: String,
    },
    /// The worktrees of tickets.
    Worktrees,
    /// Remove one.
    RemoveWorktree {
        /// The exact id of its ticket.
        id: String,
        /// Save everything in it first.
        #[serde(default)]
        force: bool,
        /// The worker that asks.
        #[serde(default)]
        worker: Option<String>,
    },
    /// Bring back one that was saved.
    RestoreWorktree {
        /// The exact id of its ticket.
        id: String,
        /// Which of those that were saved; null: the newest.
        #[serde(default)]
        from: Option<String>,
    },
    /// This session becomes the Orchestrator's.
    Attach(SessionRequest),
    /// The Orchestrator's session begins anew.
    Reset {
        /// Who asks.
        #[serde(default)]
        caller: Caller,
    },
}

impl Request {
    /// Whether it only asks: it may be asked again when its answer got lost, and does no harm if it is carried out after
    /// whoever sent it has given up.
    pub fn only_asks(&self) -> bool {
        matches!(
            self,
            Request::List(_)
                | Request::Show { .. }
                | Request::Why { .. }
                | Request::Status
                | Request::WorkSet
                | Request::Pods
                | Request::Worktrees
                | Request::Doctor { fix: false, .. }
                | Request::Kick { dry_run: true, .. }
                | Request::Next(NextRequest { claim: false, .. })
        )
    }

    /// Whether it may wait for git, a remote above all, and so is not carried out on the host's own thread.
    pub fn moves_a_claim(&self) -> bool {
        let asks_whose = matches!(self, Request::Next(_) | Request::Offer { .. });
        let moves = matches!(self, Request::Claim(_) | Request::Start(_) | Request::Heartbeat(_) | Request::Release(_));
        asks_whose || moves || self.end().is_some()
    }

    /// Of which ticket it ends the work.
    fn end(&self) -> Option<&EndRequest> {
        match self {
            Request::Block(BlockRequest { end, .. })
            | Request::Decompose(DecomposeRequest { end, .. })
            | Request::Close(CloseRequest { end, .. }) => Some(end),
            _ => None,
        }
    }

    /// Whether git has to look into, make or remove worktrees for it: not on the host's own thread either.
    pub fn is_about_worktrees(&self) -> bool {
        matches!(self, Request::Worktrees | Request::RemoveWorktree { .. } | Request::RestoreWorktree { .. })
    }

    /// The id of the ticket that it is about, as given.
    pub fn ticket(&self) -> Option<&str> {
        match self {
            Request::Show { id, .. }
            | Request::Why { id }
            | Request::Move { id, .. }
            | Request::Accept { id, .. }
            | Request::Offer { id, .. }
            | Request::Set { id, .. }
            | Request::Plan { id, .. }
            | Request::Wait { id, .. }
            | Request::Await { id, .. } => Some(id),
            Request::Claim(claim) | Request::Start(claim) => Some(&claim.id),
            Request::Heartbeat(holder) | Request::Release(ReleaseRequest { holder, .. }) => Some(&holder.id),
            Request::Hook(hook) => hook.ticket.as_deref(),
            _ => self.end().map(|end| end.id.as_str()),
        }
    }
}

/// Which tickets are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListRequest {
    /// Only this state.
    pub state: Option<String>,
    /// Only this class.
    pub class: Option<String>,
    /// Only with this label.
    pub label: Option<String>,
    /// Closed ones too.
    pub all: bool,
    /// No more of each than its line.
    pub brief: bool,
}

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

/// One key's change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "change", rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variants of `domain::edit::Change`, on the wire")]
pub enum KeyChange {
    Set {
        key: String,
        value: Value,
        #[serde(default)]
        written: Option<String>,
    },
    Unset {
        key: String,
    },
    Add {
        key: String,
        item: Value,
    },
    Remove {
        key: String,
        item: Value,
    },
}

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
