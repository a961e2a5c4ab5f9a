//! Codex: a conversation of its hooks, its `notify`, and its server, which runs many sessions in one process.

use std::process::Command;

use super::stage::{Agent, hand_in, replay, stage};
use crate::support::stage::Stage;

#[test]
fn a_conversation_of_codex() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    let agent = Agent::of("codex", &stage, "01a2-7d");
    replay(&stage, &agent, include_str!("codex.jsonl"));
    let status = stage.json("status");
    assert_eq!((&status["session"], &status["orchestrator"]["state"]), (&"01a2-7d".into(), &"gone".into()));
    let registered = stage.events().iter().filter(|event| event["kind"] == "AGENT_STARTED").count();
    assert_eq!(registered, 1, "what tells of a thread beside it is no other session: {}", stage.story());
}

/// A program that is called `codex` and runs this as its child.
fn codex(stage: &Stage, name: &str, line: &str) -> Command {
    let program = stage.bench.path("bin/codex");
    if !program.exists() {
        std::os::unix::fs::symlink("/bin/sh", &program).unwrap();
    }
    let mut command = stage.bench.program(program.to_str().unwrap(), "work");
    command.args(["-c", &format!("{line}; code=$?; exit $code"), name]).env("CODEX_THREAD_ID", "t-1");
    command
}

#[test]
fn a_server_of_many_sessions_is_none_of_them_and_whoever_attaches_is_told() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    let start = r#"{"hook_event_name": "SessionStart", "session_id": "t-1", "source": "startup"}"#;
    let hook = |name: &str| {
        let mut command = codex(&stage, name, "yoi hook codex");
        command.env("YOI_ROLE", "orchestrator");
        hand_in(command, start.as_bytes())
    };
    let server = hook("app-server");
    assert_eq!((server.code, server.stdout.as_str(), server.stderr.as_str()), (0, "", ""));
    let log = stage.bench.read("work/.git/yoi/hooks.log");
    assert!(log.contains("this session runs in `codex app-server`"), "{log}");
    assert!(stage.events().iter().all(|event| event["kind"] != "AGENT_STARTED"), "{}", stage.story());
    for line in ["yoi orchestrator attach", "yoi hook orchestrator-spawn --session t-1"] {
        let refused = hand_in(codex(&stage, "app-server", line), b"");
        assert_eq!((refused.code, refused.stderr.contains("daemon_auto_start = false")), (3, true), "{refused}");
    }
    assert!(hook("tui").stdout.contains("# yoi work list"), "{}", stage.story());
}
