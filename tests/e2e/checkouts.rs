//! One workspace, from wherever it is looked at: a linked worktree, a subfolder, a submodule, through a symlink, beside a
//! bare repository. Commands reach its daemon, and only its own ticket files count (DESIGN.md 6.6; FAULTS kind 11).

use std::os::unix::fs::symlink;

use crate::support::Bench;
use crate::support::stage::{Stage, ticket_text};

fn commit(bench: &Bench, folder: &str) {
    bench.git(folder, &["add", "--all"]);
    bench.git(folder, &["commit", "--quiet", "--message=more"]);
}

#[test]
fn commands_from_everywhere_reach_one_daemon_and_its_tickets() {
    let stage = Stage::new();
    let bench = &stage.bench;
    stage.ticket("a", "ready", "");
    bench.folder("work/src/deep");
    bench.write("work/src/deep/file", "");
    bench.repository("library");
    bench.git("work", &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../library", "library"]);
    commit(bench, "work");
    bench.git("work", &["worktree", "add", "--quiet", "../linked"]);
    bench.git("work", &["worktree", "add", "--quiet", ".yoi/worktrees/inside"]);
    symlink(bench.path("work"), bench.path("link")).unwrap();
    symlink(bench.path("work/src"), bench.path("link-to-src")).unwrap();
    stage.start();
    stage.rest();
    let pid = stage.json("status")["pid"].clone();
    let places = [
        "work",
        "work/src/deep",
        "work/library",
        "linked",
        "linked/src",
        "work/.yoi/worktrees/inside",
        "link",
        "link/src",
        "link-to-src",
        "work/tickets",
    ];
    for (number, place) in places.iter().enumerate() {
        assert_eq!(bench.yoi(place, "status --json").json()["pid"], pid, "{place}");
        let to = if number % 2 == 0 { "planning" } else { "ready" };
        let moved = bench.yoi(place, &format!("move a {to}"));
        assert_eq!(moved.code, 0, "{place}: {moved}");
        assert!(stage.text("a").contains(&format!("state: {to}")), "{place}");
        assert!(bench.read("linked/tickets/a.md").contains("state: ready"), "{place}: a copy is a copy");
    }
    // What changes in a copy is nobody's change.
    let mark = stage.mark();
    bench.write("linked/tickets/a.md", &ticket_text("a", "queued", ""));
    bench.write("work/.yoi/worktrees/inside/tickets/a.md", &ticket_text("a", "queued", ""));
    stage.save("a", "title: ", "title: x");
    stage.done("move a closed --force --reason done");
    let list = stage.json("list --all");
    assert_eq!((list["tickets"].as_array().unwrap().len(), &list["tickets"][0]["state"]), (1, &"closed".into()));
    assert!(stage.events().iter().skip(mark).all(|event| event["kind"] != "ISSUE_APPROVED"), "{}", stage.story());
    assert_eq!(stage.json("status")["watching"]["missed"], 0);
}

#[test]
fn a_checkout_in_a_linked_worktree_is_no_change_of_the_main_one() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    commit(&stage.bench, "work");
    stage.bench.git("work", &["worktree", "add", "--quiet", "../linked"]);
    stage.bench.write("linked/tickets/a.md", &ticket_text("a", "queued", ""));
    stage.bench.git("linked", &["commit", "--quiet", "--all", "--message=queued there"]);
    stage.start();
    stage.rest();
    let mark = stage.mark();
    for branch in ["HEAD~1", "linked", "HEAD~1"] {
        stage.bench.git("linked", &["checkout", "--quiet", "--detach", branch]);
    }
    stage.ticket("b", "queued", "");
    stage.kicked(mark, "ticket_queued");
    stage.rest();
    let moved: Vec<_> = stage.events().into_iter().skip(mark).filter(|event| event["ticket"] == "a").collect();
    assert!(moved.is_empty(), "{moved:?}");
}

#[test]
fn a_daemon_beside_a_bare_repository() {
    let bench = Bench::new();
    bench.git("", &["init", "--quiet", "--bare", "--initial-branch=main", "project/.bare"]);
    bench.write("project/.git", "gitdir: ./.bare\n");
    bench.git("project", &["worktree", "add", "--quiet", "--orphan", "-b", "main", "one"]);
    bench.write("project/one/.yoi/config.toml", "");
    bench.write("project/one/tickets/a.md", &ticket_text("a", "ready", ""));
    commit(&bench, "project/one");
    bench.git("project", &["worktree", "add", "--quiet", "two"]);
    bench.git("project/two", &["rm", "--quiet", "-r", ".yoi"]);
    commit(&bench, "project/two");
    assert_eq!(bench.yoi("project/one", "up").code, 0);
    let pid = bench.yoi("project/one", "status --json").json()["pid"].clone();
    for place in ["project", "project/two", "project/one/tickets"] {
        assert_eq!(bench.yoi(place, "status --json").json()["pid"], pid, "{place}");
    }
    assert_eq!(bench.yoi("project/two", "move a queued").code, 0);
    assert!(bench.read("project/one/tickets/a.md").contains("state: queued"));
    assert!(bench.read("project/two/tickets/a.md").contains("state: ready"));
    assert_eq!(bench.yoi("project/two", "down").code, 0);
}
