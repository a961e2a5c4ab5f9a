//! Real processes: shells and sleeps. Waits are bounded and end with what they wait for.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Instant;

use rustix::process::Signal;
use tempfile::TempDir;

use super::handle::Woken;
use super::*;

const BOUND: Duration = Duration::from_secs(30);

fn processes() -> SystemProcesses {
    SystemProcesses::new().unwrap()
}

/// A shell that leads a group of its own.
struct Leader {
    folder: TempDir,
    child: Child,
    process: ProcessIdentity,
}

impl Leader {
    fn new(script: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(folder.path()).process_group(0).stdin(Stdio::null());
        let child = command.spawn().unwrap();
        let process = processes().identify(child.id()).unwrap();
        Self { folder, child, process }
    }

    /// Waits until it wrote a pid into this file.
    fn pid_in(&self, path: &str) -> u32 {
        let path = self.folder.path().join(path);
        within_bound(|| fs::read_to_string(&path).ok()?.strip_suffix('\n')?.parse().ok())
    }

    fn signal(mut self) -> Option<i32> {
        use std::os::unix::process::ExitStatusExt;
        self.child.wait().unwrap().signal()
    }
}

fn within_bound<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < BOUND, "did not happen within {BOUND:?}");
        thread::yield_now();
    }
}

fn kill(process: &ProcessIdentity) {
    if let Some(handle) = Handle::open(process.pid, process.started) {
        handle.signal(Signal::KILL);
    }
}

#[test]
fn a_group_that_ignores_the_polite_signal_is_killed() {
    let stubborn = "trap '' TERM; sleep 1000 & echo $! > child; echo ready > ready; while :; do sleep 1000; done";
    let leader = Leader::new(stubborn);
    let child = processes().identify(leader.pid_in("child")).unwrap();
    processes().end_group(&leader.process, Duration::from_millis(200));
    assert!(!processes().is_alive(&leader.process) && !processes().is_alive(&child));
    assert_eq!(leader.signal(), Some(9));
}

#[test]
fn a_child_that_outlives_its_polite_leader_is_killed_too() {
    let script = "(trap '' TERM; echo > ready; while :; do sleep 1000; done) & echo $! > child; wait";
    let leader = Leader::new(script);
    let child = processes().identify(leader.pid_in("child")).unwrap();
    within_bound(|| leader.folder.path().join("ready").exists().then_some(()));
    processes().end_group(&leader.process, Duration::from_millis(200));
    assert!(!processes().is_alive(&child));
    assert_eq!(leader.signal(), Some(15));
}

/// A process that is no child of this one, in a group of its own; None, with a notice, where no program can make one.
fn stranger(folder: &Path) -> Option<ProcessIdentity> {
    let script = "exec > /dev/null 2>&1; command -v setsid || exit 9; setsid sleep 1000 & echo $! > pid";
    let made = Command::new("sh").args(["-c", script]).current_dir(folder).status().unwrap();
    if made.code() == Some(9) {
        eprintln!("skipped: setsid is missing here");
        return None;
    }
    assert!(made.success());
    let pid: u32 = fs::read_to_string(folder.join("pid")).unwrap().trim().parse().unwrap();
    within_bound(|| Stat::of(pid).ok().filter(|stat| stat.group == pid).map(drop));
    Some(processes().identify(pid).unwrap())
}

#[test]
fn a_recycled_pid_is_another_process_and_is_never_signalled() {
    let folder = TempDir::new().unwrap();
    let Some(real) = stranger(folder.path()) else { return };
    let earlier = ProcessIdentity { started: real.started - 1, ..real.clone() };
    let rebooted = ProcessIdentity { boot_id: "another".into(), ..real.clone() };
    for other in [&earlier, &rebooted] {
        assert!(!processes().is_alive(other));
        processes().end_group(other, Duration::from_millis(100));
        let (send, ended) = channel();
        processes().when_ended(other, Box::new(move || send.send(()).unwrap_or(())));
        ended.recv_timeout(BOUND).unwrap();
    }
    assert!(
        Handle::open(real.pid, earlier.started).is_none() && Handle::without_fd(real.pid, earlier.started).is_none()
    );
    assert!(processes().is_alive(&real));
    processes().end_group(&real, BOUND);
    assert!(!processes().is_alive(&real));
}

#[test]
fn who_leads_no_group_is_not_ended_with_one() {
    let leader = Leader::new("sleep 1000 & echo $! > child; wait");
    let child = processes().identify(leader.pid_in("child")).unwrap();
    processes().end_group(&child, Duration::from_millis(100));
    assert!(processes().is_alive(&child) && processes().is_alive(&leader.process));
    processes().end_group(&leader.process, BOUND);
    assert_eq!(leader.signal(), Some(15));
}

#[test]
fn a_wait_ends_with_the_process_or_with_a_word_whichever_comes_first() {
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    for with_fd in [true, false] {
        let (told, mut tell) = UnixStream::pair().unwrap();
        let mut child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let started = Stat::of(child.id()).unwrap().started;
        let open = if with_fd { Handle::open } else { Handle::without_fd };
        let handle = open(child.id(), started).unwrap();
        assert_eq!(handle.wait_or(told.as_fd(), Duration::from_millis(20)), Woken::Late);
        tell.write_all(b"x").unwrap();
        assert_eq!(handle.wait_or(told.as_fd(), BOUND), Woken::Told);
        child.kill().unwrap();
        assert!(handle.wait(Some(BOUND)));
        assert_eq!(handle.wait_or(told.as_fd(), BOUND), Woken::Ended);
        child.wait().unwrap();
    }
}

#[test]
fn the_end_of_a_process_that_is_no_child_is_noticed() {
    let folder = TempDir::new().unwrap();
    let Some(process) = stranger(folder.path()) else { return };
    let (send, ended) = channel();
    processes().when_ended(&process, Box::new(move || send.send(()).unwrap_or(())));
    assert!(ended.try_recv().is_err());
    kill(&process);
    ended.recv_timeout(BOUND).unwrap();
}

#[test]
fn without_a_pidfd_the_end_is_found_by_looking() {
    let folder = TempDir::new().unwrap();
    let Some(process) = stranger(folder.path()) else { return };
    let handle = Handle::without_fd(process.pid, process.started).unwrap();
    assert!(!handle.wait(Some(Duration::from_millis(20))));
    handle.signal(Signal::KILL);
    assert!(handle.wait(Some(BOUND)));
}

#[test]
fn a_zombie_is_not_alive() {
    let mut child: Child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
    let process = processes().identify(child.id()).unwrap();
    let handle = Handle::open(process.pid, process.started).unwrap();
    child.kill().unwrap();
    assert!(handle.wait(Some(BOUND)));
    // Not reaped yet: its line is still there.
    assert!(Stat::of(process.pid).unwrap().ended);
    assert!(!processes().is_alive(&process) && processes().identify(process.pid).is_err());
    child.wait().unwrap();
}

#[test]
fn pids_of_nobody_are_refused() {
    for pid in [0, u32::MAX, i32::MAX.unsigned_abs()] {
        assert!(processes().identify(pid).is_err(), "{pid}");
        let process = ProcessIdentity { pid, ..processes().identify(std::process::id()).unwrap() };
        assert!(!processes().is_alive(&process));
        processes().end_group(&process, Duration::ZERO);
    }
}
