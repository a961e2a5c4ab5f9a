//! Runs: programs that yoi starts and that outlive the daemon, each under a supervisor of its own (DESIGN.md 6.5).
//!
//! Must not know: how a supervisor holds its lock; what becomes of a turn's end.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::claim::Upkeep;
use crate::domain::engine::{KickId, RunningTurn};
use crate::domain::facts::{PodId, ProcessIdentity};
use crate::domain::rate_limit::{RateLimit, RateLimitSigns};
use crate::domain::ticket::{TicketId, Timestamp};

/// The name of a run: of its kick, or of its Pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub String);

impl From<&KickId> for RunId {
    fn from(kick: &KickId) -> Self {
        Self(kick.0.clone())
    }
}

impl From<&PodId> for RunId {
    fn from(pod: &PodId) -> Self {
        Self(pod.0.clone())
    }
}

/// Whom a run is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// The Orchestrator's turn.
    Turn(RunningTurn),
    /// A role's, on a ticket.
    Pod(PodRun),
}

impl Whose {
    /// The run's name.
    pub fn id(&self) -> RunId {
        match self {
            Whose::Turn(turn) => RunId::from(&turn.kick),
            Whose::Pod(pod) => RunId::from(&pod.id),
        }
    }

    /// Since when.
    pub fn since(&self) -> Timestamp {
        match self {
            Whose::Turn(turn) => turn.since,
            Whose::Pod(pod) => pod.since,
        }
    }

    /// The same with its process.
    #[must_use]
    pub fn with_process(mut self, process: Option<ProcessIdentity>) -> Self {
        match &mut self {
            Whose::Turn(turn) => turn.process = process,
            Whose::Pod(pod) => pod.process = process,
        }
        self
    }
}

/// A role's program at work on a ticket, under a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodRun {
    /// The Pod's name, beginning with [`PodRun::PREFIX`].
    pub id: PodId,
    /// `coder`, `reviewer`, ...
    pub role: String,
    /// What it works on.
    pub ticket: TicketId,
    /// Who holds the claim.
    pub worker: String,
    /// Which of the ticket's claims that is.
    pub generation: u64,
    /// How the claim is kept.
    pub upkeep: Upkeep,
    /// The git remote that says who has a claim; None: the workspace's repository does.
    pub remote: Option<String>,
    /// Where that remote cannot be asked the claim is kept for this machine alone.
    #[serde(default)]
    pub alone: bool,
    /// The workspace whose claim it is.
    #[serde(with = "any_path")]
    pub workspace: PathBuf,
    /// Its program, also the leader of its process group; None as long as that is not known.
    pub process: Option<ProcessIdentity>,
    /// Since when.
    pub since: Timestamp,
}

impl PodRun {
    /// How the name of every Pod begins that yoi starts; no kick's does.
    pub const PREFIX: &str = "pod-";

    /// The variable that says to a program, and to whatever it starts, which Pod it is.
    pub const VARIABLE: &str = "YOI_POD";
}

/// What to start, and its limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// Argument list; the first is the program, looked up on PATH.
    pub command: Vec<String>,
    /// Working folder.
    #[serde(with = "any_path")]
    pub folder: PathBuf,
    /// Added to, or replacing, the inherited environment.
    pub set: Vec<(String, OsString)>,
    /// Taken out of the inherited environment (yoi's own secrets).
    pub unset: Vec<String>,
    /// Given on standard input, then closed.
    pub input: String,
    /// Standard output and error go here (created, mode 0600); a plain file, so that a child that outlives everybody
    /// is not ended by a broken pipe.
    #[serde(with = "any_path")]
    pub log: PathBuf,
    /// The whole group is ended after this long.
    pub timeout: Duration,
    /// The whole group is ended when the log has not grown for this long; None is off.
    pub stall: Option<Duration>,
    /// What says that it ended because of a rate limit.
    pub rate_limit: RateLimitSigns,
}

/// What is to run: all that its supervisor, and a later daemon, needs to know of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Whom it is for. Its process is not known yet.
    #[serde(flatten)]
    pub whose: Whose,
    /// What is run.
    pub launch: Launch,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// It exited by itself with this code.
    Exited(i32),
    /// A signal ended it.
    Signalled(i32),
    /// It ran longer than `timeout`; its group was ended.
    TimedOut,
    /// It wrote nothing for longer than `stall`; its group was ended.
    Stalled,
    /// Somebody asked for its end (`yoi down --pods`, a machine that shuts down); its group was ended.
    Asked,
    /// Its claim was not its own any more; in words. Its group was ended.
    ClaimLost(String),
    /// Its work was over, since it had ended its claim, or the ticket was taken from it; in words. It went on, and its group was
    /// ended.
    Over(String),
    /// It could not be started; in words.
    NotStarted(String),
    /// Its supervisor ended without a record of the end; it is gone too.
    SupervisorLost,
}

impl How {
    /// For people.
    pub fn words(&self) -> String {
        match self {
            How::Exited(code) => format!("its program ended with exit code {code}"),
            How::Signalled(signal) => format!("its program was ended by signal {signal}"),
            How::TimedOut => "it ran longer than it may; ended".into(),
            How::Stalled => "it printed nothing for too long; ended".into(),
            How::Asked => "it was asked to end".into(),
            How::ClaimLost(why) | How::Over(why) => format!("{why}; ended"),
            How::NotStarted(why) => format!("it did not start: {why}"),
            How::SupervisorLost => "its supervisor was killed, and it with it".into(),
        }
    }
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// How.
    pub how: How,
    /// When.
    pub at: Timestamp,
    /// It reported a rate limit.
    pub rate_limited: Option<RateLimit>,
}

/// What a supervisor shows of its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The program runs as this process, the leader of a group of its own. Need not come.
    Started(ProcessIdentity),
    /// Its supervisor does not let it go, and what is done about that; in words.
    Hangs(String),
    /// It has ended. Comes once, and last.
    Ended(End),
}

/// Where a run stands that an earlier daemon began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its supervisor is alive.
    Running,
    /// It ended.
    Ended(End),
    /// Nothing of it ever began.
    NeverBegan,
    /// It belongs to the workspace that this one was copied from, whatever becomes of it there.
    Foreign,
}

/// A run that an earlier daemon began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Whom it is for.
    pub whose: Whose,
    /// Where it stands.
    pub standing: Standing,
}

/// Called with each sign, on a thread of its own.
pub type OnSign = Box<dyn FnMut(Sign) + Send>;

/// The runs of a workspace.
pub trait Runs: Send + Sync {
    /// Starts a supervisor for this order. From the return on the run is found by a later daemon, whatever happens to
    /// this one. Does not wait for the program.
    fn start(&self, order: &Order, call: OnSign) -> io::Result<()>;

    /// Watches a run that an earlier daemon began.
    fn watch(&self, run: &RunId, call: OnSign);

    /// All runs that have not been forgotten, and what is left of others, the oldest first. Changes nothing.
    fn found(&self) -> io::Result<Vec<Found>>;

    /// Forgets a run whose end was taken note of.
    fn forget(&self, run: &RunId) -> io::Result<()>;

    /// Sees to it that programs whose supervisors were killed are gone, and removes texts that never became whole. Only
    /// while nobody else starts runs.
    fn tidy(&self);

    /// Ends a run, with its group; returns when it has ended.
    fn end(&self, run: &RunId) -> io::Result<()>;

    /// Has a run ended soon that has no more to do, and does not wait for that. `why` is for people.
    fn call_off(&self, run: &RunId, why: &str) -> io::Result<()>;
}

/// Paths as the system has them: they need not be UTF-8.
mod any_path {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        OsString::deserialize(deserializer).map(PathBuf::from)
    }
}
