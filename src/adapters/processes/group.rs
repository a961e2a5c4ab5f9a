//! Ending a process group: SIGTERM, some grace, SIGKILL.
//!
//! The number of a group is not given to anybody else while a process of it is left, or while its leader has not been
//! reaped. So a group is signalled by number only while its leader is certainly that process (a supervisor, which alone
//! reaps it, cannot lose it in between); what outlives the leader is signalled one by one, by identity.
//!
//! Must not know: why a group is ended.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process_group};

use super::handle::{Handle, rustix_pid};
use super::proc_files::{Stat, members};

/// How often a group that was told to end is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long SIGKILL may take: a process in an uninterruptible wait is not waited for longer.
const KILL_TAKES: Duration = Duration::from_secs(5);

/// A group that is being ended: its leader, and every member ever seen.
struct Ending {
    leader: u32,
    started: u64,
    seen: BTreeSet<(u32, u64)>,
}

/// Ends the group of exactly this leader; nothing if it is not alive. Returns when the group is gone.
pub(in crate::adapters) fn end(leader: u32, started: u64, grace: Duration) {
    let mut ending = Ending { leader, started, seen: BTreeSet::new() };
    if ending.signal_group(Signal::TERM) && !ending.gone_within(grace) {
        ending.signal_group(Signal::KILL);
        ending.kill_each();
    }
}

/// Ends what is left of the group of a leader that has ended, and that nobody but this process could reap, and has not yet.
/// Returns when the group is gone.
pub(in crate::adapters) fn end_left(leader: u32, started: u64, grace: Duration) {
    let mut ending = Ending { leader, started, seen: BTreeSet::new() };
    ending.seen.insert((leader, started));
    if ending.look().is_empty() {
        return;
    }
    if ending.signal_kept_group(Signal::TERM) && !ending.gone_within(grace) {
        ending.signal_kept_group(Signal::KILL);
        ending.kill_each();
    }
}

/// Ends those processes of a group that have this variable in the environment they began with, one by one: its leader is gone,
/// and its number may be another group's by now. Returns when they are gone.
pub(in crate::adapters) fn end_marked(group: u32, mark: &str, grace: Duration) {
    let marked = || {
        let members = members(group).into_iter().filter(|(_, stat)| !stat.ended);
        members.filter(|(pid, _)| has_variable(*pid, mark)).collect::<Vec<_>>()
    };
    let signal = |signal| {
        for (pid, stat) in marked() {
            if let Some(handle) = Handle::open(pid, stat.started).filter(|_| has_variable(pid, mark)) {
                handle.signal(signal);
            }
        }
    };
    let gone_within = |limit: Duration| {
        let began = Instant::now();
        while !marked().is_empty() && began.elapsed() < limit {
            thread::sleep(LOOK_EVERY);
        }
        marked().is_empty()
    };
    if !gone_within(Duration::ZERO) {
        signal(Signal::TERM);
        let began = Instant::now();
        while !gone_within(grace.saturating_sub(began.elapsed())) && began.elapsed() < grace + KILL_TAKES {
            signal(Signal::KILL);
        }
    }
}

/// Whether a process began with this line in its environment. Another user's says nothing.
fn has_variable(pid: u32, line: &str) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == line.as_bytes())
}

impl Ending {
    /// As long as the leader is not reaped its number is nobody else's, ended or not; for whoever alone can reap it.
    fn signal_kept_group(&mut self, signal: Signal) -> bool {
        let kept = Stat::of(self.leader).is_ok_and(|stat| stat.started == self.started && stat.group == self.leader);
        if kept && let Some(pid) = rustix_pid(self.leader) {
            let _ = kill_process_group(pid, signal);
        }
        kept
    }

    /// Returns whether the leader was alive, and its group therefore signalled.
    fn signal_group(&mut self, signal: Signal) -> bool {
        let leads = Stat::of(self.leader)
            .is_ok_and(|stat| !stat.ended && stat.started == self.started && stat.group == self.leader);
        if leads && let Some(pid) = rustix_pid(self.leader) {
            self.seen.insert((self.leader, self.started));
            self.look();
            let _ = kill_process_group(pid, signal);
        }
        leads
    }

    /// Looks who is in the group. Whoever joined it since counts only while somebody known is still in it: otherwise the
    /// number may be another group's by now. Returns who of them is alive.
    fn look(&mut self) -> Vec<(u32, u64)> {
        let now = members(self.leader);
        let known = now.iter().any(|(pid, stat)| self.seen.contains(&(*pid, stat.started)));
        if known {
            self.seen.extend(now.iter().map(|(pid, stat)| (*pid, stat.started)));
        }
        let alive = now.iter().filter(|(_, stat)| known && !stat.ended);
        alive.map(|(pid, stat)| (*pid, stat.started)).collect()
    }

    fn gone_within(&mut self, limit: Duration) -> bool {
        let began = Instant::now();
        while !self.look().is_empty() {
            if began.elapsed() >= limit {
                return false;
            }
            thread::sleep(LOOK_EVERY);
        }
        true
    }

    /// Again and again, because a member may have forked meanwhile.
    fn kill_each(&mut self) {
        let began = Instant::now();
        loop {
            let alive = self.look();
            if alive.is_empty() || began.elapsed() > KILL_TAKES {
                return;
            }
            for (pid, started) in alive {
                if let Some(handle) = Handle::open(pid, started) {
                    handle.signal(Signal::KILL);
                    handle.wait(Some(LOOK_EVERY));
                }
            }
        }
    }
}
