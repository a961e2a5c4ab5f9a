//! Real processes: shells and sleeps. Waits are bounded and end with what they wait for.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use rustix::process::Signal;
use tempfile::TempDir;

use super::*;

/// A variable that every test process has.
const INHERITED: &str = "CARGO_MANIFEST_DIR";
const BOUND: Duration = Duration::from_secs(30);

fn processes() -> SystemProcesses {
    SystemProcesses::new().unwrap()
}

struct Ran {
    folder: TempDir,
    process: ProcessIdentity,
    ended: Receiver<Launched>,
}

impl Ran {
    fn new(script: &str, adjust: impl FnOnce(&mut Launch)) -> Self {
        let folder = TempDir::new().unwrap();
        let mut launch = Launch {
            command: vec!["sh".into(), "-c".into(), script.into()],
            folder: folder.path().into(),
            set: vec![],
            unset: vec![],
            input: String::new(),
            log: folder.path().join("logs/one.log"),
            timeout: BOUND,
            stall: None,
        };
        adjust(&mut launch);
        let (send, ended) = channel();
        let process = processes().launch(launch, Box::new(move |how| drop(send.send(how)))).unwrap();
        Self { folder, process, ended }
    }

    fn end(&self) -> Launched {
        self.ended.recv_timeout(BOUND).unwrap()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("logs/one.log")).unwrap()
    }

    /// Waits until the program wrote a pid into this file.
    fn pid_in(&self, path: &str) -> u32 {
        let path = self.folder.path().join(path);
        within_bound(|| fs::read_to_string(&path).ok()?.strip_suffix('\n')?.parse().ok())
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

fn gone(process: &ProcessIdentity) {
    within_bound(|| (!processes().is_alive(process)).then_some(()));
}

fn kill(process: &ProcessIdentity) {
    if let Some(handle) = Handle::open(process.pid, process.started) {
        handle.signal(Signal::KILL);
    }
}

#[test]
fn output_and_how_it_ended() {
    assert!(std::env::var_os(INHERITED).is_some(), "cargo sets it");
    let table = [
        ("echo out; echo err >&2", Launched::Exited(0), "out\nerr\n"),
        ("exit 75", Launched::Exited(75), ""),
        ("kill -9 $$", Launched::Signalled(9), ""),
        ("cat", Launched::Exited(0), "given\n"),
        (
            "echo ${CARGO_MANIFEST_DIR-taken out} $GIVEN; echo ${PATH:+kept}",
            Launched::Exited(0),
            "taken out new\nkept\n",
        ),
        ("test $(cut -d' ' -f5 /proc/$$/stat) = $$ && echo leads its group", Launched::Exited(0), "leads its group\n"),
        ("test -d logs && echo in its folder", Launched::Exited(0), "in its folder\n"),
    ];
    for (script, end, output) in table {
        let ran = Ran::new(script, |launch| {
            launch.input = "given\n".into();
            launch.unset = vec![INHERITED.into()];
            launch.set = vec![("GIVEN".into(), "new".into())];
        });
        assert_eq!((ran.end(), ran.log().as_str()), (end, output), "{script}");
    }
}

#[test]
fn the_log_is_private_and_is_added_to() {
    let ran = Ran::new("echo second", |launch| {
        fs::create_dir(launch.log.parent().unwrap()).unwrap();
        fs::write(&launch.log, "first\n").unwrap();
    });
    ran.end();
    assert_eq!(ran.log(), "first\nsecond\n");
    let ran = Ran::new("true", |_| ());
    ran.end();
    let mode = |path: &str| fs::metadata(ran.folder.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("logs"), mode("logs/one.log")), (0o700, 0o600));
}

#[test]
fn a_program_that_does_not_read_holds_up_nothing() {
    for script in ["exit 0", "exec <&-; echo closed", "head -c 5 > /dev/null"] {
        let ran = Ran::new(script, |launch| launch.input = "x".repeat(1 << 20));
        assert_eq!(ran.end(), Launched::Exited(0), "{script}");
    }
}

#[test]
fn what_cannot_be_started_is_named() {
    let logs = TempDir::new().unwrap();
    let attempt = |command: &[&str], folder: &str| {
        let launch = Launch {
            command: command.iter().map(ToString::to_string).collect(),
            folder: folder.into(),
            set: vec![],
            unset: vec![],
            input: String::new(),
            log: logs.path().join("one.log"),
            timeout: BOUND,
            stall: None,
        };
        processes().launch(launch, Box::new(|_| ())).unwrap_err().to_string()
    };
    let table: [(&[&str], &str, &str); 3] = [
        (&["no-such-program-here"], "/", "`no-such-program-here` cannot be started: No such file or directory"),
        (&["sh"], "/no-such-folder", "/no-such-folder: no such folder to start `sh` in"),
        (&[], "/", "an empty command cannot be started"),
    ];
    for (command, folder, expected) in table {
        let message = attempt(command, folder);
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn over_time_the_whole_group_ends() {
    let ran = Ran::new("sleep 1000 & echo $! > child; wait", |launch| launch.timeout = Duration::from_millis(300));
    assert_eq!(ran.end(), Launched::TimedOut);
    assert!(!processes().is_alive(&ran.process));
    // Its number may be free by now: whoever has it is not the sleep of that group.
    let child = ran.pid_in("child");
    assert!(Stat::of(child).is_ok_and(|stat| stat.ended || stat.group != ran.process.pid) || Stat::of(child).is_err());
}

#[test]
fn silence_is_a_stall_and_slow_output_is_not() {
    let ran = Ran::new("echo begun; sleep 1000", |launch| launch.stall = Some(Duration::from_millis(200)));
    assert_eq!((ran.end(), ran.log().as_str()), (Launched::Stalled, "begun\n"));
    let slow = "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $n; sleep 0.3; done";
    let ran = Ran::new(slow, |launch| launch.stall = Some(Duration::from_secs(3)));
    assert_eq!(ran.end(), Launched::Exited(0));
}

#[test]
fn what_outlives_the_leader_is_left_alone() {
    let ran = Ran::new("sleep 1000 > /dev/null 2>&1 < /dev/null & echo $! > child", |_| ());
    assert_eq!(ran.end(), Launched::Exited(0));
    let child = processes().identify(ran.pid_in("child")).unwrap();
    assert!(processes().is_alive(&child));
    kill(&child);
    gone(&child);
}

#[test]
fn a_group_that_ignores_the_polite_signal_is_killed() {
    let stubborn = "trap '' TERM; sleep 1000 & echo $! > child; echo ready > ready; while :; do sleep 1000; done";
    let ran = Ran::new(stubborn, |_| ());
    let child = processes().identify(ran.pid_in("child")).unwrap();
    processes().end_group(&ran.process, Duration::from_millis(200));
    assert!(!processes().is_alive(&ran.process) && !processes().is_alive(&child));
    assert_eq!(ran.end(), Launched::Signalled(9));
}

#[test]
fn a_child_that_outlives_its_polite_leader_is_killed_too() {
    let script = "(trap '' TERM; echo > ready; while :; do sleep 1000; done) & echo $! > child; wait";
    let ran = Ran::new(script, |_| ());
    let child = processes().identify(ran.pid_in("child")).unwrap();
    within_bound(|| ran.folder.path().join("ready").exists().then_some(()));
    processes().end_group(&ran.process, Duration::from_millis(200));
    assert!(!processes().is_alive(&child));
    assert_eq!(ran.end(), Launched::Signalled(15));
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
    let ran = Ran::new("sleep 1000 & echo $! > child; wait", |_| ());
    let child = processes().identify(ran.pid_in("child")).unwrap();
    processes().end_group(&child, Duration::from_millis(100));
    assert!(processes().is_alive(&child) && processes().is_alive(&ran.process));
    processes().end_group(&ran.process, BOUND);
    ran.end();
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

#[test]
fn many_short_programs_all_end_once() {
    let ran: Vec<Ran> = (0..40).map(|n| Ran::new(&format!("exit {}", n % 7), |_| ())).collect();
    for (n, ran) in ran.iter().enumerate() {
        assert_eq!(ran.end(), Launched::Exited(i32::try_from(n % 7).unwrap()));
        assert!(ran.ended.recv_timeout(BOUND).is_err(), "the callback's sender is gone after one call");
    }
}
