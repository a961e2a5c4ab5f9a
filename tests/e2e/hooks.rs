//! Attached sessions: recorded conversations of an agent's hooks, in the documented formats, played against a real daemon
//! (DESIGN.md 5.1). A hook never breaks the agent's turn, and a stop is answered only where section 5 says kick.

mod codex;
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
    assert!(status.contains("is rate limited until ") && !status.contains("turn failed"), "{status}");
    // The turn that somebody began meanwhile comes through: the limit is over.
    assert!(agent.stop().starts_with("block "), "{}", stage.story());
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
fn a_hook_counts_from_anywhere_below_its_session_and_from_elsewhere_it_is_told() {
    let stage = stage("");
    stage.ticket("a", "ready", "");
    stage.start();
    // The session lives in this very process, and its hook is called by another program in between.
    let own = std::process::id();
    let attached = stage.yoi(&format!("orchestrator attach --session cc-1 --pid {own}"));
    assert_eq!(attached.code, 0, "{attached}");
    let hook = |session: &str, event: &str| {
        let mut command = stage.bench.program("find", "work");
        command.args([".", "-maxdepth", "0", "-exec", env!("CARGO_BIN_EXE_yoi"), "hook", "claude-code", ";"]);
        let input = json!({"hook_event_name": event, "session_id": session, "stop_hook_active": false}).to_string();
        let answer = stage::hand_in(command, input.as_bytes());
        assert_eq!(answer.code, 0, "{answer}");
        stage::told(&answer.stdout)
    };
    hook("cc-1", "UserPromptSubmit");
    assert_eq!(stage.json("status")["orchestrator"]["state"], "busy", "{}", stage.story());
    assert_eq!(hook("cc-2", "Stop"), "", "another session below it is not it");
    stage.done("move a queued");
    assert_eq!(hook("cc-1", "Stop"), "block a");
    // The session lives in another process: told to whoever looks.
    stage.done("hook gone --session cc-1");
    let agent = Agent::new(&stage, "cc-1");
    agent.start("startup");
    assert_eq!(hook("cc-1", "UserPromptSubmit"), "");
    let sentence = "a report of session `cc-1` came from another process, pid ";
    let log = stage.bench.read("work/.git/yoi/hooks.log");
    assert!(log.contains(sentence) && log.contains(" (find), and was ignored"), "{log}");
    for line in ["status", "why a"] {
        let said = stage.done(line).stdout;
        assert!(said.contains(sentence), "{said}");
    }
}

/// Each hook is run by a program that nobody knows, and that ends with it; the agent is this very process.
#[test]
fn a_session_lives_on_whatever_runs_its_hooks_and_however_it_was_attached() {
    let own = std::process::id();
    let by_find = |stage: &Stage, role: Option<&str>, arguments: &[&str], input: &str| {
        let mut command = stage.bench.program("find", "work");
        command.args([".", "-maxdepth", "0", "-exec", env!("CARGO_BIN_EXE_yoi")]).args(arguments).arg(";");
        role.map(|role| command.env("YOI_ROLE", role));
        let answer = stage::hand_in(command, input.as_bytes());
        assert_eq!(answer.code, 0, "{answer}");
        stage::told(answer.stdout.lines().find(|line| line.starts_with('{')).unwrap_or_default())
    };
    let input = |event: &str| json!({"hook_event_name": event, "session_id": "w-1", "source": "startup"}).to_string();
    for role in [Some("orchestrator"), None] {
        let stage = stage("");
        stage.ticket("a", "ready", "");
        stage.start();
        let hook = |event: &str| by_find(&stage, role, &["hook", "claude-code"], &input(event));
        if role.is_none() {
            by_find(&stage, role, &["orchestrator", "attach", "--session", "w-1"], "");
        }
        hook("SessionStart");
        let waited_for =
            || stage.done("status").stdout.contains("counts as gone if it does not report again until ").then_some(());
        until("the end of what ran the hook", BOUND, waited_for, || stage.story());
        hook("UserPromptSubmit");
        let orchestrator = || stage.json("status")["orchestrator"].clone();
        assert_eq!((&orchestrator()["state"], &orchestrator()["pid"]), (&json!("busy"), &json!(own)), "{role:?}");
        stage.done("move a queued");
        assert_eq!(hook("Stop"), "block a");
        assert!(stage.events().iter().all(|event| event["kind"] != "AGENT_ENDED"), "{}", stage.story());
    }
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

#[test]
fn a_list_that_its_hook_did_not_print_is_handed_over_again() {
    let stage = stage("");
    stage.ticket("a", "ready", "");
    stage.start();
    let agent = Agent::new(&stage, "5f1c-8");
    agent.start("startup");
    stage.done("move a queued");
    let pending = || (!stage.json("status")["pending"].is_null()).then_some(());
    until("the pending kick", BOUND, pending, || stage.story());
    let mark = stage.mark();
    // A full disk stands for a hook that is killed before it has printed.
    let mut command = stage.bench.command("work");
    command.args(["hook", "claude-code", "--pid", &agent.pid().to_string()]).env("YOI_ROLE", "orchestrator");
    command.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let input = json!({"hook_event_name": "UserPromptSubmit", "session_id": "5f1c-8"}).to_string();
    let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "a hook never breaks a turn");
    let missed = stage
        .event(mark, "the missed list", |event| event["kind"] == "TURN_ENDED" && event["data"]["delivered"] == false);
    assert_eq!(missed["data"]["failed"], "the hook ended before it had printed the list");
    assert_eq!(stage.json("status")["failed_deliveries"], 1);
    until("the kick to be pending again", BOUND, pending, || stage.story());
    assert_eq!(agent.prompt(), "context a");
    // What was printed is handed over, however long its turn runs.
    stage.done("kick --dry-run");
    assert_eq!(stage.json("status")["failed_deliveries"], 1);
}

#[test]
fn a_hundred_stops_without_a_prompt_between_and_another_session_beside() {
    let stage = stage("");
    stage.ticket("a", "ready", "");
    stage.start();
    let (agent, stranger) = (Agent::new(&stage, "5f1c-9"), Agent::stranger(&stage, "other"));
    agent.start("startup");
    agent.prompt();
    stage.done("move a queued");
    let mut answers = Vec::new();
    for number in 0..100 {
        answers.push(if number % 2 == 0 { agent.stop() } else { agent.stop_again() });
        if number % 10 == 0 {
            assert_eq!([stranger.prompt(), stranger.stop()], ["", ""]);
        }
    }
    answers.retain(|answer| !answer.is_empty());
    assert_eq!(answers, ["block a"], "{}", stage.story());
    assert_eq!(stage.session(), "5f1c-9");
}

#[test]
fn a_daemon_that_is_killed_in_the_middle_of_a_conversation_breaks_no_turn() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    let agent = Agent::new(&stage, "5f1c-10");
    assert_eq!(agent.start("startup"), "context a");
    agent.prompt();
    stage.kill();
    assert_eq!([agent.stop(), agent.prompt(), agent.stop()], ["", "", ""]);
    stage.start();
    // What it was given got nowhere as far as anybody knows: it is offered again, once.
    let answers = [agent.stop(), agent.stop_again(), agent.prompt(), agent.stop(), agent.prompt()];
    let told: Vec<_> = answers.iter().filter(|answer| !answer.is_empty()).collect();
    assert_eq!(told.len(), 1, "{answers:?} {}", stage.story());
    assert!(told[0].ends_with(" a"), "{answers:?}");
}

#[test]
fn fields_of_the_wrong_type_are_passed_over() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    let agent = Agent::new(&stage, "5f1c-11");
    for odd in [
        json!({"hook_event_name": "Stop", "stop_hook_active": "yes", "background_tasks": {"a": 1}}),
        json!({"hook_event_name": "SessionStart", "source": 7}),
        json!({"hook_event_name": "StopFailure", "error": {"type": 1}, "retry_after": [1]}),
        json!({"hook_event_name": "Notification", "notification_type": null}),
        json!({"hook_event_name": "SomethingNew", "more": {"deep": [1, 2]}}),
    ] {
        agent.hook(&odd);
    }
    assert_eq!(stage.json("status")["running"], true);
    assert_eq!(stage.session(), "5f1c-11");
}

#[test]
fn any_agent_may_give_its_fields_as_json() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    let agent = Agent::new(&stage, "own-1");
    let hook = |event: &str, input: &serde_json::Value| {
        let mut command = stage.bench.command("work");
        command.args(["hook", event, "-", "--take-list", "--json", "--pid", &agent.pid().to_string()]);
        let answer = stage::hand_in(command, input.to_string().as_bytes());
        assert_eq!(answer.code, 0, "{answer}");
        serde_json::from_str::<serde_json::Value>(&answer.stdout).unwrap()
    };
    let session = json!({"session_id": "own-1"});
    assert!(hook("orchestrator-spawn", &session)["list"].as_str().unwrap().contains("`a`"));
    assert_eq!(stage.session(), "own-1");
    hook("busy", &session);
    hook("idle", &json!({"session_id": "own-1", "agent_id": "sub"}));
    assert_eq!(stage.json("status")["orchestrator"]["state"], "busy", "a sub-agent's end is not the session's");
    let idle = hook("idle", &json!({"session_id": "own-1", "stop_hook_active": true}));
    assert_eq!(idle["list"], json!(null));
    assert_eq!(stage.json("status")["orchestrator"]["state"], "idle");
    let mut odd = stage.bench.command("work");
    odd.args(["hook", "idle", "-"]);
    let answer = stage::hand_in(odd, b"{");
    assert!(answer.code == 1 && answer.stderr.contains("no hook JSON"), "{answer}");
}
