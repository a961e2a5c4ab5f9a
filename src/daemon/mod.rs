//! Floor 3: the host of the engine: one owner of the state per workspace. Messages in, effects out; and the same
//! engine run once, in process, for commands without a daemon.
//!
//! Must not know: files, git, SQL (ports do), a face. Nothing is decided here that the core can decide.

mod claiming;
mod evidence;
mod history;
mod kept;
mod launch;
mod lending;
mod making;
pub mod mending;
mod obstacle;
mod operation;
mod ordering;
mod perform;
mod pods;
mod registers;
pub mod removing;
mod run;
mod sessions;
mod start;
pub mod starting;
#[cfg(test)]
mod tests;
mod trees;
mod verbs;

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

pub use claiming::{
    ClaimRequest, Claimed, Desk, Fence, Holder, Next, Released, Seeking, Started, claim, fenced, heartbeat, held,
    mend_starts, next, offer, release, renew, stands, start,
};
pub use evidence::{EndRequest, Ended, Ending, end_work, look_at_work};
pub use history::History;
pub use lending::{Alone, Lending, Visitor};
pub use operation::{Reread, RoleCommand, Settings};
pub use run::Stop;
pub use sessions::Line;
pub use start::{Beginning, Found};
pub use trees::LookNumber;
pub use verbs::{AcceptRequest, MoveRequest, Moved, VerbError};

use self::registers::Registers;
use crate::domain::differences::Differences;
use crate::domain::engine::{Engine, Event, Kick, KickId, Record};
use crate::domain::facts::{Dirty, PodId, ProcessIdentity, Worktree};
use crate::domain::obstruction::Obstruction;
use crate::domain::rate_limit::RateLimitSigns;
use crate::domain::ticket::Timestamp;
use crate::ports::runs::{PodRun, Sign};
use crate::ports::{Claims, Door, MainWorktree, Notices, Processes, Runs, Starts, StateFolder, Tickets, Waker};

/// What lands in the daemon's inbox.
pub enum Message {
    /// The watcher saw these paths.
    Paths(Vec<PathBuf>),
    /// The watcher cannot say what changed, and why not; None where it never can, and a look is due by the clock.
    Everything(Option<String>),
    /// The git directory changed.
    Git,
    /// All files were compared with what was last read of them.
    Compared(Result<Differences, String>),
    /// Which worktrees stand, and who works in them, by a look of this number.
    Worktrees(LookNumber, Vec<(String, Worktree)>),
    /// A role Pod's process ended.
    PodEnded(PodId),
    /// The turn's supervisor showed something: its process, its end.
    Turn(KickId, Sign),
    /// The supervisor of a Pod that yoi started showed something.
    Pod(Box<PodRun>, Sign),
    /// A session's process ended.
    SessionEnded(ProcessIdentity),
    /// The `wake` commands have ended; why they failed, if they did.
    WakeEnded(u64, Option<String>),
    /// A face wants to read or change something.
    Visit(Box<dyn FnOnce(&mut Host) + Send>),
    /// A probe of the main worktree that took long has its answer.
    Probed(Dirty),
    /// The remote that says who has a claim was asked for all of them.
    RemoteAsked(Result<bool, String>),
    /// The configuration may have changed.
    Reload,
    /// End.
    Stop(Stop),
}

/// The outside, as the host needs it.
pub struct Ports {
    /// Ticket files.
    pub tickets: Arc<dyn Tickets>,
    /// Claims.
    pub claims: Arc<dyn Claims>,
    /// Starts under way.
    pub starts: Arc<dyn Starts>,
    /// Processes.
    pub processes: Arc<dyn Processes>,
    /// Runs of programs.
    pub runs: Arc<dyn Runs>,
    /// Git.
    pub worktree: Arc<dyn MainWorktree>,
    /// What wakes a session.
    pub waker: Arc<dyn Waker>,
    /// What survives.
    pub state: Arc<dyn StateFolder>,
    /// The current time.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// What no other call returns: letters and digits.
    pub nonce: Arc<dyn Fn() -> String + Send + Sync>,
}

/// How the Orchestrator's command is run.
#[derive(Clone, Debug)]
pub struct Command {
    /// Argument list.
    pub command: Vec<String>,
    /// Working folder: the workspace.
    pub folder: PathBuf,
    /// Added to its environment.
    pub set: Vec<(String, std::ffi::OsString)>,
    /// Taken out of it.
    pub unset: Vec<String>,
    /// Ends the group after this long.
    pub timeout: Duration,
    /// Ends the group after this long without output.
    pub stall: Option<Duration>,
    /// What says that it ended because of a rate limit.
    pub rate_limit: RateLimitSigns,
}

/// Where this host stands, for `status`.
#[derive(Clone, Default)]
pub struct About {
    /// The workspace.
    pub workspace: PathBuf,
    /// Its state folder.
    pub state_folder: PathBuf,
    /// Its socket.
    pub socket: PathBuf,
    /// How changes are seen just now, and why.
    pub watcher: Option<Arc<dyn Notices>>,
    /// Who lets clients in.
    pub door: Option<Arc<dyn Door>>,
}

/// The owner of one workspace's state.
pub struct Host {
    engine: Engine,
    ports: Ports,
    inbox: Receiver<Message>,
    mail: Sender<Message>,
    /// Messages taken from the inbox while something else was being done.
    waiting: VecDeque<Message>,
    /// None: this host answers one command in process and does nothing on its own.
    resident: bool,
    obstruction: Option<Obstruction>,
    put_off: BTreeSet<PathBuf>,
    put_off_stamps: Vec<crate::domain::engine::Effect>,
    /// Stamps that found a ticket held by another process are not tried again before this time.
    stamps_at: Option<Timestamp>,
    put_off_refresh: Option<(KickId, Vec<PathBuf>)>,
    /// The list that the contact in hand is answered with.
    handed_over: Option<Kick>,
    /// The list that a hook was answered with and has not printed yet, and until when it may.
    unprinted: Option<(KickId, Timestamp)>,
    /// Where a session reads lines, with its id.
    stream: Option<(String, Line)>,
    /// By how much the clock was ahead of the time awake when claims were last read.
    claims_offset: Option<chrono::TimeDelta>,
    /// The newest look at the worktrees of tickets.
    tree_looks: LookNumber,
    /// Pods whose supervisors are watched.
    watched_pods: BTreeSet<PodId>,
    /// When to look again at what writes displaced.
    review_at: Option<Timestamp>,
    reports: kept::Reports,
    registers: Registers,
    history: History,
    settings: Settings,
    reread: Reread,
    /// Names a new session.
    sessions: Box<dyn Fn() -> String + Send>,
    settings_trouble: Option<String>,
    folder_trouble: Option<String>,
    failed_deliveries: u64,
    started: Timestamp,
    about: About,
    /// Subscribers of new records, each told the newest number.
    listeners: Vec<Box<dyn Fn(i64) -> bool + Send>>,
}

impl Host {
    /// The engine, to read.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The ports, for faces' reading.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        (self.ports.clock)()
    }

    /// When this host started.
    pub fn started(&self) -> Timestamp {
        self.started
    }

    /// Whether this is a daemon (and not one command's own host).
    pub fn resident(&self) -> bool {
        self.resident
    }

    /// Where it stands.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Says where it stands.
    pub fn set_about(&mut self, about: About) {
        self.about = about;
    }

    /// What is kept of the past.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Why the ticket folder could not be read when that was last tried, in words.
    pub fn folder_trouble(&self) -> Option<&str> {
        self.folder_trouble.as_deref()
    }

    /// What stands in the way of reading and writing ticket files.
    pub fn obstruction(&self) -> Option<&Obstruction> {
        self.obstruction.as_ref()
    }

    /// Kicks whose process could not be started, since the start.
    pub fn failed_deliveries(&self) -> u64 {
        self.failed_deliveries
    }

    /// A sender into the inbox.
    pub fn mail(&self) -> Sender<Message> {
        self.mail.clone()
    }

    /// Calls back with the number of the newest record, after each append, until the callback returns false.
    pub fn listen(&mut self, listener: Box<dyn Fn(i64) -> bool + Send>) {
        self.listeners.push(listener);
    }

    /// Tells the engine an event and carries out what it wants, and what follows from that, to the end.
    pub fn tell(&mut self, event: Event) {
        let mut events: VecDeque<_> = self.claims_after_a_jump().into_iter().chain([event]).collect();
        while let Some(event) = events.pop_front() {
            let now = self.now();
            let is_review = matches!(event, Event::Reviewed(_));
            let effects = self.engine.step(event, now);
            self.perform_all(effects, &mut events);
            if is_review {
                self.heard_of_review();
            }
        }
        self.note_reports();
    }

    /// Writes a record that is the host's own (not the engine's).
    fn record(&mut self, record: Record) {
        self.append(vec![record]);
    }

    fn append(&mut self, records: Vec<Record>) {
        let now = self.now();
        self.history.append(records, now);
        self.tell_listeners();
    }

    /// What has been written is there to be read.
    fn tell_listeners(&mut self) {
        if let Some(newest) = self.history.take_newest() {
            self.listeners.retain(|listener| listener(newest));
        }
    }
}
