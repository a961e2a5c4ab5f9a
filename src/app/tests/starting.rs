//! Worktrees of accepted tickets on real repositories: made, used again, refused, undone, adopted; in parallel, with git's locks
//! held by others, and killed at every step (DESIGN.md 6.3; FAULTS kinds 9 and 12).

mod hooks;
mod killed;
mod locks;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use chrono::TimeDelta;
use tempfile::TempDir;

use crate::adapters::ticket_folder::TicketFolder;
use crate::adapters::worktrees::{GitWorktrees, Hooks};
use crate::daemon::removing::{RemoveOrder, remove_worktree};
use crate::daemon::starting::{Standing, worktree_for};
use crate::domain::claim::name;
use crate::domain::sample::at;
use crate::domain::ticket::Timestamp;
use crate::domain::worktree::{Hold, Tree};
use crate::ports::worktrees::{Worktrees, WorktreesError};
use crate::ports::{Acceptance, Tickets};
use crate::text::keys::KeyMap;

const ACCEPTED: &str = "---\ntitle: t\nstate: inprogress\naccepted_by: me\naccepted_at: 2026-11-30T08:00:00Z\n---\n";

/// A repository with a workspace in it.
struct Forest {
    folder: TempDir,
    hooks: Hooks,
    root: PathBuf,
    patience: Duration,
}

impl Forest {
    fn new() -> Self {
        let forest = Self::empty();
        forest.write(".gitignore", "/.yoi/worktrees/\n*.o\n");
        forest.write("file", "text\n");
        forest.git(&["add", "--all"]);
        forest.git(&["commit", "--quiet", "--message=first"]);
        forest
    }

    /// One without a commit.
    fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let forest = Self::at(folder);
        forest.git(&["init", "--quiet", "--initial-branch=main"]);
        forest
    }

    fn at(folder: TempDir) -> Self {
        let hooks = Hooks { limit: Duration::from_secs(20), trusted: true, ..Hooks::default() };
        Self { folder, hooks, root: ".yoi/worktrees".into(), patience: Duration::from_secs(20) }
    }

    fn top(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.top().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(&self.top(), arguments)
    }

    fn trees(&self) -> GitWorktrees {
        trees(&self.top(), &self.root, self.hooks.clone()).patience(self.patience)
    }

    fn start(&self, id: &str, worker: &str, now: Timestamp) -> Result<Standing, WorktreesError> {
        start(&self.top(), &self.trees(), id, worker, now)
    }

    fn started(&self, id: &str) -> Standing {
        self.start(id, "w", at(0)).unwrap_or_else(|error| panic!("{id}: {error}"))
    }

    fn remove(&self, id: &str) -> Result<Vec<String>, WorktreesError> {
        let order = RemoveOrder { name: name::of(&id.into()), worker: Some("w".into()), holder: None, force: false };
        remove_worktree(&self.trees(), &order, at(0)).map(|gone| gone.remarks)
    }

    /// What a look finds in what stands.
    fn looked_at(&self) -> String {
        let trees = self.trees();
        let look = |tree: Tree| format!("{:?}", (trees.probe(&tree), tree, trees.try_hold("a")));
        trees.list().unwrap().into_iter().map(look).collect()
    }

    /// Everything that is left of worktrees.
    fn traces(&self) -> Vec<String> {
        let branches = self.git(&["for-each-ref", "--format=%(refname)", "refs/heads/yoi", "refs/yoi"]);
        let names = |folder: &str| {
            let entries = fs::read_dir(self.top().join(folder)).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect::<Vec<_>>()
        };
        let journals = names(".git/yoi/worktrees")
            .into_iter()
            .filter(|name| Path::new(name).extension().is_some_and(|end| end != "lock"));
        let entries = names(".git/worktrees").into_iter().map(|name| format!("entry {name}"));
        let folders = names(".yoi/worktrees").into_iter().map(|name| format!("folder {name}"));
        let mut all: Vec<_> =
            branches.lines().map(str::to_owned).chain(journals).chain(entries).chain(folders).collect();
        all.sort();
        all
    }
}

/// Of a worktree that stands, and nothing else.
fn standing(id: &str) -> Vec<String> {
    [format!("entry {id}"), format!("folder {id}"), format!("refs/heads/yoi/{id}")].into()
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Test", "-c", "user.email=test@example.org"]).args(arguments).current_dir(folder);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn trees(top: &Path, root: &Path, hooks: Hooks) -> GitWorktrees {
    GitWorktrees::new(top, Some(&top.join(".git")), root, top.join(".git/yoi/worktrees"), hooks)
}

/// Of a ticket whose acceptance is on record.
fn proof(top: &Path, id: &str) -> Acceptance {
    let path = Path::new("tickets").join(format!("{id}.md"));
    fs::create_dir_all(top.join("tickets")).unwrap();
    fs::write(top.join(&path), ACCEPTED).unwrap();
    let locks = top.join(".git/yoi/locks");
    let tickets: &dyn Tickets = &TicketFolder::new(top, Path::new("tickets"), locks, KeyMap::default());
    let (proof, _) = Acceptance::record(tickets, &path, "me", at(0), &mut |_| Ok(())).unwrap();
    assert_eq!(proof.ticket().as_str(), id);
    proof
}

fn start(
    top: &Path,
    trees: &dyn Worktrees,
    id: &str,
    worker: &str,
    now: Timestamp,
) -> Result<Standing, WorktreesError> {
    let hold = Hold { worker: worker.into(), until: now + TimeDelta::minutes(90), retained_for: None };
    worktree_for(trees, &proof(top, id), &hold, now)
}

fn refused(result: Result<Standing, WorktreesError>, words: &str) {
    let error = result.map(|standing| standing.tree).unwrap_err();
    assert!(matches!(error, WorktreesError::Refused(_)) && error.to_string().contains(words), "{error}");
}

#[test]
fn a_worktree_is_made_locked_and_used_again_by_whoever_may() {
    let forest = Forest::new();
    let made = forest.started("a");
    assert_eq!((made.made, made.tree.path.clone()), (true, forest.top().join(".yoi/worktrees/a")));
    assert_eq!(made.tree.short_branch(), Some("yoi/a"));
    assert_eq!(fs::read_to_string(made.tree.path.join("file")).unwrap(), "text\n");
    assert!(forest.git(&["worktree", "list", "--porcelain"]).contains("locked yoi: held by w until "));
    assert_eq!(forest.git(&["config", "--local", "--list"]).matches("branch.").count(), 0, "no upstream");
    assert_eq!(forest.traces(), standing("a"));
    // Work in it is nobody's to touch.
    fs::write(made.tree.path.join("file"), "changed\n").unwrap();
    let again = forest.started("a");
    assert!(!again.made);
    // Whoever starts has won the claim: what a former worker's hold says is over.
    let other = forest.start("a", "other", at(0)).unwrap();
    assert_eq!(other.tree.lock.hold().map(|hold| hold.worker.as_str()), Some("other"));
    assert_eq!(fs::read_to_string(made.tree.path.join("file")).unwrap(), "changed\n");
    let facts = forest.trees().standing();
    assert_eq!(facts.len(), 1);
    assert_eq!((facts[0].0.as_str(), facts[0].1.live_process), ("a", None));
    let mut shell = Command::new("sleep").arg("1000").current_dir(&made.tree.path).spawn().unwrap();
    let seen = forest.trees().standing()[0].1.live_process;
    shell.kill().unwrap();
    shell.wait().unwrap();
    assert_eq!(seen, Some(shell.id()));
}

#[test]
fn a_branch_that_is_there_is_used_with_what_is_on_it() {
    let forest = Forest::new();
    forest.git(&["checkout", "--quiet", "-b", "yoi/a"]);
    forest.write("more", "mine\n");
    forest.git(&["add", "more"]);
    forest.git(&["commit", "--quiet", "--message=mine"]);
    refused(forest.start("a", "w", at(0)), "the branch yoi/a is checked out already");
    assert_eq!(forest.traces(), ["refs/heads/yoi/a"]);
    forest.git(&["checkout", "--quiet", "main"]);
    let made = forest.started("a");
    assert_eq!(fs::read_to_string(made.tree.path.join("more")).unwrap(), "mine\n");
}

#[test]
fn what_is_in_the_way_is_named_and_left_alone() {
    let forest = Forest::new();
    forest.write(".yoi/worktrees/a/precious", "somebody's\n");
    refused(forest.start("a", "w", at(0)), "is there already, and is no worktree of this ticket");
    assert_eq!(forest.traces(), ["folder a"]);
    refused(Forest::empty().start("a", "w", at(0)), "the repository has no commit yet");

    let elsewhere = tempfile::tempdir().unwrap();
    let forest = Forest::new();
    fs::create_dir_all(forest.top().join(".yoi")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), forest.top().join(".yoi/worktrees")).unwrap();
    refused(forest.start("a", "w", at(0)), "leads out of the workspace, to ");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    // Said so on purpose it is as good as any other place.
    let forest = Forest { root: elsewhere.path().canonicalize().unwrap(), ..forest };
    assert!(forest.started("a").tree.path.starts_with(&forest.root));
    assert!(forest.remove("a").is_ok());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn a_tickets_folder_that_is_gone_and_a_lock_of_somebody_elses_are_named() {
    let forest = Forest::new();
    let path = forest.started("a").tree.path;
    forest.git(&["worktree", "unlock", path.to_str().unwrap()]);
    forest.git(&["worktree", "lock", "--reason", "mine", path.to_str().unwrap()]);
    refused(forest.start("a", "w", at(0)), "somebody locked the worktree");
    fs::remove_dir_all(path).unwrap();
    forest.git(&["worktree", "unlock", ".yoi/worktrees/a"]);
    refused(forest.start("a", "w", at(0)), "whose folder is gone");
}

#[test]
fn any_id_is_a_branch_and_a_folder() {
    let forest = Forest::new();
    let long = "x".repeat(200);
    let (wide, deep) = ("\u{65e5}\u{672c}\u{8a9e}".to_owned() + &"\u{672c}".repeat(60), "a.b..c".to_owned());
    let ids = [
        "a b",
        "\u{65e5}\u{672c}\u{8a9e}",
        "v1.2",
        "a@{b}",
        "@{",
        "@",
        "x.lock",
        "-rf",
        "a~b^c:d?e*f[g]\\h",
        &long,
        &wide,
        &deep,
    ];
    for id in ids {
        let made = forest.started(id);
        let name = name::of(&id.into());
        assert_eq!(made.tree.name, name, "{id}");
        assert!(name.len() > 190 || made.tree.ticket() == Some(id.into()), "{id}");
        assert!(!forest.started(id).made, "{id}");
        assert_eq!(forest.remove(id).unwrap(), Vec::<String>::new(), "{id}");
    }
    assert_eq!(forest.traces(), Vec::<String>::new());
}
