//! Whatever is wrong, the agent goes on: exit code 0, nothing printed, within a bound.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::stage::{Agent, hand_in, stage};
use crate::support::stage::Stage;

fn silent(answer: &crate::support::Answer, what: &str) {
    assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (0, "", ""), "{what}");
}

#[test]
fn malformed_input_is_passed_over() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    let agent = Agent::new(&stage, "s");
    let deep = "[".repeat(100_000);
    let long =
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_input": "x".repeat(3_000_000)}).to_string();
    let inputs: [&[u8]; 12] = [
        b"",
        b"{",
        b"null",
        b"[1, 2]",
        b"\xff\xfe\x00",
        deep.as_bytes(),
        br#"{"hook_event_name": "Stop"}"#,
        br#"{"hook_event_name": "Stop", "session_id": "../../etc"}"#,
        br#"{"hook_event_name": 7, "session_id": "s"}"#,
        br#"{"hook_event_name": "Stop", "session_id": ["s"]}"#,
        br#"{"session_id": "s"}"#,
        long.as_bytes(),
    ];
    for input in inputs {
        let shown = String::from_utf8_lossy(&input[..input.len().min(60)]).into_owned();
        silent(&agent.raw("claude-code", input), &shown);
        silent(&agent.raw("codex", input), &shown);
    }
    let log = stage.bench.read("work/.git/yoi/hooks.log");
    assert!(log.contains("no hook JSON") && log.len() < 20_000, "{log}");
    // And it is well afterwards.
    agent.says(&json!({"hook_event_name": "Stop", "stop_hook_active": false}));
    assert_eq!(stage.session(), "s");
}

#[test]
fn without_a_daemon_or_a_workspace_or_where_a_command_is_run() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    let stop = json!({"hook_event_name": "Stop", "session_id": "s", "stop_hook_active": false}).to_string();
    let agent = Agent::new(&stage, "s");
    silent(&agent.raw("claude-code", stop.as_bytes()), "the daemon is down");
    let elsewhere = |folder: &str| {
        let mut command = stage.bench.command(folder);
        command.args(["hook", "claude-code"]).env("YOI_ROLE", "orchestrator");
        hand_in(command, stop.as_bytes())
    };
    stage.bench.folder("nowhere");
    silent(&elsewhere("nowhere"), "no workspace");
    let broken = stage.bench.read("work/.yoi/config.toml") + "[kick]\nmax_itms = 1\n";
    stage.bench.write("work/.yoi/config.toml", &broken);
    silent(&elsewhere("work"), "a configuration that cannot be read");

    // A command is configured: its own process says how it stands, and its agent's hooks are told nothing.
    let exec = Stage::new();
    exec.ticket("a", "queued", "");
    exec.start();
    exec.rest();
    let agent = Agent::new(&exec, "s");
    for event in ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd"] {
        assert_eq!(agent.says(&json!({"hook_event_name": event})), "", "{event}");
    }
    let refused = exec.yoi("hook idle --session s");
    let sentence = "it is run by [orchestrator] command (exec), so its state comes from its process alone";
    assert_eq!((refused.code, refused.stderr.contains(sentence)), (3, true), "{refused}");
    let attach = exec.yoi("orchestrator attach --session s");
    assert_eq!((attach.code, attach.stderr.contains(sentence)), (3, true), "{attach}");
}

#[test]
fn in_pull_mode_nobody_registers() {
    let stage = stage("");
    stage.bench.write("work/.yoi/config.toml", "");
    stage.start();
    let agent = Agent::new(&stage, "s");
    assert_eq!(agent.start("startup"), "");
    let attach = stage.yoi("orchestrator attach --session s");
    assert_eq!((attach.code, attach.stderr.contains("[dispatch] mode is pull")), (3, true), "{attach}");
}

#[test]
fn an_input_that_never_ends_is_not_waited_for() {
    let stage = stage("");
    stage.start();
    let mut command = stage.bench.command("work");
    command.args(["hook", "claude-code"]).env("YOI_ROLE", "orchestrator").stdin(Stdio::piped());
    let begun = Instant::now();
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let held = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    drop(held);
}

#[test]
fn a_mistyped_hook_is_no_veto() {
    let stage = stage("");
    stage.start();
    for line in ["hook claud-code", "hook", "hook idle --no-such-option", "-C . hook idle --pid x"] {
        assert_eq!(stage.yoi(line).code, 1, "{line}");
    }
    assert_eq!(stage.yoi("list --no-such-option").code, 2);
}
