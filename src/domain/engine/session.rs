//! The Orchestrator as a session that reports itself (DESIGN.md 5.1, `attached` and `stream`): what it says of itself, and
//! what is known of it between two contacts. Plain data.
//!
//! Must not know: what follows from a contact (that is `contacts`), hooks, connections.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::event::KickId;
use crate::domain::attention::Item;
use crate::domain::facts::ProcessIdentity;
use crate::domain::kick::Boundary;
use crate::domain::ticket::Timestamp;

/// How a registered session is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// It takes a list as the answer to a contact of its own.
    Attached,
    /// It reads lines at any time.
    Stream,
}

impl Way {
    /// The name in events and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Way::Attached => "attached",
            Way::Stream => "stream",
        }
    }
}

/// Whether a report makes its session the Orchestrator's, where none is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registers {
    /// The session says that it is the Orchestrator, or somebody who may says so.
    Always,
    /// Somebody reports in its name: only where it can be noticed that it ends.
    IfWatched,
    /// Nobody says so: only the registered session's reports count.
    Never,
}

/// Who reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionReport {
    /// The session's id.
    pub id: String,
    /// How it is reached.
    pub way: Way,
    /// The agent behind it.
    pub agent: Option<String>,
    /// Its process: it is live while this is.
    pub process: Option<ProcessIdentity>,
    /// What runs there, by name.
    pub program: Option<String>,
    /// The processes that the report comes from, the nearest first.
    pub above: Vec<ProcessIdentity>,
    /// Nobody named the process: it was found among these.
    pub guessed: bool,
    /// Whether it makes its session the Orchestrator's.
    pub registers: Registers,
}

impl SessionReport {
    /// A report of one that is the Orchestrator's already.
    pub(super) fn of_known(id: String, way: Way, agent: Option<String>, process: Option<ProcessIdentity>) -> Self {
        Self { id, way, agent, process, program: None, above: Vec::new(), guessed: false, registers: Registers::Always }
    }
}

/// What a session reports. `takes` means that the answer can carry a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contact {
    /// It begins.
    Started {
        /// With the memory of a former one under the same id.
        resumed: bool,
        /// The answer can carry a list.
        takes: bool,
    },
    /// Its memory was compacted: no change of state.
    Compacted,
    /// A turn begins.
    Prompted {
        /// The answer can carry a list.
        takes: bool,
    },
    /// A turn has ended.
    Stopped {
        /// The answer can carry a list, and the session goes on with it.
        takes: bool,
        /// The agent says that it has not been made to go on since the last prompt.
        first: bool,
        /// Tasks of its own run on in the background, and will make it go on.
        background: bool,
    },
    /// A turn has failed.
    Failed {
        /// In words.
        why: String,
        /// Between 0 and 1 (per mille), drawn by the host.
        jitter: u16,
    },
    /// A rate limit has ended a turn.
    Limited {
        /// In words.
        why: String,
        /// How long it holds, where somebody says so.
        wait: Option<Duration>,
    },
    /// Somebody interrupted its turn.
    Interrupted,
    /// A sign of life.
    Active {
        /// Of the session itself, not of a sub-agent: a turn is running.
        own: bool,
    },
    /// It ends.
    Ended,
}

/// Where a kept session stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the states of a Pod, DESIGN.md 1")]
pub enum SessionState {
    Idle,
    Busy,
    Gone,
}

/// A session as it is kept for the next daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSession {
    /// Its id.
    pub id: String,
    /// How it is reached.
    pub way: Way,
    /// The agent behind it.
    pub agent: Option<String>,
    /// Its process.
    pub process: Option<ProcessIdentity>,
    /// Since when it is registered.
    pub since: Timestamp,
    /// Where it stood.
    pub state: SessionState,
    /// How many kicks it was given: each has its own number.
    pub kicks: u64,
}

/// A kick that is decided, and waits for the session's next contact. It is decided again there, on fresh data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Why.
    pub causes: Vec<Boundary>,
    /// Since when.
    pub since: Timestamp,
}

/// What a session's start was answered with: shown, and the next turn's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) kick: KickId,
    pub(super) items: Vec<Item>,
}

/// One run of the `wake` commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outstanding {
    /// The commands run, under this number; whoever runs them is done until then.
    Running(u64, Timestamp),
    /// They have ended well; a prompt is to follow until then.
    Sent(Timestamp),
}

impl Outstanding {
    pub(super) fn until(&mut self) -> &mut Timestamp {
        match self {
            Outstanding::Running(_, until) | Outstanding::Sent(until) => until,
        }
    }
}

/// How waking goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waking {
    pub(super) outstanding: Option<Outstanding>,
    /// Failed wakes in a row.
    pub failures: u32,
    pub(super) retry_at: Option<Timestamp>,
    /// The last failure, in words, and when.
    pub failed: Option<(String, Timestamp)>,
}

/// The registered session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// How it is reached.
    pub way: Way,
    /// The agent behind it.
    pub agent: Option<String>,
    /// Its process.
    pub process: Option<ProcessIdentity>,
    /// Nobody named it: it was found above a hook of the session's.
    pub(super) guessed: bool,
    /// Where its last report came from that said where it lives, the nearest first.
    pub(super) above: Vec<ProcessIdentity>,
    /// Its process has ended together with a hook: until then another report is waited for.
    pub doubt: Option<Timestamp>,
    /// Since when it is registered.
    pub since: Timestamp,
    /// Its last contact.
    pub heard: Timestamp,
    /// Its turn has been silent for longer than `busy_max`: it may have been interrupted.
    pub silent: bool,
    /// A kick that waits for its next contact.
    pub pending: Option<Pending>,
    /// How waking it goes.
    pub waking: Waking,
    /// A report of it that did not count, in words, and when the last one came.
    pub ignored: Option<(String, Timestamp)>,
    /// The session that was last refused because this one lives.
    pub refused: Option<String>,
    pub(super) shown: Option<Shown>,
    /// Until when its own background tasks may make it go on by themselves.
    pub(super) background_until: Option<Timestamp>,
}

impl Session {
    pub(super) fn new(report: SessionReport, now: Timestamp) -> Self {
        let SessionReport { id, way, agent, process, above, guessed, .. } = report;
        Self {
            id,
            way,
            agent,
            process,
            guessed,
            above,
            doubt: None,
            since: now,
            heard: now,
            silent: false,
            pending: None,
            waking: Waking::default(),
            ignored: None,
            refused: None,
            shown: None,
            background_until: None,
        }
    }

    pub(super) fn is_process(&self, process: Option<&ProcessIdentity>) -> bool {
        self.process.is_some() && self.process.as_ref() == process
    }

    /// The command that ends it.
    pub(super) fn way_out(&self) -> String {
        format!("`yoi hook gone --session {}`", self.id)
    }

    /// In words, for whoever is refused because of it.
    pub(super) fn named(&self) -> String {
        let pid = self.process.as_ref().map(|p| format!(", process {}", p.pid)).unwrap_or_default();
        format!("`{}` ({}{pid})", self.id, self.way.as_str())
    }
}
