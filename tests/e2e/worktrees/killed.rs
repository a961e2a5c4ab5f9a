//! kill -9 at every step of a removal and of a restoration: whatever comes next finds the worktree whole, or finishes, and
//! nothing is left over (FAULTS kind 9). `YOI_ROUNDS` says how often, 1 where nothing is set.

use std::fs;
use std::path::Path;

use super::{A, Grove};

fn rounds() -> u32 {
    std::env::var("YOI_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

fn has_fault_points() -> bool {
    if !cfg!(debug_assertions) {
        eprintln!("skipped: fault points are in debug builds only");
    }
    cfg!(debug_assertions)
}

/// Runs this, to be killed at a point of it.
fn killed(grove: &Grove, line: &str, point: &str) {
    let status = grove.bench.command("work").args(line.split_whitespace()).env("YOI_FAULT", point).output().unwrap();
    assert!(status.status.code().is_none(), "{point}: {line}: {}", String::from_utf8_lossy(&status.stderr));
}

/// One of each kind of repository: by libgit2, and by the git program alone.
fn groves() -> impl Iterator<Item = Grove> {
    let formats = ["--ref-format=reftable", "--object-format=sha256"];
    std::iter::once(Grove::new()).chain(formats.into_iter().filter_map(Grove::of_format))
}

/// Each step with each of these, as often as it is asked for.
fn every_round<T: Copy>(with: &[T]) -> Vec<(&'static str, T)> {
    let each = |with: &T| REMOVING.map(|point| (point, *with));
    (0..rounds()).flat_map(|_| with.iter().flat_map(each)).collect()
}

const REMOVING: [&str; 8] = ["planned", "saved", "aside", "going", "entry", "branch", "folder", "done"];

#[test]
fn a_removal_that_is_killed_at_any_step_is_ended_by_the_next_run_or_was_never_made() {
    if !has_fault_points() {
        return;
    }
    // Whatever comes next ends it: a list, or the same again.
    for (point, next) in every_round(&["worktree list", "worktree remove a"]) {
        for grove in groves() {
            killed(&grove, "worktree remove a", &format!("worktree-remove:{point}"));
            grove.yoi(next);
            let whole = grove.bench.path(A).exists();
            assert_eq!(whole, next == "worktree list" && ["planned", "saved", "aside"].contains(&point), "{point}");
            if whole {
                assert_eq!(grove.bench.git(A, &["status", "--porcelain"]), "", "{point}");
                assert_eq!(grove.yoi("worktree remove a").code, 0, "{point}");
            }
            assert_eq!(grove.traces(), Vec::<String>::new(), "{point}");
            grove.add();
        }
    }
}

#[test]
fn one_by_force_that_is_killed_at_any_step_loses_nothing() {
    if !has_fault_points() {
        return;
    }
    for (point, ()) in every_round(&[()]).into_iter().chain([("saving", ())]) {
        for grove in groves() {
            fs::write(grove.a("new"), "new\n").unwrap();
            fs::write(grove.a("other"), "changed\n").unwrap();
            killed(&grove, "worktree remove a --force", &format!("worktree-remove:{point}"));
            grove.yoi("worktree list");
            let saved = |traces: &[String]| traces.iter().filter(|trace| trace.contains("refs/yoi/salvage")).count();
            if grove.bench.path(A).exists() {
                assert!(["planned", "saving", "saved", "aside"].contains(&point), "{point}");
                assert_eq!(saved(&grove.traces()), 0, "{point}: what was saved of a whole one is not needed");
            } else {
                assert_eq!(grove.traces().len(), 1, "{point}: {:?}", grove.traces());
                assert_eq!(grove.yoi("worktree restore a").code, 0, "{point}");
            }
            assert_eq!(grove.bench.read(&format!("{A}/new")), "new\n", "{point}");
            assert_eq!(grove.bench.read(&format!("{A}/other")), "changed\n", "{point}");
        }
    }
}

#[test]
fn a_restoration_that_is_killed_is_made_by_the_next() {
    if !has_fault_points() {
        return;
    }
    for point in ["planned", "branch", "entry", "files", "own", "restored"] {
        for grove in groves() {
            fs::write(grove.a("new"), "new\n").unwrap();
            assert_eq!(grove.yoi("worktree remove a --force").code, 0);
            let before = grove.traces();
            killed(&grove, "worktree restore a", &format!("worktree-restore:{point}"));
            grove.yoi("worktree list");
            assert_eq!(grove.traces(), before, "{point}");
            let answer = grove.yoi("worktree restore a");
            assert_eq!(answer.code, 0, "{point}: {answer}");
            assert_eq!(grove.bench.read(&format!("{A}/new")), "new\n", "{point}");
        }
    }
}

#[test]
fn a_folder_that_came_in_the_place_of_one_that_was_put_aside_is_not_touched() {
    if !has_fault_points() {
        return;
    }
    let grove = Grove::new();
    fs::write(grove.a("new"), "new\n").unwrap();
    killed(&grove, "worktree remove a --force", "worktree-remove:aside");
    grove.bench.write(&format!("{A}/precious"), "somebody's\n");
    insta::assert_snapshot!(grove.yoi("worktree remove a --force"), @r"
    ! yoi: `a`: a removal of [BENCH]/work/.yoi/worktrees/a was cut off, and something else lies there by now; all of it is in [BENCH]/work/.yoi/worktrees/.yoi-removing-a
    !   hint: move [BENCH]/work/.yoi/worktrees/a away: then it is put back
    (exit 3)
    ");
    assert_eq!(grove.bench.read(&format!("{A}/precious")), "somebody's\n");
    fs::rename(grove.bench.path(A), grove.bench.path("elsewhere")).unwrap();
    grove.yoi("worktree list");
    assert_eq!(grove.bench.read(&format!("{A}/new")), "new\n");
    assert!(!Path::new(&grove.bench.path("work/.yoi/worktrees/.yoi-removing-a")).exists());
}
