//! What the engine wants done. Effects are imperative; carrying them out makes no choices.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::{KickId, LastSeen};
use super::session::SavedSession;
use crate::domain::attention::Item;
use crate::domain::facts::{Pod, PodId, ProcessIdentity};
use crate::domain::kick::Boundary;
use crate::domain::ledger::SavedLedger;
use crate::domain::ticket::{TicketId, Timestamp};

/// One line of history (DESIGN.md 7.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What happened.
    pub kind: RecordKind,
    /// When.
    pub at: Timestamp,
    /// The ticket's stream, if it belongs to one.
    pub ticket: Option<TicketId>,
    /// Whatever else there is to say; an object.
    pub data: Value,
}

/// The kinds of history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names of DESIGN.md 7.3")]
pub enum RecordKind {
    DaemonStarted,
    DaemonStopped,
    IssueApproved,
    IssueAccepted,
    IssueDone,
    IssueClosed,
    IssueMoved,
    /// A worker has claimed it.
    IssueAssigned,
    /// Its worker gave it up, or was not heard of any more.
    IssueUnassigned,
    /// It cannot go on: the label `blocked` is on it.
    IssueBlocked,
    /// It has become several.
    IssueDecomposed,
    ClaimEnded,
    AgentStarted,
    AgentEnded,
    KickSent,
    KickSuppressed,
    /// A kick is decided, and waits for the session's next contact.
    KickPending,
    /// The `wake` commands were run, or a prompt did not follow them.
    WakeEnded,
    TurnEnded,
    WatcherRescan,
    WatcherMissed,
    StampFailed,
    Paused,
    Resumed,
    ConfigReloaded,
    /// Something a person should know of.
    Alert,
    /// Something a person should look at.
    Inbox,
}

impl RecordKind {
    /// All kinds.
    pub const ALL: &[RecordKind] = &[
        RecordKind::DaemonStarted,
        RecordKind::DaemonStopped,
        RecordKind::IssueApproved,
        RecordKind::IssueAccepted,
        RecordKind::IssueDone,
        RecordKind::IssueClosed,
        RecordKind::IssueMoved,
        RecordKind::IssueAssigned,
        RecordKind::IssueUnassigned,
        RecordKind::IssueBlocked,
        RecordKind::IssueDecomposed,
        RecordKind::ClaimEnded,
        RecordKind::AgentStarted,
        RecordKind::AgentEnded,
        RecordKind::KickSent,
        RecordKind::KickSuppressed,
        RecordKind::KickPending,
        RecordKind::WakeEnded,
        RecordKind::TurnEnded,
        RecordKind::WatcherRescan,
        RecordKind::WatcherMissed,
        RecordKind::StampFailed,
        RecordKind::Paused,
        RecordKind::Resumed,
        RecordKind::ConfigReloaded,
        RecordKind::Alert,
        RecordKind::Inbox,
    ];

    /// The name in the store and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            RecordKind::DaemonStarted => "DAEMON_STARTED",
            RecordKind::DaemonStopped => "DAEMON_STOPPED",
            RecordKind::IssueApproved => "ISSUE_APPROVED",
            RecordKind::IssueAccepted => "ISSUE_ACCEPTED",
            RecordKind::IssueDone => "ISSUE_DONE",
            RecordKind::IssueClosed => "ISSUE_CLOSED",
            RecordKind::IssueMoved => "ISSUE_MOVED",
            RecordKind::IssueAssigned => "ISSUE_ASSIGNED",
            RecordKind::IssueUnassigned => "ISSUE_UNASSIGNED",
            RecordKind::IssueBlocked => "ISSUE_BLOCKED",
            RecordKind::IssueDecomposed => "ISSUE_DECOMPOSED",
            RecordKind::ClaimEnded => "CLAIM_ENDED",
            RecordKind::AgentStarted => "AGENT_STARTED",
            RecordKind::AgentEnded => "AGENT_ENDED",
            RecordKind::KickSent => "KICK_SENT",
            RecordKind::KickSuppressed => "KICK_SUPPRESSED",
            RecordKind::KickPending => "KICK_PENDING",
            RecordKind::WakeEnded => "WAKE_ENDED",
            RecordKind::TurnEnded => "TURN_ENDED",
            RecordKind::WatcherRescan => "WATCHER_RESCAN",
            RecordKind::WatcherMissed => "WATCHER_MISSED",
            RecordKind::StampFailed => "STAMP_FAILED",
            RecordKind::Paused => "PAUSED",
            RecordKind::Resumed => "RESUMED",
            RecordKind::ConfigReloaded => "CONFIG_RELOADED",
            RecordKind::Alert => "ALERT",
            RecordKind::Inbox => "INBOX",
        }
    }
}

/// One kick, ready to be delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kick {
    /// Its name.
    pub id: KickId,
    /// The session that it is a turn of.
    pub session: String,
    /// Why now.
    pub causes: Vec<Boundary>,
    /// What is handed over.
    pub items: Vec<Item>,
    /// How many items the list had beyond them.
    pub left_out: usize,
}

/// Something to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Read these files; answer `FilesRead`.
    Read(Vec<PathBuf>),
    /// Walk the whole folder; answer `FilesRead { full: true }`.
    ReadAll,
    /// Compare all files with what was last read of them, without waiting for it; answer `Compared`.
    Compare,
    /// The watcher missed something: make anew what its notices rest on.
    DoubtWatcher,
    /// Stamp a ticket that entered the queue, by the rule of `lifecycle::queue_stamp`; answer `TicketWritten` or
    /// `StampFailed`.
    StampQueued {
        /// Which file.
        path: PathBuf,
        /// `queued_by`.
        by: String,
        /// The earliest moment of the entry.
        since: Timestamp,
        /// A stamp from before is no excuse (a person took `needs-human` off).
        always: bool,
        /// An editor that has the file open is no reason to wait any longer; otherwise answer `EditorSeen`.
        insist: bool,
    },
    /// Read all claims; answer `ClaimsRead`.
    ReadClaims,
    /// Look which worktrees stand, and who works in them, without waiting for it; answer `WorktreesRead`.
    ReadWorktrees,
    /// Ask the remote that says who has a claim for all of them, without waiting for it; answer `RemoteAsked`.
    AskRemote,
    /// Break the stale claim of a ticket whose worker is gone, and put it into the queue again; answer `ClaimsRead` and
    /// `TicketWritten`.
    BringBack(TicketId),
    /// Probe the main worktree; answer `Probed`.
    Probe,
    /// Read again, now, all that the kick rests on (these files, the main worktree, and who works in the
    /// tickets' worktrees); answer `Refreshed` after it.
    Refresh {
        /// Which kick.
        kick: KickId,
        /// The files of its items.
        paths: Vec<PathBuf>,
    },
    /// Start the Orchestrator's command on this list; answer `TurnStarted`, then `TurnEnded`.
    Launch(Kick),
    /// Hand this list over to the session: as the answer to its contact, or as a line.
    HandOver(Kick),
    /// Run the `wake` commands, under this number; answer `WakeEnded`.
    Wake(u64),
    /// Watch a session's process until it ends; answer `SessionProcessEnded`.
    WatchSession(ProcessIdentity),
    /// Keep the session, so that a restart finds it; None where there is none.
    SaveSession(Option<SavedSession>),
    /// Watch a process until it ends; answer `PodEnded`.
    WatchPod(PodId, ProcessIdentity),
    /// Watch an adopted turn until it ends; answer `TurnStarted` if that is news, then `TurnEnded`.
    WatchTurn(KickId),
    /// Append to the history.
    Record(Record),
    /// Keep the ledger.
    SaveLedger(SavedLedger),
    /// Keep the last seen states; None where a ticket is gone.
    SaveSeen(Vec<(TicketId, Option<LastSeen>)>),
    /// Keep the register of Pods, so that a restart finds them.
    SavePods(Vec<Pod>),
}
