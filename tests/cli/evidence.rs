//! `block`, `decompose`, `close`: what is refused and how it is said; what is written where nobody holds the ticket.

use std::fs;

use crate::support::stage::{Stage, ticket_path, ticket_text};
use crate::support::terminal::Terminal;
use crate::support::{Answer, Bench};

use super::timeless;

const ACCEPTED: &str = "accepted_by: orchestrator\naccepted_at: \"2026-11-30T08:00:00Z\"";
const CHILDREN: &str = "\
why: they ship apart
children:
  - title: The form names a bad address
    acceptance: [a bad address is named]
    validation: make test
  - title: Mails carry the name
    acceptance:
      - the name stands in the subject
    validation: make mails
    depends_on: [The form names a bad address]
";

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

fn decompose(stage: &Stage, id: &str, children: &str) -> Answer {
    stage.bench.write("work/c.yaml", children);
    stage.yoi(&format!("decompose {id} --from c.yaml"))
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
    insta::assert_snapshot!(fate, @r#"kept at ".yoi/worktrees/a%20b", owner "somebody", "dirty: 0 changed, 1 untracked", no expiry set"#);
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
fn a_decomposition_that_is_not_whole_is_refused_and_nothing_is_made() {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", ACCEPTED);
    let child = |number: usize| format!("- {{title: T{number}, acceptance: [x], validation: v}}\n");
    let some = |number: usize| (1..=number).map(child).collect::<String>();
    let answers = [
        decompose(&stage, "a", &some(1)),
        decompose(&stage, "a", &some(6)),
        decompose(&stage, "a", &format!("why: w\nchildren:\n{}- title: Bare\n- titel: Odd\n", some(1))),
        decompose(&stage, "a", &format!("why: w\nchildren:\n{}- title: Bare\n", some(1))),
        decompose(&stage, "a", "- title: \"never closed\n"),
    ];
    insta::assert_snapshot!(answers.map(|answer| answer.to_string()).join("\n"), @r#"
    ! yoi: `a` is not decomposed: each child has to be a ticket that somebody can start on
    !   - 1 child is the ticket itself under another name: it becomes 2 to 5
    !   - --why is missing: why it is several things and not one, for the thread
    !   hint: `yoi decompose a --template` prints a file to fill in; nothing was changed
    (exit 3)
    ! yoi: `a` is not decomposed: each child has to be a ticket that somebody can start on
    !   - 6 children are too many at once: it becomes 2 to 5, which may be decomposed again
    !   - --why is missing: why it is several things and not one, for the thread
    !   hint: `yoi decompose a --template` prints a file to fill in; nothing was changed
    (exit 3)
    ! yoi: c.yaml cannot be taken as it is
    !   - line 5: unknown key `titel`: did you mean `title`?
    !   - child 2 "Bare" (line 4): no acceptance criteria (`acceptance:`, a list of at least one: when is it done?)
    !   - child 2 "Bare" (line 4): no validation (`validation:`, one line: how does somebody see that it is done?)
    !   - child 3 (line 5): no title (`title:`)
    !   - child 3 (line 5): no acceptance criteria (`acceptance:`, a list of at least one: when is it done?)
    !   - child 3 (line 5): no validation (`validation:`, one line: how does somebody see that it is done?)
    !   hint: a list of children, each with title, acceptance (a list) and validation; `yoi decompose ID --template` prints one
    (exit 3)
    ! yoi: `a` is not decomposed: each child has to be a ticket that somebody can start on
    !   - child 2 "Bare" (line 4): no acceptance criteria (`acceptance:`, a list of at least one: when is it done?)
    !   - child 2 "Bare" (line 4): no validation (`validation:`, one line: how does somebody see that it is done?)
    !   hint: `yoi decompose a --template` prints a file to fill in; nothing was changed
    (exit 3)
    ! yoi: c.yaml cannot be taken as it is
    !   - line 1: this quote is never closed
    !   hint: a list of children, each with title, acceptance (a list) and validation; `yoi decompose ID --template` prints one
    (exit 3)
    "#);
    assert_eq!(fs::read_dir(stage.bench.path("work/tickets")).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_decomposed_is_left_alone() {
    let stage = Stage::new();
    stage.ticket("a", "inprogress", ACCEPTED);
    stage.ticket("done", "done", "");
    stage.bench.write("work/c.yaml", CHILDREN);
    let answers = [
        stage.yoi("decompose a --child One --child Two --why w"),
        stage.yoi("decompose a --from nowhere.yaml"),
        stage.yoi("decompose a --from c.yaml --child x"),
        decompose(&stage, "done", CHILDREN),
        decompose(&stage, "nowhere", CHILDREN),
    ];
    insta::assert_snapshot!(answers.map(|answer| answer.to_string()).join("\n"), @r#"
    ! yoi: `a` is not decomposed: each child has to be a ticket that somebody can start on
    !   - child 1 "One": no acceptance criteria (`acceptance:`, a list of at least one: when is it done?)
    !   - child 1 "One": no validation (`validation:`, one line: how does somebody see that it is done?)
    !   - child 2 "Two": no acceptance criteria (`acceptance:`, a list of at least one: when is it done?)
    !   - child 2 "Two": no validation (`validation:`, one line: how does somebody see that it is done?)
    !   hint: `yoi decompose a --template` prints a file to fill in; nothing was changed
    (exit 3)
    ! yoi: nowhere.yaml: No such file or directory (os error 2)
    (exit 1)
    ! error: the argument '--from <FILE>' cannot be used with '--child <TITLE>'
    ! 
    ! Usage: yoi decompose --from <FILE> <ID>
    ! 
    ! For more information, try '--help'.
    (exit 2)
    ! yoi: `done` is done: there is nothing left of it to decompose
    !   hint: `yoi new` makes new tickets; `yoi why done` says what became of this one
    (exit 3)
    ! yoi: there is no ticket `nowhere`
    !   hint: `yoi list --all` shows every id
    (exit 3)
    "#);
    assert_eq!(fs::read_dir(stage.bench.path("work/tickets")).unwrap().count(), 2);
}

#[test]
fn a_decomposed_ticket_leads_to_its_children() {
    let stage = Stage::new();
    stage.bench.write("work/tickets/deep/a.md", "---\ntitle: Big\nstate: inprogress\npriority: P0\n---\n");
    // Nothing is written over, readable or not.
    stage.bench.write(&ticket_path("a-mails-carry-the-name"), "---\ntitle: [x\n---\n");
    stage.bench.write("work/c.yaml", CHILDREN);
    let made = stage.run(&["decompose", "a", "--from", "c.yaml", "--keep-priority", "it is the outage", "--by", "ana"]);
    insta::assert_snapshot!(made, @r"
    a: decomposed; inprogress -> planning
      a-the-form-names-a-bad-address  tickets/a-the-form-names-a-bad-address.md  The form names a bad address
      a-mails-carry-the-name-2  tickets/a-mails-carry-the-name-2.md  Mails carry the name
    (exit 0)
    ");
    insta::assert_snapshot!(timeless(&stage.bench.read("work/tickets/deep/a.md")), @r"
    ---
    title: Big
    state: planning
    priority: P0
    labels: [tracking]
    children: [a-the-form-names-a-bad-address, a-mails-carry-the-name-2]
    ---
    ");
    insta::assert_snapshot!(timeless(&stage.text("a-mails-carry-the-name-2")), @r#"
    ---
    title: "Mails carry the name"
    state: planning
    priority: P0
    labels: []
    created_at: "[TIME]"
    updated_at: "[TIME]"
    depends_on: [a-the-form-names-a-bad-address]
    parent: a
    ---

    ## Acceptance criteria

    - the name stands in the subject

    ## Validation

    make mails
    "#);
    let thread = stage.bench.read("work/tickets/deep/a.thread.md");
    insta::assert_snapshot!(timeless(&thread), @r#"
    # Thread of a

    [TIME] DECOMPOSED inprogress -> planning by ana: into [The form names a bad address](../a-the-form-names-a-bad-address.md), [Mails carry the name](../a-mails-carry-the-name-2.md); why "they ship apart"; children's priority P0 kept, because "it is the outage"
    "#);
    // The links lead from where the thread lies.
    for link in thread.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(stage.bench.path("work/tickets/deep").join(link).is_file(), "{link}");
    }
    let again = stage.json("decompose a --from c.yaml --by ana");
    assert!(again["children"].as_array().unwrap().iter().all(|child| child["was_there"] == true), "{again:#}");
}

/// Killed after the first child, after the last one, and before the note: the same command goes on.
#[test]
fn a_decomposition_that_was_killed_is_said_again() {
    for fault in ["decompose:child", "decompose:child#2", "decompose:parent"] {
        let mut stage = Stage::new();
        stage.ticket("a", "inprogress", ACCEPTED);
        stage.bench.write("work/c.yaml", CHILDREN);
        let mut command = stage.bench.command("work");
        let killed = command.args(["decompose", "a", "--from", "c.yaml"]).env("YOI_FAULT", fault).status().unwrap();
        assert_eq!(killed.code(), None, "{fault}: it was killed");
        stage.bench.set("YOI_BY", "ana");
        stage.done("decompose a --from c.yaml");
        let list = stage.json("list --all");
        let ids: Vec<_> = list["tickets"].as_array().unwrap().iter().map(|t| t["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), 3, "{fault}: {ids:?}");
        assert!(stage.text("a").contains("children: [a-the-form-names-a-bad-address, a-mails-carry-the-name]"));
        assert_eq!(stage.bench.read("work/tickets/a.thread.md").matches("DECOMPOSED").count(), 1, "{fault}");
    }
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
fn children_may_come_on_standard_input_and_the_template_fits() {
    let stage = Stage::new();
    stage.ticket("a", "planning", "");
    let template = stage.done("decompose a --template --child One --child Two --why w").stdout;
    let filled = template.replace("- \"\"", "- it works").replace("validation: \"\"", "validation: make test");
    let mut command = assert_cmd::Command::from_std(stage.bench.command("work"));
    let made = command.args(["decompose", "a", "--from", "-"]).write_stdin(filled).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(stage.text("a").contains("children: [a-one, a-two]"), "{}", stage.text("a"));
    assert!(stage.text("a-two").contains("- it works\n"));
}

#[test]
fn on_a_terminal_the_template_opens_in_the_editor_and_what_was_written_is_kept() {
    let mut stage = Stage::new();
    stage.ticket("a", "planning", "");
    stage.bench.write("edit.sh", "sed -i \"$(cat \"$EDITS\")\" \"$1\"\n");
    stage.bench.set("EDITOR", format!("sh {}", stage.bench.path("edit.sh").display()));
    stage.bench.set("EDITS", stage.bench.path("edits").to_str().unwrap());
    let say = |edits: &str, shows: &str| {
        stage.bench.write("edits", edits);
        let mut command = stage.bench.command("work");
        command.args(["decompose", "a", "--child", "One", "--child", "Two", "--why", "w"]);
        let mut terminal = Terminal::new(command);
        terminal.shows(shows);
        terminal.ends();
    };
    let left = || fs::read_dir(stage.bench.path("tmp")).unwrap().count();
    say("", "nothing was filled in");
    assert_eq!(left(), 0);
    say("s/- \"\"/- it works/", "--from");
    assert_eq!(left(), 1, "what was written is kept");
    say("s/- \"\"/- it works/; s/validation: \"\"/validation: make test/", "a-two");
    assert_eq!(left(), 1);
    assert!(stage.text("a").contains("children: [a-one, a-two]"));
}

#[test]
fn without_git_nobody_holds_anything_and_nothing_can_be_looked_at() {
    let bench = Bench::new();
    bench.write("work/.yoi/config.toml", "");
    for (id, state) in [("a", "inprogress"), ("b", "inprogress"), ("c", "planning")] {
        bench.write(&ticket_path(id), &ticket_text(id, state, ""));
    }
    bench.write("work/c.yaml", CHILDREN);
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
