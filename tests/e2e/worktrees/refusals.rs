//! Each thing that keeps a worktree from being removed, one by one: it stays, whole, with the reason in words; and whether
//! `--force` may pass it over.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::{Child, Stdio};

use super::{A, Grove};
use crate::support::stage::ticket_text;
use crate::support::wait::until;

/// What is in the way, the words that name it, and whether it can be saved.
struct Case {
    name: &'static str,
    prepare: fn(&Grove),
    reason: &'static str,
    can_be_saved: bool,
}

fn write(grove: &Grove, path: &str, text: &str) {
    grove.bench.write(&format!("{A}/{path}"), text);
}

fn git(grove: &Grove, arguments: &[&str]) {
    grove.bench.git(A, arguments);
}

/// Two branches that changed the same line.
fn diverged(grove: &Grove) {
    write(grove, "src/main", "here\n");
    git(grove, &["commit", "--quiet", "--all", "--message=here"]);
    grove.bench.write("work/src/main", "there\n");
    grove.bench.git("work", &["commit", "--quiet", "--all", "--message=there"]);
}

fn refused_git(grove: &Grove, arguments: &[&str]) {
    let answer = grove.bench.run(grove.bench.program("git", A).args(arguments));
    assert_ne!(answer.code, 0, "{arguments:?}: {answer}");
}

fn with_submodule(grove: &Grove) {
    grove.bench.repository("library");
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../../../../library", "lib"];
    git(grove, &add);
    grove.commit(A, "submodule");
    grove.bench.git("work", &["merge", "--quiet", "--ff-only", "yoi/a"]);
}

const CASES: &[Case] = &[
    Case {
        name: "an uncommitted change",
        prepare: |grove| write(grove, "src/main", "changed\n"),
        reason: "uncommitted changes: src/main",
        can_be_saved: true,
    },
    Case {
        name: "a change of the same length and time",
        prepare: |grove| {
            let path = grove.a("other");
            let time = path.metadata().unwrap().modified().unwrap();
            fs::write(&path, "OTHER\n").unwrap();
            fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        },
        reason: "uncommitted changes: other",
        can_be_saved: true,
    },
    Case {
        name: "a staged change that the file does not have any more",
        prepare: |grove| {
            write(grove, "src/main", "staged\n");
            git(grove, &["add", "src/main"]);
            write(grove, "src/main", "text\n");
        },
        reason: "uncommitted changes: src/main",
        can_be_saved: true,
    },
    Case {
        name: "a removed file",
        prepare: |grove| fs::remove_file(grove.a("other")).unwrap(),
        reason: "uncommitted changes: other",
        can_be_saved: true,
    },
    Case {
        name: "a mode",
        prepare: |grove| fs::set_permissions(grove.a("other"), fs::Permissions::from_mode(0o755)).unwrap(),
        reason: "uncommitted changes: other",
        can_be_saved: true,
    },
    Case {
        name: "a change that git was told not to look at",
        prepare: |grove| {
            git(grove, &["update-index", "--assume-unchanged", "other"]);
            write(grove, "other", "hidden\n");
        },
        reason: "uncommitted changes: other",
        can_be_saved: true,
    },
    Case {
        name: "a change in what was left out of the checkout",
        prepare: |grove| {
            git(grove, &["update-index", "--skip-worktree", "other"]);
            write(grove, "other", "hidden\n");
        },
        reason: "uncommitted changes: other",
        can_be_saved: true,
    },
    Case {
        name: "an untracked file",
        prepare: |grove| write(grove, "new/file", "new\n"),
        reason: "untracked: new/",
        can_be_saved: true,
    },
    Case {
        name: "an untracked file where the settings hide those",
        prepare: |grove| {
            git(grove, &["config", "status.showUntrackedFiles", "no"]);
            write(grove, "new", "new\n");
        },
        reason: "untracked: new",
        can_be_saved: true,
    },
    Case {
        name: "nothing but ignored files",
        prepare: |grove| write(grove, "main.o", "built\n"),
        reason: "ignored by git, and perhaps nowhere else: main.o",
        can_be_saved: true,
    },
    Case {
        name: "a stash",
        prepare: |grove| {
            write(grove, "other", "for later\n");
            git(grove, &["stash", "--quiet"]);
        },
        reason: "1 stash entry of its branch",
        can_be_saved: true,
    },
    Case {
        name: "a merge under way",
        prepare: |grove| {
            diverged(grove);
            refused_git(grove, &["merge", "--quiet", "main"]);
        },
        reason: "a merge is under way (MERGE_HEAD)",
        can_be_saved: true,
    },
    Case {
        name: "a rebase under way",
        prepare: |grove| {
            diverged(grove);
            refused_git(grove, &["rebase", "--quiet", "main"]);
        },
        reason: "a rebase is under way (rebase-merge)",
        can_be_saved: true,
    },
    Case {
        name: "a cherry-pick under way",
        prepare: |grove| {
            diverged(grove);
            refused_git(grove, &["cherry-pick", "main"]);
        },
        reason: "a cherry-pick is under way (CHERRY_PICK_HEAD)",
        can_be_saved: true,
    },
    Case {
        name: "a bisection under way",
        prepare: |grove| git(grove, &["bisect", "start"]),
        reason: "a bisection is under way (BISECT_LOG)",
        can_be_saved: true,
    },
    Case {
        name: "a git command that was killed",
        prepare: |grove| {
            let folder = grove.bench.path("work/.git/worktrees/a/index.lock");
            fs::write(folder, "").unwrap();
        },
        reason: "another git command is writing the index, or one was killed while it did (index.lock)",
        can_be_saved: true,
    },
    Case {
        name: "unmerged and unpushed commits",
        prepare: |grove| {
            write(grove, "new", "new\n");
            grove.commit(A, "mine");
        },
        reason: "1 commit is neither merged nor pushed: ",
        can_be_saved: true,
    },
    Case {
        name: "a detached HEAD with commits of its own",
        prepare: |grove| {
            git(grove, &["checkout", "--quiet", "--detach"]);
            write(grove, "new", "new\n");
            grove.commit(A, "mine");
        },
        reason: "HEAD is detached, and 1 commit is neither merged nor pushed: ",
        can_be_saved: true,
    },
    Case {
        name: "a commit that only a ref of this worktree has",
        prepare: |grove| {
            write(grove, "new", "new\n");
            grove.commit(A, "mine");
            git(grove, &["update-ref", "refs/worktree/mine", "HEAD"]);
            git(grove, &["reset", "--quiet", "--hard", "HEAD^"]);
        },
        reason: "1 commit is neither merged nor pushed: ",
        can_be_saved: true,
    },
    Case {
        name: "a dirty submodule",
        prepare: |grove| {
            with_submodule(grove);
            write(grove, "lib/file", "new\n");
        },
        reason: "changes or unpushed commits in a submodule: lib",
        can_be_saved: false,
    },
    Case {
        name: "a submodule with a commit of its own, on a branch that is not checked out",
        prepare: |grove| {
            with_submodule(grove);
            let inside = format!("{A}/lib");
            grove.bench.git(&inside, &["checkout", "--quiet", "-b", "mine"]);
            grove.bench.git(&inside, &["commit", "--quiet", "--allow-empty", "--message=mine"]);
            grove.bench.git(&inside, &["checkout", "--quiet", "--detach", "HEAD^"]);
        },
        reason: "changes or unpushed commits in a submodule: lib",
        can_be_saved: false,
    },
    Case {
        name: "a repository of its own inside",
        prepare: |grove| grove.bench.repository(&format!("{A}/deps/inner")),
        reason: "a repository of its own inside: deps/inner",
        can_be_saved: false,
    },
    Case {
        name: "a socket",
        prepare: |grove| drop(UnixListener::bind(grove.a("s.o")).unwrap()),
        reason: "no commit can hold a socket, a pipe or a device: s.o",
        can_be_saved: false,
    },
    Case {
        name: "a lock of somebody else's",
        prepare: |grove| {
            grove.bench.git("work", &["worktree", "lock", "--reason", "on a stick", ".yoi/worktrees/a"]);
        },
        reason: "somebody locked it: on a stick",
        can_be_saved: false,
    },
    Case {
        name: "a worker's lock",
        prepare: |grove| {
            grove.bench.write("work/tickets/a.md", &ticket_text("a", "queued", ""));
            assert_eq!(grove.yoi("claim a --worker coder-1").code, 0);
            let reason = "yoi: held by coder-1 until 2999-01-01T00:00:00Z";
            grove.bench.git("work", &["worktree", "lock", "--reason", reason, ".yoi/worktrees/a"]);
        },
        reason: "`coder-1` holds it until 2999-01-01",
        can_be_saved: false,
    },
    Case {
        name: "a file that may not be read",
        prepare: |grove| {
            write(grove, "secret.o", "x");
            fs::set_permissions(grove.a("secret.o"), fs::Permissions::from_mode(0o000)).unwrap();
        },
        reason: "it cannot be looked at as a whole: secret.o may not be read",
        can_be_saved: false,
    },
    Case {
        name: "a folder that may not be read",
        prepare: |grove| {
            write(grove, "deps/secret", "x");
            fs::set_permissions(grove.a("deps"), fs::Permissions::from_mode(0o000)).unwrap();
        },
        reason: "it cannot be looked at as a whole: ",
        can_be_saved: false,
    },
    Case {
        name: "a damaged index",
        prepare: |grove| fs::write(grove.bench.path("work/.git/worktrees/a/index"), "nonsense").unwrap(),
        reason: "it cannot be looked at as a whole: git ",
        can_be_saved: false,
    },
];

#[test]
fn each_is_refused_with_its_reason_and_nothing_is_touched() {
    let root = rustix::process::geteuid().is_root();
    for Case { name, prepare, reason, can_be_saved } in CASES {
        if root && name.ends_with("that may not be read") {
            eprintln!("skipped: {name}: root may read every file");
            continue;
        }
        let grove = Grove::new();
        prepare(&grove);
        let unreadable = name.ends_with("that may not be read");
        let tree = || if unreadable { Vec::new() } else { grove.bench.tree(A) };
        let traces = || if unreadable { Vec::new() } else { grove.traces() };
        let before = (tree(), traces());
        let answer = grove.yoi("worktree remove a");
        assert_eq!(answer.code, 3, "{name}: {answer}");
        assert!(answer.stderr.contains(reason), "{name}: {answer}");
        let listed = grove.listed();
        assert!(listed["stays_because"].to_string().contains(reason.trim_end()), "{name}: {listed}");
        if !can_be_saved {
            let answer = grove.yoi("worktree remove a --force");
            assert_eq!(answer.code, 3, "{name}: {answer}");
            assert!(answer.stderr.contains(reason), "{name}: {answer}");
        }
        assert_eq!((tree(), traces()), before, "{name}");
        for path in
            ["deps", "secret.o"].map(|path| grove.a(path)).into_iter().filter(|path| unreadable && path.exists())
        {
            // So that it can be removed at the end.
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
        }
        if *can_be_saved {
            let answer = grove.yoi("worktree remove a --force");
            assert_eq!(answer.code, 0, "{name}: {answer}");
            assert!(grove.traces().iter().any(|trace| trace.starts_with("refs/yoi/salvage/a/")), "{name}");
            assert!(!grove.bench.path(A).exists(), "{name}");
        }
    }
}

/// What keeps nobody from removing it is no reason to stay.
#[test]
fn a_former_workers_lock_is_listed_with_its_owner_and_not_as_a_reason_to_stay() {
    let grove = Grove::new();
    grove.bench.write("work/tickets/a.md", &ticket_text("a", "queued", ""));
    let reason = "yoi: held by coder-1 until 2999-01-01T00:00:00Z";
    grove.bench.git("work", &["worktree", "lock", "--reason", reason, ".yoi/worktrees/a"]);
    let listed = || (grove.listed()["owner"].clone(), grove.listed()["stays_because"].to_string());
    assert_eq!(listed(), ("coder-1".into(), "[]".into()), "nobody has claimed it yet");
    assert_eq!(grove.yoi("claim a --worker coder-2").code, 0);
    assert_eq!(listed(), ("coder-1".into(), "[]".into()), "another one has it");
    assert_eq!(grove.yoi("release a --worker coder-2 --outcome abandoned").code, 0);
    assert_eq!(grove.yoi("claim a --worker coder-1").code, 0);
    assert!(listed().1.contains("`coder-1` holds it until 2999-01-01"), "{}", listed().1);
    assert_eq!(grove.yoi("release a --worker coder-1 --outcome abandoned").code, 0);
    assert_eq!(listed(), ("coder-1".into(), "[]".into()));
    assert_eq!(grove.yoi("worktree remove a").code, 0);
}

/// Lives in a folder, or has a file in it open, until it is dropped.
struct Occupant(Child);

impl Drop for Occupant {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn who_works_in_it_or_has_a_file_open_keeps_it() {
    let grove = Grove::new();
    grove.bench.folder(&format!("{A}/src"));
    let spawn = |folder: &str, script: &str| {
        let mut command = grove.bench.program("sh", folder);
        Occupant(command.args(["-c", script]).stdin(Stdio::null()).spawn().unwrap())
    };
    let inside = spawn(&format!("{A}/src"), "exec sleep 1000");
    let table = [(inside, "works in it"), (spawn("work", "exec sleep 1000 <.yoi/worktrees/a/other"), "open")];
    for (occupant, words) in table {
        let pid = format!("process {} ", occupant.0.id());
        let named = || Some(grove.yoi("worktree remove a --force")).filter(|a| a.stderr.contains(&pid));
        let answer = until("a refusal", std::time::Duration::from_secs(20), named, || pid.clone());
        assert!(answer.code == 3 && answer.stderr.contains(words), "{answer}");
    }
    assert_eq!(grove.yoi("worktree remove a").code, 0);
}

#[test]
fn a_worker_removes_its_own_and_a_lock_that_is_over_holds_nobody() {
    for (until, worker, code) in [("2999", "coder-1", 0), ("2999", "coder-2", 3), ("2001", "coder-2", 0)] {
        let grove = Grove::new();
        let reason = format!("yoi: held by coder-1 until {until}-01-01T00:00:00Z");
        grove.bench.git("work", &["worktree", "lock", "--reason", &reason, ".yoi/worktrees/a"]);
        let answer = grove.yoi(&format!("worktree remove a --worker {worker}"));
        assert_eq!(answer.code, code, "{until} {worker}: {answer}");
    }
}

#[test]
fn a_folder_that_can_be_made_anew_is_no_work_and_is_named() {
    let grove = Grove::new();
    write(&grove, "target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# made by a build\n");
    write(&grove, "target/debug/x", "built\n");
    insta::assert_snapshot!(grove.yoi("worktree remove a"), @r"
    removed [BENCH]/work/.yoi/worktrees/a, and its branch yoi/a
      removed with it, unsaved, because it can be made anew: target/
    (exit 0)
    ");
    // One that git does not ignore is work, whatever it says of itself.
    grove.add();
    write(&grove, "mine/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
    write(&grove, "mine/x", "mine\n");
    insta::assert_snapshot!(grove.yoi("worktree remove a"), @r"
    ! yoi: `a`: the worktree [BENCH]/work/.yoi/worktrees/a stays: there is something in it that would be lost
    !   - untracked: mine/
    !   hint: `--force` saves all of it first; `yoi worktree restore` brings that back
    (exit 3)
    ");
}

#[test]
fn a_branch_counts_as_merged_only_where_a_branch_that_stays_holds_it() {
    let grove = Grove::new();
    write(&grove, "new", "new\n");
    grove.commit(A, "mine");
    // A HEAD that no branch holds, and another ticket's branch, hold nothing.
    grove.bench.git("work", &["checkout", "--quiet", "--detach", "yoi/a"]);
    assert_eq!(grove.listed()["merged"], false);
    grove.bench.git("work", &["checkout", "--quiet", "-b", "yoi/b"]);
    assert_eq!((grove.yoi("worktree remove a").code, grove.listed()["merged"].clone()), (3, false.into()));
    grove.bench.git("work", &["checkout", "--quiet", "-b", "develop"]);
    assert_eq!(grove.listed()["merged"], true);
    // The ticket's branch is checked out in the workspace itself: it stays.
    git(&grove, &["checkout", "--quiet", "--detach"]);
    grove.bench.git("work", &["checkout", "--quiet", "yoi/a"]);
    let answer = grove.yoi("worktree remove a");
    assert_eq!(answer.code, 0, "{answer}");
    assert_eq!(grove.bench.git("work", &["symbolic-ref", "HEAD"]), "refs/heads/yoi/a\n");
    assert_ne!(grove.bench.git("work", &["rev-parse", "HEAD"]), "");
}

#[test]
fn a_clean_submodule_whose_commits_are_pushed_keeps_nobody() {
    let grove = Grove::new();
    with_submodule(&grove);
    assert_eq!(grove.listed()["stays_because"], serde_json::json!([]));
    write(&grove, "new", "new\n");
    assert_eq!(grove.yoi("worktree remove a --force").code, 0);
    let view = grove.yoi("worktree restore a --json").json();
    assert!(view["remarks"].to_string().contains("the submodule lib is empty"), "{view}");
    git(&grove, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"]);
    assert_eq!(grove.bench.git(A, &["status", "--porcelain"]), "?? new\n");
}

#[test]
fn a_folder_that_is_gone_leaves_an_entry_that_goes_unless_something_was_staged() {
    let grove = Grove::new();
    fs::remove_dir_all(grove.bench.path(A)).unwrap();
    assert_eq!(grove.listed()["gone"], true);
    assert_eq!(grove.yoi("worktree remove a").code, 0);
    assert_eq!(grove.traces(), Vec::<String>::new());
    // Commits stay with their branch; those of a detached HEAD would not.
    grove.add();
    write(&grove, "new", "new\n");
    grove.commit(A, "mine");
    fs::remove_dir_all(grove.bench.path(A)).unwrap();
    assert_eq!(grove.yoi("worktree remove a").code, 0);
    assert_eq!(grove.traces(), ["refs/heads/yoi/a"]);
    grove.bench.git("work", &["worktree", "add", "--quiet", "--detach", ".yoi/worktrees/a", "yoi/a"]);
    grove.bench.git("work", &["branch", "--quiet", "-D", "yoi/a"]);
    fs::remove_dir_all(grove.bench.path(A)).unwrap();
    let answer = grove.yoi("worktree remove a --force");
    assert!(answer.code == 3 && answer.stderr.contains("`git branch NAME "), "{answer}");
    grove.bench.git("work", &["worktree", "prune"]);
    grove.add();
    write(&grove, "new", "new\n");
    git(&grove, &["add", "new"]);
    fs::remove_dir_all(grove.bench.path(A)).unwrap();
    let answer = grove.yoi("worktree remove a --force");
    assert!(answer.code == 3 && answer.stderr.contains("what was staged in it is not committed"), "{answer}");
}
