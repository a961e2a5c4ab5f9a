//! Who works in a ticket's worktree: its ticket is active as long as that lasts, and nobody else is started in it.

use std::process::{Child, Stdio};

use serde_json::Value;

use crate::support::Answer;
use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

const ACCEPTED: &str = "accepted_by: orchestrator\naccepted_at: \"2026-11-30T08:00:00Z\"";
const A: &str = "work/.yoi/worktrees/a";

/// Lives until it is dropped.
struct Process(Child);

impl Process {
    fn sleeps_in(stage: &Stage, folder: &str) -> Self {
        Self(stage.bench.program("sleep", folder).arg("600").stdin(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The accepted ticket `a`, and a worktree for it.
fn stage() -> Stage {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", ACCEPTED);
    stage.bench.git("work", &["commit", "--quiet", "--allow-empty", "--message=first"]);
    stage.bench.git("work", &["worktree", "add", "--quiet", "-b", "yoi/a", ".yoi/worktrees/a"]);
    stage
}

fn evidence(stage: &Stage) -> (String, String) {
    // Where there is a daemon: a decision is asked for, and that looks.
    let _ = stage.yoi("kick --dry-run");
    let row = stage.json("list")["tickets"][0].clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&row["class"]), text(&row["evidence"][0]))
}

#[test]
fn its_ticket_is_active_until_he_is_gone_with_a_daemon_and_without() {
    let stage = stage();
    for daemon in [false, true] {
        if daemon {
            stage.start();
        }
        let left = ("actionable_inprogress".to_owned(), format!("a worktree is left at [BENCH]/{A}"));
        assert_eq!(evidence(&stage), left, "daemon: {daemon}");
        let inside = Process::sleeps_in(&stage, A);
        let working = format!("a live process works in its worktree (pid {})", inside.pid());
        let expected = ("active_inprogress".to_owned(), working.clone());
        until("work", BOUND, || (evidence(&stage) == expected).then_some(()), || stage.story());
        // A yoi there is nobody's work.
        assert!(stage.bench.yoi(A, "why a").stdout.contains(&working));
        drop(inside);
        assert_eq!(evidence(&stage), left, "daemon: {daemon}");
        assert!(stage.bench.yoi(A, "why a").stdout.contains("a worktree is left at"));
    }
}

#[test]
fn nobody_is_kicked_for_it_meanwhile_and_somebody_is_afterwards() {
    let stage = stage();
    let inside = Process::sleeps_in(&stage, A);
    until("the process", BOUND, || stage.yoi("why a").stdout.contains("works in").then_some(()), || stage.story());
    let mark = stage.mark();
    stage.start();
    stage.suppressed(mark, "orchestrator_spawn", "active_inprogress");
    assert!(stage.yoi("kick").stdout.contains("delegated work is under way"));
    stage.rest();
    assert_eq!(stage.kicks(), 0, "{}", stage.story());
    drop(inside);
    stage.done("kick");
    assert_eq!(stage.nth_turn(1).items(), ["a"]);
}

fn start(stage: &Stage, folder: &str, worker: &str, pid: u32) -> Answer {
    stage.bench.yoi(folder, &format!("start a --worker {worker} --pid {pid}"))
}

#[test]
fn a_start_is_refused_while_somebody_else_works_in_it_and_nothing_is_claimed() {
    for daemon in [false, true] {
        let stage = stage();
        if daemon {
            stage.start();
        }
        let agent = Process::sleeps_in(&stage, "work");
        let inside = Process::sleeps_in(&stage, A);
        let named = format!("process {} (sleep) works in the ticket's worktree", inside.pid());
        let refused = || Some(start(&stage, "work", "w", agent.pid())).filter(|answer| answer.stderr.contains(&named));
        let answer = until("a refusal", BOUND, refused, || stage.story());
        assert_eq!(answer.code, 3, "{answer}");
        assert_eq!(stage.bench.git("work", &["for-each-ref", "refs/yoi/claims"]), "");
        // Whoever is in there already may start.
        assert_eq!(start(&stage, A, "w", inside.pid()).code, 0);
        // Of a ticket that is held its holder is named.
        let other = start(&stage, "work", "v", agent.pid());
        assert!(other.code == 3 && other.stderr.contains("held by w"), "{other}");
        stage.done("release a --worker w --outcome abandoned --reason no");
        drop(inside);
        assert_eq!(start(&stage, A, "v", agent.pid()).code, 0, "the command itself is nobody");
    }
}
