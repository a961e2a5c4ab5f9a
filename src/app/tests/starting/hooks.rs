//! The hooks of the configuration: where they run, with what, and what their failure does.

use std::fs;
use std::time::Duration;

use super::{Forest, Hooks, standing};
use crate::ports::worktrees::WorktreesError;

fn commands(scripts: &[&str]) -> Vec<Vec<String>> {
    scripts.iter().map(|script| vec!["sh".into(), "-c".into(), (*script).into()]).collect()
}

fn after_create(scripts: &[&str]) -> Forest {
    let forest = Forest::new();
    let hooks = Hooks { after_create: commands(scripts), ..forest.hooks.clone() };
    Forest { hooks, ..forest }
}

fn failure(error: WorktreesError) -> (String, Vec<String>) {
    match error {
        WorktreesError::Hook { message, output } => (message, output),
        other => panic!("{other}"),
    }
}

#[test]
fn they_run_in_order_in_the_new_worktree_and_not_again() {
    let script = "test \"$PWD\" = \"$YOI_WORKTREE\" && test -d \"$YOI_WORKSPACE/.git\" && echo one >>made.o";
    let forest = after_create(&[script, "echo two >>made.o"]);
    let made = forest.started("a");
    assert_eq!(fs::read_to_string(made.tree.path.join("made.o")).unwrap(), "one\ntwo\n");
    assert!(!forest.started("a").made);
    assert_eq!(fs::read_to_string(made.tree.path.join("made.o")).unwrap(), "one\ntwo\n");
}

#[test]
fn one_that_fails_says_so_and_nothing_is_left() {
    let forest = after_create(&["echo built >x.o; echo to one; echo to the other >&2; exit 3", "touch never"]);
    let (message, output) = failure(forest.start("a", "w", crate::domain::sample::at(0)).unwrap_err());
    assert!(
        message.starts_with("the hook worktrees.after_create failed in ") && message.ends_with(": exit code 3"),
        "{message}"
    );
    assert_eq!(output, ["to one", "to the other"]);
    assert_eq!(forest.traces(), Vec::<String>::new());

    let mut forest = after_create(&["sleep 1000 & wait"]);
    forest.hooks.limit = Duration::from_millis(300);
    let (message, _) = failure(forest.start("a", "w", crate::domain::sample::at(0)).unwrap_err());
    assert!(message.ends_with("did not end within 0 s and was ended"), "{message}");
    assert_eq!(forest.traces(), Vec::<String>::new());
}

#[test]
fn what_the_user_has_not_agreed_to_does_not_run_and_that_is_said() {
    let mut forest = after_create(&["touch run.o"]);
    forest.hooks.trusted = false;
    let made = forest.started("a");
    assert_eq!(made.remarks, ["the hook worktrees.after_create was not run: `yoi trust` shows it"]);
    assert!(!made.tree.path.join("run.o").exists());
}

#[test]
fn before_a_removal_one_may_take_away_what_a_build_made_and_nothing_else() {
    let mut forest = Forest::new();
    forest.hooks.before_remove = commands(&["echo ran >>\"$YOI_WORKSPACE/ran\"; rm -f *.o"]);
    let path = forest.started("a").tree.path;
    fs::write(path.join("built.o"), "built").unwrap();
    fs::write(path.join("mine"), "mine").unwrap();
    // Something of somebody's is in it: the hook is not even run.
    assert!(matches!(forest.remove("a"), Err(WorktreesError::Refused(_))));
    assert!(!forest.top().join("ran").exists() && path.join("built.o").exists());
    fs::remove_file(path.join("mine")).unwrap();
    forest.remove("a").unwrap();
    assert_eq!(forest.traces(), Vec::<String>::new());

    forest.hooks.before_remove = commands(&["echo no >&2; exit 1"]);
    forest.started("a");
    let (message, output) = failure(forest.remove("a").unwrap_err());
    assert!(message.contains("worktrees.before_remove") && output == ["no"], "{message} {output:?}");
    assert_eq!(forest.traces(), standing("a"));
    // And one that leaves something behind keeps it.
    forest.hooks.before_remove = commands(&["touch left"]);
    assert!(matches!(forest.remove("a"), Err(WorktreesError::Refused(_))));
    assert_eq!(forest.traces(), standing("a"));
}
