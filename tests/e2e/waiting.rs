//! Waiting reasons: they survive later turns, are shown everywhere, lapse by their kind, end with the session, and never
//! reach the disk (DESIGN.md section 4).

use serde_json::Value;

use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

/// Words that stand in no other place.
const WORDING: &str = "xyzzy-wording";
const ACCEPTED: &str = "accepted_by: orchestrator\naccepted_at: \"2026-11-30T08:00:00Z\"";

fn check_never_on_disk(stage: &Stage) {
    for file in stage.files() {
        let bytes = std::fs::read(&file).unwrap_or_default();
        let found = bytes.windows(WORDING.len()).any(|window| window == WORDING.as_bytes());
        assert!(!found, "{} holds the Orchestrator's wording", file.display());
    }
}

/// The reason as `why` has it.
fn waiting(stage: &Stage, id: &str) -> Value {
    stage.json(&format!("why {id}"))["ticket"]["waiting"].clone()
}

/// The Orchestrator lets `a` wait for this kind; it is shown, stays over further turns, and lapses with `clear`.
fn check(stage: &Stage, kind: &str, clear: impl FnOnce(&Stage)) {
    let detail = format!("{WORDING}-{kind}");
    stage.act(&format!("yoi wait a --kind {kind} --detail {detail} || echo refused"));
    stage.start();
    stage.rest();
    // Further turns that say nothing of it.
    stage.act("true");
    let turns = stage.turns().len();
    stage.done("new Other --state queued");
    stage.nth_turn(turns + 1);
    stage.rest();

    assert_eq!(waiting(stage, "a"), serde_json::json!({"kind": kind, "detail": detail}), "{}", stage.story());
    let shown = format!("The Orchestrator lets it wait ({kind}): {detail}.");
    assert!(stage.done("why a").stdout.contains(&shown), "{}", stage.done("why a"));
    let list = stage.done("list").stdout;
    assert!(list.contains(&format!("waits: {kind} — {detail}")), "{list}");
    let set = stage.done("work-set").stdout;
    assert!(set.contains(&format!("a (planned_queued) The ticket a — waits ({kind}): {detail}")), "{set}");
    let view = stage.json("work-set");
    assert_eq!((&view["entries"][0]["id"], &view["entries"][0]["waiting"]["kind"]), (&"a".into(), &kind.into()));
    assert!(view["waiting"].as_array().unwrap().iter().any(|held| held["id"] == "a" && held["kind"] == kind), "{view}");
    check_never_on_disk(stage);

    let (mark, turns) = (stage.mark(), stage.turns().len());
    clear(stage);
    stage.kicked(mark, "gate_cleared");
    let list = stage.nth_turn(turns + 1).list;
    assert!(list.contains("`a` `The ticket a` (planned_queued)"), "{list}");
    until("the reason's lapse", BOUND, || waiting(stage, "a").is_null().then_some(()), || stage.story());
    check_never_on_disk(stage);
    stage.stop();
    check_never_on_disk(stage);
}

#[test]
fn a_dependency() {
    let stage = Stage::new();
    stage.ticket("first", "ready", "");
    stage.ticket("a", "queued", "depends_on: [first]");
    check(&stage, "dependency", |stage| stage.save("first", "state: ready", "state: done"));
}

#[test]
fn a_conflict() {
    let stage = Stage::with("[capacity]\nmax_inprogress = \"unlimited\"\n");
    stage.ticket("rival", "inprogress", &format!("touches: [src]\n{ACCEPTED}"));
    stage.ticket("a", "queued", "touches: [src/main.rs]");
    check(&stage, "conflict", |stage| stage.save("rival", "touches: [src]", "touches: [docs]"));
}

#[test]
fn a_dirty_workspace() {
    let stage = Stage::new();
    stage.bench.write("work/app.txt", "one");
    stage.bench.git("work", &["add", "app.txt"]);
    stage.ticket("a", "queued", "");
    check(&stage, "dirty_workspace", |stage| {
        stage.bench.git("work", &["commit", "--quiet", "--message=app"]);
    });
}

#[test]
fn capacity() {
    let stage = Stage::new();
    stage.ticket("other", "inprogress", ACCEPTED);
    stage.ticket("a", "queued", "");
    check(&stage, "capacity", |stage| stage.save("other", "state: inprogress", "state: done"));
}

#[test]
fn a_human_gate() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "human_gate: design");
    check(&stage, "human_gate", |stage| stage.save("a", "human_gate: design\n", ""));
}

#[test]
fn something_that_yoi_cannot_check() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    check(&stage, "other", |stage| stage.save("a", "Body of a.", "Body of a, and what the meeting said."));
}

#[test]
fn an_uncheckable_reason_is_shown_again_when_somebody_asks() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    stage.act("yoi wait a --kind other --detail later");
    stage.start();
    stage.rest();
    let (mark, turns) = (stage.mark(), stage.turns().len());
    stage.done("new Other --state planning");
    stage.done("hook panel-open");
    stage.kicked(mark, "panel_open");
    assert_eq!(stage.nth_turn(turns + 1).items(), ["a"]);
    stage.rest();
    assert_eq!(waiting(&stage, "a")["kind"], "other", "being shown does not end it");
}

#[test]
fn an_entry_ends_when_its_ticket_leaves_the_queue_and_all_end_with_the_session() {
    let stage = Stage::new();
    for id in ["a", "b"] {
        stage.ticket(id, "queued", "human_gate: design");
    }
    stage.act(&format!("for id in a b; do yoi wait $id --kind human_gate --detail {WORDING}; done"));
    stage.start();
    stage.rest();
    stage.act("true");
    stage.done("move a ready");
    assert!(stage.json("why a")["ticket"]["waiting"].is_null());
    stage.done("move a queued");
    stage.rest();
    let class = |id: &str| stage.json(&format!("why {id}"))["ticket"]["class"].clone();
    assert_eq!((class("a"), class("b")), ("new_queued".into(), "planned_queued".into()));
    let old = stage.session();
    stage.stop();
    stage.start();
    stage.rest();
    assert_eq!((class("b"), waiting(&stage, "b")), ("new_queued".into(), Value::Null));
    assert_ne!(stage.session(), old);
    let refused = stage.yoi(&format!("plan b --session {old}"));
    assert_eq!(refused.code, 3, "{refused}");
    assert!(refused.stderr.contains("is not the Orchestrator's current one"), "{refused}");
    check_never_on_disk(&stage);
}

#[test]
fn reasons_that_are_refused() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "depends_on: [nowhere]");
    stage.ticket("b", "ready", "");
    stage.ticket("c", "inprogress", ACCEPTED);
    stage.start();
    stage.rest();
    let session = stage.session();
    let ask = |arguments: &[&str]| stage.run(arguments).to_string().replace(&session, "[SESSION]");
    let long = "x".repeat(281);
    let answers = [
        ask(&["wait", "a", "--kind", "conflict", "--detail", "x", "--session", &session]),
        ask(&["wait", "a", "--kind", "weather", "--detail", "x", "--session", &session]),
        ask(&["wait", "a", "--kind", "dependency", "--detail", &long, "--session", &session]),
        ask(&["wait", "b", "--kind", "other", "--detail", "x", "--session", &session]),
        ask(&["wait", "nowhere", "--kind", "other", "--detail", "x", "--session", &session]),
        ask(&["wait", "a", "--kind", "dependency", "--detail", "x", "--session", "s-old"]),
        ask(&["wait", "a", "--kind", "dependency", "--detail", "x"]),
        ask(&["plan", "b", "--session", &session]),
        ask(&["await", "a", "--step", "merge", "--for", "1h", "--session", &session]),
        ask(&["await", "c", "--step", "merge", "--for", "25h", "--session", &session]),
        ask(&["await", "c", "--step", &long, "--for", "1h", "--session", &session]),
        ask(&["await", "a", "--step", "merge", "--for", "90", "--session", &session]),
    ];
    insta::assert_snapshot!(answers.join("\n"), @r"
    ! yoi: `a` does not wait for conflict: that gate does not hold it
    !   - dependency: depends on `nowhere`, which is no ticket here
    !   - capacity: 1 of 1 in progress already: `c`
    !   hint: name a gate that holds it; or `--kind other`, which yoi cannot check
    (exit 3)
    ! yoi: `weather` is not a kind of waiting reason; the kinds are dependency, conflict, dirty_workspace, capacity, human_gate, other
    (exit 2)
    ! yoi: the detail has 281 characters; at most 280 are kept
    !   hint: say it shorter, or write it into the ticket
    (exit 3)
    ! yoi: `b` is ready: only queued tickets wait
    !   hint: `yoi move b queued` comes first
    (exit 3)
    ! yoi: `nowhere` is no ticket that can be read here
    !   hint: `yoi list --all` shows every id, and every file that cannot be read
    (exit 3)
    ! yoi: session `s-old` is not the Orchestrator's current one, `[SESSION]`; its notes are gone with it
    !   hint: a turn has the current one in YOI_SESSION, or in its agent's own variable; nothing is lost: every queued ticket is handed over anew
    (exit 3)
    ! yoi: the work set belongs to the Orchestrator's session, and none was given
    !   hint: set YOI_SESSION, or give --session (the current one is `[SESSION]`)
    (exit 2)
    ! yoi: `b` is ready: only queued and inprogress tickets are planned
    !   hint: `yoi move b queued` comes first
    (exit 3)
    ! yoi: `a` is queued: steps are awaited of inprogress tickets
    !   hint: `yoi accept a` comes first
    (exit 3)
    ! yoi: a step is awaited for more than nothing and at most 24h
    !   hint: await it anew before it is due
    (exit 3)
    ! yoi: the step has 281 characters; it takes 1 to 80
    !   hint: name it in a few words: coder, reviewer, merge
    (exit 3)
    ! yoi: --for 90: `90` has no unit: write `90s` for seconds, `90m` for minutes or `90h` for hours
    (exit 2)
    ");
    assert_eq!(stage.json("work-set")["entries"], serde_json::json!([]));
}
