//! What is found in a folder of runs, by files as supervisors leave them; a held lock stands for a supervisor. Real
//! supervisors are seen from outside (tests/e2e).

use std::fs::{self, File};
use std::sync::mpsc::{RecvTimeoutError, channel};

use tempfile::TempDir;

use super::*;
use crate::adapters::runs::files::Started;
use crate::domain::facts::ProcessIdentity;
use crate::domain::rate_limit::{RateLimit, RateLimitSigns};
use crate::domain::sample::at;
use crate::ports::runs::{End, How, Sign};
use crate::ports::{Launch, Processes};

const BOUND: Duration = Duration::from_secs(30);

struct Bench {
    folder: TempDir,
    runs: RunFolder,
    processes: SystemProcesses,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let processes = SystemProcesses::new().unwrap();
        let runs = RunFolder::new(folder.path().join("runs"), "/no/such/yoi", processes.clone());
        own_folder(&folder.path().join("runs")).unwrap();
        Self { folder, runs, processes }
    }

    fn files(&self, name: &str) -> RunFiles {
        self.runs.files(&RunId(name.into()))
    }

    /// An order as the daemon writes it.
    fn ordered(&self, name: &str, minute: i64) -> RunFiles {
        let files = self.files(name);
        files.write_order(&order(name, minute)).unwrap();
        files
    }

    fn held(&self, name: &str) -> File {
        let lock = self.files(name).open_lock().unwrap();
        lock.try_lock().unwrap();
        lock
    }

    /// Records this process as the supervisor, and one that is not there any more, or this child, as its program.
    fn started(&self, files: &RunFiles, program: Option<u32>) -> Started {
        let own = self.processes.identify(std::process::id()).unwrap();
        let gone = || ProcessIdentity { started: own.started - 1, ..own.clone() };
        let program = program.map_or_else(gone, |pid| self.processes.identify(pid).unwrap());
        let place = files.place(&files.open_lock().unwrap());
        let started = Started { supervisor: own, program, place };
        files.write_started(&started).unwrap();
        started
    }

    fn left(&self) -> usize {
        fs::read_dir(self.folder.path().join("runs")).unwrap().count()
    }
}

fn turn(found: &Found) -> &RunningTurn {
    match &found.whose {
        Whose::Turn(turn) => turn,
        Whose::Pod(pod) => panic!("{pod:?} is no turn"),
    }
}

/// With paths that are not UTF-8.
fn order(name: &str, minute: i64) -> Order {
    use std::os::unix::ffi::OsStringExt;

    let odd = std::ffi::OsString::from_vec(b"/odd/\xff".to_vec());
    let turn = RunningTurn { kick: KickId(name.into()), session: "s".into(), process: None, since: at(minute) };
    let launch = Launch {
        command: vec!["true".into()],
        folder: odd.clone().into(),
        set: vec![("A".into(), odd.clone())],
        unset: vec!["B".into()],
        input: "list\n".into(),
        log: odd.into(),
        timeout: Duration::from_millis(1500),
        stall: None,
        rate_limit: RateLimitSigns { exit_codes: vec![75], patterns: vec!["x".into()], wait: Duration::from_secs(9) },
    };
    Order { whose: Whose::Turn(turn), launch }
}

#[test]
fn an_order_is_read_as_it_was_written() {
    let bench = Bench::new();
    assert_eq!(bench.ordered("s-1", 3).order().unwrap().unwrap(), order("s-1", 3));
}

#[test]
fn a_held_lock_is_a_run_whatever_became_of_its_files() {
    let bench = Bench::new();
    let files = bench.ordered("s-2", 5);
    bench.ordered("s-1", 9);
    let _locks = [bench.held("s-2"), bench.held("s-1"), bench.held("t-x-7")];
    let started = bench.started(&files, Some(std::process::id()));
    fs::write(bench.files("s-1").order_path(), "{\"half").unwrap();
    let found = bench.runs.found().unwrap();
    let mut shown: Vec<_> = found.iter().map(|f| (turn(f).kick.0.as_str(), turn(f).session.as_str())).collect();
    shown.sort_unstable();
    assert_eq!(shown, [("s-1", "s"), ("s-2", "s"), ("t-x-7", "t-x")]);
    assert!(found.iter().all(|f| f.standing == Standing::Running));
    let second = found.iter().find(|f| turn(f).kick.0 == "s-2").unwrap();
    assert_eq!((turn(second).since, turn(second).process.as_ref()), (at(5), Some(&started.program)));
}

#[test]
fn what_is_held_by_nobody_has_ended_never_began_or_is_nothing() {
    let bench = Bench::new();
    let end = End {
        how: How::Exited(3),
        at: at(7),
        rate_limited: Some(RateLimit { wait: Duration::from_mins(1), named: true }),
    };
    bench.ordered("s-1", 1).write_end(&end).unwrap();
    bench.ordered("s-2", 2);
    let killed = bench.ordered("s-3", 3);
    bench.started(&killed, None);
    bench.files("orderless").write_end(&end).unwrap();
    bench.files("empty").open_lock().unwrap();
    fs::write(bench.files("damaged").order_path(), "").unwrap();
    let found = bench.runs.found().unwrap();
    let standings: Vec<_> = found.iter().map(|f| &f.standing).collect();
    let (nothing, began) = (&Standing::NeverBegan, |s: &&&Standing| ***s != Standing::NeverBegan);
    assert_eq!(standings[..2], [&Standing::Ended(end), nothing]);
    assert!(matches!(standings[2], Standing::Ended(End { how: How::SupervisorLost, .. })), "{found:?}");
    assert_eq!((found.len(), standings.iter().filter(began).count()), (6, 2), "what has no order is nobody's");
    fs::write(bench.folder.path().join("runs/.new-x"), "").unwrap();
    bench.runs.tidy();
    for run in found {
        bench.runs.forget(&run.whose.id()).unwrap();
    }
    assert_eq!(bench.left(), 0);
}

#[test]
fn the_signs_come_in_order_and_the_last_with_the_lock() {
    let bench = Bench::new();
    let files = bench.ordered("s-1", 1);
    let lock = bench.held("s-1");
    let (send, signs) = channel();
    bench.runs.watch(&RunId("s-1".into()), Box::new(move |sign| drop(send.send(sign))));
    let started = bench.started(&files, Some(std::process::id()));
    assert_eq!(signs.recv_timeout(BOUND).unwrap(), Sign::Started(started.program));
    let end = End { how: How::Exited(0), at: at(7), rate_limited: None };
    files.write_end(&end).unwrap();
    assert!(signs.try_recv().is_err(), "it goes on as long as the lock is held");
    drop(lock);
    assert_eq!(signs.recv_timeout(BOUND).unwrap(), Sign::Ended(end));
    assert_eq!(signs.recv_timeout(BOUND), Err(RecvTimeoutError::Disconnected), "once");
}

#[test]
fn a_program_that_outlived_its_supervisor_is_ended_before_its_end_is_told() {
    let bench = Bench::new();
    let files = bench.ordered("s-1", 1);
    let mut child = Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
    let started = bench.started(&files, Some(child.id()));
    let reaper = thread::spawn(move || child.wait().unwrap());
    bench.runs.found().unwrap();
    assert!(bench.processes.is_alive(&started.program), "a look changes nothing");
    bench.runs.tidy();
    let found = bench.runs.found().unwrap();
    assert!(matches!(found[0].standing, Standing::Ended(End { how: How::SupervisorLost, .. })));
    assert!(!bench.processes.is_alive(&started.program));
    reaper.join().unwrap();
}

/// What becomes of a program that runs without an end on record, when its folder is looked through after this.
fn check_program(what: &str, rearrange: impl FnOnce(&Bench, &RunFiles) -> RunFolder, foreign: bool, ended: bool) {
    let bench = Bench::new();
    let files = bench.ordered("s-1", 1);
    let mut child = Command::new("sleep").arg("1000").process_group(0).spawn().unwrap();
    let started = bench.started(&files, Some(child.id()));
    let runs = rearrange(&bench, &files);
    runs.tidy();
    let found = runs.found().unwrap();
    runs.end(&RunId("s-1".into())).unwrap();
    // A group that is told to end is waited for; one that is let be is alive.
    assert_eq!(bench.processes.is_alive(&started.program), !ended, "{what}: {found:?}");
    assert_eq!(found[0].standing == Standing::Foreign, foreign, "{what}: {found:?}");
    assert!(turn(&found[0]).process.is_none(), "{what}: {found:?}");
    runs.forget(&RunId("s-1".into())).unwrap();
    let _ = child.kill();
    child.wait().unwrap();
}

/// Makes each file of the runs anew in another folder, or gives it a further name there.
fn copied(bench: &Bench, put: fn(&Path, &Path) -> io::Result<()>) -> RunFolder {
    let copy = bench.folder.path().join("copy");
    own_folder(&copy).unwrap();
    for entry in fs::read_dir(bench.folder.path().join("runs")).unwrap() {
        let path = entry.unwrap().path();
        put(&path, &copy.join(path.file_name().unwrap())).unwrap();
    }
    RunFolder { folder: copy, ..bench.runs.clone() }
}

fn with_record(files: &RunFiles, change: impl FnOnce(&mut Started)) {
    let mut started = files.started().unwrap();
    change(&mut started);
    files.write_started(&started).unwrap();
}

#[test]
fn a_run_of_the_workspace_that_this_one_was_copied_from_is_let_be() {
    let copy = |from: &Path, to: &Path| fs::copy(from, to).map(drop);
    let dead = |started: &mut Started| started.supervisor.started -= 1;
    check_program("as it was", |bench, _| bench.runs.clone(), false, true);
    check_program("copied", |bench, _| copied(bench, copy), true, false);
    let late = |bench: &Bench, files: &RunFiles| {
        with_record(files, dead);
        copied(bench, copy)
    };
    check_program("copied, its supervisor killed afterwards", late, true, false);
    check_program("copied by hard links", |bench, _| copied(bench, |from, to| fs::hard_link(from, to)), true, false);
    let moved = |bench: &Bench, _: &RunFiles| {
        let folder = bench.folder.path().join("moved");
        fs::rename(bench.folder.path().join("runs"), &folder).unwrap();
        RunFolder { folder, ..bench.runs.clone() }
    };
    check_program("moved", moved, false, true);
    let unnoted = |bench: &Bench, files: &RunFiles| {
        with_record(files, |started| started.place = None);
        bench.runs.clone()
    };
    check_program("of a version that noted no place", unnoted, true, false);
    let unnoted_dead = |bench: &Bench, files: &RunFiles| {
        with_record(files, |started| (started.place, started.supervisor.started) = (None, 1));
        bench.runs.clone()
    };
    check_program("of such a one, its supervisor killed", unnoted_dead, false, false);
    let former_boot = |bench: &Bench, files: &RunFiles| {
        with_record(files, |started| started.supervisor.boot_id = "former".into());
        copied(bench, copy)
    };
    check_program("restored after a restart of the machine", former_boot, false, false);
}

#[test]
fn a_held_lock_is_adopted_after_a_move_and_not_by_a_further_name() {
    let bench = Bench::new();
    let files = bench.ordered("s-1", 1);
    let lock = bench.held("s-1");
    let mut supervisor = Command::new("sleep").arg("1000").spawn().unwrap();
    bench.started(&files, None);
    let own = bench.processes.identify(supervisor.id()).unwrap();
    with_record(&files, |started| started.supervisor = own.clone());
    let copy = copied(&bench, |from, to| fs::hard_link(from, to));
    let standing = |runs: &RunFolder| runs.found().unwrap().swap_remove(0).standing;
    assert_eq!((standing(&copy), standing(&bench.runs)), (Standing::Foreign, Standing::Running));
    let refused = copy.end(&RunId("s-1".into())).unwrap_err().to_string();
    assert_eq!(refused, "it belongs to the workspace that this one was copied from");
    assert!(bench.processes.is_alive(&own), "whoever holds it was not signalled");
    let moved = RunFolder { folder: bench.folder.path().join("moved"), ..bench.runs.clone() };
    fs::rename(bench.folder.path().join("runs"), &moved.folder).unwrap();
    assert_eq!(standing(&moved), Standing::Running);
    drop(lock);
    supervisor.kill().unwrap();
    supervisor.wait().unwrap();
}

#[test]
fn a_supervisor_that_cannot_be_started_leaves_nothing() {
    let bench = Bench::new();
    let error = bench.runs.start(&order("s-1", 1), Box::new(|_| ())).unwrap_err().to_string();
    assert!(error.starts_with("its supervisor (/no/such/yoi): "), "{error}");
    assert_eq!(bench.left(), 0);
    // Nor does it touch anything of one that has its name.
    bench.ordered("s-1", 7);
    let _lock = bench.held("s-1");
    let error = bench.runs.start(&order("s-1", 1), Box::new(|_| ())).unwrap_err().to_string();
    assert!(error.ends_with("runs/s-1.lock: a run of this name goes on"), "{error}");
    assert_eq!(bench.files("s-1").order().unwrap().unwrap(), order("s-1", 7));
}

#[test]
fn a_link_in_the_place_of_the_folder_leads_nowhere() {
    let bench = Bench::new();
    let folder = bench.folder.path().join("runs");
    fs::remove_dir(&folder).unwrap();
    fs::create_dir(bench.folder.path().join("precious")).unwrap();
    fs::write(bench.folder.path().join("precious/a.lock"), "").unwrap();
    std::os::unix::fs::symlink(bench.folder.path().join("precious"), &folder).unwrap();
    assert!(bench.runs.start(&order("s-1", 1), Box::new(|_| ())).is_err());
    assert_eq!(bench.runs.found().unwrap(), []);
    assert_eq!(fs::read_dir(bench.folder.path().join("precious")).unwrap().count(), 1);
}

/// A process that stands for a supervisor: it holds the lock, and is stopped. Returns what was told of it until its end,
/// and how it ended.
fn stopped_supervisor(script: &str) -> (Vec<Sign>, std::process::ExitStatus) {
    let bench = Bench::new();
    let files = bench.ordered("s-1", 1);
    let lock = bench.held("s-1");
    let mut supervisor = Command::new("sh").args(["-c", script]).stdin(lock).spawn().unwrap();
    let started = Started {
        supervisor: bench.processes.identify(supervisor.id()).unwrap(),
        program: ProcessIdentity { started: 1, ..bench.processes.identify(std::process::id()).unwrap() },
        place: None,
    };
    files.write_started(&started).unwrap();
    let (send, signs) = channel();
    let runs = RunFolder { settling: Duration::from_millis(300), ..bench.runs.clone() };
    runs.watch(&RunId("s-1".into()), Box::new(move |sign| drop(send.send(sign))));
    let status = supervisor.wait().unwrap();
    let mut told = Vec::new();
    while let Ok(sign) = signs.recv_timeout(BOUND) {
        told.push(sign);
    }
    (told, status)
}

#[test]
fn a_stopped_supervisor_is_told_to_go_on_and_one_that_hangs_is_killed() {
    use std::os::unix::process::ExitStatusExt;

    let says = |sign: &Sign, what: &str| matches!(sign, Sign::Hangs(text) if text.contains(what));
    let (told, status) = stopped_supervisor("kill -STOP $$; exit 7");
    assert_eq!(status.code(), Some(7), "it went on by itself: {told:?}");
    assert!(told.len() == 3 && says(&told[1], "it is told to go on"), "{told:?}");
    let (told, status) = stopped_supervisor("kill -STOP $$; kill -STOP $$; exit 7");
    assert_eq!(status.signal(), Some(9), "{told:?}");
    assert!(told.len() == 4 && says(&told[2], "it is killed"), "{told:?}");
    assert!(matches!(told[3], Sign::Ended(End { how: How::SupervisorLost, .. })), "{told:?}");
}

#[test]
fn whoever_has_a_supervisors_number_by_now_is_let_be() {
    let bench = Bench::new();
    let files = bench.ordered("s-1", 1);
    let lock = bench.held("s-1");
    let mut innocent = Command::new("sleep").arg("1000").spawn().unwrap();
    let own = bench.processes.identify(innocent.id()).unwrap();
    let former = ProcessIdentity { started: own.started - 1, ..own.clone() };
    files.write_started(&Started { supervisor: former.clone(), program: former, place: None }).unwrap();
    let (send, signs) = channel();
    let runs = RunFolder { settling: Duration::from_millis(50), ..bench.runs.clone() };
    runs.watch(&RunId("s-1".into()), Box::new(move |sign| drop(send.send(sign))));
    assert!(matches!(signs.recv_timeout(BOUND), Ok(Sign::Started(_))));
    // Longer than both waits.
    assert_eq!(signs.recv_timeout(Duration::from_millis(400)), Err(RecvTimeoutError::Timeout));
    assert!(bench.processes.is_alive(&own));
    drop(lock);
    assert!(matches!(signs.recv_timeout(BOUND), Ok(Sign::Ended(_))));
    innocent.kill().unwrap();
    innocent.wait().unwrap();
}
