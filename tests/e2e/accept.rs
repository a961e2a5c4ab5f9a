//! `yoi accept`: refused by each gate and from each wrong state, with the evidence, and without a byte of the file
//! changed; the same with a daemon and without one (DESIGN.md 6.1).

use std::process::Stdio;

use crate::support::stage::{Stage, ticket_path};

const ACCEPTED: &str = "accepted_by: orchestrator\naccepted_at: \"2026-11-30T08:00:00Z\"";
const UNLIMITED: &str = "[capacity]\nmax_inprogress = \"unlimited\"\n";

/// Asks for every one of these without a daemon and with one; returns what was said, which has to be the same.
fn refusals(stage: &Stage, ids: &[&str]) -> String {
    let ask = || {
        let answers = ids.iter().map(|id| {
            let path = ticket_path(id);
            let before = stage.bench.path(&path).exists().then(|| stage.text(id));
            let answer = stage.yoi(&format!("accept {id} --by ana"));
            assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{id}: {answer}");
            assert_eq!(before, stage.bench.path(&path).exists().then(|| stage.text(id)), "{id}: the file's bytes");
            assert!(!stage.bench.path(&format!("work/tickets/{id}.thread.md")).exists(), "{id}: no note");
            answer.stderr
        });
        answers.collect::<String>()
    };
    let without = ask();
    stage.start();
    stage.rest();
    assert_eq!(ask(), without, "with a daemon");
    let moved = stage.yoi(&format!("move {} inprogress", ids[0]));
    assert!(moved.code == 3 && without.starts_with(&moved.stderr), "`move ID inprogress` is `accept`: {moved}");
    without
}

#[test]
fn gates_of_the_ticket_itself() {
    let stage = Stage::with(UNLIMITED);
    stage.ticket("under-way", "inprogress", &format!("touches: [src/auth]\n{ACCEPTED}"));
    stage.ticket("unfinished", "ready", "");
    stage.ticket("ring", "queued", "depends_on: [other-ring]");
    stage.ticket("other-ring", "queued", "depends_on: [ring]");
    for (id, more) in [
        ("waits", "depends_on: [unfinished, under-way]"),
        ("lost", "depends_on: [nowhere]"),
        ("rival", "conflicts_with: [under-way]"),
        ("toucher", "touches: [docs, src/auth/login.rs]"),
        ("gated", "human_gate: \"needs design sign-off\""),
        ("labelled", "labels: [needs-human, blocked]"),
        ("all-at-once", "human_gate: yes\ndepends_on: [unfinished]\nconflicts_with: [under-way]"),
    ] {
        stage.ticket(id, "queued", more);
    }
    let ids = ["waits", "lost", "ring", "rival", "toucher", "gated", "labelled", "all-at-once"];
    insta::assert_snapshot!(refusals(&stage, &ids), @r"
    yoi: `waits` cannot start: a gate holds it
      - dependency: depends on `unfinished`, which is ready
      - dependency: depends on `under-way`, which is inprogress
      hint: it can be accepted as soon as none of this holds any more
    yoi: `lost` cannot start: a gate holds it
      - dependency: depends on `nowhere`, which is no ticket here
      hint: it can be accepted as soon as none of this holds any more
    yoi: `ring` cannot start: a gate holds it
      - dependency: depends on `other-ring`, which is queued
      - dependency: the dependencies go in a circle: `ring` -> `other-ring` -> `ring`
      hint: it can be accepted as soon as none of this holds any more
    yoi: `rival` cannot start: a gate holds it
      - conflict: conflicts with `under-way`, which is inprogress
      hint: it can be accepted as soon as none of this holds any more
    yoi: `toucher` cannot start: a gate holds it
      - conflict: touches `src/auth/login.rs`, and `under-way`, which is inprogress, touches `src/auth`
      hint: it can be accepted as soon as none of this holds any more
    yoi: `gated` cannot start: a gate holds it
      - human_gate: human_gate: `needs design sign-off`
      hint: it can be accepted as soon as none of this holds any more
    yoi: `labelled` cannot start: a gate holds it
      - human_gate: label `needs-human`
      - human_gate: label `blocked`
      hint: it can be accepted as soon as none of this holds any more
    yoi: `all-at-once` cannot start: a gate holds it
      - dependency: depends on `unfinished`, which is ready
      - conflict: conflicts with `under-way`, which is inprogress
      - human_gate: human_gate: `yes`
      hint: it can be accepted as soon as none of this holds any more
    ");
}

#[test]
fn gates_of_the_workspace() {
    let stage = Stage::new();
    stage.bench.write("work/src/app.txt", "one\n");
    stage.bench.git("work", &["add", "src"]);
    stage.bench.git("work", &["commit", "--quiet", "--message=app"]);
    stage.bench.write("work/src/app.txt", "two\n");
    stage.bench.write("work/untracked.txt", "does not count\n");
    stage.ticket("under-way", "inprogress", ACCEPTED);
    stage.ticket("next", "queued", "");
    insta::assert_snapshot!(refusals(&stage, &["next"]), @r"
    yoi: `next` cannot start: a gate holds it
      - dirty_workspace: uncommitted changes in the main worktree: src/app.txt
      - capacity: 1 of 1 in progress already: `under-way`
      hint: it can be accepted as soon as none of this holds any more
    ");
}

#[test]
fn wrong_states() {
    let stage = Stage::with(UNLIMITED);
    for state in ["planning", "ready", "done", "closed"] {
        stage.ticket(&format!("is-{state}"), state, "");
    }
    stage.ticket("is-accepted", "inprogress", ACCEPTED);
    // The state is looked at before the gates: the message names the real obstacle.
    stage.ticket("gated", "ready", "human_gate: yes");
    stage.ticket("is-odd", "someday", "");
    stage.bench.write("work/tickets/broken.md", "---\ntitle: [unclosed\nstate: queued\n---\n");
    let ids =
        ["is-planning", "is-ready", "is-accepted", "is-done", "is-closed", "gated", "is-odd", "broken", "nowhere"];
    insta::assert_snapshot!(refusals(&stage, &ids), @r"
    yoi: `is-planning` is planning: only a queued ticket is accepted
      hint: it goes planning -> ready -> queued first
    yoi: `is-ready` is ready: only a queued ticket is accepted
      hint: `yoi move is-ready queued` comes first
    yoi: `is-accepted` is inprogress already, accepted by orchestrator at 2026-11-30T08:00:00Z
      hint: `yoi why is-accepted` says what comes next
    yoi: `is-done` is done: only a queued ticket is accepted
      hint: `yoi move is-done inprogress` takes it up again
    yoi: `is-closed` is closed: only a queued ticket is accepted
      hint: `yoi move is-closed planning` opens it again
    yoi: `gated` is ready: only a queued ticket is accepted
      hint: `yoi move gated queued` comes first
    yoi: `is-odd` has no state that can be read
      hint: write one of the six states into tickets/is-odd.md
    yoi: `broken` cannot be changed as long as its file is at fault
      - tickets/broken.md:2:8: this `[` is not closed, or a comma is missing in it
    yoi: there is no ticket `nowhere`
      hint: `yoi list --all` shows every id
    ");
}

/// Accepts one ticket; returns what was said, the file and its thread, with the time of day taken out.
fn accepted(stage: &Stage, arguments: &str) -> String {
    let answer = stage.done(&format!("accept {arguments}"));
    let id = arguments.split(' ').next().unwrap();
    let thread = stage.bench.read(&format!("work/tickets/{id}.thread.md"));
    let at = stage.json(&format!("show {id}"))["ticket"]["accepted_at"].as_str().unwrap().to_owned();
    format!("{}{}{thread}", answer.stdout, stage.text(id)).replace(&at, "[NOW]")
}

#[test]
fn what_no_gate_holds_is_recorded_with_a_daemon_and_without_one() {
    let stage = Stage::with(&format!("{UNLIMITED}[gates]\ndirty_workspace = \"off\"\n"));
    for id in ["a", "b"] {
        stage.ticket(id, "queued", "# a comment stays\nlabels: [x]");
    }
    let without = accepted(&stage, "a --by ana");
    insta::assert_snapshot!(without, @r#"
    a: queued -> inprogress
      The dirty_workspace gate is off: uncommitted changes are not looked at.
    ---
    title: "The ticket a"
    state: inprogress
    # a comment stays
    labels: [x]
    accepted_by: ana
    accepted_at: "[NOW]"
    ---
    Body of a.
    # Thread of a

    [NOW] STATE queued -> inprogress by ana: accepted
    "#);
    stage.start();
    assert_eq!(accepted(&stage, "b --by ana").replace('b', "a"), without.replace('b', "a"));
    stage.event(0, "the record", |event| event["kind"] == "ISSUE_ACCEPTED" && event["ticket"] == "b");
    let again = stage.yoi("accept b");
    assert!(again.code == 3 && again.stderr.contains("`b` is inprogress already, accepted by ana at "), "{again}");
}

#[test]
fn an_inprogress_by_hand_is_put_on_record_behind_the_gates() {
    let stage = Stage::new();
    stage.ticket("by-hand", "inprogress", "depends_on: [first]");
    stage.ticket("first", "ready", "");
    stage.start();
    stage.rest();
    let why = stage.done("why by-hand").stdout;
    assert!(why.contains("actionable_inprogress: no acceptance is recorded in the file"), "{why}");
    let refused = stage.yoi("accept by-hand");
    assert!(refused.code == 3 && refused.stderr.contains("depends on `first`, which is ready"), "{refused}");
    // On fresh data: the daemon need not have noticed the edit yet.
    stage.save("first", "state: ready", "state: done");
    stage.done("accept by-hand --by ana");
    assert!(stage.text("by-hand").contains("accepted_by: ana\n"), "{}", stage.text("by-hand"));
}

/// Accepts all of these at the same time; returns the sorted exit codes.
fn at_once(stage: &Stage, ids: &[&str]) -> Vec<i32> {
    let children = ids.iter().map(|id| {
        let mut command = stage.bench.command("work");
        command.args(["accept", id]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    });
    let children: Vec<_> = children.collect();
    let mut codes: Vec<_> = children.into_iter().map(|mut child| child.wait().unwrap().code().unwrap()).collect();
    codes.sort_unstable();
    codes
}

#[test]
fn of_many_accepts_at_once_one_passes() {
    for daemon in [false, true] {
        let stage = Stage::new();
        let ids = ["t0", "t1", "t2", "t3", "t4", "t5"];
        for id in ids {
            stage.ticket(id, "queued", "");
        }
        if daemon {
            stage.start();
            stage.rest();
        }
        assert_eq!(at_once(&stage, &ids), [0, 3, 3, 3, 3, 3], "by capacity; daemon: {daemon}");
        let accepted = stage.json("list --state inprogress")["tickets"].as_array().unwrap().clone();
        assert_eq!(accepted.len(), 1);
        stage.done(&format!("move {} done", accepted[0]["id"].as_str().unwrap()));
        let other = ids.into_iter().find(|id| accepted[0]["id"] != **id).unwrap();
        assert_eq!(at_once(&stage, &[other; 6]), [0, 3, 3, 3, 3, 3], "of the same ticket; daemon: {daemon}");
        let thread = stage.bench.read(&format!("work/tickets/{other}.thread.md"));
        assert_eq!(thread.matches("accepted").count(), 1, "{thread}");
    }
}
