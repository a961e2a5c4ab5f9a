//! Worktrees of tickets, by the program from outside, on real repositories: what keeps one from being removed, what is saved of
//! it and brought back, and what a kill at any step leaves (DESIGN.md 6.3; FAULTS kinds 9 to 12).

mod killed;
mod occupied;
mod offered;
mod refusals;
mod repositories;
mod salvage;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::stage::ticket_text;
use crate::support::{Answer, Bench};

/// A workspace with a repository, and a worktree for the ticket `a`.
pub(super) struct Grove {
    pub(super) bench: Bench,
}

/// Where the worktree of `a` lies.
pub(super) const A: &str = "work/.yoi/worktrees/a";

impl Grove {
    pub(super) fn new() -> Self {
        Self::planted(Bench::with_git())
    }

    /// In a repository that libgit2 cannot open; None where this git cannot make one.
    pub(super) fn of_format(format: &str) -> Option<Self> {
        let bench = Bench::new();
        bench.folder("work");
        let made = bench.run(bench.program("git", "work").args(["init", "--quiet", "--initial-branch=main", format]));
        if made.code != 0 {
            eprintln!("skipped: this git knows no {format}: {made}");
            return None;
        }
        Some(Self::planted(bench))
    }

    fn planted(bench: Bench) -> Self {
        let grove = Self { bench };
        grove.bench.write("work/.yoi/config.toml", "");
        grove.bench.write("work/.yoi/.gitignore", "/run/\n/worktrees/\n");
        grove.bench.write("work/.gitignore", "*.o\n/target/\n/deps/\n");
        grove.bench.write("work/src/main", "text\n");
        grove.bench.write("work/other", "other\n");
        grove.bench.write("work/tickets/a.md", &ticket_text("a", "ready", ""));
        grove.commit("work", "files");
        grove.add();
        grove
    }

    /// The worktree of `a`, on a branch of its own.
    pub(super) fn add(&self) {
        let path = A.strip_prefix("work/").unwrap();
        self.bench.git("work", &["worktree", "add", "--quiet", "--no-track", "-b", "yoi/a", path]);
    }

    pub(super) fn commit(&self, folder: &str, message: &str) {
        self.bench.git(folder, &["add", "--all"]);
        self.bench.git(folder, &["commit", "--quiet", "--message", message]);
    }

    pub(super) fn a(&self, path: &str) -> PathBuf {
        self.bench.path(A).join(path)
    }

    pub(super) fn yoi(&self, line: &str) -> Answer {
        self.bench.yoi("work", line)
    }

    /// The worktree as it is listed.
    pub(super) fn listed(&self) -> Value {
        let view = self.yoi("worktree list --json").json();
        assert_eq!(view["worktrees"].as_array().unwrap().len(), 1, "{view}");
        view["worktrees"][0].clone()
    }

    /// Everything that a worktree, or what was begun with one, has left.
    pub(super) fn traces(&self) -> Vec<String> {
        let git = |arguments: &[&str]| self.bench.git("work", arguments);
        let refs = git(&["for-each-ref", "--format=%(refname)", "refs/heads/yoi", "refs/yoi"]);
        let entries = git(&["worktree", "list"]);
        let folders = self.bench.tree("work/.yoi/worktrees");
        let journals = self.bench.path("work/.git/yoi/worktrees");
        let journals = std::fs::read_dir(journals).into_iter().flatten().flatten();
        let journals = journals.map(|entry| entry.file_name().into_string().unwrap());
        let journals = journals.filter(|name| Path::new(name).extension().is_some_and(|end| end != "lock"));
        let all = refs.lines().chain(entries.lines().skip(1)).map(str::to_owned);
        all.chain(folders).chain(journals).collect()
    }
}

#[test]
fn a_clean_and_merged_one_goes_with_its_branch_and_nothing_is_left() {
    let grove = Grove::new();
    insta::assert_snapshot!(grove.yoi("worktree list"), @r"
TICKET  OWNER  FILES  COMMITS  UNTIL  PATH
a       -      clean  merged   -      [BENCH]/work/.yoi/worktrees/a
(exit 0)
");
    let listed = grove.listed();
    assert_eq!((listed["dirty"].clone(), listed["merged"].clone()), (false.into(), true.into()));
    insta::assert_snapshot!(grove.yoi("worktree remove a"), @r"
    removed [BENCH]/work/.yoi/worktrees/a, and its branch yoi/a
    (exit 0)
    ");
    assert_eq!(grove.traces(), Vec::<String>::new());
    insta::assert_snapshot!(grove.yoi("worktree remove a"), @r"
    ! yoi: `a`: the ticket has no worktree
    !   hint: `yoi worktree list` shows those that are there
    (exit 3)
    ");
    insta::assert_snapshot!(grove.yoi("worktree restore a"), @r"
    ! yoi: `a`: nothing was saved of this ticket's worktree
    (exit 3)
    ");
    insta::assert_snapshot!(grove.yoi("worktree list"), @r"
    no ticket has a worktree
    (exit 0)
    ");
}

#[test]
fn what_is_pushed_and_not_merged_goes_and_its_branch_stays() {
    let grove = Grove::new();
    grove.bench.git("", &["init", "--quiet", "--bare", "origin"]);
    grove.bench.git("work", &["remote", "add", "origin", grove.bench.path("origin").to_str().unwrap()]);
    grove.bench.write(&format!("{A}/more"), "more\n");
    grove.commit(A, "more");
    assert_eq!(grove.yoi("worktree remove a").code, 3);
    grove.bench.git(A, &["push", "--quiet", "--set-upstream", "origin", "HEAD"]);
    assert_eq!(grove.listed()["merged"], false);
    assert_eq!(grove.yoi("worktree remove a").code, 0);
    assert_eq!(grove.traces(), ["refs/heads/yoi/a"]);
    // Merged since: the next one goes with its branch, and with what git kept of its upstream.
    grove.bench.git("work", &["merge", "--quiet", "--ff-only", "yoi/a"]);
    grove.bench.git("work", &["worktree", "add", "--quiet", ".yoi/worktrees/a", "yoi/a"]);
    assert_eq!(grove.yoi("worktree remove a").code, 0);
    assert_eq!(grove.traces(), Vec::<String>::new());
    assert!(!grove.bench.read("work/.git/config").contains("yoi/a"));
}

#[test]
fn through_the_daemon_it_is_the_same() {
    let grove = Grove::new();
    assert_eq!(grove.yoi("up").code, 0);
    assert_eq!(grove.listed()["ticket"], "a");
    grove.bench.write(&format!("{A}/more"), "more\n");
    assert_eq!(grove.yoi("worktree remove a").code, 3);
    assert_eq!(grove.yoi("worktree remove a --force").code, 0);
    assert_eq!(grove.yoi("worktree restore a").code, 0);
    assert_eq!(grove.bench.read(&format!("{A}/more")), "more\n");
    assert_eq!(grove.yoi("down").code, 0);
}

#[test]
fn hooks_of_the_settings_run_once_the_user_has_agreed() {
    let grove = Grove::new();
    let settings = "[worktrees]\nbefore_remove = [[\"sh\", \"-c\", \"rm -f main.o\"]]\n";
    grove.bench.write("work/.yoi/config.toml", settings);
    grove.bench.write(&format!("{A}/main.o"), "built\n");
    assert_eq!(grove.yoi("worktree remove a").code, 3);
    let status = grove.yoi("status").stdout;
    assert!(status.contains("the [worktrees] hooks are not trusted as they are"), "{status}");
    insta::assert_snapshot!(grove.yoi("trust"), @r#"
    [BENCH]/work would run:
      worktrees.before_remove  ["sh", "-c", "rm -f main.o"]
    trusted from now on (before: not trusted yet, so not run)
    (exit 0)
    "#);
    insta::assert_snapshot!(grove.yoi("worktree remove a"), @r"
    removed [BENCH]/work/.yoi/worktrees/a, and its branch yoi/a
    (exit 0)
    ");
}

#[test]
fn the_ticket_of_a_name_that_was_cut_is_found_by_its_file() {
    let grove = Grove::new();
    assert_eq!(grove.yoi("worktree remove a").code, 0);
    let id = "\u{65e5}".repeat(80);
    grove.bench.write(&format!("work/tickets/{id}.md"), &ticket_text("long", "ready", ""));
    let name = yoi::domain::claim::name::of(&id.as_str().into());
    assert!(name.contains("%h"));
    let (branch, path) = (format!("yoi/{name}"), format!(".yoi/worktrees/{name}"));
    grove.bench.git("work", &["worktree", "add", "--quiet", "--no-track", "-b", &branch, &path]);
    assert_eq!(grove.listed()["ticket"], id.as_str());
    assert_eq!(grove.yoi(&format!("worktree remove {id}")).code, 0);
    assert_eq!(grove.traces(), Vec::<String>::new());
}
