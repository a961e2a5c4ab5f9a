//! What somebody or something does to a daemon's own files: links, pipes, files deleted or replaced under it
//! (DESIGN.md 2.3 and 9; FAULTS kinds 8 and 14).

use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::Answer;
use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

/// A folder of somebody's that looks like one of yoi's.
fn precious(stage: &Stage) -> Vec<String> {
    for number in 0..60 {
        stage.bench.write(&format!("precious/{number}.log"), "text");
        stage.bench.write(&format!("precious/{number}.json"), "text");
    }
    stage.bench.tree("precious")
}

#[test]
fn links_in_the_state_folder_lead_yoi_nowhere() {
    let stage = Stage::new();
    let before = precious(&stage);
    stage.ticket("a", "queued", "");
    let folder = stage.bench.folder("work/.git/yoi");
    for name in ["turns", "kicks", "locks", "runs"] {
        symlink(stage.bench.path("precious"), folder.join(name)).unwrap();
    }
    let refused = stage.yoi("set a k=v");
    assert!(refused.code == 1 && refused.stderr.contains("locks: this is a symlink"), "{refused}");
    stage.start();
    stage.event(0, "a failed delivery", |event| event["kind"] == "TURN_ENDED" && event["data"]["delivered"] == false);
    stage.stop();
    assert_eq!(stage.bench.tree("precious"), before);
    for name in ["daemon.lock", "daemon.log", "accept.lock", "store.sqlite-wal"] {
        let _ = fs::remove_file(folder.join(name));
        symlink(stage.bench.path("precious/0.log"), folder.join(name)).unwrap();
        stage.yoi("accept a");
        let answer = stage.yoi(if name.starts_with("daemon") { "up" } else { "status" });
        assert_eq!(answer.code, i32::from(name.starts_with("daemon")), "{name}: {answer}");
        assert_eq!(stage.bench.read("precious/0.log"), "text", "{name}");
        fs::remove_file(folder.join(name)).unwrap();
    }
    assert_eq!(stage.bench.tree("precious"), before);
}

#[test]
fn pipes_in_the_state_folder_hold_nobody_up() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    let folder = stage.bench.folder("work/.git/yoi");
    for name in ["pods.json", "accept.lock"] {
        let _ = fs::remove_file(folder.join(name));
        mknodat(CWD, folder.join(name), FileType::Fifo, Mode::RWXU, 0).unwrap();
    }
    stage.done("list");
    assert_eq!(stage.yoi("accept a").code, 1);
    stage.start();
    stage.rest();
    assert_eq!((stage.kicks(), stage.turns().len()), (1, 1));
    stage.stop();
}

#[test]
fn a_removed_socket_is_made_anew() {
    let stage = Stage::new();
    stage.start();
    for replace in [false, true] {
        let socket = stage.bench.path("work/.git/yoi/yoi.sock");
        if replace {
            stage.bench.write("other", "");
            fs::rename(stage.bench.path("other"), &socket).unwrap();
        } else {
            fs::remove_file(&socket).unwrap();
        }
        let there = || fs::symlink_metadata(&socket).is_ok_and(|found| found.file_type().is_socket()).then_some(());
        until("the socket", BOUND, there, || stage.bench.read("daemon.log"));
        stage.done("kick --dry-run");
    }
    stage.stop();
}

#[test]
fn a_daemon_that_lost_its_lock_ends_at_once() {
    let take: [fn(&Stage); 3] = [
        |stage| fs::remove_file(stage.bench.path("work/.git/yoi/daemon.lock")).unwrap(),
        |stage| fs::remove_dir_all(stage.bench.path("work/.git/yoi")).unwrap(),
        |stage| fs::rename(stage.bench.path("work"), stage.bench.path("moved")).unwrap(),
    ];
    for take in take {
        let stage = Stage::new();
        stage.start();
        take(&stage);
        stage.ended();
        assert!(stage.bench.read("daemon.log").contains("the lock file was replaced; this daemon ends"));
    }
}

#[test]
fn a_workspace_that_was_moved_or_removed_does_not_come_back_as_an_empty_folder() {
    // Whatever the daemon is doing at that moment.
    for (round, pause) in [0, 1, 2, 5, 10, 20, 40, 80].into_iter().enumerate() {
        let stage = Stage::new();
        if round % 2 == 0 {
            stage.hold();
        }
        stage.start();
        stage.rest();
        stage.ticket("a", "queued", "");
        let until_then = Instant::now() + Duration::from_millis(pause);
        while Instant::now() < until_then {
            std::thread::yield_now();
        }
        if round % 3 == 0 {
            // The daemon may be writing in it all the while.
            let gone = || {
                let removed = fs::remove_dir_all(stage.bench.path("work"));
                (removed.is_ok() || !stage.bench.path("work").exists()).then_some(())
            };
            until("the workspace to be removed", BOUND, gone, || format!("{:?}", stage.bench.tree("work")));
        } else {
            fs::rename(stage.bench.path("work"), stage.bench.path("moved")).unwrap();
        }
        stage.ended();
        assert!(!stage.bench.path("work").exists(), "{:?}", stage.bench.tree("work"));
        let log = stage.bench.read("daemon.log");
        // While it is being removed the file goes before its folder does.
        let why = if round % 3 == 0 { "the lock file was replaced" } else { "the workspace was moved, or removed" };
        assert!(log.contains(why), "{log}");
        // For the end of the turn that goes on there.
        if round % 3 != 0 {
            fs::rename(stage.bench.path("moved"), stage.bench.path("work")).unwrap();
        }
    }
}

#[test]
fn a_workspace_that_takes_the_place_of_another_is_not_written_into() {
    for pause in [0, 2, 10, 30] {
        let stage = Stage::new();
        stage.start();
        stage.rest();
        stage.bench.repository("other");
        stage.bench.write("other/.yoi/config.toml", "");
        stage.bench.folder("other/.git/yoi");
        stage.bench.folder("other/tickets");
        let before = names(&stage, "other/.git/yoi");
        stage.ticket("a", "queued", "");
        let until_then = Instant::now() + Duration::from_millis(pause);
        while Instant::now() < until_then {
            std::thread::yield_now();
        }
        fs::rename(stage.bench.path("work"), stage.bench.path("moved")).unwrap();
        fs::rename(stage.bench.path("other"), stage.bench.path("work")).unwrap();
        stage.ended();
        let after = names(&stage, "work/.git/yoi");
        let own = ["kicks", "pods.json", "session.json", "accept.lock", "daemon.lock"];
        assert!(!after.iter().any(|name| own.contains(&name.as_str())), "{before:?} {after:?}");
        fs::rename(stage.bench.path("work"), stage.bench.path("other")).unwrap();
        fs::rename(stage.bench.path("moved"), stage.bench.path("work")).unwrap();
    }
}

#[test]
fn whatever_is_started_and_ended_at_once_one_daemon_is_left_or_none() {
    let stage = Stage::new();
    let all = |lines: &[&str]| {
        let started = lines.iter().map(|line| {
            let mut command = stage.bench.command("work");
            command.arg(line).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        });
        for child in started.collect::<Vec<_>>() {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    };
    for _ in 0..5 {
        all(&["up"; 8]);
        stage.done("down");
        assert_eq!(stage.json("status")["running"], false, "no other one waited for its turn");
        all(&["up"]);
        all(&["down"; 4]);
    }
}

#[test]
fn a_daemon_can_be_ended_whatever_the_configuration_says_by_now() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.start();
    stage.rest();
    stage.bench.write("work/.yoi/config.toml", "[dispatch\n");
    assert_eq!(stage.yoi("list").code, 0, "the daemon goes on with the last good settings");
    stage.done("logs --turn last");
    stage.stop();
}

#[test]
fn an_orchestrator_that_asks_for_kicks_is_not_kicked_for_them() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    let ask = "for i in 1 2 3; do yoi kick; env -u YOI_SESSION yoi kick; yoi hook panel-open; done";
    stage.act(&format!("{ask}\n(sleep 0.2; yoi kick 2>\"$dir/refused\") >/dev/null 2>&1 &\n"));
    stage.start();
    stage.rest();
    let refused =
        || stage.bench.path("orchestrator/refused").exists().then(|| stage.bench.read("orchestrator/refused"));
    let text = until("the late kick", BOUND, || refused().filter(|text| text.contains("hint")), || stage.story());
    assert!(text.contains("the Orchestrator does not kick itself"), "{text}");
    stage.rest();
    assert_eq!(stage.kicks(), 1, "{}", stage.story());
    stage.stop();
}

#[test]
fn a_turn_whose_files_are_deleted_is_found_by_the_next_daemon_all_the_same() {
    for (what, alone) in [("yoi/runs", false), ("yoi", true)] {
        let stage = Stage::new();
        stage.ticket("a", "queued", "");
        stage.hold();
        stage.start();
        stage.nth_turn(1);
        let found =
            |ending: &str| names(&stage, "work/.git/yoi/runs").iter().any(|name| name.ends_with(ending)).then_some(());
        until("its records", BOUND, || found(".started"), || stage.story());
        fs::remove_dir_all(stage.bench.path("work/.git").join(what)).unwrap();
        until("its records anew", BOUND, || found(".started"), || stage.story());
        if alone {
            stage.ended();
        } else {
            stage.kill();
        }
        stage.start();
        let mark = stage.mark();
        assert_eq!(stage.yoi("kick").code, 3, "the turn is known");
        stage.suppressed(mark, "user_kick", "busy");
        stage.release();
        stage.rest();
        stage.stop();
    }
}

/// The names in a folder; none where there is no folder.
fn names(stage: &Stage, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(stage.bench.path(folder)).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// With a turn that goes on until it is released, and is on record.
fn recorded_turn() -> Stage {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.hold();
    stage.start();
    stage.nth_turn(1);
    let started = || names(&stage, "work/.git/yoi/runs").iter().any(|name| name.ends_with(".started")).then_some(());
    until("its records", BOUND, started, || stage.story());
    stage
}

#[test]
fn a_turn_goes_on_in_a_workspace_that_is_moved_and_its_end_is_recorded_there() {
    let stage = recorded_turn();
    fs::rename(stage.bench.path("work"), stage.bench.path("moved")).unwrap();
    stage.ended();
    stage.release();
    let ended = || {
        names(&stage, "moved/.git/yoi/runs").iter().any(|name| name.rsplit('.').next() == Some("exit")).then_some(())
    };
    until("the record of its end", BOUND, ended, || format!("{:?}", names(&stage, "moved/.git/yoi/runs")));
    assert!(names(&stage, "work/.git/yoi/runs").is_empty(), "{:?}", names(&stage, "work/.git/yoi"));
}

#[test]
fn a_turn_that_runs_while_its_workspace_is_copied_is_let_be_by_the_copy() {
    let stage = recorded_turn();
    let mark = stage.mark();
    let copied = stage.bench.run(stage.bench.program("cp", ".").args(["-a", "work", "copy"]));
    assert_eq!(copied.code, 0, "{copied}");
    let answers = ["up", "status", "events --json", "down --pods", "up", "events --json", "down --pods"]
        .map(|line| stage.bench.yoi("copy", line));
    let all = answers.each_ref().map(ToString::to_string).join("\n");
    assert!(answers.iter().all(|answer| answer.code == 0), "{all}");
    let said = |answer: &Answer| answer.stdout.matches("the workspace that this one was copied from").count();
    assert_eq!(answers.each_ref().map(said), [0, 1, 1, 0, 0, 1, 0], "once: {all}");
    assert!(!answers[2].stdout.contains("TURN_ENDED"), "its end is not the copy's to tell: {}", answers[2]);
    assert!(names(&stage, "copy/.git/yoi/runs").is_empty());
    stage.release();
    let end = stage.event(mark, "the turn's end", |event| event["kind"] == "TURN_ENDED");
    assert!(end["data"]["failed"].is_null() && end["data"]["delivered"] != false, "{end}");
    stage.rest();
}

#[test]
fn a_stopped_supervisor_hinders_nobody_from_ending_its_turn() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.hold();
    stage.start();
    stage.nth_turn(1);
    let runs = stage.bench.path("work/.git/yoi/runs");
    let started = || {
        let name = names(&stage, "work/.git/yoi/runs").into_iter().find(|name| name.ends_with(".started"))?;
        serde_json::from_str::<serde_json::Value>(&fs::read_to_string(runs.join(name)).ok()?).ok()
    };
    let record = until("its records", BOUND, started, || stage.story());
    let supervisor = record["supervisor"]["pid"].to_string();
    stage.bench.run(stage.bench.program("kill", "work").args(["-STOP", &supervisor]));
    let down = stage.done("down --pods");
    assert!(down.stdout.contains("was ended"), "{down}");
    stage.ended();
}

#[test]
fn settings_that_go_bad_while_a_daemon_starts_anew_leave_the_last_good_ones_in_force() {
    let stage = Stage::new();
    stage.bench.folder("work/other");
    stage.start();
    let (path, good) = ("work/.yoi/config.toml", stage.bench.read("work/.yoi/config.toml"));
    let pid = stage.json("status")["pid"].clone();
    // Some of these distances lie between the decision to start anew and the new start's look at the file.
    for pause in [0, 20, 40, 80, 120, 160, 200, 240] {
        let root = if pause % 40 == 0 { "other" } else { "tickets" };
        stage.bench.write(path, &format!("{good}[tickets]\nroot = \"{root}\"\n"));
        let until_then = Instant::now() + Duration::from_millis(pause);
        while Instant::now() < until_then {
            std::thread::yield_now();
        }
        stage.bench.write(path, "[dispatch\n");
        let obstacles = || {
            let status: serde_json::Value = serde_json::from_str(&stage.yoi("status --json").stdout).ok()?;
            (status["pid"] == pid).then(|| status["obstacles"].to_string().contains("config.toml:1:"))
        };
        let says = || obstacles().filter(|bad| *bad);
        until("the same process, and what is wrong", BOUND, says, || stage.bench.read("daemon.log"));
        stage.bench.write(path, &good);
        let well = || obstacles().filter(|bad| !bad);
        until("good settings", BOUND, well, || stage.bench.read("daemon.log"));
    }
    stage.stop();
}
