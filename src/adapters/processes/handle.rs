//! A hold on one process: waiting for its end and signalling it, never mistaking a later process for it.
//!
//! A pidfd names a process as long as it is open, whatever becomes of the number. Where the kernel has none, the start
//! time is compared right before each use.
//!
//! Must not know: groups; why somebody waits.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::proc_files::Stat;

/// How often the end of a process is looked for where the kernel cannot tell it.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::adapters) enum Woken {
    /// The process has ended.
    Ended,
    /// There is something to read.
    Told,
    /// Time is up.
    Late,
}

/// One process, by pid and start time.
#[derive(Debug)]
pub(in crate::adapters) struct Handle {
    pid: u32,
    started: u64,
    /// None where the kernel has no pidfd.
    fd: Option<OwnedFd>,
}

impl Handle {
    /// None if it is not alive.
    pub(in crate::adapters) fn open(pid: u32, started: u64) -> Option<Self> {
        Self::with(pid, started, pidfd_open(rustix_pid(pid)?, PidfdFlags::empty()))
    }

    /// The identity is checked after the descriptor was opened: from then on it cannot change.
    fn with(pid: u32, started: u64, fd: rustix::io::Result<OwnedFd>) -> Option<Self> {
        let handle = Self { pid, started, fd: fd.ok() };
        handle.is_there().then_some(handle)
    }

    /// Without a pidfd, as on an old kernel.
    #[cfg(test)]
    pub(in crate::adapters) fn without_fd(pid: u32, started: u64) -> Option<Self> {
        Self::with(pid, started, Err(rustix::io::Errno::NOSYS))
    }

    fn is_there(&self) -> bool {
        Stat::of(self.pid).is_ok_and(|stat| !stat.ended && stat.started == self.started)
    }

    /// Waits until it has ended, at most `limit`. Returns whether it has.
    pub(in crate::adapters) fn wait(&self, limit: Option<Duration>) -> bool {
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

    /// Waits until it has ended, or there is something to read from `told`, at most `limit`.
    pub(in crate::adapters) fn wait_or(&self, told: BorrowedFd<'_>, limit: Duration) -> Woken {
        // Without a pidfd the process is looked at after a wait for the other one.
        let span = if self.fd.is_some() { limit } else { limit.min(LOOK_EVERY) };
        let mut fds: Vec<_> = self.fd.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        fds.push(PollFd::from_borrowed_fd(told, PollFlags::IN));
        let polled = poll(&mut fds, Some(&timespec(span)));
        let is_told = fds.last().is_some_and(|fd| !fd.revents().is_empty());
        if polled.is_err_and(|error| error != rustix::io::Errno::INTR) {
            thread::sleep(span.min(LOOK_EVERY));
        }
        match (self.is_there(), is_told) {
            (false, _) => Woken::Ended,
            (true, true) => Woken::Told,
            (true, false) => Woken::Late,
        }
    }

    fn look(&self, left: Option<Duration>) -> bool {
        if self.is_there() {
            thread::sleep(left.map_or(LOOK_EVERY, |left| left.min(LOOK_EVERY)));
        }
        !self.is_there()
    }

    /// Signals exactly this process, if it is still alive.
    pub(in crate::adapters) fn signal(&self, signal: Signal) {
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
    let limit = limit.map(timespec);
    match poll(&mut fds, limit.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn timespec(span: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(span.as_secs()).unwrap_or(i64::MAX), tv_nsec: span.subsec_nanos().into() }
}

/// None for what is no pid of a single process (0, negative numbers).
pub(in crate::adapters) fn rustix_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}
