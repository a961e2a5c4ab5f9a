//! Races of processes in one repository, with git packing and collecting beside.
//!
//! `YOI_ROUNDS=100 YOI_RACERS=32 cargo test --lib claims::tests::race` makes them long.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::*;
use crate::domain::claim::Outcome;

const HERE: &str = "YOI_TEST_RACER";
const PACKING: &str = "while :; do git pack-refs --all; git gc -q || true; done 2>&-";

pub(super) fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

/// What one racer does: it claims each round's ticket, and whoever won it takes steps on until it is released.
pub(super) fn race(claims: &dyn Claims, worker: &str, rounds: usize) -> Vec<String> {
    let mut won = Vec::new();
    for round in 0..rounds {
        let ticket = format!("round-{round}");
        let claim = [step(&ticket, StepKind::Claim, worker, 1)];
        match claims.swap(&id(&ticket), None, None, &claim).unwrap() {
            Swapped::Lost(tip) => assert_ne!(tip.unwrap().step.worker, worker),
            Swapped::Moved(mut tip) => {
                won.push(ticket.clone());
                let kinds = [StepKind::Heartbeat, StepKind::Heartbeat, StepKind::Release { outcome: Outcome::Done }];
                for kind in kinds {
                    let next = [step(&ticket, kind, worker, 1)];
                    tip = moved(claims.swap(&id(&ticket), Some(&tip.revision), Some(tip.base()), &next));
                }
            }
        }
    }
    won
}

/// Runs this very test again as so many processes, and says which rounds each of them won.
pub(super) fn processes(name: &str, folders: &[&Path], racers: usize, rounds: usize) -> Vec<Vec<String>> {
    let children: Vec<_> = (0..racers)
        .map(|racer| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", name, "--nocapture"]).env(HERE, folders[racer % folders.len()].as_os_str());
            command.env("YOI_TEST_WORKER", format!("worker-{racer}")).env("YOI_TEST_ROUNDS", rounds.to_string());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let outputs: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    outputs
        .into_iter()
        .map(|output| {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
            said.lines().filter_map(|line| line.strip_prefix("WON ")).map(str::to_owned).collect()
        })
        .collect()
}

/// In such a process: races, and says so.
pub(super) fn as_racer<C: Claims>(claims: impl Fn(&Path) -> C) -> bool {
    let Some(folder) = std::env::var_os(HERE).map(PathBuf::from) else { return false };
    let worker = std::env::var("YOI_TEST_WORKER").unwrap();
    for won in race(&claims(&folder), &worker, number("YOI_TEST_ROUNDS", 1)) {
        println!("\nWON {won}");
    }
    true
}

fn exactly_one_wins_each(name: &str, kind: &str, program_only: bool, rounds: usize) {
    let claims = |folder: &Path| GitClaims {
        program_only,
        patience: Duration::from_mins(1),
        ..GitClaims::new(folder, Some(&folder.join(".git")))
    };
    if as_racer(claims) {
        return;
    }
    let scene = Scene::new(kind);
    let _beside = Beside::new(scene.path(), PACKING);
    let won = processes(name, &[scene.path()], number("YOI_RACERS", 8), rounds).concat();
    let different: BTreeSet<_> = won.iter().collect();
    assert_eq!((won.len(), different.len()), (rounds, rounds), "{won:?}");
    let all = claims(scene.path()).all().unwrap();
    assert_eq!((all.tips.len(), all.unreadable.len()), (rounds, 0), "{:?}", all.unreadable);
    // CLAIM and RELEASE are left of each chain.
    assert!(all.tips.iter().all(|tip| !tip.is_held() && tip.parent.is_some()));
}

#[test]
fn of_many_processes_one_wins() {
    let name = "adapters::claims::tests::race::of_many_processes_one_wins";
    exactly_one_wins_each(name, "", false, number("YOI_ROUNDS", 12));
}

#[test]
fn of_many_processes_that_use_the_program_one_wins() {
    let name = "adapters::claims::tests::race::of_many_processes_that_use_the_program_one_wins";
    exactly_one_wins_each(name, "", true, number("YOI_ROUNDS", 30) / 10);
}

#[test]
fn of_many_processes_one_wins_in_a_reftable() {
    let name = "adapters::claims::tests::race::of_many_processes_one_wins_in_a_reftable";
    exactly_one_wins_each(name, "--ref-format=reftable", false, number("YOI_ROUNDS", 30) / 10);
}
