//! An Orchestrator that accepts and does nothing, dies, never returns or runs into a rate limit: the work is offered
//! again, bounded, and the reason is visible (DESIGN.md 5; FAULTS kinds 17 to 19). That of a daemon killed between
//! deciding and delivering is in `faults`.

use serde_json::Value;

use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

fn ends(stage: &Stage) -> Vec<Value> {
    let ended = stage.events().into_iter().filter(|event| event["kind"] == "TURN_ENDED");
    ended.map(|event| event["data"].clone()).collect()
}

/// Waits for the end of this turn (the first is 1).
fn nth_end(stage: &Stage, number: usize) -> Value {
    until(&format!("the end of turn {number}"), BOUND, || ends(stage).get(number - 1).cloned(), || stage.story())
}

/// What `yoi why` and `yoi status` say.
fn said(stage: &Stage) -> String {
    stage.done("why a").stdout + &stage.done("status").stdout
}

#[test]
fn one_that_accepts_and_does_nothing() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.act("yoi accept a 2>/dev/null");
    stage.start();
    stage.suppressed(0, "orchestrator_idle", "already_presented");
    // The acceptance got it further; then it was offered again, and nothing came of it.
    let turns = stage.turns();
    assert_eq!(turns.iter().map(|turn| turn.items()).collect::<Vec<_>>(), [["a"], ["a"]], "{}", stage.story());
    assert_eq!(turns[1].kick["items"][0]["class"], "actionable_inprogress");
    let said = said(&stage);
    assert!(said.contains("a turn has already ended without doing anything about it"), "{said}");
    // Each time that somebody offers it anew it is offered; after three turns that led to nothing only by name.
    for note in ["one", "two", "three", "four"] {
        stage.save("a", "Body of a", &format!("{note}: Body of a"));
        stage.rest();
    }
    assert!(stage.kicks() <= 6, "{}", stage.story());
}

#[test]
fn one_that_dies_after_accepting_is_asked_again_by_itself() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.act("yoi accept a; kill -9 $$");
    stage.start();
    let end = nth_end(&stage, 1);
    assert_eq!((&end["failed"], &end["progress"]), (&"ended by signal 9".into(), &true.into()));
    stage.suppressed(0, "orchestrator_idle", "backing_off");
    let said = said(&stage);
    assert!(said.contains("last turn failed") && said.contains("ended by signal 9"), "{said}");
    stage.act("yoi move a done");
    // After 10 s and a bit.
    let turn = stage.nth_turn(2);
    assert_eq!(turn.kick["items"][0]["class"], "actionable_inprogress");
    stage.rest();
    assert!(stage.text("a").contains("state: done"), "{}", stage.text("a"));
}

#[test]
fn one_that_never_returns_is_ended_and_asked_again() {
    let stage = Stage::with("turn_timeout = \"1s\"\n");
    stage.ticket("a", "queued", "");
    stage.act("yoi accept a 2>/dev/null; exec sleep 600");
    stage.start();
    let why = "ran longer than [orchestrator] turn_timeout; ended";
    for number in 1..=3 {
        assert_eq!(nth_end(&stage, number)["failed"], why);
        assert!(said(&stage).contains(why), "{}", said(&stage));
        let mark = stage.mark();
        if number < 3 {
            stage.done("kick");
            let sent = stage.event(mark, "the next kick", |event| event["kind"] == "KICK_SENT");
            assert_eq!(sent["data"]["items"][0], "a");
        }
    }
    let said = said(&stage);
    assert!(said.contains("three turns in a row failed"), "{said}");
    // A restart asks once more, whatever happened before.
    stage.act("yoi move a done");
    stage.stop();
    stage.start();
    until("the work", BOUND, || stage.text("a").contains("state: done").then_some(()), || stage.story());
}

#[test]
fn one_that_reports_a_rate_limit_by_its_exit_code_is_left_alone_until_then() {
    let stage = Stage::with("rate_limit_exit = 75\n");
    stage.ticket("a", "queued", "");
    stage.exit_code(75);
    stage.start();
    let end = nth_end(&stage, 1);
    assert_eq!((&end["failed"], &end["failures"]), (&"exit code 75 (rate limited)".into(), &0.into()));
    // Fifteen minutes, for a panel too, which the wait after a failure would not hold.
    stage.rest();
    let mark = stage.mark();
    stage.done("hook panel-open");
    let event = stage.suppressed(mark, "panel_open", "backing_off");
    assert_eq!(event["data"]["row"], 4);
    let said = said(&stage);
    assert!(said.contains("is rate limited until ") && said.contains("exit code 75 (rate limited)"), "{said}");
    assert!(said.contains("INBOX: rate limited until ") && said.contains("; nothing: it goes on by itself"), "{said}");
    assert!(!said.contains("turn failed"), "{said}");
    // It outlives the daemon, and a person's word ends it.
    stage.stop();
    let mark = stage.mark();
    stage.start();
    stage.suppressed(mark, "orchestrator_spawn", "backing_off");
    stage.exit_code(0);
    stage.act("yoi accept a; yoi move a done");
    stage.done("kick");
    until("the work", BOUND, || stage.text("a").contains("state: done").then_some(()), || stage.story());
}

#[test]
fn one_that_prints_a_rate_limit_each_time_is_no_failure_and_bounded_by_the_brake() {
    let stage = Stage::with("rate_limit_pattern = \"usage limit\"\n[kick]\nmax_per_hour = 4\n");
    stage.ticket("a", "queued", "");
    stage.act("echo 'Usage Limit reached. Retry-After: 1'");
    stage.start();
    let end = nth_end(&stage, 1);
    assert_eq!((&end["failed"], &end["failures"]), (&"rate limited".into(), &0.into()), "whatever its exit code");
    // It did not come to look at the work: that is not taken for seen, and offered again by itself when the limit is over.
    assert_eq!(stage.nth_turn(4).items(), ["a"]);
    let end = nth_end(&stage, 4);
    assert_eq!((&end["failures"], &end["fruitless"]), (&0.into(), &0.into()));
    stage.suppressed(0, "orchestrator_idle", "brake");
    assert_eq!(stage.kicks(), 4, "{}", stage.story());
    stage.act("yoi accept a; yoi move a done");
    stage.done("kick");
    until("the work", BOUND, || stage.text("a").contains("state: done").then_some(()), || stage.story());
}

#[test]
fn a_rate_limit_at_the_end_of_a_turn_that_no_daemon_saw_is_waited_for() {
    let stage = Stage::with("rate_limit_exit = [74, 75]\n");
    stage.ticket("a", "queued", "");
    stage.exit_code(75);
    stage.hold();
    stage.start();
    stage.nth_turn(1);
    stage.kill();
    stage.release();
    let exit = || stage.bench.tree("work/.git/yoi/runs").iter().any(|file| file.contains(".exit")).then_some(());
    until("the record of its end", BOUND, exit, || stage.story());
    let mark = stage.mark();
    stage.start();
    stage.suppressed(mark, "orchestrator_spawn", "backing_off");
    assert_eq!(ends(&stage)[0]["failed"], "exit code 75 (rate limited)");
}
