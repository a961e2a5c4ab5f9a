//! Real programs under a supervisor in this process: shells and sleeps. Waits are bounded and end with what they wait
//! for. That the program dies with a killed supervisor is seen from outside (tests/e2e).

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use tempfile::TempDir;

use super::*;
use crate::adapters::processes::proc_files::Stat;
use crate::domain::engine::{KickId, RunningTurn};
use crate::domain::rate_limit::RateLimitSigns;
use crate::domain::sample::at;
use crate::ports::{Launch, Processes};

/// A variable that every test process has.
const INHERITED: &str = "CARGO_MANIFEST_DIR";
const BOUND: Duration = Duration::from_secs(30);

fn processes() -> SystemProcesses {
    SystemProcesses::new().unwrap()
}

struct Ran {
    folder: TempDir,
    ask: UnixStream,
    ended: Receiver<End>,
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
            rate_limit: RateLimitSigns::default(),
        };
        adjust(&mut launch);
        let (asked, ask) = UnixStream::pair().unwrap();
        let (send, ended) = channel();
        let files = RunFiles::of(&folder.path().join("s-1.json")).unwrap();
        let turn = RunningTurn { kick: KickId("s-1".into()), session: "s".into(), process: None, since: at(0) };
        thread::spawn(move || {
            let order = Order { whose: crate::ports::runs::Whose::Turn(turn), launch };
            let (records, asked) = (files.clone(), asked.as_fd());
            let supervisor = Supervisor {
                files,
                records,
                holding: None,
                order,
                processes: processes(),
                shim: None,
                asked,
                keeping: &|_| Err("a turn has no claim".into()),
            };
            supervisor.supervise();
            let text = fs::read(supervisor.files.order_path().with_extension("exit")).unwrap();
            drop(send.send(serde_json::from_slice(&text).unwrap()));
        });
        Self { folder, ask, ended }
    }

    fn ended(&self) -> End {
        self.ended.recv_timeout(BOUND).unwrap()
    }

    fn end(&self) -> How {
        self.ended().how
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("logs/one.log")).unwrap()
    }

    /// Who runs, as the supervisor recorded it.
    fn started(&self) -> Started {
        let files = RunFiles::of(&self.folder.path().join("s-1.json")).unwrap();
        within_bound(|| files.started())
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

#[test]
fn output_and_how_it_ended() {
    assert!(std::env::var_os(INHERITED).is_some(), "cargo sets it");
    let table = [
        ("echo out; echo err >&2", How::Exited(0), "out\nerr\n"),
        ("exit 75", How::Exited(75), ""),
        ("kill -9 $$", How::Signalled(9), ""),
        ("cat", How::Exited(0), "given\n"),
        ("echo ${CARGO_MANIFEST_DIR-taken out} $GIVEN; echo ${PATH:+kept}", How::Exited(0), "taken out new\nkept\n"),
        ("test $(cut -d' ' -f5 /proc/$$/stat) = $$ && echo leads its group", How::Exited(0), "leads its group\n"),
        ("test -d logs && echo in its folder", How::Exited(0), "in its folder\n"),
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
        assert_eq!(ran.end(), How::Exited(0), "{script}");
    }
}

#[test]
fn what_cannot_be_started_is_named() {
    let attempt = |command: &[&str], folder: &str| {
        let ran = Ran::new("", |launch| {
            launch.command = command.iter().map(ToString::to_string).collect();
            launch.folder = folder.into();
        });
        ran.end()
    };
    let table: [(&[&str], &str, &str); 3] = [
        (&["no-such-program-here"], "/", "`no-such-program-here` cannot be started: No such file or directory"),
        (&["sh"], "/no-such-folder", "/no-such-folder: no such folder to start `sh` in"),
        (&[], "/", "an empty command cannot be started"),
    ];
    for (command, folder, expected) in table {
        let how = attempt(command, folder);
        assert!(matches!(&how, How::NotStarted(why) if why.starts_with(expected)), "{how:?}");
    }
}

#[test]
fn who_runs_is_recorded_and_ended_when_somebody_asks() {
    let ran = Ran::new("echo $$ > pid; sleep 1000", |_| ());
    let started = ran.started();
    assert_eq!(started.program, processes().identify(ran.pid_in("pid")).unwrap());
    assert_eq!(started.supervisor, processes().identify(std::process::id()).unwrap());
    (&ran.ask).write_all(b"x").unwrap();
    assert_eq!(ran.end(), How::Asked);
    assert!(!processes().is_alive(&started.program));
}

#[test]
fn over_time_the_whole_group_ends() {
    let ran = Ran::new("sleep 1000 & echo $! > child; wait", |launch| launch.timeout = Duration::from_millis(300));
    assert_eq!(ran.end(), How::TimedOut);
    let program = ran.started().program;
    assert!(!processes().is_alive(&program));
    // Its number may be free by now: whoever has it is not the sleep of that group.
    let child = ran.pid_in("child");
    assert!(Stat::of(child).map_or(true, |stat| stat.ended || stat.group != program.pid));
}

#[test]
fn silence_is_a_stall_and_slow_output_is_not() {
    let ran = Ran::new("echo begun; sleep 1000", |launch| launch.stall = Some(Duration::from_millis(200)));
    assert_eq!((ran.end(), ran.log().as_str()), (How::Stalled, "begun\n"));
    let slow = "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $n; sleep 0.3; done";
    let ran = Ran::new(slow, |launch| launch.stall = Some(Duration::from_secs(3)));
    assert_eq!(ran.end(), How::Exited(0));
}

#[test]
fn what_outlives_the_leader_is_left_alone() {
    let ran = Ran::new("sleep 1000 > /dev/null 2>&1 < /dev/null & echo $! > child", |_| ());
    assert_eq!(ran.end(), How::Exited(0));
    let child = processes().identify(ran.pid_in("child")).unwrap();
    assert!(processes().is_alive(&child));
    processes().hold(&child).unwrap().signal(rustix::process::Signal::KILL);
    within_bound(|| (!processes().is_alive(&child)).then_some(()));
}

#[test]
fn a_rate_limit_is_found_at_the_end_of_the_output() {
    let table = [
        ("exit 75", Some(900)),
        ("exit 1", None),
        ("echo 'Error: Too Many Requests, retry after 30s' >&2; exit 1", Some(30)),
        ("echo too many requests; kill -9 $$", Some(900)),
        // What was said long before the end was not the end's reason.
        ("echo too many requests; seq 10000; exit 1", None),
    ];
    for (script, wait) in table {
        let ran = Ran::new(script, |launch| {
            let (exit_codes, patterns) = (vec![75], vec!["too many requests".into()]);
            launch.rate_limit = RateLimitSigns { exit_codes, patterns, wait: Duration::from_mins(15) };
        });
        assert_eq!(ran.ended().rate_limited.map(|limit| limit.wait.as_secs()), wait, "{script}");
    }
}

#[test]
fn many_short_programs_all_end_once() {
    let ran: Vec<Ran> = (0..40).map(|n| Ran::new(&format!("exit {}", n % 7), |_| ())).collect();
    for (n, ran) in ran.iter().enumerate() {
        assert_eq!(ran.end(), How::Exited(i32::try_from(n % 7).unwrap()));
    }
}
