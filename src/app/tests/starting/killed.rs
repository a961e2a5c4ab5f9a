//! A start that is killed at any step: the next one works, or a look at what was begun takes it all away; but never what
//! somebody has begun to work on. `YOI_ROUNDS` says how often, 1 where nothing is set.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Forest, Hooks, standing, start, trees};
use crate::daemon::mending::mend_all;
use crate::domain::sample::at;

const STEPS: [&str; 7] = ["planned", "branch", "folder", "made", "locked", "hooked", "done"];
/// The folder in which the child starts a ticket.
const TOP: &str = "YOI_TEST_TOP";

/// Another process of this program, which comes to an end in the middle of a start.
#[test]
#[ignore = "it is run by the tests of this file, to be killed"]
fn a_start_in_a_process_of_its_own() {
    let Some(top) = std::env::var_os(TOP).map(PathBuf::from) else { return };
    let hook = |script: &str| vec![vec!["sh".into(), "-c".into(), script.to_owned()]];
    let after_create = std::env::var("YOI_TEST_HOOK").map(|script| hook(&script)).unwrap_or_default();
    let hooks = Hooks { after_create, limit: Duration::from_secs(20), trusted: true, ..Hooks::default() };
    drop(start(&top, &trees(&top, ".yoi/worktrees".as_ref(), hooks), "a", "w", at(0)));
}

fn child(forest: &Forest) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = format!("{}::a_start_in_a_process_of_its_own", module_path!().split_once("::").unwrap().1);
    command.args(["--ignored", "--exact", &name]).env(TOP, forest.top()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn killed(forest: &Forest, point: &str, hook: Option<&str>) {
    let mut command = child(forest);
    command.env("YOI_FAULT", point);
    if let Some(hook) = hook {
        command.env("YOI_TEST_HOOK", hook);
    }
    let status = command.status().unwrap();
    assert_eq!(status.code(), None, "{point}: it was not killed there");
}

fn rounds() -> u32 {
    std::env::var("YOI_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

#[test]
fn the_next_start_works_and_leaves_nothing_else() {
    let forest = Forest::new();
    for _ in 0..rounds() {
        for step in STEPS {
            killed(&forest, &format!("start:{step}"), None);
            forest.started("a");
            assert_eq!(forest.traces(), standing("a"), "{step}");
            forest.remove("a").unwrap_or_else(|error| panic!("{step}: {error}"));
            assert_eq!(forest.traces(), Vec::<String>::new(), "{step}");
        }
    }
}

#[test]
fn a_look_at_what_was_begun_takes_it_away() {
    let forest = Forest::new();
    for _ in 0..rounds() {
        for step in STEPS {
            killed(&forest, &format!("start:{step}"), None);
            assert_eq!(mend_all(&forest.trees()).unwrap(), Vec::<String>::new(), "{step}");
            if step == "done" {
                forest.remove("a").unwrap();
            }
            assert_eq!(forest.traces(), Vec::<String>::new(), "{step}: {}", forest.looked_at());
        }
        // A start that failed, and was killed while it took back what it had made.
        for step in ["undo:noted", "undo:undone"] {
            killed(&forest, step, Some("exit 1"));
            assert_eq!(mend_all(&forest.trees()).unwrap(), Vec::<String>::new(), "{step}");
            assert_eq!(forest.traces(), Vec::<String>::new(), "{step}");
        }
    }
}

#[test]
fn what_somebody_has_begun_to_work_on_is_adopted() {
    for step in ["folder", "made", "locked", "hooked"] {
        let forest = Forest::new();
        killed(&forest, &format!("start:{step}"), None);
        let file = forest.top().join(".yoi/worktrees/a/mine");
        fs::write(&file, "mine").unwrap();
        mend_all(&forest.trees()).unwrap();
        assert!(file.exists(), "{step}");
        let started = forest.started("a");
        assert!(!started.made && file.exists(), "{step}");
        assert_eq!(forest.traces(), standing("a"), "{step}");
    }
}

#[test]
fn a_hook_that_was_cut_off_runs_again_at_the_next_start() {
    let mut forest = Forest::new();
    let script = "echo run >>runs.o";
    killed(&forest, "start:hooked", Some(script));
    forest.hooks.after_create = vec![vec!["sh".into(), "-c".into(), script.into()]];
    let path = forest.started("a").tree.path;
    assert_eq!(fs::read_to_string(path.join("runs.o")).unwrap(), "run\nrun\n");
    assert_eq!(forest.traces(), standing("a"));
}

/// Git goes on when whoever started it is killed: the next start waits for it, and does not take half of it away.
#[test]
fn one_that_is_killed_while_git_works_is_taken_up_when_git_has_ended() {
    let forest = Forest::new();
    let (begun, go) = (forest.top().join("begun"), forest.top().join("go"));
    let script = format!(
        "#!/bin/sh\ntouch '{}'\nn=0; while [ ! -e '{}' ] && [ $n -lt 1000 ]; do n=$((n + 1)); sleep 0.02; done\n",
        begun.display(),
        go.display()
    );
    let hook = forest.top().join(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, script).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let mut child = child(&forest).spawn().unwrap();
    let began = Instant::now();
    while !begun.exists() {
        assert!(began.elapsed() < Duration::from_secs(20));
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(mend_all(&forest.trees()).unwrap(), Vec::<String>::new(), "whoever only looks lets it be");
    assert!(!forest.traces().is_empty());
    fs::remove_file(&hook).unwrap();
    std::thread::scope(|scope| {
        let next = scope.spawn(|| forest.started("a"));
        fs::write(&go, "").unwrap();
        next.join().unwrap();
    });
    assert_eq!(forest.traces(), standing("a"));
}
