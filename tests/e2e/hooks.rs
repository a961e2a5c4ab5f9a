//! Attached sessions: recorded conversations of an agent's hooks, in the documented formats, played against a real daemon
//! (DESIGN.md 5.1). A hook never breaks the agent's turn, and a stop is answered only where section 5 says kick.

mod silence;
mod stage;
mod stream;
mod waking;

use serde_json::json;
use stage::{Agent, replay, stage};

use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

#[test]
fn from_a_start_to_an_end() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.ticket("b", "ready", "");
    stage.start();
    let agent = Agent::new(&stage, "5f1c-1");
    replay(&stage, &agent, include_str!("hooks/startup.jsonl"));
    assert_eq!(stage.kicks(), 3, "{}", stage.story());
    assert_eq!(stage.json("status")["orchestrator"]["state"], "gone");
    assert!(agent.yoi("plan b").code == 3, "its notes ended with it");
}

#[test]
fn resume_keeps_the_notes_compact_repeats_them_and_clear_begins_anew() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    let agent = Agent::new(&stage, "5f1c-2");
    replay(&stage, &agent, include_str!("hooks/memory.jsonl"));
    let status = stage.json("status");
    assert_eq!((&status["session"], &status["orchestrator"]["state"]), (&"cleared-1".into(), &"idle".into()));
}

#[test]
fn sub_agents_and_background_tasks_are_not_the_orchestrators_turn() {
    let stage = stage("");
    stage.ticket("a", "ready", "");
    stage.start();
    replay(&stage, &Agent::new(&stage, "5f1c-3"), include_str!("hooks/beside.jsonl"));
    assert_eq!(stage.kicks(), 1, "{}", stage.story());
}

#[test]
fn a_rate_limit_is_waited_for_and_an_interruption_is_no_failure() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.ticket("b", "ready", "");
    stage.start();
    let agent = Agent::new(&stage, "5f1c-4");
    replay(&stage, &agent, include_str!("hooks/failures.jsonl"));
    let ends: Vec<_> = stage.events().into_iter().filter(|event| event["kind"] == "TURN_ENDED").collect();
    assert_eq!((&ends[0]["data"]["failed"], &ends[0]["data"]["failures"]), (&json!(null), &json!(0)), "interrupted");
    assert_eq!(ends[1]["data"]["failed"], "the agent reports `rate_limit`");
    let why = stage.done("why b").stdout;
    assert!(why.contains("row 4: backing_off (waiting until "), "{why}");
    let status = stage.done("status").stdout;
    assert!(status.contains("rate limited"), "{status}");
}

#[test]
fn a_hundred_stops_with_unchanged_work_are_answered_once() {
    let stage = stage("");
    stage.ticket("a", "ready", "");
    stage.start();
    let agent = Agent::new(&stage, "5f1c-5");
    agent.start("startup");
    agent.prompt();
    stage.done("move a queued");
    let mut answers = vec![agent.stop()];
    answers.push(agent.stop_again());
    for _ in 0..98 {
        answers.push(agent.prompt());
        answers.push(agent.stop());
    }
    answers.retain(|answer| !answer.is_empty());
    assert_eq!(answers, ["block a"], "{}", stage.story());
    assert!(stage.done("why a").stdout.contains("a turn has already ended without doing anything about it"));
}

#[test]
fn a_second_orchestrator_is_refused_and_the_first_is_named() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    let (first, second) = (Agent::new(&stage, "first"), Agent::new(&stage, "second"));
    assert_eq!(first.start("startup"), "context a");
    assert_eq!([second.start("startup"), second.prompt(), second.stop()], ["", "", ""]);
    assert_eq!(stage.session(), "first");
    let named = format!("there is an Orchestrator already: session `first` (attached, process {})", first.pid());
    let attach = stage.yoi(&format!("orchestrator attach --session second --pid {}", second.pid()));
    assert_eq!((attach.code, attach.stderr.contains(&named)), (3, true), "{attach}");
    let spawn = stage.yoi(&format!("hook orchestrator-spawn --session second --pid {}", second.pid()));
    assert_eq!((spawn.code, spawn.stderr.contains(&named)), (3, true), "{spawn}");
    let watch = stage.yoi(&format!("orchestrator watch --session second --pid {}", second.pid()));
    assert_eq!((watch.code, watch.stderr.contains(&named)), (3, true), "{watch}");
    let plan = second.yoi("plan a");
    assert_eq!(
        (plan.code, plan.stderr.contains("is not the Orchestrator's current one, `first`")),
        (3, true),
        "{plan}"
    );
    let status = stage.done("status").stdout;
    assert!(status.contains("session `second` was refused as the Orchestrator"), "{status}");
    // The first dies without a word: its process says so.
    first.end();
    until(
        "the first's end",
        BOUND,
        || (stage.json("status")["orchestrator"]["state"] == "gone").then_some(()),
        || stage.story(),
    );
    assert_eq!(second.start("startup"), "context a");
}

#[test]
fn a_session_that_a_person_attached_counts_and_any_other_does_not() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    let stranger = Agent::stranger(&stage, "mine");
    assert_eq!([stranger.start("startup"), stranger.prompt(), stranger.stop()], ["", "", ""]);
    assert!(stage.events().iter().all(|event| event["kind"] != "AGENT_STARTED"));
    let attached = stranger.yoi(&format!("orchestrator attach --pid {}", stranger.pid()));
    assert_eq!(attached.code, 0, "{attached}");
    assert_eq!(stage.json("status")["orchestrator"]["agent"], "claude-code");
    assert_eq!(stranger.stop(), "block a");
    assert_eq!(stranger.yoi("plan a").code, 0, "its commands find the session in the agent's own variable");
    let kick = stranger.yoi("kick");
    assert!(kick.code == 3 && kick.stderr.contains("does not kick itself"), "{kick}");
    // The same agent with another conversation.
    stranger.says(&json!({"hook_event_name": "SessionEnd", "reason": "clear"}));
    stranger.rename("mine-2");
    assert_eq!(stranger.start("clear"), "context a");
    assert_eq!(stage.session(), "mine-2");
}

#[test]
fn the_next_daemon_finds_the_session() {
    let stage = stage("");
    stage.ticket("a", "ready", "");
    stage.start();
    let agent = Agent::new(&stage, "long");
    agent.start("startup");
    agent.prompt();
    stage.kill();
    assert_eq!(agent.stop(), "", "the daemon is down");
    assert!(stage.bench.read("work/.git/yoi/hooks.log").contains("it is not running"));
    stage.start();
    assert_eq!((stage.session(), &stage.json("status")["orchestrator"]["state"]), ("long".into(), &"busy".into()));
    stage.done("move a queued");
    assert_eq!(agent.stop(), "block a");
    stage.stop();
    agent.end();
    stage.start();
    assert_eq!(stage.json("status")["orchestrator"]["state"], "gone");
}

#[test]
fn a_person_begins_the_session_anew() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    let agent = Agent::new(&stage, "s");
    agent.start("startup");
    agent.prompt();
    assert_eq!(agent.yoi("plan a").code, 0);
    let busy = stage.yoi("orchestrator reset");
    assert_eq!((busy.code, busy.stderr.contains("it is reset between two turns")), (3, true), "{busy}");
    agent.stop_again();
    assert_eq!(agent.yoi("orchestrator reset").code, 3, "not by itself");
    stage.done("orchestrator reset");
    assert_eq!(stage.json("work-set")["entries"], json!([]));
    assert_eq!(agent.prompt(), "context a");

    // Where a command is run too: another session, and an explicit boundary.
    let exec = Stage::new();
    exec.ticket("a", "queued", "");
    exec.start();
    exec.rest();
    let before = exec.session();
    let mark = exec.mark();
    exec.done("orchestrator reset");
    exec.kicked(mark, "orchestrator_spawn");
    assert_ne!(exec.session(), before);
}

#[test]
fn other_agents_get_the_same_by_name() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    let agent = Agent::stranger(&stage, "other");
    let told = |line: &str| stage.done(&format!("hook {line} --session other --pid {}", agent.pid())).stdout;
    assert!(told("orchestrator-spawn --take-list").starts_with("# yoi work list\n"));
    assert_eq!(told("busy"), "`busy` of the Orchestrator was noted\n");
    assert_eq!(told("idle --take-list"), "", "seen");
    stage.done("new Another --state queued");
    let list = stage.json(&format!("hook busy --take-list --session other --pid {}", agent.pid()));
    assert_eq!(list["kick"]["items"].as_array().unwrap().len(), 2);
    told("turn-failed --reason broken");
    let status = stage.done("status").stdout;
    assert!(status.contains("The Orchestrator's last turn failed at") && status.contains(": broken"), "{status}");
    told("gone");
    assert_eq!(stage.yoi("hook idle").code, 1, "nobody is registered, and 2 would be a veto");
    // In Codex's hooks the fields are the same.
    let codex = Agent::new(&stage, "thread-1");
    let start =
        codex.raw("codex", br#"{"hook_event_name": "SessionStart", "session_id": "thread-1", "source": "startup"}"#);
    assert!(stage::told(&start.stdout).starts_with("context "), "{start}");
    let notified = stage.run(&["hook", "codex", r#"{"type": "agent-turn-complete", "thread-id": "thread-1"}"#]);
    assert_eq!((notified.code, notified.stdout.as_str()), (0, ""));
}
