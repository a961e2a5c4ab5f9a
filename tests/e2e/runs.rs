//! Turns under their supervisors: they outlive the daemon, are found by the next one, die with a killed supervisor, and
//! leave nothing behind (DESIGN.md 6.5; FAULTS kinds 8, 15, 16).

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

fn last_end(stage: &Stage) -> Value {
    stage.events().into_iter().rfind(|event| event["kind"] == "TURN_ENDED").unwrap()["data"].clone()
}

/// The run of the only turn: who supervises it, and who it is.
fn run(stage: &Stage) -> (u32, u32) {
    let folder = stage.bench.path("work/.git/yoi/runs");
    let started = || {
        let entries = fs::read_dir(&folder).unwrap().flatten();
        let path = entries.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "started"))?;
        serde_json::from_str::<Value>(&fs::read_to_string(path).ok()?).ok()
    };
    let started = until("a running turn", BOUND, started, || stage.story());
    let pid = |who: &str| u32::try_from(started[who]["pid"].as_u64().unwrap()).unwrap();
    (pid("supervisor"), pid("program"))
}

fn is_there(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn gone(stage: &Stage, what: &str, pid: u32) {
    until(what, BOUND, || (!is_there(pid)).then_some(()), || stage.story());
}

fn kill(stage: &Stage, pid: u32) {
    stage.bench.run(stage.bench.program("kill", "work").args(["-9", &pid.to_string()]));
}

/// A stage whose only turn is under way.
fn at_work() -> Stage {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.hold();
    stage.start();
    stage.nth_turn(1);
    stage
}

#[test]
fn down_leaves_the_running_turn_to_the_next_daemon() {
    let stage = at_work();
    let turn = stage.nth_turn(1);
    let (supervisor, program) = run(&stage);
    let pid = stage.worker("coder", "a");
    let down = stage.done("down").stdout;
    let kick = turn.kick["kick"].as_str().unwrap();
    let expected = format!(
        "has stopped\nthe turn of kick {kick} goes on: the next daemon takes it over, `yoi down --pods` ends it\n\
         1 Pod left running\n"
    );
    assert!(down.ends_with(&expected), "{down}");
    stage.ended();
    assert!(is_there(supervisor) && is_there(program) && is_there(pid));
    let mark = stage.mark();
    stage.start();
    stage.suppressed(mark, "orchestrator_idle", "busy");
    assert_eq!(stage.json("status")["orchestrator"]["pid"], program);
    assert_eq!(stage.session(), turn.session);
    stage.release();
    stage.event(mark, "its end", |event| event["kind"] == "TURN_ENDED" && event["data"]["failed"].is_null());
    gone(&stage, "the supervisor's end", supervisor);
    stage.rest();
    // Files go last of all, a moment after the records.
    let left = || stage.bench.tree("work/.git/yoi/runs");
    until("an empty folder", BOUND, || left().is_empty().then_some(()), || format!("{:?}", left()));
}

#[test]
fn down_with_pods_ends_the_turn_with_its_group_with_or_without_a_daemon() {
    for first in ["", "down"] {
        let stage = Stage::new();
        stage.ticket("a", "queued", "");
        stage.act(&format!("sleep 600 & echo $! >{}", stage.bench.path("child").display()));
        stage.hold();
        stage.start();
        let kick = stage.nth_turn(1).kick["kick"].as_str().unwrap().to_owned();
        let (supervisor, program) = run(&stage);
        let child = || fs::read_to_string(stage.bench.path("child")).ok()?.trim().parse().ok();
        let child = until("its child", BOUND, child, || stage.story());
        if first == "down" {
            stage.done("down");
        }
        let down = stage.done("down --pods").stdout;
        assert!(down.ends_with(&format!("\nthe turn of kick {kick} was ended\n")), "{down}");
        stage.ended();
        assert!(!is_there(program) && !is_there(child));
        gone(&stage, "the supervisor's end", supervisor);
        // The next daemon takes its end in; somebody wanted it, so it is nobody's failure.
        stage.act("");
        fs::remove_file(stage.bench.path("orchestrator/hold")).unwrap();
        let mark = stage.mark();
        stage.start();
        let end = stage.event(mark, "its end", |event| event["kind"] == "TURN_ENDED");
        assert_eq!((&end["data"]["kick"], &end["data"]["failed"]), (&kick.into(), &Value::Null));
        assert_eq!(stage.nth_turn(2).boundaries(), ["orchestrator_spawn"]);
        stage.rest();
    }
}

#[test]
fn a_turn_that_failed_while_no_daemon_ran_has_failed() {
    let stage = at_work();
    let (supervisor, _) = run(&stage);
    stage.kill();
    stage.exit_code(7);
    stage.release();
    gone(&stage, "the turn's end", supervisor);
    let status = stage.json("status");
    assert_eq!(status["running"], false);
    let mark = stage.mark();
    stage.hold();
    stage.start();
    let end = stage.event(mark, "its end", |event| event["kind"] == "TURN_ENDED");
    assert_eq!((&end["data"]["failed"], &end["data"]["failures"]), (&"exit code 7".into(), &1.into()));
    assert_eq!(end["data"]["while"], "the daemon was not running");
    stage.nth_turn(2);
    assert!(stage.done("status").stdout.contains("last turn failed"), "{}", stage.done("status"));
    // Its end is taken in once.
    stage.stop();
    stage.start();
    let ends = stage.events().iter().filter(|event| event["kind"] == "TURN_ENDED").count();
    assert_eq!(ends, 1);
}

#[test]
fn a_killed_supervisor_takes_its_program_with_it_and_the_turn_has_failed() {
    let stage = at_work();
    let (supervisor, program) = run(&stage);
    kill(&stage, supervisor);
    let end = stage.event(0, "its end", |event| event["kind"] == "TURN_ENDED");
    assert_eq!(end["data"]["failed"], "its supervisor was killed, and it with it");
    assert!(!is_there(program));
    // The same without a daemon; then the next one takes it in.
    stage.suppressed(0, "orchestrator_idle", "backing_off");
    stage.done("kick");
    stage.nth_turn(2);
    let (supervisor, program) = run(&stage);
    stage.kill();
    kill(&stage, supervisor);
    gone(&stage, "the program's end", program);
    let mark = stage.mark();
    stage.start();
    let end = stage.event(mark, "its end", |event| event["kind"] == "TURN_ENDED");
    assert_eq!(end["data"]["failed"], "its supervisor was killed, and it with it");
    assert_eq!(stage.nth_turn(3).boundaries(), ["orchestrator_spawn"]);
    stage.release();
    stage.rest();
}

#[test]
fn a_suspended_supervisor_is_still_the_turns() {
    let stage = at_work();
    let (supervisor, _) = run(&stage);
    let signal =
        |signal: &str| stage.bench.run(stage.bench.program("kill", "work").args([signal, &supervisor.to_string()]));
    signal("-STOP");
    stage.kill();
    let mark = stage.mark();
    stage.start();
    stage.suppressed(mark, "orchestrator_idle", "busy");
    stage.release();
    assert_eq!(stage.yoi("kick").code, 3, "nobody says that it has ended");
    signal("-CONT");
    stage.event(mark, "its end", |event| event["kind"] == "TURN_ENDED");
    stage.rest();
}

#[test]
fn the_log_stays_bounded_also_by_whom_the_turn_left_behind() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    let (pid, go) = (stage.bench.path("child"), stage.bench.path("go"));
    let flood = format!(
        "(while [ ! -e {go} ]; do sleep 0.05; done; yes 0123456789 | head -c 20000000; exec sleep 600) & echo $! >{pid}",
        go = go.display(),
        pid = pid.display()
    );
    stage.act(&flood);
    stage.start();
    stage.rest();
    assert_eq!(last_end(&stage)["failed"], Value::Null);
    let child = stage.bench.read("child").trim().parse().unwrap();
    assert!(is_there(child), "a worker that the turn left behind");
    let logs = stage.bench.path("work/.git/yoi/turns");
    let size = || fs::read_dir(&logs).unwrap().flatten().map(|entry| entry.metadata().unwrap().len()).max().unwrap();
    stage.bench.write("go", "");
    let cut = || log_text(&logs).contains("[... yoi cut ").then_some(());
    until("the cut", BOUND, cut, || format!("{} bytes", size()));
    until("a small log", BOUND, || (size() < 5 << 20).then_some(()), || format!("{} bytes", size()));
    let supervisor = until("the lingering supervisor", BOUND, || lingering(&stage), || stage.story());
    kill(&stage, child);
    gone(&stage, "the end of who writes", child);
    gone(&stage, "the supervisor's end", supervisor);
}

fn log_text(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned()).collect()
}

/// The supervisor that stays for this stage's log.
fn lingering(stage: &Stage) -> Option<u32> {
    let runs = stage.bench.path("work/.git/yoi/runs").display().to_string();
    fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).into_owned();
        (line.starts_with("yoi\0run\0") && line.contains(&runs)).then(|| entry.file_name().to_str()?.parse().ok())?
    })
}

#[test]
fn nobody_but_the_daemon_runs_a_supervisor() {
    let stage = at_work();
    let order = stage.bench.tree("work/.git/yoi/runs").into_iter().find(|file| file.contains(".json")).unwrap();
    let answer = stage.run(&["run", &format!(".git/yoi/runs/{order}")]);
    assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{answer}");
    assert!(answer.stderr.contains("only the daemon runs this"), "{answer}");
    // Nor with the lock's file, which somebody holds.
    let lock = fs::File::open(stage.bench.path("work/.git/yoi/runs").join(order.replace(".json", ".lock"))).unwrap();
    let mut command = stage.bench.command("work");
    let status = command.args(["run", &format!(".git/yoi/runs/{order}")]).stdin(lock).status().unwrap();
    assert_eq!(status.code(), Some(3));
    assert_eq!(stage.turns().len(), 1);
    assert!(!stage.done("--help").stdout.contains("\n  run "), "it is internal");
}
