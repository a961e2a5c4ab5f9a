//! `block` and `close`, and what all verbs that end the work on a ticket have in common: what is refused and how it is said;
//! what is written where nobody holds the ticket.

use crate::support::stage::{Stage, ticket_path, ticket_text};
use crate::support::{Answer, Bench};

use super::{decompose, timeless};

const ACCEPTED: &str = "accepted_by: orchestrator\naccepted_at: \"2026-11-30T08:00:00Z\"";
fn block(stage: &Stage, id: &str) -> Answer {
    let (evidence, unblock) = ("401 on every call", "ops puts one into the vault");
    let given = ["--blocker", "no key", "--evidence", evidence, "--unblock", unblock, "--then", "retry"];
    stage.run(&[&["block", id][..], &given].concat())
}

/// With these instead of, or beside, what is right.
fn close(stage: &Stage, id: &str, other: &[&str]) -> Answer {
    let whole = [
        ["--pr", "https://example.org/7"],
        ["--merge-state", "merged"],
        ["--tests", "make test: 12 passed"],
        ["--artifact", "docs/login.md"],
        ["--residual", "none"],
        ["--workspace", "removed"],
    ];
    let kept = whole.iter().filter(|[option, _]| !other.contains(option)).flatten().copied();
    let line: Vec<_> = ["close", id].into_iter().chain(kept).chain(other.iter().copied()).collect();
    stage.run(&line)
}

#[test]
fn a_block_without_all_four_is_refused_and_names_them() {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", ACCEPTED);
    stage.ticket("b", "planning", "");
    let before = stage.text("a");
    let answers = [
        stage.yoi("block a"),
        stage.run(&["block", "a", "--blocker", " ", "--evidence", "x", "--then", "retry"]),
        stage.yoi("block a --blocker x --evidence x --unblock x --then later"),
        block(&stage, "b"),
        block(&stage, "nowhere"),
        stage.yoi("block a --generation 3 --blocker x --evidence x --unblock x --then retry"),
    ];
    insta::assert_snapshot!(answers.map(|answer| answer.to_string()).join("\n"), @r"
    ! yoi: `a` is not blocked: whoever takes it up next needs to know more
    !   - --blocker is missing: what stands in the way
    !   - --evidence is missing: what was tried and seen, so that nobody has to find it out again
    !   - --unblock is missing: what would clear it, and who can do that
    !   - --then is missing: what is to happen when it is cleared: retry, decompose or reassign
    !   hint: `yoi block --help` shows all four; nothing was changed
    (exit 3)
    ! yoi: `a` is not blocked: whoever takes it up next needs to know more
    !   - --blocker is blank: what stands in the way
    !   - --unblock is missing: what would clear it, and who can do that
    !   hint: `yoi block --help` shows all four; nothing was changed
    (exit 3)
    ! error: invalid value 'later' for '--then <WHAT>'
    !   [possible values: retry, decompose, reassign]
    ! 
    ! For more information, try '--help'.
    (exit 2)
    ! yoi: `b` is planning: only what is queued or inprogress is blocked
    !   hint: `yoi why b` says what comes next
    (exit 3)
    ! yoi: there is no ticket `nowhere`
    !   hint: `yoi list --all` shows every id
    (exit 3)
    ! error: the following required arguments were not provided:
    !   --worker <W>
    ! 
    ! Usage: yoi block --worker <W> --generation <N> --blocker <TEXT> --evidence <TEXT> --unblock <TEXT> --then <WHAT> <ID>
    ! 
    ! For more information, try '--help'.
    (exit 2)
    ");
    assert_eq!(stage.text("a"), before);
    assert!(!stage.bench.path("work/tickets/a.thread.md").exists());
}

#[test]
fn a_blocked_ticket_is_queued_and_held_by_its_label() {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", &format!("{ACCEPTED}\nlabels:\n  - ui\n  - claimed"));
    let answer = block(&stage, "a");
    assert_eq!(answer.to_string(), "a: blocked; inprogress -> queued\n(exit 0)");
    insta::assert_snapshot!(timeless(&stage.text("a")), @r#"
    ---
    title: "The ticket a"
    state: queued
    labels:
      - ui
      - blocked
    queued_by: somebody
    queued_at: "[TIME]"
    ---
    Body of a.
    "#);
    insta::assert_snapshot!(timeless(&stage.bench.read("work/tickets/a.thread.md")), @r#"
    # Thread of a

    [TIME] BLOCKED inprogress -> queued by somebody: blocker "no key"; evidence "401 on every call"; unblock "ops puts one into the vault"; then retry; worktree none
    "#);
    assert!(stage.yoi("accept a").stderr.contains("blocked"));
}

#[test]
fn a_close_without_its_evidence_is_refused_and_names_what_is_missing() {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", ACCEPTED);
    let before = stage.text("a");
    let answers = [
        stage.yoi("close a"),
        close(&stage, "a", &["--pr", "example.org/7"]),
        close(&stage, "a", &["--artifact", "CI is green"]),
        close(&stage, "a", &["--artifact", "https://github.com/acme/web/actions/runs/4711"]),
        close(&stage, "a", &["--workspace", "retained:ana:7d"]),
        close(&stage, "a", &["--merge-state", "done"]),
        close(&stage, "a", &["--no-pr", "x"]),
        close(&stage, "nowhere", &[]),
    ];
    insta::assert_snapshot!(answers.map(|answer| answer.to_string()).join("\n"), @r#"
    ! yoi: `a` is not closed: the evidence is not complete
    !   - --pr URL is missing: the pull request; without one: --no-pr WHY
    !   - --merge-state is missing: what became of the pull request: merged, auto-merge, open or closed
    !   - --tests is missing: which tests ran, and what they showed
    !   - --artifact is missing: what there is now: a path, an address or a few words; without one: --no-artifact WHY
    !   - --residual is missing: what is left to do, or known not to work; may be `none`
    !   - --workspace is missing: removed, or retained:OWNER:REASON:EXPIRY
    !   hint: `yoi close --help` shows all of it; nothing was changed
    (exit 3)
    ! yoi: `a` is not closed: the evidence is not complete
    !   - --pr "example.org/7": write the whole address, https://..., without blanks
    !   hint: `yoi close --help` shows all of it; nothing was changed
    (exit 3)
    ! yoi: `a` is not closed: the evidence is not complete
    !   - --artifact "CI is green" is the result of a test or a CI run (that is --tests), and no artifact: an artifact is what somebody can open or use, like a file's path, a release, a page, a screenshot, a document; without one say --no-artifact WHY
    !   hint: `yoi close --help` shows all of it; nothing was changed
    (exit 3)
    ! yoi: `a` is not closed: the evidence is not complete
    !   - --artifact "https://github.com/acme/web/actions/runs/4711" is the result of a test or a CI run (that is --tests), and no artifact: an artifact is what somebody can open or use, like a file's path, a release, a page, a screenshot, a document; without one say --no-artifact WHY
    !   hint: `yoi close --help` shows all of it; nothing was changed
    (exit 3)
    ! yoi: `a` is not closed: the evidence is not complete
    !   - --workspace retained:OWNER:REASON:EXPIRY: REASON is missing: what it is kept for
    !   hint: `yoi close --help` shows all of it; nothing was changed
    (exit 3)
    ! error: invalid value 'done' for '--merge-state <STATE>'
    !   [possible values: merged, auto-merge, open, closed]
    ! 
    !   tip: a similar value exists: 'open'
    ! 
    ! For more information, try '--help'.
    (exit 2)
    ! error: the argument '--pr <URL>' cannot be used with '--no-pr <WHY>'
    ! 
    ! Usage: yoi close --pr <URL> --merge-state <STATE> --tests <TEXT> --artifact <WHAT> --residual <TEXT> --workspace <WHAT> <ID>
    ! 
    ! For more information, try '--help'.
    (exit 2)
    ! yoi: there is no ticket `nowhere`
    !   hint: `yoi list --all` shows every id
    (exit 3)
    "#);
    assert_eq!(stage.text("a"), before);
    assert!(!stage.bench.path("work/tickets/a.thread.md").exists());
}

#[test]
fn a_closed_ticket_has_its_evidence_in_the_thread() {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", ACCEPTED);
    stage.ticket("b", "queued", "");
    assert_eq!(close(&stage, "a", &["--by", "ana"]).to_string(), "a: closed; inprogress -> closed\n(exit 0)");
    assert!(stage.text("a").contains("state: closed\n") && stage.text("a").contains("accepted_by: orchestrator"));
    let again = close(&stage, "a", &[]);
    assert!(again.code == 3 && again.stderr.contains("`a` is closed already"), "{again}");
    let without = ["--no-artifact", "only knowledge\nis left", "--no-pr", "a spike", "--by", "ana"];
    let kept = ["--residual", "the # cache is cold", "--tests", "by hand", "--workspace", "removed"];
    let closed = stage.run(&[&["close", "b"][..], &without, &kept].concat());
    assert_eq!(closed.to_string(), "b: closed; queued -> closed\n(exit 0)");
    let threads = ["a", "b"].map(|id| timeless(&stage.bench.read(&format!("work/tickets/{id}.thread.md"))));
    insta::assert_snapshot!(threads.join("\n"), @r#"
    # Thread of a

    [TIME] STATE inprogress -> done by ana
    [TIME] CLOSED by ana: pr "https://example.org/7" (merged); tests "make test: 12 passed"; artifact "docs/login.md"; residual "none"; workspace removed

    # Thread of b

    [TIME] STATE queued -> done by ana
    [TIME] CLOSED by ana: pr none, because "a spike"; tests "by hand"; artifact none, because "only knowledge is left"; residual "the # cache is cold"; workspace removed
    "#);
    let moved = stage.yoi("move b closed");
    assert!(moved.stderr.contains("`yoi close b --help`"), "{moved}");
}

/// What git has of the ticket counts more than what is said.
#[test]
fn a_branch_that_is_not_merged_and_a_worktree_that_is_there_are_seen() {
    let stage = Stage::new();
    stage.ticket("a b", "inprogress", ACCEPTED);
    let (git, tree) = (|arguments: &[&str]| stage.bench.git("work", arguments), ".yoi/worktrees/a%20b");
    git(&["worktree", "add", "-q", "-b", "yoi/a%20b", tree]);
    stage.bench.git(&format!("work/{tree}"), &["commit", "-q", "--allow-empty", "-m", "work"]);
    stage.bench.write(&format!("work/{tree}/new.txt"), "new\n");
    let kept = "retained:ana:for the log: at 10:30:2999-01-01";
    insta::assert_snapshot!(close(&stage, "a b", &[]), @r"
    ! yoi: `a b` is not closed: the evidence is not complete
    !   - the branch yoi/a%20b is not merged, as git has it here; if it was squashed or rebased, look once more and remove it: git branch -D yoi/a%20b
    !   - --workspace removed: the worktree .yoi/worktrees/a%20b is there still (`yoi worktree remove` takes it away)
    !   hint: `yoi close --help` shows all of it; nothing was changed
    (exit 3)
    ");
    assert_eq!(block(&stage, "a b").code, 0);
    let thread = timeless(&stage.bench.read("work/tickets/a b.thread.md"));
    let (_, fate) = thread.trim_end().rsplit_once("; worktree ").unwrap();
    let commit = git(&["rev-parse", "--short", "yoi/a%20b"]);
    insta::assert_snapshot!(fate.replace(commit.trim(), "[COMMIT]"), @r#"kept at ".yoi/worktrees/a%20b", owner "somebody", "dirty: 0 changed, 1 untracked (untracked: new.txt; 1 commit is neither merged nor pushed: [COMMIT] work)", no expiry set"#);
    // Merged by hand, and looked at from another branch.
    git(&["merge", "-q", "yoi/a%20b"]);
    git(&["switch", "-q", "-c", "other", "HEAD~1"]);
    insta::assert_snapshot!(close(&stage, "a b", &[]), @r"
    ! yoi: `a b` is not closed: the evidence is not complete
    !   - --workspace removed: the worktree .yoi/worktrees/a%20b is there still (`yoi worktree remove` takes it away)
    !   hint: `yoi close --help` shows all of it; nothing was changed
    (exit 3)
    ");
    let closed = close(&stage, "a b", &["--workspace", kept]);
    assert_eq!(closed.code, 0, "{closed}");
    stage.ticket("c", "done", "");
    insta::assert_snapshot!(close(&stage, "c", &["--workspace", kept]), @r"
    ! yoi: `c` is not closed: the evidence is not complete
    !   - --workspace retained: there is no worktree of this ticket; say removed
    !   hint: `yoi close --help` shows all of it; nothing was changed
    (exit 3)
    ");
    assert_eq!(close(&stage, "c", &[]).code, 0);
}

#[test]
fn a_close_that_was_killed_between_its_edits_is_said_again() {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", ACCEPTED);
    let line = "close a --no-pr x --tests y --no-artifact z --residual none --workspace removed";
    let killed = stage.bench.command("work").args(line.split(' ')).env("YOI_FAULT", "close:done").status().unwrap();
    assert_eq!(killed.code(), None);
    assert!(stage.text("a").contains("state: done\n"));
    stage.done(line);
    let thread = stage.bench.read("work/tickets/a.thread.md");
    assert_eq!((thread.matches("-> done").count(), thread.matches("CLOSED").count()), (1, 1), "{thread}");
}

#[test]
fn without_git_nobody_holds_anything_and_nothing_can_be_looked_at() {
    let bench = Bench::new();
    bench.write("work/.yoi/config.toml", "");
    for (id, state) in [("a", "inprogress"), ("b", "inprogress"), ("c", "planning")] {
        bench.write(&ticket_path(id), &ticket_text(id, state, ""));
    }
    bench.write("work/c.yaml", decompose::CHILDREN);
    for line in [
        "block a --blocker x --evidence x --unblock x --then reassign",
        "close b --no-pr x --tests y --no-artifact z --residual none --workspace retained:ana:log:7d",
        "decompose c --from c.yaml",
    ] {
        let answer = bench.yoi("work", line);
        assert_eq!(answer.code, 0, "{answer}");
        let refused = bench.yoi("work", &format!("{line} --worker w"));
        assert!(refused.code == 1 && refused.stderr.contains("claims are kept in git"), "{refused}");
    }
}

/// An agent needs no more than the help.
#[test]
fn the_help_says_all_that_is_demanded() {
    let stage = Stage::new();
    for (verb, words) in [
        ("block", &["--blocker", "--evidence", "--unblock", "--then", "retry", "blocked", "YOI_WORKER"][..]),
        (
            "decompose",
            &["one clear outcome", "several outcomes", "title:", "acceptance:", "validation:", "2 to 5", "tracking"],
        ),
        ("close", &["--pr", "--no-pr", "auto-merge", "--artifact", "green CI", "retained:OWNER:REASON:EXPIRY", "none"]),
    ] {
        let help = stage.done(&format!("{verb} --help")).stdout;
        for word in words {
            assert!(help.contains(word), "{verb}: {word}\n{help}");
        }
        assert!(help.contains("Exit codes: 0") && help.contains("--json"), "{help}");
    }
}
