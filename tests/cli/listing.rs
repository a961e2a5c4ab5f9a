//! What lists, and what is not in them: long titles, files that are no tickets, what nobody is like, commands not there yet.

use std::fs;

use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

#[test]
fn a_list_of_what_is_not_there_says_so_whatever_else_there_is() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.bench.write("work/tickets/b.md", "---\ntitle: b\n");
    for line in ["list --label x", "list --state queued", "list --class new_queued"] {
        let said = stage.done(line).stdout;
        assert!(
            said.starts_with("no ticket is like that (`yoi list --all` shows every one)\n\n1 file"),
            "{line}: {said}"
        );
    }
    fs::remove_file(stage.bench.path("work/tickets/a.md")).unwrap();
    assert!(stage.done("list").stdout.starts_with("no tickets (`yoi new TITLE`"));
}

#[test]
fn a_command_of_a_later_version_is_answered_with_what_there_is() {
    let stage = Stage::new();
    for (line, there) in [("inbox", "yoi status"), ("panel", "--follow"), ("simulate", "README.md")] {
        let said = stage.yoi(line);
        assert!(
            said.code == 2 && said.stderr.contains("This version has no `yoi ") && said.stderr.contains(there),
            "{said}"
        );
    }
    let said = stage.yoi("lst");
    assert!(said.code == 2 && said.stderr.contains("'list'") && !said.stderr.contains("This version"), "{said}");
}

#[test]
fn an_endless_title_takes_one_line_of_a_list_and_is_whole_elsewhere() {
    let stage = Stage::new();
    let title = "endless ".repeat(1250);
    let title = title.trim();
    stage.bench.write("work/tickets/a.md", &format!("---\ntitle: {title}\nstate: ready\n---\n"));
    for started in [false, true] {
        if started {
            stage.start();
        }
        let list = stage.done("list").stdout;
        let longest = list.lines().map(|line| line.chars().count()).max();
        assert!(longest.is_some_and(|longest| (120..150).contains(&longest)) && list.contains('…'), "{list}");
        assert!(stage.done("why a").stdout.lines().next().unwrap().ends_with("endless…"));
        assert_eq!(stage.json("list")["tickets"][0]["title"], title);
        assert!(stage.done("show a").stdout.contains(title));
    }
}

#[test]
fn what_has_no_frontmatter_is_named_by_doctor_and_counted_by_status() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    let put = |name: &str, text: &str| stage.bench.write(&format!("work/tickets/{name}"), text);
    put("README.md", "# For people\n");
    put("fix-login.md", "# Fix the login\n\nstate: ready\n");
    put("b/item.md", "---\ntitle: b\nstate: ready\n---\n");
    put("b/notes.md", "this belongs to b\n");
    let remark = "remark  tickets/fix-login.md: it has no frontmatter, so it is no ticket: begin it with keys";
    let counted = "2 ready, 1 file without frontmatter (`yoi doctor` names them)\n";
    for started in [false, true] {
        if started {
            stage.start();
        }
        let (doctor, status) = (stage.done("doctor").stdout, stage.done("status").stdout);
        assert!(doctor.contains(remark) && !doctor.contains("README") && !doctor.contains("notes"), "{doctor}");
        assert!(status.contains(counted), "{status}");
        assert_eq!(stage.json("list")["tickets"].as_array().unwrap().len(), 2);
    }
    put("fix-login.md", "---\ntitle: Fix the login\nstate: ready\n---\n");
    let status = || stage.done("status").stdout;
    until("a ticket", BOUND, || status().contains(" 3 ready\n").then_some(()), status);
    put("fix-login.md", "none any more\n");
    until("none", BOUND, || status().contains(counted).then_some(()), status);
    fs::remove_file(stage.bench.path("work/tickets/fix-login.md")).unwrap();
    until("nothing", BOUND, || status().contains(" 2 ready\n").then_some(()), status);
}
