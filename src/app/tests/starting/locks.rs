//! Starts in parallel, and with git's own locks held by others: waited for, named, never removed (FAULTS kinds 3 and 12).

use std::fs;
use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::{Forest, name};
use crate::domain::sample::at;
use crate::ports::worktrees::{Worktrees, WorktreesError};

/// Files by which git holds a lock on what a start may have to write.
fn locks(forest: &Forest, ids: &[String]) -> Vec<PathBuf> {
    let git = forest.top().join(".git");
    fs::create_dir_all(git.join("refs/heads/yoi")).unwrap();
    let branches = ids.iter().map(|id| format!("refs/heads/yoi/{}.lock", name::of(&id.as_str().into())));
    let common = ["index.lock", "config.lock", "packed-refs.lock", "HEAD.lock"].map(str::to_owned);
    common.into_iter().chain(branches).map(|path| git.join(path)).collect()
}

#[test]
fn eight_at_once_all_succeed_while_others_hold_gits_locks_for_two_seconds() {
    let forest = Forest::new();
    let ids: Vec<_> = (0..8).map(|number| format!("ticket {number}")).collect();
    // What is packed has to be unpacked by whoever moves it.
    forest.git(&["pack-refs", "--all"]);
    let locks = locks(&forest, &ids);
    for lock in &locks {
        fs::write(lock, "").unwrap();
    }
    let began = Instant::now();
    let all_at_once = Barrier::new(ids.len());
    thread::scope(|scope| {
        let starting: Vec<_> = ids
            .iter()
            .map(|id| {
                let (forest, all_at_once) = (&forest, &all_at_once);
                scope.spawn(move || {
                    all_at_once.wait();
                    forest.start(id, "w", at(0)).map(|standing| standing.made)
                })
            })
            .collect();
        let until = began + Duration::from_secs(2);
        thread::sleep(until.saturating_duration_since(Instant::now()));
        for lock in &locks {
            fs::remove_file(lock).unwrap();
        }
        for (starting, id) in starting.into_iter().zip(&ids) {
            assert!(starting.join().unwrap().unwrap_or_else(|error| panic!("{id}: {error}")), "{id}");
        }
    });
    assert!(began.elapsed() >= Duration::from_secs(2));
    assert_eq!(forest.traces().len(), 8 * 3, "{:?}", forest.traces());
    assert_eq!(forest.trees().standing().len(), 8);
}

#[test]
fn several_starts_of_one_ticket_make_one_worktree() {
    let forest = Forest::new();
    let made: usize = thread::scope(|scope| {
        let starting: Vec<_> = (0..4).map(|_| scope.spawn(|| usize::from(forest.started("a").made))).collect();
        starting.into_iter().map(|starting| starting.join().unwrap()).sum()
    });
    assert_eq!(made, 1);
    assert_eq!(forest.traces(), super::standing("a"));
}

#[test]
fn a_lock_that_is_never_let_go_is_named_and_left_and_nothing_else_is() {
    let mut forest = Forest::new();
    forest.patience = Duration::from_millis(300);
    let lock = forest.top().join(".git/refs/heads/yoi/a.lock");
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    fs::write(&lock, "").unwrap();
    let error = forest.start("a", "w", at(0)).unwrap_err();
    assert!(matches!(&error, WorktreesError::Held(text) if text.contains("yoi/a.lock")), "{error}");
    assert!(lock.exists());
    assert_eq!(forest.traces(), Vec::<String>::new());
    fs::remove_file(&lock).unwrap();
    assert!(forest.started("a").made);
}
