//! What a program, and all that it has started, uses of a processor.
//!
//! Must not know: what that says.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::adapters::processes::proc_files::family;

/// How often it is looked at most: each look goes through all processes.
const EVERY: Duration = Duration::from_secs(5);

/// Measures the group of one process, and whatever descends from it.
#[derive(Default)]
pub(super) struct Meter {
    /// None before there is a program.
    group: Option<u32>,
    looked: Option<Instant>,
    /// By pid and start time, in ticks.
    used: BTreeMap<(u32, u64), u64>,
}

impl Meter {
    pub(super) fn of(group: u32) -> Self {
        Self { group: Some(group), ..Self::default() }
    }

    /// What was used since the last look, if it is time for another one. What a process that ended meanwhile used counts as
    /// far as its parent has waited for it.
    pub(super) fn used_since(&mut self) -> Duration {
        let Some(group) = self.group else { return Duration::ZERO };
        if self.looked.is_some_and(|looked| looked.elapsed() < EVERY) {
            return Duration::ZERO;
        }
        self.looked = Some(Instant::now());
        let now: BTreeMap<_, _> =
            family(group).into_iter().map(|(pid, stat)| ((pid, stat.started), stat.used)).collect();
        let before = std::mem::take(&mut self.used);
        let more = now.iter().map(|(process, used)| used.saturating_sub(before.get(process).copied().unwrap_or(0)));
        let ticks: u64 = more.sum();
        self.used = now;
        let a_second = rustix::param::clock_ticks_per_second().max(1);
        Duration::from_millis(ticks.saturating_mul(1000) / a_second)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn what_is_at_work_uses_something_and_what_sleeps_does_not() {
        for (script, works) in [("while :; do :; done", true), ("sleep 1000", false)] {
            let mut child = Command::new("sh").args(["-c", script]).process_group(0).spawn().unwrap();
            let mut meter = Meter::of(child.id());
            let began = Instant::now();
            let mut used = Duration::ZERO;
            // The shell's own start is some milliseconds.
            while began.elapsed() < Duration::from_secs(if works { 30 } else { 1 }) && used < Duration::from_millis(300)
            {
                meter.looked = None;
                used += meter.used_since();
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = rustix::process::kill_process_group(
                rustix::process::Pid::from_child(&child),
                rustix::process::Signal::KILL,
            );
            child.wait().unwrap();
            assert_eq!(used >= Duration::from_millis(300), works, "{script}: {used:?}");
        }
    }
}
