//! What somebody or something does to a daemon's own files: links, pipes, files deleted or replaced under it
//! (DESIGN.md 2.3 and 9; FAULTS kinds 8 and 14).

use std::fs;
use std::os::unix::fs::symlink;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::stage::Stage;

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
    stage.done("doctor");
    let state = stage.bench.path("work/.git/yoi");
    for name in ["turns", "kicks", "locks"] {
        symlink(stage.bench.path("precious"), state.join(name)).unwrap();
    }
    let refused = stage.yoi("set a k=v");
    assert!(refused.code == 1 && refused.stderr.contains("locks: this is a symlink"), "{refused}");
    stage.start();
    stage.event(0, "a failed delivery", |event| event["kind"] == "TURN_ENDED" && event["data"]["delivered"] == false);
    stage.stop();
    assert_eq!(stage.bench.tree("precious"), before);
    for name in ["daemon.lock", "daemon.log", "accept.lock", "store.sqlite-wal"] {
        let _ = fs::remove_file(state.join(name));
        symlink(stage.bench.path("precious/0.log"), state.join(name)).unwrap();
        stage.yoi("accept a");
        let answer = stage.yoi(if name.starts_with("daemon") { "up" } else { "status" });
        assert_eq!(answer.code, i32::from(name.starts_with("daemon")), "{name}: {answer}");
        assert_eq!(stage.bench.read("precious/0.log"), "text", "{name}");
        fs::remove_file(state.join(name)).unwrap();
    }
    assert_eq!(stage.bench.tree("precious"), before);
}

#[test]
fn pipes_in_the_state_folder_hold_nobody_up() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.done("doctor");
    let state = stage.bench.path("work/.git/yoi");
    for name in ["pods.json", "turn.json", "accept.lock"] {
        let _ = fs::remove_file(state.join(name));
        mknodat(CWD, state.join(name), FileType::Fifo, Mode::RWXU, 0).unwrap();
    }
    stage.done("list");
    assert_eq!(stage.yoi("accept a").code, 1);
    stage.start();
    stage.rest();
    assert_eq!((stage.kicks(), stage.turns().len()), (1, 1));
    stage.stop();
}
