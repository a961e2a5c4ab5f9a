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

impl Ending {
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
