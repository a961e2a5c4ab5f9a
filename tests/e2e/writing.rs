//! Writing among others (DESIGN.md 2.3; FAULTS kinds 1 and 15): races, and what one editor and one command do to each other.

mod evidence;
mod race;

use std::fs;

use crate::support::stage::{BOUND, Stage, ticket_path};
use crate::support::wait::until;

#[test]
fn what_an_editor_saves_over_is_reported_with_its_keys() {
    let stage = Stage::new();
    stage.ticket("a", "planning", "");
    let old = stage.text("a");
    stage.done("set a priority=P0 extra=1");
    stage.bench.write(&ticket_path("a"), &old.replace("Body", "More"));
    let why = stage.done("why a").stdout;
    assert!(why.contains("saved over by an editor that had read before it: `extra`, `priority`"), "{why}");
    let inbox = |stage: &Stage| stage.events().iter().filter(|event| event["kind"] == "INBOX").count();
    assert_eq!(inbox(&stage), 1);
    // A daemon that starts finds it remembered, and does not say it again.
    stage.start();
    assert!(stage.done("why a").stdout.contains("`extra`, `priority`"));
    assert_eq!(inbox(&stage), 1);
    stage.done("set a extra=2");
    assert!(!stage.done("why a").stdout.contains("saved over"));
}

#[test]
fn a_stamp_waits_for_the_editor_that_has_the_file_open() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.start();
    let mark = stage.bench.path("work/tickets/.a.md.swp");
    fs::write(&mark, "").unwrap();
    stage.save("a", "state: ready", "state: queued");
    let waits =
        || stage.done("why a").stdout.contains("waits for the editor that has it open (.a.md.swp)").then_some(());
    until("the wait", BOUND, waits, || stage.story());
    assert!(!stage.text("a").contains("queued_at"));
    // What people ask for does not wait.
    stage.done("set a extra=1");
    assert!(stage.text("a").contains("extra: 1") && !stage.text("a").contains("queued_at"));
    fs::remove_file(&mark).unwrap();
    until("the stamp", BOUND, || stage.text("a").contains("queued_at").then_some(()), || stage.story());
    assert!(!stage.done("why a").stdout.contains("waits for the editor"));
}

#[test]
fn a_mark_that_a_dead_editor_left_holds_a_stamp_no_longer_than_configured() {
    let stage = Stage::with("[writes]\npolite_max = \"1s\"\n");
    stage.ticket("a", "ready", "");
    stage.start();
    fs::write(stage.bench.path("work/tickets/.a.md.swp"), "").unwrap();
    stage.save("a", "state: ready", "state: queued");
    until("the stamp", BOUND, || stage.text("a").contains("queued_at").then_some(()), || stage.story());
}
