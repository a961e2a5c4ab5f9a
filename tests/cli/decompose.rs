//! `decompose`: what is refused and how it is said; children, links, crashes, the editor.

use std::fs;

use crate::support::Answer;
use crate::support::stage::{Stage, ticket_path};
use crate::support::terminal::Terminal;

use super::timeless;

const ACCEPTED: &str = "accepted_by: orchestrator\naccepted_at: \"2026-11-30T08:00:00Z\"";
/// Two that are whole.
pub const CHILDREN: &str = "\
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

fn decompose(stage: &Stage, id: &str, children: &str) -> Answer {
    stage.bench.write("work/c.yaml", children);
    stage.yoi(&format!("decompose {id} --from c.yaml"))
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
