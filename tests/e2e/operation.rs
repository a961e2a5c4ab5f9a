//! What a person does to a running daemon: pausing, other settings, bad settings (DESIGN.md 5, 8; FAULTS kind 21).

use std::fs;

use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

const CONFIG: &str = "work/.yoi/config.toml";

fn obstacles(stage: &Stage) -> String {
    stage.json("status")["obstacles"].to_string()
}

fn settings(stage: &Stage, from: &str, to: &str) {
    let text = stage.bench.read(CONFIG);
    assert!(text.contains(from), "{text}");
    stage.bench.write(CONFIG, &text.replace(from, to));
}

fn shows(stage: &Stage, what: &str) {
    until(what, BOUND, || obstacles(stage).contains(what).then_some(()), || stage.story());
}

#[test]
fn a_pause_holds_kicks_over_a_restart_and_is_shown_everywhere() {
    let stage = Stage::new();
    stage.start();
    stage.rest();
    insta::assert_snapshot!(stage.run(&["pause", "--reason", "lunch", "--by", "ana"]), @r"
    paused: no kicks until `yoi resume`; a running turn goes on, and tickets can be edited, moved and accepted
    (exit 0)
    ");
    let mark = stage.mark();
    stage.ticket("a", "queued", "");
    stage.suppressed(mark, "ticket_queued", "paused");
    stage.stop();
    for line in ["status", "why a"] {
        assert!(stage.yoi(line).stdout.contains("by ana (lunch)"), "{line} without a daemon");
    }
    stage.start();
    stage.suppressed(mark, "orchestrator_spawn", "paused");
    for line in ["status", "why a", "work-set", "kick --dry-run"] {
        assert!(stage.yoi(line).stdout.contains("by ana (lunch)"), "{line}");
    }
    assert_eq!(stage.yoi("kick").code, 3);
    assert_eq!(stage.turns().len(), 0);
    insta::assert_snapshot!(stage.order("resume"), @r"
    ! yoi: pausing and resuming are for people; the Orchestrator's own session may not
    (exit 3)
    ");
    stage.done("resume");
    assert_eq!(stage.nth_turn(1).items(), ["a"]);
    insta::assert_snapshot!(stage.yoi("resume"), @r"
    nothing was paused
    (exit 0)
    ");
}

#[test]
fn what_is_no_longer_true_needs_no_look() {
    let stage = Stage::with("[kick]\nmax_items = 3\n");
    stage.start();
    stage.rest();
    let bad = "stay in force";
    let mended =
        || until("good settings", BOUND, || (!obstacles(&stage).contains(bad)).then_some(()), || stage.story());
    let entries = || stage.json("status")["attention"].to_string().matches("configuration cannot be used").count();
    // The same fault, mended and made again, and another one.
    settings(&stage, "max_items = 3", "max_items = true");
    shows(&stage, bad);
    settings(&stage, "max_items = true", "max_items = 3");
    mended();
    assert_eq!(entries(), 0);
    settings(&stage, "max_items = 3", "max_items = true");
    shows(&stage, bad);
    settings(&stage, "max_items = true", "max_itms = 3");
    shows(&stage, "max_itms");
    let told = stage.events().iter().filter(|event| event["kind"] == "INBOX").count();
    assert_eq!((told, entries()), (3, 1), "{}", stage.story());
    settings(&stage, "max_itms = 3", "max_items = 3");
    mended();
    assert_eq!(entries(), 0);
}

#[test]
fn pausing_and_resuming_work_without_a_daemon() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.done("pause");
    stage.start();
    stage.rest();
    assert_eq!(stage.turns().len(), 0);
    stage.stop();
    stage.done("resume");
    stage.start();
    assert_eq!(stage.nth_turn(1).items(), ["a"]);
}

#[test]
fn settings_take_effect_when_they_are_saved_and_bad_ones_change_nothing() {
    let stage = Stage::with("[capacity]\nmax_inprogress = 1\n");
    stage.ticket("w", "inprogress", "accepted_by: o\naccepted_at: \"2026-11-30T08:00:00Z\"");
    stage.ticket("a", "queued", "");
    stage.start();
    stage.rest();
    let mark = stage.mark();
    settings(&stage, "max_inprogress = 1", "max_inprogress = one");
    shows(&stage, "the last good settings stay in force");
    assert!(obstacles(&stage).contains("config.toml:"), "with its line: {}", obstacles(&stage));
    // The daemon, and whoever asks it, goes on.
    assert_eq!(stage.json("list")["tickets"].as_array().unwrap().len(), 2);
    assert!(stage.yoi("why a").stdout.contains("capacity gate holds it"));
    stage.done("set a note=x");

    settings(&stage, "max_inprogress = one", "max_inprogress = 2");
    let reloaded = stage.event(mark, "the settings were taken", |event| event["kind"] == "CONFIG_RELOADED");
    assert_eq!(reloaded["data"]["changed"], serde_json::json!(["capacity.max_inprogress"]));
    stage.kicked(mark, "gate_cleared");
    assert_eq!(obstacles(&stage), "[]");
    assert!(stage.yoi("why a").stdout.contains("No gate holds it"));
    stage.rest();
}

#[test]
fn a_bad_configuration_without_a_daemon_fails_with_its_line() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    settings(&stage, "mode = \"orchestrated\"", "mode = \"orchestrate\"");
    let answer = stage.yoi("list");
    assert_eq!(answer.code, 1);
    assert!(answer.stderr.contains("config.toml:2:8: "), "{answer}");
}

#[test]
fn another_command_is_off_until_trusted_and_then_another_session() {
    let stage = Stage::new();
    stage.start();
    stage.rest();
    let before = stage.session();
    let text = stage.bench.read(CONFIG);
    let line = text.lines().find(|line| line.starts_with("command")).unwrap().to_owned();
    settings(&stage, &line, &line.replace(']', ", \"more\"]"));
    shows(&stage, "has changed since it was trusted");
    let mark = stage.mark();
    stage.ticket("a", "queued", "");
    stage.suppressed(mark, "ticket_queued", "no_orchestrator");
    stage.done("trust");
    assert_eq!(stage.nth_turn(1).items(), ["a"]);
    assert_ne!(stage.session(), before);
    assert_eq!(obstacles(&stage), "[]");
}

#[test]
fn another_ticket_folder_is_taken_by_a_fresh_start_in_the_same_process() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.bench.write("work/backlog/b.md", "---\ntitle: b\nstate: queued\n---\n");
    stage.start();
    stage.rest();
    let pid = stage.json("status")["pid"].clone();
    let text = stage.bench.read(CONFIG);
    stage.bench.write(CONFIG, &format!("{text}\n[tickets]\nroot = \"backlog\"\n"));
    // Who asks in the very moment of the fresh start is told that the daemon ended.
    let answer = |line: &str| Some(stage.yoi(line)).filter(|answer| answer.code == 0).map(|answer| answer.json());
    let there = |list: serde_json::Value| list["tickets"].as_array().is_some_and(|t| t.len() == 1 && t[0]["id"] == "b");
    until(
        "the other folder",
        BOUND,
        || answer("list --json").filter(|list| there(list.clone())),
        || stage.bench.read("daemon.log"),
    );
    let running = |status: &serde_json::Value| status["running"] == true;
    let status =
        until("a daemon", BOUND, || answer("status --json").filter(running), || stage.bench.read("daemon.log"));
    assert_eq!(status["pid"], pid);
    assert_eq!(stage.nth_turn(1).items(), ["b"]);
}

/// A lock that a script holds is free when the script has ended, whatever it started.
#[test]
fn a_daemon_holds_nothing_open_of_whoever_started_it() {
    let stage = Stage::new();
    let script = "exec 9>held; yoi up >/dev/null";
    let up = stage.bench.run(stage.bench.program("sh", "work").args(["-c", script]));
    assert_eq!(up.code, 0, "{up}");
    let pid = stage.json("status")["pid"].to_string();
    let open: Vec<_> = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten().collect();
    let held = open.iter().filter_map(|entry| fs::read_link(entry.path()).ok()).find(|path| path.ends_with("held"));
    stage.done("down");
    assert!(open.len() > 3 && held.is_none(), "{held:?}");
}

#[test]
fn a_ticket_folder_that_is_not_there_is_a_bad_setting_and_ends_nothing() {
    let stage = Stage::with("[tickets]\nroot = \"tickets\"\n");
    stage.ticket("a", "ready", "");
    stage.bench.write("work/file", "");
    stage.bench.write("work/backlog/b.md", "---\ntitle: b\nstate: queued\n---\n");
    stage.start();
    stage.rest();
    let pid = stage.json("status")["pid"].clone();
    for (from, to, why) in [("tickets", "tickts", "there is no such folder"), ("tickts", "file", "this is no folder")] {
        settings(&stage, &format!("root = \"{from}\""), &format!("root = \"{to}\""));
        shows(&stage, why);
        let said = obstacles(&stage);
        assert!(said.contains(&format!("work/{to}")) && said.contains("config.toml:6: "), "{said}");
        assert!(said.contains("the last good settings stay in force"), "{said}");
        stage.done("set a note=x");
        let found = stage.yoi("doctor");
        assert!(found.code == 1 && found.stdout.contains(why), "{found}");
    }
    settings(&stage, "root = \"file\"", "root = \"tickets\"");
    until("no obstacle", BOUND, || (obstacles(&stage) == "[]").then_some(()), || obstacles(&stage));
    assert_eq!(stage.json("status")["pid"], pid);
    settings(&stage, "root = \"tickets\"", "root = \"backlog\"");
    assert_eq!(stage.nth_turn(1).items(), ["b"], "one that is there is taken");
}

#[test]
fn a_ticket_folder_that_is_made_after_the_setting_is_taken_by_itself() {
    let stage = Stage::with("[tickets]\nroot = \"tickets\"\n");
    stage.start();
    stage.rest();
    settings(&stage, "root = \"tickets\"", "root = \"work/items\"");
    shows(&stage, "there is no such folder");
    stage.bench.write("made/items/b.md", "---\ntitle: b\nstate: queued\n---\n");
    std::fs::rename(stage.bench.path("made"), stage.bench.path("work/work")).unwrap();
    assert_eq!(stage.nth_turn(1).items(), ["b"]);
    until("no obstacle", BOUND, || (obstacles(&stage) == "[]").then_some(()), || obstacles(&stage));
}

#[test]
fn a_hangup_reads_the_settings_again() {
    let stage = Stage::new();
    stage.start();
    stage.rest();
    let answer = stage.yoi("status --json").json();
    let pid = i32::try_from(answer["pid"].as_i64().unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    stage.rest();
    assert_eq!(stage.json("status")["running"], true, "it goes on");
}
