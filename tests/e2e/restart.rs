//! What a daemon finds at its start: tickets queued meanwhile, live Pods, a running turn, leftovers of a killed one
//! (DESIGN.md 2.4, 5; FAULTS kinds 8 and 17).

use std::process::Stdio;

use serde_json::Value;

use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

const ACCEPTED: &str = "accepted_by: orchestrator\naccepted_at: \"2026-11-30T08:00:00Z\"";

fn with_user_name() -> Stage {
    let stage = Stage::new();
    stage.bench.git("work", &["config", "user.name", "Ana Editor"]);
    stage
}

fn stamp(stage: &Stage, id: &str) -> Value {
    let ticket = &stage.json(&format!("show {id}"))["ticket"];
    serde_json::json!([ticket["queued_by"], ticket["queued_at"].is_string()])
}

#[test]
fn a_ticket_that_was_queued_meanwhile_is_kicked_for_and_stamped_once() {
    let stage = with_user_name();
    stage.ticket("a", "ready", "");
    stage.ticket("stamped", "ready", "");
    stage.start();
    stage.rest();
    stage.stop();
    stage.save("a", "state: ready", "state: queued");
    stage.done("move stamped queued --by bob");
    stage.ticket("brought", "queued", "queued_at: \"2020-01-01T00:00:00Z\"\nqueued_by: carol");
    let (mark, stamped) = (stage.mark(), stage.text("stamped"));
    stage.start();
    stage.kicked(mark, "ticket_queued");
    let turn = stage.nth_turn(1);
    let mut boundaries = turn.boundaries();
    boundaries.sort_unstable();
    assert_eq!(boundaries, ["orchestrator_spawn", "ticket_queued"]);
    let mut items = turn.items();
    items.sort_unstable();
    assert_eq!(items, ["a", "brought", "stamped"]);
    stage.rest();
    let ana = serde_json::json!(["Ana Editor", true]);
    assert_eq!([stamp(&stage, "a"), stamp(&stage, "brought")], [ana.clone(), ana], "older than the last look");
    assert_eq!(stage.text("stamped"), stamped, "whoever moved it stamped it");
    insta::assert_snapshot!(stage.text("a").replace(stage.json("show a")["ticket"]["queued_at"].as_str().unwrap(), "[NOW]"), @r#"
    ---
    title: "The ticket a"
    state: queued
    queued_by: Ana Editor
    queued_at: "[NOW]"
    ---
    Body of a.
    "#);
    let approved = |event: &&Value| event["kind"] == "ISSUE_APPROVED" && event["ticket"] == "a";
    assert_eq!(stage.events().iter().filter(approved).count(), 1);

    let texts = ["a", "stamped", "brought"].map(|id| stage.text(id));
    for _ in 0..2 {
        stage.stop();
        stage.start();
        stage.rest();
    }
    assert_eq!(["a", "stamped", "brought"].map(|id| stage.text(id)), texts, "once");
    assert_eq!(stage.events().iter().filter(approved).count(), 1);
}

#[test]
fn the_very_first_start_stamps_nothing() {
    let stage = with_user_name();
    stage.ticket("a", "queued", "");
    let text = stage.text("a");
    stage.start();
    assert_eq!(stage.nth_turn(1).items(), ["a"]);
    stage.rest();
    stage.stop();
    stage.start();
    stage.rest();
    assert_eq!(stage.text("a"), text);
    let status = stage.done("status").stdout;
    assert!(status.contains("INBOX: queued without queued_at since before yoi's first start (a)"), "{status}");
    let doctor = stage.done("doctor").stdout;
    assert!(doctor.contains("tickets/a.md: it is queued without queued_at"), "{doctor}");
    // From now on its entries are seen.
    stage.save("a", "state: queued", "state: ready");
    stage.event(0, "its move", |event| event["kind"] == "ISSUE_MOVED" && event["ticket"] == "a");
    stage.save("a", "state: ready", "state: queued");
    until("the stamp", BOUND, || stage.text("a").contains("queued_at").then_some(()), || stage.story());
}

#[test]
fn a_pod_lives_on_over_a_restart() {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", ACCEPTED);
    stage.ticket("next", "ready", "");
    stage.start();
    stage.rest();
    let pid = stage.worker("coder", "a");
    for end in [Stage::stop, Stage::kill] {
        end(&stage);
        let mark = stage.mark();
        stage.start();
        stage.suppressed(mark, "orchestrator_spawn", "active_inprogress");
        let pods = stage.json("pod list")["pods"].clone();
        assert_eq!(
            (&pods[1]["pid"], &pods[1]["ticket"], &pods[1]["role"]),
            (&pid.into(), &"a".into(), &"coder".into())
        );
    }
    let (mark, turns) = (stage.mark(), stage.turns().len());
    stage.save("next", "state: ready", "state: queued");
    stage.suppressed(mark, "ticket_queued", "active_inprogress");
    stage.end_worker(pid);
    assert_eq!(stage.nth_turn(turns + 1).items(), ["a", "next"]);
}

#[test]
fn a_pod_that_ended_meanwhile_is_not_waited_for() {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", ACCEPTED);
    stage.start();
    stage.rest();
    let pid = stage.worker("coder", "a");
    stage.stop();
    stage.end_worker(pid);
    let turns = stage.turns().len();
    stage.start();
    assert_eq!(stage.nth_turn(turns + 1).items(), ["a"]);
    assert_eq!(stage.json("pod list")["pods"].as_array().unwrap().len(), 1, "the Orchestrator's alone");
}

#[test]
fn a_running_turn_outlives_a_killed_daemon_and_is_adopted() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.hold();
    stage.start();
    let turn = stage.nth_turn(1);
    let pod = |stage: &Stage| stage.json("status")["orchestrator"].clone();
    let before =
        until("a busy Orchestrator", BOUND, || Some(pod(&stage)).filter(|p| p["pid"].is_u64()), || stage.story());
    stage.kill();
    let mark = stage.mark();
    stage.start();
    stage.suppressed(mark, "orchestrator_idle", "busy");
    let after = pod(&stage);
    assert_eq!((&after["state"], &after["pid"]), (&"busy".into(), &before["pid"]));
    assert_eq!(stage.session(), turn.session, "the session goes on, with an empty work set");
    let mark = stage.mark();
    stage.done("new Another --state queued");
    stage.suppressed(mark, "ticket_queued", "busy");
    assert_eq!(stage.yoi("kick").code, 3);
    assert_eq!(stage.turns().len(), 1, "no second Orchestrator: {}", stage.story());
    stage.release();
    let next = stage.nth_turn(2);
    assert_eq!(next.items().len(), 2, "the queue goes on: {}", stage.story());
    stage.rest();
}

#[test]
fn an_adopted_turn_ends_with_its_time_too() {
    let stage = Stage::with("turn_timeout = \"3s\"\n");
    stage.ticket("a", "queued", "");
    stage.hold();
    stage.start();
    let turn = stage.nth_turn(1);
    // Whoever takes in orphans may be slow to: the ended turn's pid then still answers the next one's look for it.
    std::fs::remove_file(stage.bench.path(&format!("orchestrator/turns/{}/pid", turn.began))).unwrap();
    stage.kill();
    let mark = stage.mark();
    stage.start();
    let end = stage.event(mark, "the turn's end", |event| event["kind"] == "TURN_ENDED");
    assert!(end["data"]["failed"].as_str().unwrap().contains("turn_timeout"), "{end}");
    stage.release();
}

#[test]
fn a_turn_that_ended_while_no_daemon_ran_is_not_waited_for() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.hold();
    stage.start();
    let turn = stage.nth_turn(1);
    stage.kill();
    stage.release();
    let script = stage.bench.path(&format!("orchestrator/turns/{}/pid", turn.began));
    until("the turn's end", BOUND, || (!script.exists()).then_some(()), || stage.story());
    stage.start();
    let next = stage.nth_turn(2);
    assert_eq!((next.boundaries(), next.items()), (vec!["orchestrator_spawn"], vec!["a"]));
    assert_ne!(next.session, turn.session);
}

#[test]
fn leftovers_of_killed_daemons_block_no_start() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    for _ in 0..3 {
        stage.start();
        stage.kill();
    }
    assert!(stage.bench.path("work/.git/yoi/yoi.sock").exists(), "a killed daemon leaves its socket");
    assert_eq!(stage.json("status")["running"], false);
    stage.bench.write("work/.git/yoi/runs/s-half-1.json", "{\"half a fi");
    stage.bench.write("work/.git/yoi/runs/s-half-1.lock", "");
    stage.bench.write("work/.git/yoi/runs/s-lone-1.exit", "");
    stage.bench.write("work/.git/yoi/runs/.new-1", "");
    stage.bench.write("work/.git/yoi/pods.json", "");
    stage.bench.write("work/.git/yoi/daemon.lock", "1\n");
    stage.done("move a ready");
    stage.start();
    assert_eq!(stage.json("status")["running"], true);
    stage.done("move a queued");
    stage.rest();
    let left: Vec<_> = stage.bench.tree("work/.git/yoi/runs").into_iter().filter(|f| !f.starts_with("s-0")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn of_ten_starts_at_once_one_daemon_comes() {
    let stage = Stage::new();
    let starts = (0..10).map(|_| {
        let mut up = stage.bench.command("work");
        up.args(["up", "--json"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    let starts: Vec<_> = starts.collect();
    let answers = starts.into_iter().map(|start| start.wait_with_output().unwrap());
    let views: Vec<Value> = answers
        .map(|answer| {
            assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
            serde_json::from_slice(&answer.stdout).unwrap()
        })
        .collect();
    assert!(views.iter().all(|view| view["pid"] == views[0]["pid"] && view["pid"] != 0), "{views:?}");
    assert_eq!(views.iter().filter(|view| view["already"] == false).count(), 1, "{views:?}");
    let started = stage.events().into_iter().filter(|event| event["kind"] == "DAEMON_STARTED").count();
    assert_eq!(started, 1);
    let second = stage.yoi("daemon");
    assert!(second.code == 3 && second.stderr.contains("another daemon of this workspace is running"), "{second}");
    let down = stage.json("down");
    assert_eq!(down["pid"], views[0]["pid"]);
    insta::assert_snapshot!(stage.yoi("down"), @r"
    the daemon was not running
    (exit 0)
    ");
}

#[test]
fn a_daemon_that_is_killed_or_stopped_leaves_the_direct_way_open() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.start();
    stage.kill();
    stage.done("move a queued");
    stage.done("accept a");
    assert_eq!(stage.json("list --state inprogress")["daemon"], false);
}

#[test]
fn a_command_that_was_changed_meanwhile_begins_without_the_former_ones_failures() {
    let stage = Stage::new();
    stage.exit_code(3);
    stage.ticket("a", "queued", "");
    stage.start();
    stage.event(0, "a failed turn", |event| event["kind"] == "TURN_ENDED" && event["data"]["failures"] == 1);
    let failed = || stage.json("status")["obstacles"].to_string().contains("last turn failed");
    assert!(failed());
    stage.stop();
    let config = stage.bench.read("work/.yoi/config.toml");
    stage.bench.write("work/.yoi/config.toml", &config.replace("[\"sh\", ", "[\"env\", \"sh\", "));
    stage.done("trust");
    stage.hold();
    let mark = stage.mark();
    stage.start();
    stage.kicked(mark, "orchestrator_spawn");
    assert!(!failed());
    stage.release();
    stage.event(mark, "a failed turn", |event| event["kind"] == "TURN_ENDED" && event["data"]["failures"] == 1);
    assert!(failed(), "its own count");
}
