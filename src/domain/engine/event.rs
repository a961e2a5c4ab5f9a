//! What the engine is told. Events are past: they say what happened, not what to do.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::polite::Stamp;
use super::session::{Contact, SavedSession, SessionReport};
use crate::domain::backlog::Entry;
use crate::domain::claim::ClaimNews;
use crate::domain::differences::Differences;
use crate::domain::facts::{Dirty, Pod, PodId, PodState, ProcessIdentity, Worktree};
use crate::domain::finding::Finding;
use crate::domain::kick::Boundary;
use crate::domain::ledger::SavedLedger;
use crate::domain::policy::Policy;
use crate::domain::rate_limit::RateLimit;
use crate::domain::ticket::{Digest, State, Ticket, TicketId, Timestamp};

/// Who made a change, as far as yoi can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A request that carried the current session.
    Orchestrator,
    /// A request without it.
    Somebody(String),
    /// A file that changed without a request: an editor, git, a script. While a turn is running it may have been the
    /// Orchestrator's own.
    Unknown,
    /// yoi's own stamp.
    Daemon,
}

/// What was last recorded of a ticket, for finding what happened while the daemon was down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastSeen {
    /// Its state then.
    pub state: Option<State>,
    /// Whether it carried `needs-human` (label or status).
    pub needs_human: bool,
    /// When that was recorded.
    pub at: Timestamp,
}

/// Whether and how the Orchestrator can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// By running its command (DESIGN.md 5.1, `exec`).
    Exec,
    /// By whoever registers a session (`attached`, `stream`).
    Session,
    /// Not at all; the reason in words.
    No(String),
}

/// A turn of a former daemon that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningTurn {
    /// Which kick it works on.
    pub kick: KickId,
    /// Its session.
    pub session: String,
    /// Its process, also the leader of its process group; None as long as that is not known.
    pub process: Option<ProcessIdentity>,
    /// Since when.
    pub since: Timestamp,
}

/// A turn of a former daemon that ended while none was running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedTurn {
    /// Which kick it worked on.
    pub kick: KickId,
    /// Since when.
    pub since: Timestamp,
    /// When it ended.
    pub at: Timestamp,
    /// How.
    pub outcome: TurnOutcome,
    /// As in [`Event::TurnEnded`].
    pub jitter: u16,
}

/// The name of one kick.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KickId(pub String);

impl KickId {
    /// The n-th kick of a session.
    pub(super) fn of(session: &str, number: u64) -> Self {
        Self(format!("{session}-{number}"))
    }

    /// Its number within the session; None where it is another session's.
    pub(super) fn number_in(&self, session: &str) -> Option<u64> {
        self.0.strip_prefix(session)?.strip_prefix('-')?.parse().ok()
    }
}

/// All that a daemon finds at its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The policy in force.
    pub policy: Policy,
    /// Whether the Orchestrator can be reached.
    pub reach: Reach,
    /// What stands for the way to it, as `Reload::whom`.
    pub whom: Option<Digest>,
    /// The id of the session that begins; where a running turn is adopted that one goes on, unless it is another
    /// Orchestrator's.
    pub session: String,
    /// Every ticket file.
    pub files: Vec<(PathBuf, Entry)>,
    /// What the last daemon recorded of each ticket; None at the very first start of all.
    pub recorded: Option<BTreeMap<TicketId, LastSeen>>,
    /// When the last daemon last recorded anything.
    pub recorded_at: Option<Timestamp>,
    /// What outlived the last daemon.
    pub ledger: SavedLedger,
    /// A turn that outlived the last daemon.
    pub adopted: Option<RunningTurn>,
    /// Turns that ended meanwhile, the oldest first.
    pub ended_turns: Vec<EndedTurn>,
    /// Role Pods that are still alive.
    pub pods: Vec<Pod>,
    /// Role Pods that were registered, and whose processes have ended meanwhile.
    pub ended_pods: Vec<Pod>,
    /// Every claim, as far as they are known.
    pub claims: Vec<ClaimNews>,
    /// The worktrees that stand, by name.
    pub worktrees: Vec<(String, Worktree)>,
    /// The main worktree.
    pub dirty: Dirty,
    /// The name that an edit in an editor is recorded under (git's `user.name`).
    pub editor_name: String,
}

/// Settings that take effect while the daemon runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reload {
    /// The policy in force from now on.
    pub policy: Policy,
    /// Whether the Orchestrator can be reached from now on.
    pub reach: Reach,
    /// What stands for the way to it: another command is another Orchestrator. None where none can be reached.
    pub whom: Option<Digest>,
    /// The id of a new session, where another one is to begin: the way to the Orchestrator is another.
    pub session: Option<String>,
    /// The keys that changed.
    pub changed: Vec<String>,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnOutcome {
    /// Exit code 0.
    Succeeded,
    /// Any other end; in words.
    Failed(String),
    /// A rate limit ended it: nothing of what it was given was looked at, and the Orchestrator is not to blame.
    Limited {
        /// In words.
        why: String,
        /// As it was reported.
        limit: RateLimit,
    },
    /// Somebody interrupted it: neither a success nor a failure.
    Interrupted,
    /// The process could not be started at all.
    NotDelivered(String),
    /// Neither could it, because yoi's own files have no room on the disk: nobody but the disk is to blame, and nobody
    /// tells when it is over.
    NoRoom(String),
    /// Adopted: it ended, and nobody can say how.
    Unknown,
}

impl TurnOutcome {
    /// Whether the Orchestrator was given anything.
    pub fn delivered(&self) -> bool {
        !matches!(self, TurnOutcome::NotDelivered(_) | TurnOutcome::NoRoom(_))
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The daemon started. Always the first event.
    Started(Box<Start>),
    /// The watcher saw something at these paths: a hint to read again, no truth.
    PathsNoticed(Vec<PathBuf>),
    /// The watcher cannot say what changed, and why not; None where it never can, and a look is due by the clock.
    EverythingNoticed(Option<String>),
    /// All files were compared with what was last read of them (or could not be; in words). None: it was not the time
    /// for it, because git is in the middle of something.
    Compared(Option<Result<Differences, String>>),
    /// These files were read. `full`: nothing else is there.
    FilesRead {
        /// Path and what is there.
        entries: Vec<(PathBuf, Entry)>,
        /// The whole folder was walked.
        full: bool,
    },
    /// A request or stamp wrote this ticket.
    TicketWritten {
        /// As it was read back.
        ticket: Ticket,
        /// Who asked.
        by: Actor,
    },
    /// A stamp could not be written.
    StampFailed {
        /// Of which ticket.
        id: TicketId,
        /// In words.
        why: String,
    },
    /// A stamp was not written: an editor has the file open.
    EditorSeen {
        /// The stamp.
        stamp: Stamp,
        /// The editor's mark: a file's name.
        mark: String,
    },
    /// It was looked again at what writes displaced, and this came to light.
    Reviewed(Vec<Finding>),
    /// Something in the git directory changed: a hint to probe again.
    GitNoticed,
    /// Claims were read, or moved by a request.
    ClaimsRead {
        /// The newest of each ticket.
        news: Vec<ClaimNews>,
        /// There are no others.
        full: bool,
    },
    /// It was looked which worktrees stand, by name (`domain::claim::name`), and who works in them. There are no others.
    WorktreesRead(Vec<(String, Worktree)>),
    /// The remote that says who has a claim was asked for all of them.
    RemoteAsked {
        /// Whether any is another than it was; or why it did not say, in words.
        answer: Result<bool, String>,
        /// As in [`Event::TurnEnded`].
        jitter: u16,
    },
    /// The main worktree was probed.
    Probed(Dirty),
    /// A boundary from outside: `panel_open`, `user_kick`.
    BoundaryReached(Boundary),
    /// A role Pod reported itself.
    PodReported {
        /// As registered.
        pod: Pod,
        /// What it reported.
        state: PodState,
    },
    /// A role Pod's process ended, or it said so.
    PodEnded(PodId),
    /// A rate limit was reported; not before this time.
    RateLimited(Timestamp),
    /// All that a kick rests on was read again just now.
    Refreshed(KickId),
    /// The turn's process runs.
    TurnStarted {
        /// Which kick.
        kick: KickId,
        /// Its process.
        process: ProcessIdentity,
    },
    /// The turn ended, or never began.
    TurnEnded {
        /// Which kick.
        kick: KickId,
        /// How.
        outcome: TurnOutcome,
        /// Between 0 and 1 (per mille), drawn by the host: spreads retries.
        jitter: u16,
    },
    /// A former daemon's session was found.
    SessionFound(SavedSession),
    /// A session reported itself.
    SessionReported {
        /// Who.
        report: SessionReport,
        /// What.
        contact: Contact,
    },
    /// The contact that was reported last takes no answer any more.
    ContactClosed,
    /// A session's process ended.
    SessionProcessEnded(ProcessIdentity),
    /// A person begins the Orchestrator's session anew: under this id where it is run by a command.
    SessionReset(String),
    /// The `wake` commands have ended.
    WakeEnded {
        /// Which run of them.
        number: u64,
        /// Why they failed, in words.
        failed: Option<String>,
    },
    /// A person holds all kicks.
    Paused {
        /// Who.
        by: String,
        /// Why, in the person's words.
        reason: Option<String>,
    },
    /// A person lets them go on.
    Resumed {
        /// Who.
        by: String,
    },
    /// The configuration was read again.
    Reloaded(Box<Reload>),
    /// Time passed.
    Ticked,
}
