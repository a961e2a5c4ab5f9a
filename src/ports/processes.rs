//! Processes: who is alive, and when they end.
//!
//! Must not know: what a process is for. Nothing here goes by a bare pid (FAULTS kind 8).

use std::io;

use crate::domain::claim::Standing;
use crate::domain::facts::ProcessIdentity;

/// The machine's processes.
pub trait Processes: Send + Sync {
    /// The identity of a live process; an error where there is none.
    fn identify(&self, pid: u32) -> io::Result<ProcessIdentity>;

    /// This boot of this machine, and how long it has been awake.
    fn machine(&self) -> Standing;

    /// Whether exactly this process is alive (a zombie is not).
    fn is_alive(&self, process: &ProcessIdentity) -> bool;

    /// Calls back once, on a thread of its own, when the process has ended (at once if it is not alive).
    fn when_ended(&self, process: &ProcessIdentity, call: Box<dyn FnOnce() + Send>);
}
