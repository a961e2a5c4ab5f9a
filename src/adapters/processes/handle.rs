//! A hold on one process: waiting for its end and signalling it, never mistaking a later process for it.
//!
//! A pidfd names a process as long as it is open, whatever becomes of the number. Where the kernel has none, the start
//! time is compared right before each use.
//!
//! Must not know: groups; why somebody waits.

use std::io;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::proc_files::Stat;

/// How often the end of a process is looked for where the kernel cannot tell it.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// One process, by pid and start time.
#[derive(Debug)]
pub(super) struct Handle {
    pid: u32,
    started: u64,
    /// None where the kernel has no pidfd.
    fd: Option<OwnedFd>,
}

impl Handle {
    /// None if it is not alive.
    pub(super) fn open(pid: u32, started: u64) -> Option<Self> {
        Self::with(pid, started, pidfd_open(rustix_pid(pid)?, PidfdFlags::empty()))
    }

    /// The identity is checked after the descriptor was opened: from then on it cannot change.
    fn with(pid: u32, started: u64, fd: rustix::io::Result<OwnedFd>) -> Option<Self> {
        let handle = Self { pid, started, fd: fd.ok() };
        handle.is_there().then_some(handle)
    }

    /// Without a pidfd, as on an old kernel.
    #[cfg(test)]
    pub(super) fn without_fd(pid: u32, started: u64) -> Option<Self> {
        Self::with(pid, started, Err(rustix::io::Errno::NOSYS))
    }

    fn is_there(&self) -> bool {
        Stat::of(self.pid).is_ok_and(|stat| !stat.ended && stat.started == self.started)
    }

    /// Waits until it has ended, at most `limit`. Returns whether it has.
    pub(super) fn wait(&self, limit: Option<Duration>) -> bool {
        let due = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            let ended = match &self.fd {
                Some(fd) => ended_within(fd, left).unwrap_or_else(|_| self.look(left)),
                None => self.look(left),
            };
            if ended || left.is_some_and(|left| left.is_zero()) {
                return ended;
            }
        }
    }

    fn look(&self, left: Option<Duration>) -> bool {
        if self.is_there() {
            thread::sleep(left.map_or(LOOK_EVERY, |left| left.min(LOOK_EVERY)));
        }
        !self.is_there()
    }

    /// Signals exactly this process, if it is still alive.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = match (&self.fd, rustix_pid(self.pid)) {
            (Some(fd), _) => pidfd_send_signal(fd, signal),
            (None, Some(pid)) if self.is_there() => kill_process(pid, signal),
            _ => Ok(()),
        };
    }
}

/// The descriptor becomes readable when the process ends.
fn ended_within(fd: &OwnedFd, limit: Option<Duration>) -> io::Result<bool> {
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    let limit = limit.map(|limit| Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    });
    match poll(&mut fds, limit.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// None for what is no pid of a single process (0, negative numbers).
pub(super) fn rustix_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}
