//! What a face may ask for. One vocabulary for CLI, HTTP, panel and MCP.

mod evidence;
mod reports;
mod tickets;
mod workers;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use evidence::{BlockRequest, ChildRequest, CloseRequest, DecomposeRequest, EndRequest};
pub use reports::{HookRequest, SessionRequest};
pub use tickets::{KeyChange, ListRequest};
pub use workers::{ClaimRequest, HolderRequest, NextRequest, ReleaseRequest};

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

/// What is not said on the wire is no.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !flag
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

    /// Whether it moves a claim for this machine alone.
    pub fn is_local(&self) -> bool {
        match self {
            Request::Claim(claim) | Request::Start(claim) => claim.local,
            Request::Next(next) => next.local,
            Request::Heartbeat(holder) | Request::Release(ReleaseRequest { holder, .. }) => holder.local,
            _ => self.end().is_some_and(|end| end.local),
        }
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
