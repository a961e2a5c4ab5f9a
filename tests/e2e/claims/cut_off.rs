//! A claim that is killed (-9) between any two of its steps, and a verb of its holder: what comes next for the ticket finds nothing
//! that is half done. Every verb at every step where `YOI_ROUNDS` is set, a third of them where it is not.

use super::*;
use crate::support::stage::BOUND;
use crate::support::wait::until;

const OF_A_CLAIM: [&str; 5] = ["marked", "taken", "accepted", "labelled", "noted"];
const OF_A_HOLDER: [&str; 3] = ["stood", "written", "ended"];
const CLOSE: &str =
    "close ID --no-pr x --merge-state closed --tests x --artifact src/a.rs --residual none --workspace removed";
const BLOCK: &str = "block ID --blocker x --evidence x --unblock x --then retry";

pub(super) fn has_fault_points() -> bool {
    if !cfg!(debug_assertions) {
        eprintln!("skipped: fault points are in debug builds only");
    }
    cfg!(debug_assertions)
}

/// Of a table the part that is to be run.
fn part<T: Copy, U: Copy>(rows: &[T], columns: &[U]) -> Vec<(String, T, U)> {
    let all = std::env::var("YOI_ROUNDS").is_ok();
    let cells = rows
        .iter()
        .enumerate()
        .flat_map(|(row, one)| columns.iter().enumerate().map(move |(column, other)| (row, column, *one, *other)));
    let wanted = cells.filter(|(row, column, ..)| all || (row + column) % 3 == 0);
    wanted.map(|(row, column, one, other)| (format!("t{row}-{column}"), one, other)).collect()
}

/// Runs a command that is killed at this point.
fn killed(stage: &Stage, line: &str, point: &str) {
    let output = stage.bench.command("work").args(line.split(' ')).env("YOI_FAULT", point).output().unwrap();
    assert_eq!(output.status.code(), None, "{line} {point}: {}", String::from_utf8_lossy(&output.stderr));
}

fn marks(stage: &Stage) -> usize {
    std::fs::read_dir(stage.bench.path("work/.git/yoi/starts")).map_or(0, Iterator::count)
}

fn holder(stage: &Stage, ticket: &str) -> serde_json::Value {
    stage.json(&format!("show {ticket}"))["ticket"]["claim"]["worker"].clone()
}

/// Nobody holds it, and it is to be had.
fn is_free(stage: &Stage, ticket: &str, what: &str) {
    assert_eq!(holder(stage, ticket), serde_json::Value::Null, "{what}");
    let text = stage.text(ticket);
    assert!(
        text.contains("state: queued") && !text.contains("claimed") && !text.contains("accepted_by"),
        "{what}: {text}"
    );
    stage.done(&format!("claim {ticket} --worker later"));
}

#[test]
fn whoever_comes_after_a_claim_that_was_killed_finds_the_ticket_free() {
    if !has_fault_points() {
        return;
    }
    let stage = stage("");
    let takes = ["claim ID --worker w", "claim ID --worker v", "next --claim --worker v", "start ID --worker v"];
    let others = ["heartbeat ID --worker w", "release ID --worker w --outcome done"];
    let others = others.map(str::to_owned).into_iter();
    let ends = [CLOSE, BLOCK, "release ID --outcome abandoned"].map(|line| format!("{line} --worker w"));
    let takes = takes.map(str::to_owned).into_iter();
    let lines: Vec<String> = takes.chain(others).chain(ends).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    for (ticket, point, line) in part(&OF_A_CLAIM, &lines) {
        let what = format!("{point}, then {line}");
        stage.ticket(&ticket, "queued", "");
        killed(&stage, &format!("claim {ticket} --worker w"), &format!("claim:{point}"));
        let next = stage.yoi(&line.replace("ID", &ticket));
        if line.contains("claim ") || line.contains("--claim") || line.contains("start") {
            assert_eq!(next.code, 0, "{what}: {next}");
            let worker = line.rsplit(' ').next().unwrap();
            assert_eq!(holder(&stage, &ticket), worker, "{what}");
            let text = stage.text(&ticket);
            assert!(text.contains("state: inprogress") && text.contains("labels: [claimed]"), "{what}: {text}");
        } else {
            let held = next.stderr.contains("is held by nobody: w released it as abandoned");
            assert!(next.code == 3 && (held || next.stderr.contains("has no claim")), "{what}: {next}");
            is_free(&stage, &ticket, &what);
        }
        assert_eq!(marks(&stage), 0, "{what}");
    }
}

#[test]
fn in_orchestrated_mode_the_acceptance_stands() {
    if !has_fault_points() {
        return;
    }
    let stage = Stage::new();
    for (ticket, point, worker) in part(&["marked", "taken", "labelled", "noted"], &["w", "v"]) {
        stage.ticket(&ticket, "inprogress", "accepted_by: boss\naccepted_at: \"2026-11-30T08:00:00Z\"");
        killed(&stage, &format!("claim {ticket} --worker w"), &format!("claim:{point}"));
        stage.done(&format!("claim {ticket} --worker {worker}"));
        assert_eq!((holder(&stage, &ticket), marks(&stage)), (worker.into(), 0), "{point}");
        assert!(stage.text(&ticket).contains("accepted_by: boss"), "{point}: {}", stage.text(&ticket));
    }
}

#[test]
fn a_daemon_gives_back_what_was_claimed_by_a_command_or_a_daemon_that_was_killed() {
    if !has_fault_points() {
        return;
    }
    let stage = stage("");
    for (ticket, point, in_daemon) in part(&OF_A_CLAIM, &[false, true]) {
        stage.ticket(&ticket, "queued", "");
        if in_daemon {
            stage.start_with([("YOI_FAULT", &*format!("claim:{point}"))]);
            assert_ne!(stage.yoi(&format!("claim {ticket} --worker w")).code, 0, "{point}");
            stage.kill();
        } else {
            killed(&stage, &format!("claim {ticket} --worker w"), &format!("claim:{point}"));
        }
        stage.start();
        let free = || (holder(&stage, &ticket).is_null() && marks(&stage) == 0).then_some(());
        until("the claim given back", BOUND, free, || stage.bench.read("daemon.log"));
        is_free(&stage, &ticket, point);
        stage.stop();
    }
}

#[test]
fn a_claim_that_is_given_back_and_killed_in_that_is_given_back_by_the_next_one() {
    if !has_fault_points() {
        return;
    }
    let stage = stage("");
    for (ticket, point, then) in part(&OF_A_HOLDER, &OF_A_CLAIM) {
        stage.ticket(&ticket, "queued", "");
        killed(&stage, &format!("claim {ticket} --worker w"), &format!("claim:{then}"));
        // Where nothing was claimed there is nothing to be killed in.
        if then != "marked" {
            killed(&stage, &format!("claim {ticket} --worker v"), &format!("fenced:{point}"));
        }
        stage.done(&format!("claim {ticket} --worker u"));
        assert_eq!((holder(&stage, &ticket), marks(&stage)), ("u".into(), 0), "{point} {then}");
    }
}

/// The claims of others, and a later one of the same worker, are none of a dead one's.
#[test]
fn only_the_very_claim_is_given_back() {
    if !has_fault_points() {
        return;
    }
    let stage = stage("");
    stage.ticket("a", "queued", "");
    killed(&stage, "claim a --worker w", "claim:marked");
    let starts = stage.bench.path("work/.git/yoi/starts");
    let mark = std::fs::read_dir(&starts).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read(&mark).unwrap();
    stage.done("claim a --worker w");
    std::fs::write(&mark, &text).unwrap();
    stage.done("heartbeat a --worker w");
    assert_eq!((holder(&stage, "a"), marks(&stage)), ("w".into(), 0));
    std::fs::write(&mark, &text).unwrap();
    let lost = stage.yoi("claim a --worker v");
    assert!(lost.code == 3 && lost.stderr.contains("lost-race: `a` is held by w"), "{lost}");
    assert_eq!((holder(&stage, "a"), marks(&stage)), ("w".into(), 0));
}

#[test]
fn what_a_holder_was_killed_in_is_done_by_the_same_command_again_or_was_done() {
    if !has_fault_points() {
        return;
    }
    let stage = stage("");
    stage.bench.write(
        "work/children.yaml",
        "- {title: one, acceptance: [x], validation: y}\n- {title: two, acceptance: [x], validation: y}\n",
    );
    let verbs = [
        ("heartbeat ID", "state: inprogress"),
        ("release ID --outcome done", "state: done"),
        ("release ID --outcome abandoned", "state: queued"),
        ("release ID --outcome pr-opened --pr https://example.org/1", "pr: "),
        (BLOCK, "blocked"),
        (CLOSE, "state: closed"),
        ("decompose ID --from children.yaml --why x", "children: "),
    ];
    for (ticket, point, (line, written)) in part(&OF_A_HOLDER, &verbs) {
        let what = format!("{line} at {point}");
        stage.ticket(&ticket, "queued", "");
        stage.done(&format!("claim {ticket} --worker w"));
        let line = format!("{} --worker w", line.replace("ID", &ticket));
        killed(&stage, &line, &format!("fenced:{point}"));
        let again = stage.yoi(&line);
        let said =
            ["is held by nobody: w released it as", "is closed already"].iter().any(|said| again.stderr.contains(said));
        assert!(again.code == 0 || point == "ended" && again.code == 3 && said, "{what}: {again}");
        assert!(stage.text(&ticket).contains(written), "{what}: {}", stage.text(&ticket));
        let held = if line.starts_with("heartbeat") { "w".into() } else { serde_json::Value::Null };
        assert_eq!((holder(&stage, &ticket), marks(&stage)), (held, 0), "{what}");
    }
}
