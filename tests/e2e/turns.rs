//! Turns that fail, hang, lead to nothing or never begin: few kicks, each with its cause, and the reason visible
//! (DESIGN.md section 5; FAULTS kinds 17 and 18).

use serde_json::Value;

use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

fn last_end(stage: &Stage) -> Value {
    stage.events().into_iter().rfind(|event| event["kind"] == "TURN_ENDED").unwrap()["data"].clone()
}

#[test]
fn one_that_fails_each_time_is_left_alone_after_three() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.exit_code(1);
    stage.start();
    stage.suppressed(0, "orchestrator_idle", "backing_off");
    assert_eq!((&last_end(&stage)["failed"], &last_end(&stage)["failures"]), (&"exit code 1".into(), &1.into()));
    let timers = stage.json("status")["timers"].to_string();
    assert!(timers.contains("the wait after a failed turn is over"), "the back-off's end is a due time: {timers}");
    // New work does not end the wait; somebody does.
    let mark = stage.mark();
    stage.done("new Another --state queued");
    stage.suppressed(mark, "ticket_queued", "backing_off");
    for failures in [2, 3] {
        let mark = stage.mark();
        stage.done("kick");
        stage.event(mark, "the end", |e| e["kind"] == "TURN_ENDED" && e["data"]["failures"] == failures);
        stage.suppressed(mark, "orchestrator_idle", "backing_off");
    }
    let alert = stage.event(0, "an alert", |event| event["kind"] == "ALERT");
    assert!(alert["data"]["what"].as_str().unwrap().starts_with("three turns in a row failed"), "{alert}");
    let status = stage.done("status").stdout;
    assert!(
        status.contains("ALERT: three turns in a row failed: only `yoi kick`, a panel or a restart kicks now"),
        "{status}"
    );
    assert_eq!(stage.kicks(), 3);
    // A turn that succeeds starts the count anew.
    stage.exit_code(0);
    stage.act("yoi plan a");
    let mark = stage.mark();
    stage.done("kick");
    stage.event(mark, "an automatic kick", |e| {
        e["kind"] == "KICK_SENT" && e["data"]["boundaries"][0] == "orchestrator_idle"
    });
    stage.rest();
}

#[test]
fn one_that_does_nothing_is_asked_again_only_with_something_new() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.start();
    stage.suppressed(0, "orchestrator_idle", "already_presented");
    let why = stage.done("why a").stdout;
    assert!(why.contains("a turn has already ended without doing anything about it"), "{why}");
    // Its own stamps and other people's comments are nothing new; words are.
    let mark = stage.mark();
    stage.save("a", "state: queued", "state: queued # a comment");
    stage.save("a", "Body of a.", "Body of a, and more.");
    stage.kicked(mark, "gate_cleared");
    stage.rest();
    assert_eq!(stage.kicks(), 2, "{}", stage.story());
}

#[test]
fn one_that_hangs_is_ended_with_its_whole_group() {
    let stage = Stage::with("turn_timeout = \"1s\"\n");
    stage.ticket("a", "queued", "");
    stage.act(&format!("sleep 600 & echo $! >{}", stage.bench.path("child").display()));
    stage.hold();
    stage.start();
    stage.event(0, "the end", |event| {
        event["kind"] == "TURN_ENDED"
            && event["data"]["failed"].as_str().is_some_and(|why| why.contains("turn_timeout"))
    });
    let child = stage.bench.read("child");
    let gone = || (!stage.bench.path(&format!("/proc/{}", child.trim())).exists()).then_some(());
    until("the end of its child", BOUND, gone, || stage.story());
}

#[test]
fn a_command_that_cannot_be_started_is_a_failed_delivery() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    let config = stage.bench.read("work/.yoi/config.toml").replace("\"sh\", ", "\"no-such-program\", ");
    stage.bench.write("work/.yoi/config.toml", &config);
    stage.done("trust");
    stage.start();
    stage.suppressed(0, "orchestrator_idle", "backing_off");
    let end = last_end(&stage);
    assert!(end["failed"].as_str().unwrap().starts_with("`no-such-program` cannot be started: "), "{end}");
    assert_eq!((&end["delivered"], &stage.json("status")["failed_deliveries"]), (&false.into(), &1.into()));
    assert_eq!(stage.bench.tree("work/.git/yoi").iter().filter(|path| path.starts_with("kicks/s-")).count(), 0);
}

#[test]
fn a_command_that_is_not_trusted_is_not_run() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    let config = stage.bench.read("work/.yoi/config.toml").replace("\"sh\", ", "\"sh\", \"-e\", ");
    stage.bench.write("work/.yoi/config.toml", &config);
    stage.start();
    let mark = stage.mark();
    stage.done("hook panel-open");
    stage.suppressed(mark, "panel_open", "no_orchestrator");
    assert!(stage.turns().is_empty());
    let why = stage.done("why a").stdout;
    assert!(
        why.contains("Nobody is kicked for it: the Orchestrator command has changed since it was trusted"),
        "{why}"
    );
    let status = stage.json("status");
    assert!(status["obstacles"][0].as_str().unwrap().contains("look at it with `yoi trust`"), "{status}");
}

#[test]
fn in_pull_mode_nobody_is_kicked() {
    let stage = Stage::new();
    stage.bench.write("work/.yoi/config.toml", "");
    stage.ticket("a", "ready", "");
    stage.start();
    let mark = stage.mark();
    stage.save("a", "state: ready", "state: queued");
    let event = stage.suppressed(mark, "ticket_queued", "no_orchestrator");
    assert_eq!(event["data"]["row"], 1);
    assert!(stage.done("why a").stdout.contains("  Workers are offered it: "), "{}", stage.done("why a"));
    // A person may accept there too; capacity is unlimited unless set.
    stage.done("accept a --by ana");
}

#[test]
fn a_reported_rate_limit_is_waited_for() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.start();
    stage.rest();
    stage.done("hook rate-limited --retry-after 3600");
    let mark = stage.mark();
    stage.done("move a queued");
    let event = stage.suppressed(mark, "ticket_queued", "backing_off");
    assert_eq!(event["data"]["row"], 4);
    let mark = stage.mark();
    stage.done("hook panel-open");
    stage.suppressed(mark, "panel_open", "backing_off");
    stage.done("kick");
    assert_eq!(stage.nth_turn(1).items(), ["a"], "by name it goes on");
    // It outlives the daemon.
    stage.rest();
    stage.stop();
    let mark = stage.mark();
    stage.start();
    stage.suppressed(mark, "orchestrator_spawn", "backing_off");
}

#[test]
fn what_has_meanwhile_been_done_is_not_announced() {
    let stage = Stage::new();
    for id in ["a", "b"] {
        stage.ticket(id, "queued", "");
    }
    stage.hold();
    stage.start();
    stage.nth_turn(1);
    stage.save("b", "state: queued", "state: closed");
    stage.ticket("c", "queued", "");
    stage.release();
    assert_eq!(stage.nth_turn(2).items(), ["c", "a"].as_slice(), "unseen first: {}", stage.story());
}

#[test]
fn a_turns_output_is_kept_and_its_environment_is_as_promised() {
    let mut stage = Stage::new();
    stage.bench.set("DISCORD_ADMIN_WEBHOOK_URL", "https://example.org/secret");
    stage.ticket("a", "queued", "");
    stage.act("pwd; env | sort | while read -r line; do case $line in YOI_*|DISCORD*) echo \"$line\" ;; esac; done; printf '\\033[2J\\n'");
    stage.start();
    let turn = stage.nth_turn(1);
    stage.rest();
    let log = stage.done("logs --turn last").stdout;
    let kick = turn.kick["kick"].as_str().unwrap();
    let lines = log.replace(&turn.session, "[SESSION]");
    insta::assert_snapshot!(lines, @r"
    [BENCH]/work
    YOI_KICK_FILE=[BENCH]/work/.git/yoi/kicks/[SESSION]-1.json
    YOI_ROLE=orchestrator
    YOI_SESSION=[SESSION]
    YOI_SOCKET=[BENCH]/work/.git/yoi/yoi.sock
    YOI_WORKSPACE=[BENCH]/work
    �[2J
    ");
    assert_eq!(stage.done(&format!("logs --turn {kick}")).stdout, log);
    assert_eq!(stage.yoi("logs --turn ../../daemon").code, 1);
}
