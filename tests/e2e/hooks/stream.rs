//! `yoi orchestrator watch`: one JSON line a kick, and `yoi hook idle` reports back.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};

use serde_json::Value;

use super::stage::stage;
use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

/// A running `watch`, and the lines it prints.
struct Watch {
    child: Child,
    lines: Receiver<String>,
}

impl Watch {
    fn new(stage: &Stage, session: &str) -> Self {
        let mut command = stage.bench.command("work");
        command.args(["orchestrator", "watch", "--session", session]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = mpsc::channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        Self { child, lines }
    }

    fn line(&self, stage: &Stage) -> Value {
        let line = self.lines.recv_timeout(BOUND).unwrap_or_else(|_| panic!("no line came\n{}", stage.story()));
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ids(kick: &Value) -> Vec<&str> {
    kick["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

fn state(stage: &Stage, expected: &str) {
    let there = || (stage.json("status")["orchestrator"]["state"] == expected).then_some(());
    until(expected, BOUND, there, || stage.story());
}

/// A session is registered, and it is this one.
fn is_there(stage: &Stage) {
    let there = || {
        let status = stage.json("status");
        (status["orchestrator"]["state"] != "gone" && status["session"] == "mine").then_some(())
    };
    until("the session", BOUND, there, || stage.story());
}

#[test]
fn each_kick_is_a_line_and_idle_asks_for_the_next() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    let watch = Watch::new(&stage, "mine");
    let first = watch.line(&stage);
    assert_eq!(
        (ids(&first), &first["session"], &first["boundaries"][0]),
        (vec!["a"], &"mine".into(), &"orchestrator_spawn".into())
    );
    state(&stage, "busy");
    stage.done("plan a --session mine");
    stage.done("hook idle --session mine");
    assert_eq!(ids(&watch.line(&stage)), ["a"]);
    stage.done("hook idle --session mine");
    state(&stage, "idle");
    stage.done("hook busy --session mine");
    stage.ticket("b", "queued", "");
    let mark = stage.mark();
    stage.done("hook panel-open");
    stage.suppressed(mark, "panel_open", "busy");
    stage.done("hook idle --session mine");
    assert_eq!(ids(&watch.line(&stage)), ["b", "a"]);
    // A second reader is refused, under the same name too.
    assert_eq!(stage.yoi("orchestrator watch --session mine").code, 3);
    // Its end is the session's.
    drop(watch);
    state(&stage, "gone");
}

/// The loop of docs/orchestrating.md reports once more after its stream has ended.
#[test]
fn what_is_reported_after_its_end_brings_no_session_back() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    let watch = Watch::new(&stage, "mine");
    watch.line(&stage);
    drop(watch);
    state(&stage, "gone");
    for event in ["idle", "busy", "active", "turn-failed"] {
        let answer = stage.yoi(&format!("hook {event} --session mine"));
        let told = answer.stderr.contains("session `mine` is not registered")
            && answer.stderr.contains("watch --session mine");
        assert_eq!((answer.code, told), (3, true), "{answer}");
    }
    stage.done("hook gone --session mine");
    state(&stage, "gone");
    // A turn that its reader left counts as failed, so that the next list may take its time: who is there counts here.
    let again = Watch::new(&stage, "mine");
    is_there(&stage);
    drop(again);
    state(&stage, "gone");
    // Whoever is refused is told the way out.
    let attached = stage.yoi("orchestrator attach --session other --pid 1");
    assert_eq!(attached.code, 0, "{attached}");
    let refused = stage.yoi("orchestrator watch --session mine");
    assert!(refused.code == 3 && refused.stderr.contains("`yoi hook gone --session other`"), "{refused}");
    stage.done("hook gone --session other");
    let _last = Watch::new(&stage, "mine");
    is_there(&stage);
}

#[test]
fn a_session_that_is_told_to_go_lets_its_reader_go() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    let mut watch = Watch::new(&stage, "w1");
    watch.line(&stage);
    stage.done("hook gone --session w1");
    assert!(watch.child.wait().unwrap().success());
    let mut again = Watch::new(&stage, "w2");
    state(&stage, "busy");
    stage.kill();
    assert_eq!(again.child.wait().unwrap().code(), Some(4), "the daemon has ended");
}
