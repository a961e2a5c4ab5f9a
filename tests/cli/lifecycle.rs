//! `yoi move`: the whole table of DESIGN.md 2.4, and the notes in the thread.

use std::fs;

use crate::support::stage::{BOUND, Stage, ticket_path};
use crate::support::wait::until;

const STATES: [&str; 6] = ["planning", "ready", "queued", "inprogress", "done", "closed"];
/// From, and where to without `--force`.
const ALLOWED: [(&str, &[&str]); 6] = [
    ("planning", &["ready"]),
    ("ready", &["queued", "planning"]),
    ("queued", &["inprogress", "ready", "planning"]),
    ("inprogress", &["queued", "planning", "done"]),
    ("done", &["inprogress"]),
    ("closed", &["planning"]),
];
const ACCEPTED: &str = "accepted_by: orchestrator\naccepted_at: \"2026-11-30T08:00:00Z\"";

#[test]
fn the_whole_table() {
    let stage = Stage::with("[capacity]\nmax_inprogress = \"unlimited\"\n");
    for (from, allowed) in ALLOWED {
        for to in STATES {
            let id = format!("{from}-{to}");
            let more = if ["inprogress", "done", "closed"].contains(&from) { ACCEPTED } else { "" };
            stage.ticket(&id, from, more);
            let before = stage.text(&id);
            let answer = stage.yoi(&format!("move {id} {to} --by ana"));
            let thread = stage.bench.path(&format!("work/tickets/{id}.thread.md"));
            if allowed.contains(&to) {
                assert_eq!(answer.to_string(), format!("{id}: {from} -> {to}\n(exit 0)"));
                assert!(stage.text(&id).contains(&format!("state: {to}\n")));
                let note = std::fs::read_to_string(thread).unwrap();
                assert!(note.starts_with(&format!("# Thread of {id}\n\n")), "{note}");
                assert!(note.contains(&format!("STATE {from} -> {to} by ana")), "{note}");
            } else {
                assert!(answer.code == 3 && answer.stdout.is_empty(), "{id}: {answer}");
                assert_eq!(stage.text(&id), before, "{id}");
                assert!(!thread.exists(), "{id}: a note about something that did not happen");
                let forced = stage.run(&["move", &id, to, "--force", "--reason", "I know: $1 & \\0", "--by", "ana"]);
                assert_eq!(forced.code, 0, "{id}: {forced}");
                let note = std::fs::read_to_string(thread).unwrap();
                let line = format!("STATE {from} -> {to} by ana (forced): I know: $1 & \\0\n");
                assert!(note.ends_with(&line), "{note}");
            }
        }
    }
    assert_eq!(stage.json("list --all")["tickets"].as_array().unwrap().len(), 36, "threads are no tickets");
}

#[test]
fn refusals_say_where_it_can_go() {
    let stage = Stage::new();
    for state in ["planning", "done", "closed"] {
        stage.ticket(state, state, "");
    }
    stage.ticket("odd", "someday", "");
    let lines = [
        "move planning queued",
        "move planning planning",
        "move planning closed",
        "move planning inprogress",
        "move done queued",
        "move closed ready",
        "move odd ready",
        "move nowhere ready",
        "move planning someday",
        "move planning done --force",
    ];
    insta::assert_snapshot!(lines.map(|line| stage.yoi(line).to_string()).join("\n"), @r"
    ! yoi: `planning` is planning: a move to queued is not part of the lifecycle
    !   hint: from planning it goes to ready; or add --force --reason TEXT
    (exit 3)
    ! yoi: `planning` is planning already
    !   hint: nothing is to be done
    (exit 3)
    ! yoi: `planning` cannot be closed by a move: closing takes evidence and is `yoi close`
    !   hint: `yoi close planning --help` says what it takes; or add --force --reason TEXT
    (exit 3)
    ! yoi: `planning` is planning: only a queued ticket is accepted
    !   hint: it goes planning -> ready -> queued first
    (exit 3)
    ! yoi: `done` is done: a move to queued is not part of the lifecycle
    !   hint: from done it goes to inprogress or closed; or add --force --reason TEXT
    (exit 3)
    ! yoi: `closed` is closed: a move to ready is not part of the lifecycle
    !   hint: from closed it goes to planning; or add --force --reason TEXT
    (exit 3)
    ! yoi: `odd` has no state that can be read
    !   hint: write one of the six states into tickets/odd.md, or add --force --reason TEXT
    (exit 3)
    ! yoi: there is no ticket `nowhere`
    !   hint: `yoi list --all` shows every id
    (exit 3)
    ! yoi: `someday` is not a state; the states are planning, ready, queued, inprogress, done and closed
    (exit 2)
    ! yoi: --force needs --reason TEXT: the thread records why a rule was passed over
    (exit 2)
    ");
}

#[test]
fn what_is_done_is_taken_up_again_behind_the_gates() {
    let stage = Stage::new();
    stage.ticket("a", "done", ACCEPTED);
    stage.ticket("b", "inprogress", ACCEPTED);
    let refused = stage.yoi("move a inprogress");
    assert!(refused.code == 3 && refused.stderr.contains("capacity: 1 of 1 in progress already: `b`"), "{refused}");
    stage.done("move b done");
    assert_eq!(stage.done("move a inprogress --by ana").stdout, "a: done -> inprogress\n");
    assert!(stage.text("a").contains("accepted_by: ana\n"), "{}", stage.text("a"));
    assert!(stage.bench.read("work/tickets/a.thread.md").contains("STATE done -> inprogress by ana"));
    let accept = stage.yoi("accept b");
    assert!(accept.code == 3 && accept.stderr.contains("`yoi move b inprogress`"), "{accept}");
}

#[test]
fn entering_the_queue_stamps_and_clears_what_the_orphan_policy_left() {
    let stage = Stage::new();
    stage.bench.git("work", &["config", "user.name", "Ana Git"]);
    let marks = "labels: [orphan, mine, needs-human]\norphan_status: needs_human\nqueued_at: \"2020-01-01T00:00:00Z\"";
    stage.ticket("a", "ready", &format!("{marks}\n{ACCEPTED}"));
    stage.done("move a queued");
    let ticket = &stage.json("show a")["ticket"];
    assert_eq!(ticket["labels"], serde_json::json!(["mine"]));
    assert_eq!(
        (&ticket["orphan_status"], &ticket["accepted_by"]),
        (&serde_json::Value::Null, &serde_json::Value::Null)
    );
    assert_eq!(ticket["queued_by"], "Ana Git");
    assert!(ticket["queued_at"].as_str().unwrap() > "2026");
}

#[test]
fn the_name_is_the_options_then_the_variables_then_gits() {
    let mut stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.bench.git("work", &["config", "user.name", "Ana Git"]);
    let note = |stage: &Stage| stage.bench.read("work/tickets/a.thread.md").lines().last().unwrap().to_owned();
    stage.done("move a queued");
    assert!(note(&stage).ends_with("by Ana Git"), "{}", note(&stage));
    stage.bench.set("YOI_BY", "bob");
    stage.done("move a ready");
    assert!(note(&stage).ends_with("by bob"), "{}", note(&stage));
    stage.done("move a planning --by carol");
    assert!(note(&stage).ends_with("by carol"), "{}", note(&stage));
}

#[test]
fn both_layouts() {
    let stage = Stage::new();
    stage.bench.write("work/tickets/area/login/item.md", "---\ntitle: Login\nstate: ready\n---\n");
    stage.bench.write("work/tickets/area/login/notes.md", "---\ntitle: not a ticket of its own\nstate: queued\n---\n");
    stage.bench.write("work/tickets/area/flat.md", "---\ntitle: Flat\nstate: ready\n---\n");
    stage.done("move login queued --by ana");
    stage.done("move flat queued --by ana");
    let list = stage.json("list");
    let mut paths: Vec<_> = list["tickets"].as_array().unwrap().iter().map(|t| t["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["tickets/area/flat.md", "tickets/area/login/item.md"]);
    for (thread, id) in [("area/login/thread.md", "login"), ("area/flat.thread.md", "flat")] {
        let note = stage.bench.read(&format!("work/tickets/{thread}"));
        assert!(note.starts_with(&format!("# Thread of {id}\n\n")) && note.contains("STATE ready -> queued"), "{note}");
    }
}

#[test]
fn in_a_linked_worktree_the_main_ones_tickets_are_meant() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.bench.git("work", &["add", "."]);
    stage.bench.git("work", &["commit", "--quiet", "--message=tickets"]);
    stage.bench.git("work", &["worktree", "add", "--quiet", "../linked"]);
    let copy = stage.bench.read("linked/tickets/a.md");
    stage.start();
    for (folder, to) in [("linked", "queued"), ("linked/tickets", "planning")] {
        let answer = stage.bench.yoi(folder, &format!("move a {to} --by ana"));
        assert_eq!(answer.code, 0, "{answer}");
        assert!(stage.text("a").contains(&format!("state: {to}\n")), "{}", stage.text("a"));
    }
    assert_eq!(stage.bench.read("linked/tickets/a.md"), copy, "a copy, which is neither read nor written");
    assert_eq!(stage.json("list")["tickets"].as_array().unwrap().len(), 1);
}

#[test]
fn folders_with_other_names_are_adopted_without_rewriting() {
    let settings = "[frontmatter]\nstate_key = \"status\"\n[frontmatter.states]\n\"To Do\" = \"ready\"\nbacklog = \"planning\"\n\
                    Selected = \"queued\"\ndoing = \"inprogress\"\nReview = \"inprogress\"\n";
    let stage = Stage::with(settings);
    let other = |id: &str, status: &str| {
        stage.bench.write(&ticket_path(id), &format!("---\ntitle: {id}\nstatus: {status}\nstate: theirs\n---\n"));
    };
    other("a", "'To Do' # now");
    other("b", "Review");
    other("c", "done");
    let states = |id: &str| stage.json(&format!("show {id}"))["ticket"]["state"].as_str().unwrap().to_owned();
    assert_eq!(["a", "b", "c"].map(states), ["ready", "inprogress", "done"]);
    stage.done("move a queued");
    let text = stage.text("a");
    assert!(text.contains("status: 'Selected' # now\nstate: theirs\n"), "{text}");
    stage.done("move b done");
    stage.done("accept a");
    assert!(stage.text("a").contains("status: 'doing' # now\n"), "{}", stage.text("a"));
    let refused = stage.yoi("set b status=closed");
    assert_eq!(refused.code, 3, "the mapped key is the state: {refused}");
    stage.done("new Another --state ready");
    assert!(stage.done("list --state ready").stdout.contains("Another"));
}

#[test]
fn an_entry_into_the_queue_by_an_editor_is_noted_when_it_is_stamped_and_other_moves_are_history() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.start();
    stage.rest();
    let mark = stage.mark();
    stage.save("a", "state: ready", "state: queued");
    let thread = stage.bench.path("work/tickets/a.thread.md");
    let noted = || fs::read_to_string(&thread).ok().filter(|text| text.contains("QUEUED"));
    let text = until("a note", BOUND, noted, || stage.story());
    let (_, by) = text.lines().last().unwrap().split_once("Z QUEUED by ").unwrap();
    assert!(by.ends_with(", seen in the file") && stage.text("a").contains("queued_at"), "{text}");
    stage.save("a", "state: queued", "state: planning");
    stage.event(mark, "the move", |event| event["kind"] == "ISSUE_MOVED" && event["data"]["to"] == "planning");
    assert_eq!(fs::read_to_string(&thread).unwrap(), text);
}
