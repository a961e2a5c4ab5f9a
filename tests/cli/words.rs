//! What people read: lists, hints for ids that are not there, what is said of an Orchestrator that cannot be started.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::Bench;

/// A workspace whose tickets are as people write them.
fn backlog() -> Bench {
    let bench = Bench::with_git();
    bench.write("work/.yoi/config.toml", "");
    bench.write("work/tickets/login.md", "---\ntitle: Login\nstate: queued\ndepends_on: [schema, gone]\n---\n");
    bench.write("work/tickets/schema.md", "---\ntitle: \"日本 \\e[31mred\"\nstate: ready\npriority: P1\n---\n");
    bench.write("work/tickets/old/item.md", "---\ntitle: Old\nstate: Ready\n---\n");
    bench.write("work/tickets/notes.md", "Just notes\n");
    bench.write("work/tickets/broken.md", "---\ntitle: a: b\n---\n");
    bench
}

#[test]
fn a_list_says_what_keeps_a_ticket_where_it_is() {
    let bench = backlog();
    insta::assert_snapshot!(bench.yoi("work", "list"), @r"
    ID      STATE       PRI  TITLE
    login   new_queued  P2   Login  [held: depends on `schema`, which is ready; and 1 more]
    schema  ready       P1   日本 �[31mred
    old     ?           P2   Old

    1 ticket without a known state, which nothing happens to:
      tickets/old/item.md:3:8: `Ready` is not a known state: state is one of planning, ready, queued, inprogress, done, closed
      other names: `state_key` and `states` under [frontmatter] in .yoi/config.toml

    1 file not readable as tickets:
      tickets/broken.md:2:9: a colon (`:`) inside an unquoted value: put quotes around the value
    (exit 0)
    ");
}

#[test]
fn an_unknown_id_gets_a_hint() {
    let bench = backlog();
    let check = |line: &str, expected: &str| {
        let answer = bench.yoi("work", line);
        assert!(answer.stderr.contains(expected), "{line}: {answer}");
        assert!(!bench.read("work/tickets/login.md").contains("planning"), "nothing is done on a guess");
    };
    check("why Login", "did you mean `login`?");
    check("why shcema", "did you mean `schema`?");
    check("show tickets/login.md", "its id is `login`");
    check("show tickets/old/item.md", "its id is `old`");
    check("why notes", "tickets/notes.md is a file without frontmatter");
    check("why nothing-like-it", "`yoi list --all` shows every id");
    check("move log planning", "it takes the whole id: login");
    check("edit shcema", "did you mean `schema`?");
    check("why ../../home", "`yoi list --all` shows every id");
}

#[test]
fn an_orchestrator_that_cannot_be_started_is_named() {
    let bench = Bench::with_git();
    assert_eq!(bench.yoi("work", "init --orchestrator-command no-such-agent -p").code, 0);
    let doctor = bench.yoi("work", "doctor");
    assert!(doctor.stdout.contains("error   orchestrator: the program `no-such-agent` is not found"), "{doctor}");
    assert_eq!(bench.yoi("work", "new Try --state queued").code, 0);
    assert_eq!(bench.yoi("work", "up").code, 0);
    // Each look takes a moment of its own.
    let said = |line: &str| {
        let mut looks = (0..500).map(|_| bench.yoi("work", line).stdout);
        looks.any(|text| {
            text.contains("last turn failed") && text.contains("`no-such-agent` cannot be started: No such")
        })
    };
    let (status, why) = (said("status"), said("why try"));
    assert_eq!(bench.yoi("work", "down").code, 0);
    assert!(status, "status says it");
    assert!(why, "why says it");
}

#[test]
fn what_a_role_or_a_hook_lacks_is_named() {
    let bench = Bench::with_git();
    bench.write(
        "work/.yoi/config.toml",
        "[roles.coder]\ncommand = [\"no-such-coder\"]\n[roles.tester]\ncommand = [\"./in-the-worktree\"]\n\
         [worktrees]\nafter_create = [[\"no-such-hook\"]]\n",
    );
    let lines = || {
        let doctor = bench.yoi("work", "doctor");
        let of_programs = |line: &&str| [" roles.", " worktrees.", " trust:"].iter().any(|word| line.contains(word));
        doctor.stdout.lines().filter(of_programs).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(lines(), @r"
    remark  trust: the [worktrees] hooks are not trusted as they are, so they are not run: look at them with `yoi trust`
    remark  trust: the [roles] commands are not trusted as they are, so `yoi start` starts none of them: look at them with `yoi trust`
    ");
    let trust = bench.yoi("work", "trust");
    assert_eq!(trust.code, 0, "{trust}");
    insta::assert_snapshot!(lines(), @r"
    error   roles.coder.command: the program `no-such-coder` is not found: install it, name it by its whole path in .yoi/config.toml, or restart the daemon from a shell that finds it
    error   worktrees.after_create: the program `no-such-hook` is not found: install it, name it by its whole path in .yoi/config.toml, or restart the daemon from a shell that finds it
    ");
}

/// Closed pipes and full disks at the other end of standard error.
#[test]
fn what_cannot_be_said_on_standard_error_changes_no_exit_code() {
    let bench = backlog();
    for (line, expected) in [("show nope", 1), ("frobnicate", 2), ("events", 0), ("set nope a=b", 3)] {
        let mut command = bench.command("work");
        command.args(line.split(' ')).stderr(OpenOptions::new().write(true).open("/dev/full").unwrap());
        assert_eq!(command.status().unwrap().code(), Some(expected), "{line}");
    }
}

#[test]
fn what_set_breaks_is_said() {
    let bench = backlog();
    let answer = bench.yoi("work", "set schema priority=high");
    assert_eq!((answer.code, answer.stdout.as_str()), (0, ""));
    assert!(answer.stderr.contains("tickets/schema.md:4:11: `high` is not a priority"), "{answer}");
    assert!(bench.yoi("work", "set priority=P1").stderr.contains("stands where its id belongs"));
}

/// What a program prints on a terminal of so many columns.
fn on_a_terminal(mut command: Command, columns: u16) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    tcsetwinsize(&theirs, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let mut child = command.stdin(Stdio::null()).stdout(theirs).stderr(Stdio::null()).spawn().unwrap();
    drop(command);
    let (mut text, mut read) = (Vec::new(), [0; 4096]);
    let mut ours = File::from(ours);
    // When nobody has the other end any more, reading is an error.
    while let Ok(n @ 1..) = ours.read(&mut read) {
        text.extend_from_slice(&read[..n]);
    }
    child.wait().unwrap();
    String::from_utf8(text).unwrap().replace("\r\n", "\n").replace('\u{1b}', "^")
}

#[test]
fn a_terminal_gets_colours_and_lines_that_fit() {
    let mut bench = backlog();
    bench.set("TERM", "xterm");
    let on = |bench: &Bench, line: &str| {
        let mut command = bench.command("work");
        command.args(line.split(' '));
        on_a_terminal(command, 46)
    };
    insta::assert_snapshot!(on(&bench, "list --state queued"), @r"
    ^[2mID^[0m     ^[2mSTATE^[0m       ^[2mPRI^[0m  ^[2mTITLE^[0m
    login  ^[36mnew_queued^[0m  P2   Login
        ^[2mheld: depends on `schema`, which is ready;^[0m
        ^[2mand 1 more^[0m

    ^[31m1 file not readable as tickets:^[0m
      tickets/broken.md:2:9: a colon (`:`) inside an unquoted value: put quotes around the value
    ");
    assert!(on(&bench, "doctor").contains("^[32mok     ^[0m 3 tickets read"));
    assert!(on(&bench, "status").contains("^[33mnot running"));
    assert!(!on(&bench, "list --json").contains('^'), "JSON is for programs, wherever it goes");
    assert!(!bench.yoi("work", "list").stdout.contains('\u{1b}'), "no terminal, no colour");
    bench.set("NO_COLOR", "1");
    insta::assert_snapshot!(on(&bench, "list --state queued"), @r"
    ID     STATE       PRI  TITLE
    login  new_queued  P2   Login
        held: depends on `schema`, which is ready;
        and 1 more

    1 file not readable as tickets:
      tickets/broken.md:2:9: a colon (`:`) inside an unquoted value: put quotes around the value
    ");
}
