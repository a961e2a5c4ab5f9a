//! Every kind of repository, and none: it works through the git program, or one clear sentence says why not, and tickets go on.

use std::fs;
use std::os::unix::fs::symlink;

use super::Grove;
use crate::support::Bench;
use crate::support::stage::ticket_text;

/// Lists, refuses, removes by force, restores: in `workspace`, with git asked in `folder`.
fn check(bench: &Bench, what: &str, workspace: &str) {
    let yoi = |line: &str| bench.yoi(workspace, line);
    bench.git(workspace, &["worktree", "add", "--quiet", "--no-track", "-b", "yoi/a", ".yoi/worktrees/a"]);
    let file = format!("{workspace}/.yoi/worktrees/a/new");
    bench.write(&file, "new\n");
    let view = yoi("worktree list --json").json();
    let listed = &view["worktrees"][0];
    assert!(listed["ticket"] == "a" && listed["dirty"] == true && listed["merged"] == true, "{what}: {view}");
    let answer = yoi("worktree remove a");
    assert!(answer.code == 3 && answer.stderr.contains("untracked: new"), "{what}: {answer}");
    let answer = yoi("worktree remove a --force");
    assert_eq!(answer.code, 0, "{what}: {answer}");
    assert_eq!(bench.git(workspace, &["for-each-ref", "refs/heads/yoi"]), "", "{what}");
    let answer = yoi("worktree restore a");
    assert_eq!(answer.code, 0, "{what}: {answer}");
    assert_eq!(bench.read(&file), "new\n", "{what}");
    fs::remove_file(bench.path(&file)).unwrap();
    let answer = yoi("worktree remove a");
    assert_eq!(answer.code, 0, "{what}: {answer}");
}

fn commit(bench: &Bench, folder: &str) {
    bench.write(&format!("{folder}/.yoi/config.toml"), "");
    bench.write(&format!("{folder}/.yoi/.gitignore"), "/run/\n/worktrees/\n");
    bench.write(&format!("{folder}/file"), "text\n");
    bench.git(folder, &["add", "--all"]);
    bench.git(folder, &["commit", "--quiet", "--message=files"]);
}

#[test]
fn formats_that_libgit2_cannot_open() {
    for format in ["--ref-format=reftable", "--object-format=sha256"] {
        let bench = Bench::new();
        bench.folder("work");
        let made = bench.run(bench.program("git", "work").args(["init", "--quiet", "--initial-branch=main", format]));
        if made.code != 0 {
            eprintln!("skipped: this git knows no {format}: {made}");
            continue;
        }
        commit(&bench, "work");
        check(&bench, format, "work");
    }
}

#[test]
fn beside_a_bare_repository_in_a_submodule_and_with_the_settings_of_a_worktree() {
    let bench = Bench::new();
    bench.git("", &["init", "--quiet", "--bare", "--initial-branch=main", "project/.bare"]);
    bench.write("project/.git", "gitdir: ./.bare\n");
    bench.git("project", &["worktree", "add", "--quiet", "--orphan", "-b", "main", "one"]);
    commit(&bench, "project/one");
    check(&bench, "bare", "project/one");

    bench.repository("library");
    commit(&bench, "library");
    bench.repository("outer");
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../library", "inner"];
    bench.git("outer", &add);
    bench.git("outer", &["commit", "--quiet", "--message=inner"]);
    check(&bench, "submodule", "outer/inner");

    bench.repository("work");
    bench.git("work", &["config", "extensions.worktreeConfig", "true"]);
    commit(&bench, "work");
    check(&bench, "worktreeConfig", "work");
}

#[test]
fn without_git_or_where_it_refuses_one_sentence_says_so_and_tickets_go_on() {
    let bench = Bench::new();
    bench.write("work/.yoi/config.toml", "");
    bench.write("work/tickets/a.md", &ticket_text("a", "ready", ""));
    insta::assert_snapshot!(bench.yoi("work", "worktree list"), @r"
    ! yoi: there is no git repository here, and worktrees need one; everything about tickets works without
    (exit 1)
    ");
    insta::assert_snapshot!(bench.yoi("work", "worktree remove a"), @r"
    ! yoi: `a`: there is no git repository here, and worktrees need one; everything about tickets works without
    (exit 1)
    ");
    assert_eq!(bench.yoi("work", "move a queued").code, 0);

    let mut bench = Bench::with_git();
    bench.write("work/tickets/a.md", &ticket_text("a", "ready", ""));
    commit(&bench, "work");
    // As git itself has it in its tests: this repository belongs to somebody else.
    bench.set("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    insta::assert_snapshot!(bench.yoi("work", "worktree list"), @r"
    ! yoi: git will have nothing to do with this repository, because it belongs to another user: if that is as it should be, `git config --global --add safe.directory [BENCH]/work` allows it
    (exit 1)
    ");
    assert_eq!(bench.yoi("work", "move a planning").code, 0);
    let path = bench.path("home").to_str().unwrap().to_owned();
    bench.set("PATH", path);
    insta::assert_snapshot!(bench.yoi("work", "worktree list"), @r"
    ! yoi: worktrees need the git program, and it was not found on PATH; everything about tickets works without
    (exit 1)
    ");
    assert_eq!(bench.yoi("work", "move a ready").code, 0);
}

#[test]
fn worktrees_that_are_nobodys_are_not_listed_and_a_moved_one_is_found() {
    let grove = Grove::new();
    grove.bench.git("work", &["worktree", "add", "--quiet", "../mine"]);
    grove.bench.git("work", &["worktree", "move", ".yoi/worktrees/a", "../moved"]);
    let listed = grove.listed();
    assert!(listed["ticket"] == "a" && listed["path"].as_str().unwrap().ends_with("/moved"), "{listed}");
    assert_eq!(grove.yoi("worktree remove mine").code, 3);
    assert_eq!(grove.yoi("worktree remove a").code, 0);
    assert!(grove.bench.path("mine").exists() && !grove.bench.path("moved").exists());
}

#[test]
fn the_way_there_may_be_a_symlink_and_a_linked_worktree_sees_the_same() {
    let grove = Grove::new();
    symlink(grove.bench.path("work"), grove.bench.path("link")).unwrap();
    for place in ["link", "work/.yoi/worktrees/a", "work/src"] {
        let view = grove.bench.yoi(place, "worktree list --json").json();
        assert_eq!(view["worktrees"][0]["ticket"], "a", "{place}");
    }
    assert_eq!(grove.bench.yoi("link", "worktree remove a").code, 0);
}
