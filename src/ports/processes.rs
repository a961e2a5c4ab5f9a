//! Processes: who is alive, starting one in a group of its own, ending a group.
//!
//! Must not know: what a process is for. Nothing here signals by a bare pid (FAULTS kind 8).

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::domain::facts::ProcessIdentity;

/// What to start, and its limits.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Argument list; the first is the program, looked up on PATH.
    pub command: Vec<String>,
    /// Working folder.
    pub folder: PathBuf,
    /// Added to, or replacing, the inherited environment.
    pub set: Vec<(String, OsString)>,
    /// Taken out of the inherited environment (yoi's own secrets).
    pub unset: Vec<String>,
    /// Given on standard input, then closed.
    pub input: String,
    /// Standard output and error go here (created, mode 0600); a plain file, so that a child that outlives the daemon
    /// is not ended by a broken pipe.
    pub log: PathBuf,
    /// The whole group is ended after this long.
    pub timeout: Duration,
    /// The whole group is ended when the log has not grown for this long; None is off.
    pub stall: Option<Duration>,
}

/// How a started process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launched {
    /// It exited by itself with this code.
    Exited(i32),
    /// A signal ended it.
    Signalled(i32),
    /// It ran longer than `timeout`; its group was ended.
    TimedOut,
    /// It wrote nothing for longer than `stall`; its group was ended.
    Stalled,
}

/// The machine's processes.
pub trait Processes: Send + Sync {
    /// The identity of a live process; an error where there is none.
    fn identify(&self, pid: u32) -> io::Result<ProcessIdentity>;

    /// Whether exactly this process is alive (a zombie is not).
    fn is_alive(&self, process: &ProcessIdentity) -> bool;

    /// Calls back once, on a thread of its own, when the process has ended (at once if it is not alive).
    fn when_ended(&self, process: &ProcessIdentity, call: Box<dyn FnOnce() + Send>);

    /// Starts a process as the leader of a group of its own; calls back once, on a thread of its own, when it ended.
    fn launch(&self, launch: Launch, call: Box<dyn FnOnce(Launched) + Send>) -> io::Result<ProcessIdentity>;

    /// Ends the group that this process leads: SIGTERM, after `grace` SIGKILL. Nothing is signalled unless exactly this
    /// process is still alive. Returns when it is gone.
    fn end_group(&self, leader: &ProcessIdentity, grace: Duration);
}
