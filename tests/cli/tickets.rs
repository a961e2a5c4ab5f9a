//! `new`, `list`, `show`, `edit`, `set`, `why`, `doctor`, `status`, `events`, without a daemon.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::timeless;
use crate::support::stage::Stage;

const ACCEPTED: &str = "accepted_by: orchestrator\naccepted_at: \"2026-11-30T08:00:00Z\"";

#[test]
fn a_new_ticket_has_a_readable_id_and_says_what_was_asked() {
    let stage = Stage::new();
    let made = stage.run(&[
        "new",
        "Login: fails # on Safari",
        "--state",
        "queued",
        "--priority",
        "P1",
        "--label",
        "agent-ready",
        "--by",
        "bob",
    ]);
    let (id, path) = made.stdout.trim().split_once("  ").unwrap();
    let (words, letters) = id.rsplit_once('-').unwrap();
    assert_eq!((words, letters.len(), path), ("login-fails-on-safari", 4, format!("tickets/{id}.md").as_str()));
    insta::assert_snapshot!(timeless(&stage.text(id)), @r#"
    ---
    title: "Login: fails # on Safari"
    state: queued
    priority: P1
    labels: [agent-ready]
    created_at: "[TIME]"
    updated_at: "[TIME]"
    queued_by: bob
    queued_at: "[TIME]"
    ---
    "#);
    let shown = &stage.json(&format!("show {id}"))["ticket"];
    assert_eq!(
        (&shown["title"], &shown["queued_by"], &shown["problems"]),
        (&"Login: fails # on Safari".into(), &"bob".into(), &serde_json::json!([]))
    );
    let again = stage.run(&["new", "Login: fails # on Safari"]).stdout;
    assert!(!again.starts_with(id), "never the same id twice");
    assert_eq!(stage.json("list")["tickets"].as_array().unwrap().len(), 2);
}

#[test]
fn lists_are_sorted_filtered_and_aligned() {
    let stage = Stage::new();
    stage.ticket("old-idea", "closed", "");
    stage.ticket("idea", "planning", "priority: P0");
    stage.ticket("second", "queued", "queued_at: \"2026-11-30T09:00:00Z\"");
    stage.ticket("first", "queued", "queued_at: \"2026-11-30T08:00:00Z\"\nlabels: [ui]");
    stage.ticket("urgent", "queued", "priority: P0\nqueued_at: \"2026-11-30T10:00:00Z\"\ndepends_on: [idea]");
    stage.ticket("going", "inprogress", ACCEPTED);
    stage.ticket("shipped", "done", "");
    stage.bench.write("work/tickets/README.md", "# Not a ticket\n");
    stage.bench.write("work/tickets/deep/er/broken.md", "---\ntitle: x\nstate: \"queued\n---\n");
    insta::assert_snapshot!(stage.yoi("list"), @r"
    ID       STATE                  PRI  TITLE
    going    actionable_inprogress  P2   The ticket going
    urgent   new_queued             P0   The ticket urgent  [held: depends on `idea`, which is planning; and 1 more]
    first    new_queued             P2   The ticket first  [held: 1 of 1 in progress already: `going`]
    second   new_queued             P2   The ticket second  [held: 1 of 1 in progress already: `going`]
    idea     planning               P0   The ticket idea
    shipped  done                   P2   The ticket shipped

    1 file not readable as tickets:
      tickets/deep/er/broken.md:3:8: this quote is never closed
    (exit 0)
    ");
    let ids = |line: &str| {
        let list = stage.json(line);
        let ids = list["tickets"].as_array().unwrap().iter().map(|ticket| ticket["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>().join(" ")
    };
    for (line, expected) in [
        ("list --state queued", "urgent first second"),
        ("list --state closed", "old-idea"),
        ("list --class new_queued", "urgent first second"),
        ("list --class actionable_inprogress", "going"),
        ("list --class planned_queued", ""),
        ("list --label ui", "first"),
        ("list --all", "going urgent first second idea shipped old-idea"),
    ] {
        assert_eq!(ids(line), expected, "{line}");
    }
}

#[test]
fn an_empty_workspace_says_what_to_do() {
    let stage = Stage::new();
    insta::assert_snapshot!(stage.yoi("list"), @r"
    no tickets (`yoi new TITLE` makes one, `yoi list --all` shows closed ones too)
    (exit 0)
    ");
    fs::remove_dir(stage.bench.path("work/tickets")).unwrap();
    insta::assert_snapshot!(stage.yoi("list"), @r"
    ! yoi: [BENCH]/work/tickets: there is no ticket folder
    !   hint: was it moved? then move it back; or is [tickets] root in .yoi/config.toml another folder? In a new workspace `yoi new TITLE` makes it, and where git took it with its last ticket
    (exit 1)
    ");
    stage.done("new First");
    assert_eq!(stage.json("list")["tickets"].as_array().unwrap().len(), 1, "the folder is made");
}

#[test]
fn a_ticket_folder_that_was_moved_away_is_not_made_anew() {
    let stage = Stage::new();
    stage.done("new First");
    let id = stage.json("list")["tickets"][0]["id"].as_str().unwrap().to_owned();
    let (there, away) = (stage.bench.path("work/tickets"), stage.bench.path("work/away"));
    fs::rename(&there, &away).unwrap();
    let refused = stage.yoi("new Second");
    insta::assert_snapshot!(refused, @r"
    ! yoi: [BENCH]/work/tickets: there is no such folder; tickets are known from it, so no new one is made
    !   hint: move it back; or make it yourself (mkdir), to begin anew
    (exit 3)
    ");
    fs::rename(&away, &there).unwrap();
    stage.start();
    fs::rename(&there, &away).unwrap();
    assert_eq!(stage.yoi("new Second").to_string(), refused.to_string(), "with a daemon");
    for line in [format!("show {id}"), format!("set {id} a=b")] {
        let answer = stage.yoi(&line);
        assert!(answer.code != 0 && answer.stderr.contains("moved? then move it back"), "{line}: {answer}");
    }
    assert!(!there.exists());
    fs::rename(&away, &there).unwrap();
    stage.done("new Second");
    assert_eq!(fs::read_dir(&there).unwrap().count(), 2);
}

#[test]
fn a_ticket_folder_that_git_took_with_its_last_ticket_is_made_anew() {
    let stage = Stage::new();
    stage.done("new First");
    let git = |line: &str| stage.bench.git("work", &line.split(' ').collect::<Vec<_>>());
    let there = stage.bench.path("work/tickets");
    git("add tickets");
    // In the index, or moved away: git has not taken it.
    fs::rename(&there, stage.bench.path("work/away")).unwrap();
    assert_eq!(stage.yoi("new Second").code, 3);
    git("commit -qm tickets");
    assert_eq!(stage.yoi("new Second").code, 3);
    fs::rename(stage.bench.path("work/away"), &there).unwrap();
    for with_daemon in [false, true] {
        git("rm -q -r tickets");
        assert!(!there.exists());
        if with_daemon {
            stage.start();
            assert!(there.exists(), "made, to be watched");
            fs::remove_dir(&there).unwrap();
        }
        assert_eq!(stage.json("list")["tickets"], serde_json::json!([]), "with a daemon: {with_daemon}");
        stage.done("new Second");
        assert_eq!(stage.json("list")["tickets"].as_array().unwrap().len(), 1);
        git("add tickets");
        git("commit -qm more");
    }
}

#[test]
fn show_has_what_is_derived_and_the_file() {
    let stage = Stage::new();
    stage.ticket("login", "queued", "queued_at: soon\ndue: 2026-12-01");
    insta::assert_snapshot!(stage.yoi("show log"), @r#"
    login · queued · new_queued · P2 · tickets/login.md
    ! tickets/login.md:4:12: `queued_at`: `soon` is no timestamp; write it like 2026-11-30T08:00:00Z

    ---
    title: "The ticket login"
    state: queued
    queued_at: soon
    due: 2026-12-01
    ---
    Body of login.
    (exit 0)
    "#);
    let view = stage.json("show login");
    assert_eq!(view["text"], stage.text("login"));
}

#[test]
fn show_as_json_names_the_gates_as_why_does() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "depends_on: [b, c]");
    stage.ticket("b", "inprogress", "");
    stage.ticket("c", "done", "");
    let gates = stage.json("show a")["ticket"]["gates"].clone();
    assert_eq!(gates, stage.json("why a")["ticket"]["gates"]);
    assert_eq!(gates[0]["evidence"], "depends on `b`, which is inprogress");
}

#[test]
fn why_explains_without_a_daemon_too() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "queued_at: \"2026-11-30T08:00:00Z\"\nqueued_by: ana\ndepends_on: [b]");
    stage.ticket("b", "inprogress", "");
    stage.ticket("c", "done", "");
    let all = ["a", "b", "c"].map(|id| stage.yoi(&format!("why {id}")).to_string()).join("\n");
    insta::assert_snapshot!(all, @r"
    a  The ticket a
      It is queued since 2026-11-30T08:00:00Z by ana.
      Its class is new_queued: not in the Orchestrator's work set.
      The dependency gate holds it: depends on `b`, which is inprogress.
      The capacity gate holds it: 1 of 1 in progress already: `b`.
      Nobody is kicked for it: the daemon is not running (start it with `yoi up`).
    (exit 0)
    b  The ticket b
      It is inprogress.
      Its class is actionable_inprogress: no acceptance is recorded in the file (accepted_by, accepted_at).
      Nobody is kicked for it: the daemon is not running (start it with `yoi up`).
    (exit 0)
    c  The ticket c
      It is done.
    (exit 0)
    ");
}

/// An editor that is a script: it gets the file as its argument.
fn with_editor(script: &str) -> Stage {
    let mut stage = Stage::new();
    stage.bench.write("bin/editor", &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(stage.bench.path("bin/editor"), fs::Permissions::from_mode(0o755)).unwrap();
    stage.bench.set("EDITOR", "editor --wait");
    stage.ticket("a", "ready", "");
    stage
}

#[test]
fn edit_opens_the_file_and_says_how_it_reads() {
    let stage = with_editor(
        "[ \"$1\" = --wait ] || exit 9\nprintf -- '---\\ntitle: New\\nstate: queued\\nqueued_at: odd\\n---\\n' >\"$2\"",
    );
    insta::assert_snapshot!(stage.yoi("edit a"), @r"
    a: queued, P2, New
      tickets/a.md:4:12: `queued_at`: `odd` is no timestamp; write it like 2026-11-30T08:00:00Z
    (exit 0)
    ");
    assert!(stage.text("a").contains("state: queued"));

    let stage = with_editor("printf -- '---\\ntitle: [x\\n---\\n' >\"$2\"");
    insta::assert_snapshot!(stage.yoi("edit a"), @r"
    ! yoi: `a` cannot be read
    !   - tickets/a.md:2:8: this `[` is not closed, or a comma is missing in it
    !   hint: nothing is lost: `yoi edit` opens it again
    (exit 1)
    ");
    stage.save("a", "[x", "repaired");
    insta::assert_snapshot!(stage.yoi("edit nowhere"), @r"
    ! yoi: there is no ticket `nowhere`
    !   hint: `yoi list --all` shows every id
    (exit 1)
    ");

    let stage = with_editor("exit 3");
    insta::assert_snapshot!(stage.yoi("edit a"), @r"
    ! yoi: editor --wait: it ended with exit status: 3
    !   hint: VISUAL or EDITOR names the editor; [BENCH]/work/tickets/a.md is as it left it
    (exit 1)
    ");
    // What cannot be read can be opened, to be repaired.
    let stage = with_editor("printf -- '---\\ntitle: fine\\nstate: ready\\n---\\n' >\"$2\"");
    stage.bench.write("work/tickets/a.md", "---\ntitle: [x\n---\n");
    insta::assert_snapshot!(stage.yoi("edit a"), @r"
    a: ready, P2, fine
    (exit 0)
    ");
    let mut stage = with_editor("");
    stage.bench.set("EDITOR", "");
    insta::assert_snapshot!(stage.yoi("edit a"), @r"
    ! yoi: neither VISUAL nor EDITOR is set
    !   hint: set one (EDITOR=vi), or open [BENCH]/work/tickets/a.md yourself
    (exit 1)
    ");
    stage.bench.set("VISUAL", "no-such-editor");
    insta::assert_snapshot!(stage.yoi("edit a"), @r"
    ! yoi: no-such-editor: No such file or directory (os error 2)
    !   hint: VISUAL or EDITOR names the editor; [BENCH]/work/tickets/a.md is as it left it
    (exit 1)
    ");
}

#[test]
fn set_changes_the_bytes_of_the_value_and_nothing_else() {
    let stage = Stage::new();
    let before = "\u{feff}---\r\n# mine\r\ntitle: 'It''s'   # keep\r\nstate: ready\r\nlabels: [a,  b]\r\nn: 1.10\r\n---\r\nBody: state: queued\r\n";
    stage.bench.write("work/tickets/a.md", before);
    stage.bench.git("work", &["config", "user.name", "Ana"]);
    for (arguments, from, to) in [
        (&["set", "a", "title=It's $1 & \\0"][..], "'It''s'", "'It''s $1 & \\0'"),
        (&["set", "a", "--add", "labels=c"], "[a,  b]", "[a,  b, c]"),
        (&["set", "a", "--remove", "labels=a"], "[a,  b, c]", "[b, c]"),
        (&["set", "a", "n=1.20"], "n: 1.10", "n: 1.20"),
        (&["set", "a", "note=see: that # now"], "n: 1.20\r\n", "n: 1.20\r\nnote: \"see: that # now\"\r\n"),
        (&["set", "a", "--unset", "note"], "note: \"see: that # now\"\r\n", ""),
    ] {
        let expected = stage.text("a").replacen(from, to, 1);
        let answer = stage.run(arguments);
        assert_eq!((answer.code, stage.text("a")), (0, expected), "{arguments:?}: {answer}");
    }
    let text = stage.text("a");
    let moved = stage.done("set a state=queued").to_string();
    assert_eq!(moved, "(exit 0)");
    let queued = stage.text("a");
    assert!(
        queued.starts_with(&text[..text.find("state: ").unwrap()]) && queued.contains("state: queued\r\n"),
        "{queued}"
    );
    assert!(queued.contains("queued_by: Ana\r\n"), "`set ID state=S` is a move: {queued}");
    assert!(stage.bench.read("work/tickets/a.thread.md").contains("STATE ready -> queued by Ana"));
}

#[test]
fn set_refuses_what_is_not_its_to_change() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    let text = stage.text("a");
    let answers = ["accepted_by=me", "state=done", "state=closed", "state=someday", "=x"].map(|pair| {
        let answer = stage.yoi(&format!("set a {pair}"));
        assert_ne!(answer.code, 0, "{pair}");
        answer.to_string()
    });
    insta::assert_snapshot!(answers.join("\n"), @r"
    ! yoi: `accepted_by` is recorded by an acceptance alone
    !   hint: yoi accept ID
    (exit 3)
    ! yoi: `a` is ready: a move to done is not part of the lifecycle
    !   hint: from ready it goes to planning or queued; or add --force --reason TEXT
    (exit 3)
    ! yoi: `a` cannot be closed by a move: closing takes evidence and is `yoi close`
    !   hint: `yoi close a --help` says what it takes; or add --force --reason TEXT
    (exit 3)
    ! yoi: `someday` is not a state; the states are planning, ready, queued, inprogress, done and closed
    (exit 2)
    ! yoi: `=x` is not KEY=VALUE
    !   hint: write KEY=VALUE; --unset KEY takes a key out
    (exit 2)
    ");
    assert_eq!(stage.text("a"), text);
}

#[test]
fn doctor_finds_what_is_wrong_and_writes_nothing() {
    let stage = Stage::new();
    stage.ticket("fine", "ready", "");
    stage.ticket("by-hand", "inprogress", "");
    stage.ticket("unstamped", "queued", "depends_on: [nowhere]");
    stage.ticket("odd", "someday", "created_at: yesterday");
    stage.bench.write("work/tickets/tab.md", "---\ntitle: x\n\tstate: ready\n---\n");
    stage.bench.write("work/tickets/twice.md", "---\ntitle: x\nstate: ready\ntitle: y\n---\n");
    stage.ticket("double", "queued", "");
    stage.bench.write("work/tickets/deep/double.md", "---\ntitle: x\nstate: queued\n---\n");
    let before = stage.bench.tree("work");
    let answer = stage.yoi("doctor");
    assert_eq!(answer.code, 1, "{answer}");
    // What differs by the machine, or with every new setting.
    let version = |line: &&str| !line.contains("git version") && !line.ends_with(" settings");
    insta::assert_snapshot!(answer.to_string().lines().filter(version).collect::<Vec<_>>().join("\n"), @r"
    ok      4 tickets read
    ok      workspace [BENCH]/work
    ok      the Orchestrator command is trusted
    ok      no store yet: history begins with the first event, in [BENCH]/work/.git/yoi/store.sqlite
    error   tickets/deep/double.md: the id `double` is also that of tickets/double.md; rename one of the files, neither is started
    error   tickets/double.md: the id `double` is also that of tickets/deep/double.md; rename one of the files, neither is started
    error   tickets/tab.md:3:1: a tab as indentation: YAML wants spaces here
    error   tickets/twice.md:4:1: the key `title` stands twice, on lines 2 and 4: remove one
    remark  [BENCH]/work/.yoi/.gitignore: does not name /run/ and /worktrees/, which must not be tracked; `yoi doctor --fix` mends it
    remark  daemon: it is not running; `yoi up` starts it
    remark  tickets/by-hand.md: it is inprogress without a recorded acceptance: `yoi accept` it, or move it back
    remark  tickets/odd.md:3:8: `someday` is not a known state: state is one of planning, ready, queued, inprogress, done, closed
    remark  tickets/odd.md:4:13: `created_at`: `yesterday` is no timestamp; write it like 2026-11-30T08:00:00Z
    remark  tickets/unstamped.md: it is queued without queued_at: its age is not known; re-queue it, or write queued_at
    remark  tickets/unstamped.md: depends on `nowhere`, which is no ticket here
    (exit 1)
    ");
    assert_eq!(stage.bench.tree("work"), before);
}

#[test]
fn status_and_events_work_without_a_daemon_and_say_so() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.done("move a queued --by ana");
    insta::assert_snapshot!(stage.yoi("status"), @r"
    daemon        not running; `yoi up` starts it
    workspace     [BENCH]/work
    state folder  [BENCH]/work/.git/yoi
    socket        [BENCH]/work/.git/yoi/yoi.sock
    mode          orchestrated
    tickets       1 queued
    classes       1 new_queued
    (exit 0)
    ");
    insta::assert_snapshot!(timeless(&stage.yoi("events").to_string()), @r"
        1 [TIME] ISSUE_APPROVED a from=ready to=queued by=ana
    ! (the daemon is not running)
    (exit 0)
    ");
    let lines = |line: &str| stage.done(line).stdout.lines().count();
    stage.done("move a ready");
    assert_eq!((lines("events --json"), lines("events -n 1 --json"), lines("events --ticket a --json")), (2, 1, 2));
    assert_eq!((lines("events --since 1h --json"), lines("events --since 2999-01-01T00:00:00Z --json")), (2, 0));
}
