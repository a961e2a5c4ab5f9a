//! Claims that have gone stale, under the eyes of a daemon: what comes of the ticket, and what git and the thread tell of it.

use super::*;
use crate::support::stage::BOUND;
use crate::support::wait::until;

/// Each moment as `TIME`.
fn masked(text: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_start_matches("ts=").trim_end_matches([',', ';', ':']);
        if chrono::DateTime::parse_from_rfc3339(bare).is_ok() { word.replace(bare, "TIME") } else { word.to_owned() }
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn chain(stage: &Stage, ticket: &str) -> String {
    masked(&stage.bench.git("work", &["log", "--reverse", "--format=%s", &format!("refs/yoi/claims/{ticket}")]))
}

fn thread(stage: &Stage, ticket: &str) -> String {
    let root = stage.bench.path("");
    let text = stage.bench.read(&format!("work/tickets/{ticket}.thread.md"));
    masked(&text.replace(root.to_str().unwrap().trim_end_matches('/'), "[BENCH]"))
}

fn is_queued(stage: &Stage, ticket: &str) {
    let queued = || stage.text(ticket).contains("state: queued").then_some(());
    until("the queue", BOUND, queued, || stage.text(ticket) + &stage.story());
}

#[test]
fn in_pull_mode_the_ticket_is_queued_again() {
    for runs_meanwhile in [true, false] {
        let stage = stage("");
        stage.ticket("a", "queued", "");
        if runs_meanwhile {
            stage.start();
        }
        stage.done("claim a --worker w");
        assert!(stage.text("a").contains("labels: [claimed]"), "{}", stage.text("a"));
        age(&stage, "a");
        if !runs_meanwhile {
            stage.start();
        }
        is_queued(&stage, "a");
        assert!(!stage.text("a").contains("claimed"), "{}", stage.text("a"));
        assert_eq!(chain(&stage, "a").lines().last(), Some("🔓 STALE-BREAK worker=yoi prior=w ts=TIME"));
        let noted = || thread(&stage, "a").contains("STALE-BREAK by yoi: w has not been heard of").then_some(());
        until("the note", BOUND, noted, || thread(&stage, "a"));
        let late = stage.yoi("heartbeat a --worker w");
        assert!(late.code == 3 && late.stderr.contains("the claim of w went stale and was broken by yoi"), "{late}");
        stage.done("claim a --worker v");
    }
}

#[test]
fn in_orchestrated_mode_the_orchestrator_decides() {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", "accepted_by: orchestrator\naccepted_at: \"2026-11-30T08:00:00Z\"");
    stage.start();
    stage.done("claim a --worker w");
    assert_eq!(stage.json("show a")["ticket"]["class"], "active_inprogress");
    age(&stage, "a");
    let actionable = || (stage.json("show a")["ticket"]["class"] == "actionable_inprogress").then_some(());
    until("the ticket is actionable", BOUND, actionable, || stage.story());
    assert!(stage.text("a").contains("state: inprogress"), "{}", stage.text("a"));
    assert_eq!(chain(&stage, "a").lines().count(), 1, "nobody breaks it but who comes next");
}

#[test]
fn the_whole_story_as_git_and_the_thread_tell_it() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.start();
    stage.done("claim a --worker w1 --by ana");
    stage.done("heartbeat a --worker w1");
    stage.done("release a --worker w1 --outcome abandoned");
    stage.done("claim a --worker w2 --by ana");
    age(&stage, "a");
    is_queued(&stage, "a");
    stage.done("claim a --worker w3 --by ana");
    stage.done("release a --worker w3 --outcome pr-opened --pr https://example.org/7");
    let next = stage.yoi("next --claim --worker w4");
    assert_eq!(next.code, 3, "nobody is offered it: {next}");
    insta::assert_snapshot!(chain(&stage, "a"), @r"
    🔒 CLAIM worker=w1 ts=TIME ttl-minutes=90
    🔓 RELEASE worker=w1 outcome=abandoned ts=TIME
    🔒 CLAIM worker=w2 ts=TIME ttl-minutes=90
    🔓 STALE-BREAK worker=yoi prior=w2 ts=TIME
    🔒 CLAIM worker=w3 ts=TIME ttl-minutes=90
    🔓 RELEASE worker=w3 outcome=pr-opened ts=TIME
    ");
    insta::assert_snapshot!(thread(&stage, "a"), @r"
    # Thread of a

    TIME STATE queued -> inprogress by ana: accepted with the claim of w1
    TIME CLAIM by w1 (coder, generation 1), respected until TIME without a beat; owner ana; branch yoi/a, worktree .yoi/worktrees/a; at the end the worktree stays for whoever comes next, but `yoi block` removes it if nothing in it would be lost, and `yoi close` asks what became of it
    TIME RELEASE by w1: abandoned; inprogress -> queued
    TIME STATE queued -> inprogress by ana: accepted with the claim of w2
    TIME CLAIM by w2 (coder, generation 2), respected until TIME without a beat; owner ana; branch yoi/a, worktree .yoi/worktrees/a; at the end the worktree stays for whoever comes next, but `yoi block` removes it if nothing in it would be lost, and `yoi close` asks what became of it
    TIME STALE-BREAK by yoi: w2 has not been heard of; inprogress -> queued
    TIME STATE queued -> inprogress by ana: accepted with the claim of w3
    TIME CLAIM by w3 (coder, generation 3), respected until TIME without a beat; owner ana; branch yoi/a, worktree .yoi/worktrees/a; at the end the worktree stays for whoever comes next, but `yoi block` removes it if nothing in it would be lost, and `yoi close` asks what became of it
    TIME RELEASE by w3: pr-opened, https://example.org/7
    ");
}
