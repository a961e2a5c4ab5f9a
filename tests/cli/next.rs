//! `yoi next` from outside: the order, the idle report with its exit code, as text and as JSON.

use insta::assert_snapshot;

use crate::support::stage::Stage;

#[test]
fn the_next_ticket_or_why_there_is_none() {
    let stage = Stage::new();
    stage.bench.write("work/.yoi/config.toml", "[dispatch]\nmode = \"pull\"\n");
    assert_snapshot!(stage.yoi("next").to_string(), @r"
    idle: no ticket for this worker; nothing is queued, and nothing in progress
    (exit 3)
    ");
    stage.ticket("late", "queued", "priority: P2\nqueued_at: \"2026-11-30T08:00:00Z\"");
    stage.ticket("early", "queued", "priority: P2\nqueued_at: \"2026-11-30T07:00:00Z\"\nrequires: [rust]");
    stage.ticket("urgent", "queued", "priority: P0\ndepends_on: [late]");
    stage.ticket(
        "waits",
        "inprogress",
        "pr: https://example.org/7\naccepted_by: bob\naccepted_at: \"2026-11-30T08:00:00Z\"",
    );
    let found = stage.json("next");
    assert_eq!((found["idle"].as_bool(), found["ticket"]["id"].as_str()), (Some(false), Some("early")));
    assert_eq!(stage.json("next --can docs")["ticket"]["id"], "late");
    assert_eq!(stage.yoi("set late human_gate=sign-off").code, 0);
    let answer = stage.yoi("next --can docs");
    assert_eq!(answer.code, 3);
    assert_snapshot!(answer.to_string(), @r"
    idle: no ticket for this worker; 4 tickets held back
      urgent: depends on `late`, which is queued
      early: it requires `rust`, which the worker cannot do
      late: human_gate: `sign-off`
      waits: its pull request is open: `https://example.org/7`
    by reason: capability 1, dependency 1, human_gate 1, pull_request 1
    (exit 3)
    ");
    let answer = stage.yoi("next --can docs --json");
    let report: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!((answer.code, report["idle"].as_bool(), report["held_back_count"].as_u64()), (3, Some(true), Some(4)));
    assert_eq!(report["held_back"][0]["reasons"][0]["kind"], "dependency");
}

#[test]
fn in_orchestrated_mode_the_queue_is_the_orchestrators() {
    let stage = Stage::new();
    stage.ticket("q", "queued", "queued_at: \"2026-11-30T08:00:00Z\"");
    assert_snapshot!(stage.yoi("next").to_string(), @r"
    idle: no ticket for this worker; 1 ticket held back
      q: queued: the Orchestrator has not accepted it
    by reason: not_accepted 1
    (exit 3)
    ");
    stage.ticket("a", "inprogress", "accepted_by: bob\naccepted_at: \"2026-11-30T08:00:00Z\"");
    assert_eq!(stage.json("next")["ticket"]["id"], "a");
    assert_snapshot!(stage.yoi("offer q").to_string(), @r"
    ! yoi: `q` is queued: workers are offered what is accepted
    !   hint: yoi accept q
    (exit 3)
    ");
}
