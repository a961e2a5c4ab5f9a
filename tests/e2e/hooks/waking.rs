//! `[orchestrator] wake`: an idle session is brought to its next prompt; what fails is counted and shown.

use std::path::Path;

use super::stage::{Agent, stage};
use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

/// A stage whose wake commands are a script that the test writes, with an argument.
fn with_wake(script: &str) -> Stage {
    let stage = stage("");
    let path = stage.bench.path("wake.sh");
    stage.bench.write("wake.sh", script);
    let run = |word: &str| format!("[\"sh\", \"{}\", \"{word}\"]", path.display());
    let settings = format!("[orchestrator]\nwake = [{}, {}]\n", run("keys"), run("enter"));
    stage.bench.write("work/.yoi/config.toml", &(super::stage::ORCHESTRATED.to_owned() + &settings));
    stage
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path).unwrap_or_default().lines().count()
}

#[test]
fn an_idle_session_is_woken_in_order_and_its_prompt_takes_the_list() {
    let stage = with_wake("echo \"$1 $YOI_WORKSPACE\" >>../woken\n");
    stage.done("trust");
    stage.ticket("a", "ready", "");
    stage.start();
    let agent = Agent::new(&stage, "s");
    agent.start("startup");
    stage.done("move a queued");
    let woken = stage.bench.path("woken");
    until("the wake", BOUND, || (lines(&woken) == 2).then_some(()), || stage.story());
    let work = stage.bench.path("work");
    assert_eq!(stage.bench.read("woken"), format!("keys {0}\nenter {0}\n", work.display()), "and no word of a ticket");
    assert_eq!(agent.prompt(), "context a");
    let event = stage.event(0, "the wake's end", |event| event["kind"] == "WAKE_ENDED");
    assert!(event["data"]["failed"].is_null(), "{event}");
}

/// Whoever attaches an agent first sees that nothing wakes it, and trusts then.
#[test]
fn what_is_trusted_while_the_daemon_runs_wakes_at_once() {
    let stage = with_wake("echo \"$1\" >>../woken\n");
    stage.ticket("a", "ready", "");
    stage.start();
    let agent = Agent::new(&stage, "s");
    agent.start("startup");
    stage.done("move a queued");
    stage.event(0, "the pending kick", |event| event["kind"] == "KICK_PENDING");
    let pending = stage.json("status")["pending"].to_string();
    assert!(pending.contains("no [orchestrator] wake is in effect"), "{pending}");
    stage.done("trust");
    let woken = stage.bench.path("woken");
    until("the wake", BOUND, || (lines(&woken) == 2).then_some(()), || stage.story());
    assert_eq!((agent.prompt(), stage.session()), ("context a".into(), "s".into()));
}

#[test]
fn a_wake_that_fails_is_a_failed_delivery_with_its_reason() {
    let stage = with_wake("echo 'no such pane' >&2; exit 3\n");
    stage.done("trust");
    stage.ticket("a", "ready", "");
    stage.start();
    let agent = Agent::new(&stage, "s");
    agent.start("startup");
    stage.done("move a queued");
    let event = stage.event(0, "the wake's end", |event| event["kind"] == "WAKE_ENDED");
    assert_eq!(event["data"]["failed"], "`sh`: exit code 3 (no such pane)");
    let status = stage.json("status");
    assert_eq!(status["failed_deliveries"], 1, "{status}");
    assert!(status["delivery"].as_str().unwrap().contains("no such pane"), "{status}");
    assert!(status["pending"].as_str().unwrap().contains("ticket_queued"), "{status}");
    let why = stage.done("why a").stdout;
    assert!(why.contains("A kick is pending since") && why.contains("Waking it failed at"), "{why}");
    let kick = stage.done("kick --dry-run").stdout;
    assert!(kick.contains("at the session's next prompt or stop"), "{kick}");
    assert_eq!(agent.prompt(), "context a", "the next contact takes it all the same");
}

#[test]
fn commands_that_are_not_trusted_are_not_run() {
    let stage = with_wake("echo \"$1\" >>../woken\n");
    stage.ticket("a", "ready", "");
    stage.start();
    let agent = Agent::new(&stage, "s");
    agent.start("startup");
    let mark = stage.mark();
    stage.done("move a queued");
    stage.event(mark, "a pending kick", |event| event["kind"] == "KICK_PENDING");
    let status = stage.json("status");
    assert!(status["obstacles"][0].as_str().unwrap().contains("wake commands are not trusted"), "{status}");
    let trust = stage.done("trust --show").stdout;
    assert_eq!(trust.lines().filter(|line| line.trim().starts_with("orchestrator.wake")).count(), 2, "{trust}");
    assert_eq!(agent.prompt(), "context a");
    assert_eq!(lines(&stage.bench.path("woken")), 0);
}
