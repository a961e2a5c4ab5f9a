//! Real editors, from the system's packages: each save is seen once, and the class is right after it (DESIGN.md 2.2;
//! FAULTS kind 4). An editor that is missing is skipped, with a notice.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::stage::{BOUND, Stage, ticket_path};
use crate::support::terminal::Terminal;
use crate::support::wait::until;

fn is_there(program: &str) -> bool {
    let there = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap().status.success();
    if !there {
        eprintln!("SKIPPED: {program} is not installed, so its way of saving is not tried");
    }
    there
}

/// Runs an editor on a terminal of its own to its end, typing `keys` once `ready` has been shown.
fn on_a_terminal(editor: Command, ready: &str, keys: &[&str]) {
    let mut terminal = Terminal::new(editor);
    terminal.shows(ready);
    for key in keys {
        terminal.types(key);
    }
    terminal.ends();
}

/// How an editor saves `tickets/a.md` with its title changed and this state.
type Save = fn(&Stage, &str);

fn vim(stage: &Stage, settings: &str, state: &str) {
    // Without `backupskip=` it saves otherwise in a system's temporary folder than anywhere else.
    let set = format!("set backupskip= {settings}");
    let change = format!("%s/^state: .*/state: {state}/");
    let mut vim = stage.bench.program("vim", "work/tickets");
    vim.args(["-N", "-u", "NONE", "-i", "NONE", "-es", "-c", &set, "-c", &change, "-c", "wq", "a.md"]);
    let status = vim.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "vim: {status}");
}

fn nano(stage: &Stage, state: &str) {
    let mut nano = stage.bench.program("nano", "work/tickets");
    nano.args(["--ignorercfiles", "+3,1", "a.md"]);
    // The third line is cut and typed anew; written, confirmed, left.
    let line = format!("state: {state}\r");
    on_a_terminal(nano, "state:", &["\u{b}", &line, "\u{f}", "\r", "\u{18}"]);
}

fn emacs(stage: &Stage, state: &str) {
    // It wants a controlling terminal.
    let mut emacs = stage.bench.program("setsid", "work/tickets");
    let change = format!(
        "(progn (goto-char (point-min)) (re-search-forward \"^state: .*\") (replace-match \"state: {state}\") (save-buffer) (kill-emacs))"
    );
    emacs.args(["--ctty", "--wait", "emacs", "-nw", "-Q", "a.md", "--eval", &change]);
    on_a_terminal(emacs, "", &[]);
}

fn sed(stage: &Stage, state: &str) {
    let sed = format!("s/^state: .*/state: {state}/");
    let answer = stage.bench.run(stage.bench.program("sed", "work/tickets").args(["-i", &sed, "a.md"]));
    assert_eq!(answer.code, 0, "{answer}");
}

#[test]
fn each_save_is_seen_once_and_the_class_is_right_after_it() {
    let editors: [(&str, &str, Save); 7] = [
        ("vim", "backupcopy=no", |stage, state| vim(stage, "backupcopy=no", state)),
        ("vim", "backupcopy=auto", |stage, state| vim(stage, "backupcopy=auto", state)),
        ("vim", "backupcopy=yes", |stage, state| vim(stage, "backupcopy=yes", state)),
        ("vim", "backup and no swap file", |stage, state| vim(stage, "backup noswapfile", state)),
        ("nano", "", nano),
        ("emacs", "", emacs),
        ("sed", "-i", sed),
    ];
    for (program, how, save) in editors {
        if is_there(program) && (program != "emacs" || is_there("setsid")) {
            check(&format!("{program} {how}"), save);
        }
    }
}

fn check(name: &str, save: Save) {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.start();
    stage.rest();
    for (state, class) in
        [("queued", "new_queued".into()), ("ready", Value::Null), ("inprogress", "actionable_inprogress".into())]
    {
        let mark = stage.mark();
        save(&stage, state);
        let moved = |event: &Value| event["ticket"] == "a" && event["data"]["to"] == state;
        stage.event(mark, &format!("{name}: {state}"), moved);
        assert_eq!(stage.json("show a")["ticket"]["class"], class, "{name}");
        if class != Value::Null {
            stage.kicked(mark, if state == "queued" { "ticket_queued" } else { "gate_cleared" });
        }
        stage.rest();
        let later: Vec<_> = stage.events().into_iter().skip(mark).collect();
        let issue = |event: &&Value| event["kind"].as_str().is_some_and(|kind| kind.starts_with("ISSUE_"));
        assert_eq!(later.iter().filter(issue).count(), 1, "{name}: seen once: {}", stage.story());
        assert!(stage.text("a").contains(&format!("state: {state}")), "{name}: {}", stage.text("a"));
        let names = fs::read_dir(stage.bench.path("work/tickets")).unwrap().map(|entry| entry.unwrap().file_name());
        // The entry into the queue is noted in its thread.
        let files = names.filter(|name| name != "a.thread.md").count();
        assert!(files <= 2, "{name}: {:?}", stage.bench.tree("work/tickets"));
    }
    assert_eq!(stage.bench.yoi("work", "list --json").json()["errors"], Value::Array(Vec::new()), "{name}");
    assert_eq!(stage.json("status")["watching"]["missed"], 0, "{name}");
    assert!(stage.bench.path(&ticket_path("a")).is_file());
}

/// vim has saved the entry into the queue, and now has changes that are not saved.
fn unsaved_in_vim(stage: &Stage) -> Terminal {
    let mut vim = stage.bench.program("vim", "work/tickets");
    vim.args(["-N", "-u", "NONE", "-i", "NONE", "a.md"]);
    let mut vim = Terminal::new(vim);
    vim.shows("Body of a");
    vim.types(":%s/^state: .*/state: queued/\r:w\r");
    until("the entry", BOUND, || stage.text("a").contains("state: queued").then_some(()), || stage.story());
    vim.types("GoAnother line\u{1b}");
    vim.shows("Another line");
    vim
}

#[test]
fn a_stamp_waits_for_unsaved_changes_in_vim_and_is_written_after_them() {
    if !is_there("vim") {
        return;
    }
    for (end, is_saved) in [(":wq\r", true), (":q!\r", false)] {
        let stage = Stage::new();
        stage.ticket("a", "ready", "");
        stage.start();
        let mut vim = unsaved_in_vim(&stage);
        let waits = || stage.done("why a").stdout.contains("waits for the editor that has it open (.a.md.swp)");
        until("the wait", BOUND, || waits().then_some(()), || stage.story());
        assert!(!stage.text("a").contains("queued_at"));
        vim.types(end);
        vim.ends();
        until("the stamp", BOUND, || stage.text("a").contains("queued_at").then_some(()), || stage.story());
        assert_eq!(stage.text("a").contains("Another line"), is_saved, "{}", stage.text("a"));
        assert!(!waits());
    }
}
