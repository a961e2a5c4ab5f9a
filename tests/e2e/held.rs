//! A ticket that another process is writing: requests wait a moment, yoi's own stamps for as long as it takes
//! (DESIGN.md 2.3). And what a write leaves behind when the power fails.

use std::fs::{self, File};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

/// Holds a ticket's lock, as another process does that is writing it.
fn hold(stage: &Stage, id: &str) -> File {
    let locks = stage.bench.folder("work/.git/yoi/locks");
    let lock = File::options().create(true).append(true).open(locks.join(format!("{id}.lock"))).unwrap();
    lock.try_lock().unwrap();
    lock
}

#[test]
fn a_request_that_meets_a_held_ticket_keeps_nobody_else_waiting() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.ticket("b", "ready", "");
    stage.start();
    let held = hold(&stage, "a");
    let mut set = stage.bench.command("work");
    let mut set = set.args(["set", "a", "extra=1"]).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    // The daemon waits half a second at a time; in between it answers others.
    for n in 0..5 {
        let began = Instant::now();
        stage.done(&format!("set b extra={n}"));
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }
    assert!(set.try_wait().unwrap().is_none() && !stage.text("a").contains("extra"));
    drop(held);
    assert!(set.wait().unwrap().success());
    assert!(stage.text("a").contains("extra: 1"));
}

#[test]
fn without_a_daemon_a_held_ticket_is_waited_for() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    let held = hold(&stage, "a");
    let mut set = stage.bench.command("work");
    let mut set = set.args(["set", "a", "extra=1"]).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let descriptors = format!("/proc/{}/fd", set.id());
    let waits = || {
        let open = fs::read_dir(&descriptors).into_iter().flatten().flatten();
        open.flat_map(|entry| fs::read_link(entry.path())).any(|path| path.ends_with("locks/a.lock")).then_some(())
    };
    until("its wait", BOUND, waits, || stage.text("a"));
    assert!(set.try_wait().unwrap().is_none() && !stage.text("a").contains("extra"));
    drop(held);
    assert!(set.wait().unwrap().success());
    assert!(stage.text("a").contains("extra: 1"));
}

#[test]
fn a_stamp_that_meets_a_held_lock_is_written_when_it_is_free() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.start();
    let held = hold(&stage, "a");
    stage.save("a", "state: ready", "state: queued");
    let noticed = || stage.done("list").stdout.contains("new_queued").then_some(());
    until("the entry", BOUND, noticed, || stage.story());
    // One thing after the other: what is answered now comes after the stamp was tried.
    stage.json("status");
    assert!(!stage.text("a").contains("queued_at"));
    assert!(stage.events().iter().all(|event| event["kind"] != "STAMP_FAILED"), "{}", stage.story());
    drop(held);
    until("the stamp", BOUND, || stage.text("a").contains("queued_at").then_some(()), || stage.story());
    assert!(stage.events().iter().all(|event| event["kind"] != "STAMP_FAILED"), "{}", stage.story());
}

#[test]
fn what_a_power_failure_left_beside_a_ticket_is_kept_and_named() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    let (same, young) = ("work/tickets/.a.md.yoi-ab12cd.tmp", "work/tickets/.a.md.yoi-ef34gh.tmp");
    stage.bench.write(same, &stage.text("a"));
    stage.bench.write(young, "---\ntitle: half");
    stage.start();
    let inbox = stage.event(0, "an inbox line", |event| event["kind"] == "INBOX");
    let kept = inbox["data"]["kept"].as_str().unwrap().replace("[BENCH]", stage.bench.path("").to_str().unwrap());
    assert!(inbox["data"]["what"].as_str().unwrap().contains("reads as the ticket does"), "{inbox}");
    assert_eq!(fs::read_to_string(kept).unwrap(), stage.text("a"));
    assert!(!stage.bench.path(same).exists() && stage.bench.path(young).exists());
    assert!(stage.done("why a").stdout.contains(".conflict"));
}
