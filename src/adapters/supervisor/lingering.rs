//! After a run's end: its log is kept within bounds as long as anybody still has it open, a worker that the agent left
//! behind, say (FAULTS kind 15).
//!
//! Must not know: who that is; the run, which is over.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::output::Output;
use crate::adapters::processes::proc_files::pids;

/// How long until it is looked again who has the log open, at first and at last: the look goes through all processes.
const SOONEST: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_mins(1);
/// How much less often than during the run the log's size is looked at.
const SELDOMER: u32 = 5;

/// Returns when nobody else has the log open. Whose files cannot be looked at (another user's) does not count.
pub(super) fn linger(mut log: Output) {
    let mut pause = SOONEST;
    while is_open_elsewhere(log.file()) {
        let until = Instant::now() + pause;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            thread::sleep(left.min(log.look_again() * SELDOMER));
            log.bound();
        }
        pause = (pause * 2).min(LATEST);
    }
    log.bound();
}

/// By the names that the kernel has for open files: no other file is touched for it.
fn is_open_elsewhere(file: &File) -> bool {
    let own = PathBuf::from("/proc/self/fd").join(file.as_raw_fd().to_string());
    let Ok(name) = fs::read_link(own) else { return false };
    pids().filter(|pid| *pid != std::process::id()).any(|pid| has_open(pid, &name))
}

fn has_open(pid: u32, name: &Path) -> bool {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|other| other == name)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::process::{Child, Command, Stdio};

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn whoever_has_it_open_is_seen_until_he_ends_also_when_it_is_deleted() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log");
        let own = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        assert!(!is_open_elsewhere(&own), "this process does not count");
        for delete in [false, true] {
            let theirs = OpenOptions::new().append(true).create(true).open(&path).unwrap();
            let mut child: Child = Command::new("sleep").arg("1000").stdout(Stdio::from(theirs)).spawn().unwrap();
            if delete {
                fs::remove_file(&path).unwrap();
            }
            assert!(is_open_elsewhere(&own), "{delete}");
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(!is_open_elsewhere(&own));
        }
    }
}
