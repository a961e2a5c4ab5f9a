//! The machine's processes by way of `/proc` and pidfds. DESIGN.md 3; FAULTS kind 8.
//!
//! Must not know: what a process is for. Nothing is ever signalled by a bare pid.

pub(super) mod group;
pub(super) mod handle;
pub(super) mod proc_files;
#[cfg(test)]
mod tests;

use std::io;
use std::thread;
use std::time::Duration;

use chrono::TimeDelta;

use crate::domain::claim::Standing;
use crate::domain::facts::ProcessIdentity;
use crate::ports::Processes;
use handle::Handle;
use proc_files::{Boot, Stat};

/// The processes of this machine.
#[derive(Clone, Debug)]
pub struct SystemProcesses {
    boot: Boot,
}

impl SystemProcesses {
    /// Reads which machine and boot this is; an error where there is no `/proc`.
    pub fn new() -> io::Result<Self> {
        Ok(Self { boot: Boot::current()? })
    }

    /// The identity of a process of this boot, by what `/proc` said of it while it was there.
    pub(super) fn identity(&self, pid: u32, stat: Stat) -> ProcessIdentity {
        self.boot.identity(pid, stat)
    }

    /// Whether it began since this machine was last started.
    pub(super) fn is_of_this_boot(&self, process: &ProcessIdentity) -> bool {
        self.boot.is_of(process)
    }

    /// A hold on exactly this process; None if it is not alive.
    pub(super) fn hold(&self, process: &ProcessIdentity) -> Option<Handle> {
        self.boot.is_of(process).then(|| Handle::open(process.pid, process.started)).flatten()
    }

    /// Ends the group that this process leads: SIGTERM, after `grace` SIGKILL. Nothing is signalled unless exactly this
    /// process is still alive. Returns when it is gone.
    pub(super) fn end_group(&self, leader: &ProcessIdentity, grace: Duration) {
        if self.boot.is_of(leader) {
            group::end(leader.pid, leader.started, grace);
        }
    }
}

impl SystemProcesses {
    /// Ends those of the former group of this process, which has ended, that began with this line in their environment.
    pub(super) fn end_marked(&self, leader: &ProcessIdentity, line: &str, grace: Duration) {
        if self.boot.is_of(leader) {
            group::end_marked(leader.pid, line, grace);
        }
    }
}

impl Processes for SystemProcesses {
    fn identify(&self, pid: u32) -> io::Result<ProcessIdentity> {
        match Stat::of(pid) {
            Ok(stat) if !stat.ended => Ok(self.boot.identity(pid, stat)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, format!("no process with pid {pid} is alive"))),
        }
    }

    fn machine(&self) -> Standing {
        // The kernel's monotonic clock stands still while the machine sleeps.
        let awake = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        Standing { boot_id: self.boot.id().to_owned(), awake: TimeDelta::seconds(awake.tv_sec) }
    }

    fn is_alive(&self, process: &ProcessIdentity) -> bool {
        self.boot.is_of(process)
            && Stat::of(process.pid).is_ok_and(|stat| !stat.ended && stat.started == process.started)
    }

    fn when_ended(&self, process: &ProcessIdentity, call: Box<dyn FnOnce() + Send>) {
        let handle = self.hold(process);
        let name = format!("yoi waits {}", process.pid);
        let started = thread::Builder::new().name(name).spawn(move || {
            if let Some(handle) = handle {
                handle.wait(None);
            }
            call();
        });
        if let Err(error) = started {
            tracing::error!(
                "the end of process {} will not be noticed, no thread could be started: {error}",
                process.pid
            );
        }
    }
}
