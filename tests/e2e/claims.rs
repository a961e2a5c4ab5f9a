//! Claims from outside: many claimers at once, by the command and through the daemon, and a holder that was replaced.
//! `YOI_ROUNDS` says how many races are run of each kind, 3 where nothing is set.

mod afterwards;
mod clones;
mod cut_off;
mod killed;
mod mixed;
mod stale;
mod untold;

use std::fs;
use std::process::{Child, Output, Stdio};

use crate::support::Bench;
use crate::support::stage::{BOUND, Stage};
use crate::support::wait::until;

/// How many claim at once.
const CLAIMERS: usize = 32;

fn rounds() -> usize {
    std::env::var("YOI_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(3)
}

fn stage(settings: &str) -> Stage {
    let stage = Stage::new();
    let settings = format!("[dispatch]\nmode = \"pull\"\n[gates]\ndirty_workspace = \"off\"\n{settings}");
    stage.bench.write("work/.yoi/config.toml", &settings);
    stage
}

/// Claims, when everybody is there: each waits for the end of one and the same pipe. The claimers take turns with the folders.
fn race(bench: &Bench, folders: &[&str], claimers: usize, ticket: &str) -> Vec<(String, Output)> {
    race_while(bench, folders, claimers, ticket, || ())
}

/// The same, and something happens as soon as they run.
fn race_while(
    bench: &Bench,
    folders: &[&str],
    claimers: usize,
    ticket: &str,
    meanwhile: impl FnOnce(),
) -> Vec<(String, Output)> {
    let (wait, go) = std::io::pipe().unwrap();
    let claimer = |number: usize| {
        let worker = format!("w{number}");
        let line = format!("read nothing; exec '{}' claim {ticket} --worker {worker}", env!("CARGO_BIN_EXE_yoi"));
        let mut command = bench.program("sh", folders[number % folders.len()]);
        command.args(["-c", &line]).stdin(wait.try_clone().unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
        (worker, command.spawn().unwrap())
    };
    let children: Vec<(String, Child)> = (0..claimers).map(claimer).collect();
    drop((wait, go));
    meanwhile();
    children.into_iter().map(|(worker, child)| (worker, child.wait_with_output().unwrap())).collect()
}

/// One has won; everybody else was told who.
fn check(ended: &[(String, Output)]) -> String {
    let winners: Vec<_> =
        ended.iter().filter(|(_, output)| output.status.success()).map(|(worker, _)| worker).collect();
    assert_eq!(winners.len(), 1, "{winners:?}");
    for (worker, output) in ended.iter().filter(|(worker, _)| worker != winners[0]) {
        let said = String::from_utf8_lossy(&output.stderr);
        let told = said.contains("lost-race: ") && said.contains(&format!("held by {} (coder)", winners[0]));
        assert!(output.status.code() == Some(3) && told, "{worker}: {said}");
    }
    winners[0].clone()
}

#[test]
fn of_32_claimers_one_wins_and_the_others_are_told_who() {
    let stage = stage("");
    for daemon in [false, true] {
        if daemon {
            stage.start();
        }
        for round in 0..rounds() {
            let ticket = format!("t{round}-{daemon}");
            stage.ticket(&ticket, "queued", "");
            let winner = check(&race(&stage.bench, &["work"], CLAIMERS, &ticket));
            let view = stage.json(&format!("show {ticket}"));
            assert_eq!(view["ticket"]["claim"]["worker"], winner, "{view}");
            let subjects = stage.bench.git("work", &["log", "--format=%s", &format!("refs/yoi/claims/{ticket}")]);
            assert_eq!(subjects.lines().count(), 1, "{subjects}");
        }
    }
    stage.stop();
}

/// The newest step of a ticket's claim, made a day older and on another machine.
pub(super) fn age(stage: &Stage, ticket: &str) {
    let name = format!("refs/yoi/claims/{ticket}");
    let text = stage.bench.git("work", &["cat-file", "commit", &name]);
    let aged = |line: &str| match line.split_once(": ") {
        Some(("Yoi-At", _)) => "Yoi-At: 2020-01-01T00:00:00Z".to_owned(),
        Some(("Yoi-Boot", _)) => "Yoi-Boot: another".to_owned(),
        _ => line.to_owned(),
    };
    let text: String = text.lines().fold(String::new(), |all, line| all + &aged(line) + "\n");
    stage.bench.write("aged", &text);
    let path = stage.bench.path("aged");
    let object = stage.bench.git("work", &["hash-object", "-t", "commit", "-w", path.to_str().unwrap()]);
    stage.bench.git("work", &["update-ref", &name, object.trim()]);
}

#[test]
fn a_holder_that_was_replaced_is_refused_by_every_verb() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.done("claim a --worker old");
    age(&stage, "a");
    let taken = stage.done("claim a --worker new");
    assert!(taken.stdout.contains("the stale claim of old was broken for it"), "{taken}");
    let before = (stage.text("a"), stage.bench.read("work/tickets/a.thread.md"));
    let close =
        "close a --no-pr x --merge-state closed --tests x --artifact src/a.rs --residual none --workspace removed";
    for line in [
        "heartbeat a",
        "release a --outcome done",
        "release a --outcome abandoned",
        "block a --blocker x --evidence x --unblock x --then retry",
        close,
    ] {
        let refused = stage.yoi(&format!("{line} --worker old"));
        assert!(refused.code == 3 && refused.stderr.contains("held by new"), "{line}: {refused}");
    }
    stage.bench.write(
        "work/children.yaml",
        "- {title: one, acceptance: [x], validation: y}\n- {title: two, acceptance: [x], validation: y}\n",
    );
    let refused = stage.yoi("decompose a --from children.yaml --why x --worker old");
    assert!(refused.code == 3 && refused.stderr.contains("held by new"), "{refused}");
    assert_eq!((stage.text("a"), stage.bench.read("work/tickets/a.thread.md")), before);
    let subjects = stage.bench.git("work", &["log", "--format=%s", "refs/yoi/claims/a"]);
    let verbs: Vec<_> = subjects.lines().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(verbs, ["CLAIM", "STALE-BREAK", "CLAIM"]);
}

#[test]
fn each_of_eight_workers_gets_another_ticket_and_the_ninth_is_idle() {
    let stage = stage("");
    for number in 0..8 {
        stage.ticket(&format!("t{number}"), "queued", "");
    }
    let next = |number: usize| {
        let mut command = stage.bench.command("work");
        command.args(["next", "--claim", "--worker", &format!("w{number}"), "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..8).map(next).collect();
    let mut got: Vec<String> = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let view: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        got.push(view["claim"]["id"].as_str().unwrap().to_owned());
    }
    got.sort();
    got.dedup();
    assert_eq!(got.len(), 8, "{got:?}");
    let idle = stage.yoi("next --claim --worker w9");
    assert!(idle.code == 3 && idle.stdout.contains("by reason: claimed 8"), "{idle}");
}

#[test]
fn nobody_comes_back_to_a_ticket_that_a_person_ended_under_its_stale_claim() {
    let close =
        "close a --no-pr x --merge-state closed --tests x --artifact src/a.rs --residual none --workspace removed";
    for (verb, state) in [(close, "closed"), ("block a --blocker x --evidence x --unblock x --then retry", "queued")] {
        for daemon in [false, true] {
            let stage = stage("");
            stage.ticket("a", "queued", "");
            stage.done("claim a --worker w");
            if daemon {
                stage.start();
            }
            age(&stage, "a");
            // A daemon may have brought it back to the queue before.
            let ended = stage.yoi(verb);
            if ended.code != 0 {
                assert!(daemon && ended.stderr.contains("queued"), "{verb}: {ended}");
            }
            for line in
                ["heartbeat a", "release a --outcome pr-opened --pr https://example.org/7", "release a --outcome done"]
            {
                let refused = stage.yoi(&format!("{line} --worker w"));
                assert!(refused.code == 3 && refused.stderr.contains("held by nobody"), "{verb} {line}: {refused}");
            }
            assert!(!stage.text("a").contains("example.org"));
            if ended.code == 0 {
                assert!(stage.text("a").contains(&format!("state: {state}")), "{}", stage.text("a"));
            }
            if daemon {
                stage.stop();
            }
        }
    }
}

#[test]
fn a_workers_name_stands_for_one_run() {
    let stage = stage("");
    stage.ticket("a", "queued", "");
    stage.done("claim a --worker lane-3");
    let refused = stage.yoi("claim a --worker lane-3");
    assert!(refused.code == 3 && refused.stderr.contains("take another one than lane-3"), "{refused}");
    age(&stage, "a");
    // The former run, should it wake up, would pass every fence that goes by the name.
    let refused = stage.yoi("claim a --worker lane-3");
    assert!(refused.code == 3 && refused.stderr.contains("of another run of the name lane-3"), "{refused}");
    stage.done("claim a --worker lane-4");
    assert_eq!(stage.yoi("heartbeat a --worker lane-3").code, 3);
}

/// Whoever renames or deletes a claimed ticket's file does not leave a claim that nobody can end.
#[test]
fn a_claim_whose_ticket_is_gone_is_named_by_doctor_and_can_be_given_up() {
    let stage = stage("");
    for daemon in [false, true] {
        stage.ticket("a", "queued", "");
        stage.ticket("other", "planning", "");
        if daemon {
            stage.start();
        }
        stage.done("claim a --worker w");
        fs::remove_file(stage.bench.path("work/tickets/a.md")).unwrap();
        let named = || stage.yoi("doctor").stdout.contains("claim of `a`: held by w (coder) until ").then_some(());
        until("doctor", BOUND, named, String::new);
        for outcome in ["done", "pr-opened --pr https://example.org/7"] {
            let refused = stage.yoi(&format!("release a --worker w --outcome {outcome}"));
            assert!(refused.code == 3 && refused.stderr.contains("there is no ticket `a` any more"), "{refused}");
        }
        stage.done("heartbeat a --worker w");
        let released = stage.done("release a --worker w --outcome abandoned");
        assert_eq!(
            released.stdout,
            "a: released as abandoned\n  there is no ticket `a` any more: nothing was written, and the claim has ended\n"
        );
        assert!(!stage.yoi("doctor").stdout.contains("claim of"));
        let subjects = stage.bench.git("work", &["log", "--format=%s", "-1", "refs/yoi/claims/a"]);
        assert!(subjects.contains("RELEASE worker=w outcome=abandoned"), "{subjects}");
    }
}

/// What a program's supervisor has told it is of its own ticket, and of no other that it names.
#[test]
fn the_generation_of_a_programs_own_ticket_is_not_taken_for_anothers() {
    let mut stage = stage("");
    stage.ticket("a", "queued", "");
    stage.ticket("b", "queued", "");
    stage.done("claim a --worker w");
    stage.done("release a --worker w --outcome abandoned");
    stage.done("claim a --worker w");
    stage.done("claim b --worker w");
    stage.bench.set("YOI_WORKER", "w");
    stage.bench.set("YOI_TICKET", "a");
    stage.bench.set("YOI_GENERATION", "2");
    stage.done("heartbeat a");
    stage.done("heartbeat b");
    let blocked = ["block", "b", "--blocker", "x", "--evidence", "x", "--unblock", "x", "--then", "retry"];
    assert_eq!(stage.run(&blocked).code, 0);
    stage.bench.set("YOI_GENERATION", "1");
    let refused = stage.yoi("release a --outcome abandoned");
    assert!(refused.code == 3 && refused.stderr.contains("not by w (generation 1)"), "{refused}");
}

/// The run that has claimed a ticket makes a worktree for it by `yoi start`, and keeps its claim; nobody else does.
#[test]
fn whoever_has_claimed_a_ticket_starts_it_under_that_claim() {
    for (mode, daemon) in [("pull", false), ("pull", true), ("orchestrated", false)] {
        let mut stage = stage("");
        if mode == "orchestrated" {
            stage.bench.write("work/.yoi/config.toml", "[gates]\ndirty_workspace = \"off\"\n");
        }
        stage.ticket("a", "queued", "");
        if daemon {
            stage.start();
        }
        if mode == "orchestrated" {
            stage.done("accept a");
        }
        let told = stage.done("claim a --worker w");
        assert!(told.stdout.contains("\n  yoi start a --worker w makes a worktree for it\n"), "{told}");
        for (line, why) in [
            ("start a --worker other", "lost-race: `a` is held by w (coder)"),
            ("start a --worker w --role reviewer", "lost-race: `a` is held by w (coder)"),
            ("start a --worker w --pid 1", "`yoi release a --worker w --outcome abandoned` and start it anew"),
        ] {
            let refused = stage.yoi(line);
            assert!(refused.code == 3 && refused.stderr.contains(why), "{line}: {refused}");
        }
        assert!(!stage.bench.path("work/.yoi/worktrees/a").exists());
        stage.bench.set("YOI_WORKER", "w");
        let started = stage.json("start a");
        assert_eq!((&started["generation"], &started["made"]), (&1.into(), &true.into()), "{mode} {daemon}");
        assert!(started["worktree_by"].is_null() && stage.bench.path("work/.yoi/worktrees/a").exists(), "{started}");
        let again = stage.done("start a");
        assert!(again.stdout.starts_with("worktree used again: "), "{again}");
        let chain = stage.bench.git("work", &["log", "--format=%s", "refs/yoi/claims/a"]);
        assert_eq!(chain.lines().filter(|line| line.contains(" CLAIM ")).count(), 1, "{chain}");
        assert_eq!(stage.json("worktree list")["worktrees"][0]["owner"], "w");
        stage.done("release a --outcome abandoned");
        stage.done("worktree remove a");
        assert_eq!(stage.json("show a")["ticket"]["claim"], serde_json::Value::Null);
    }
}

/// What fails leaves the claim as it was.
#[test]
fn a_start_under_a_claim_of_ones_own_that_fails_keeps_the_claim() {
    let stage = stage("[roles.reviewer]\ncommand = [\"true\"]\n");
    stage.done("trust");
    stage.ticket("a", "queued", "");
    stage.done("claim a --worker w");
    stage.bench.write("work/.yoi/worktrees/a/mine", "");
    let refused = stage.yoi("start a --worker w");
    assert!(refused.code != 0 && refused.stderr.contains(".yoi/worktrees/a"), "{refused}");
    fs::remove_dir_all(stage.bench.path("work/.yoi/worktrees")).unwrap();
    stage.done("heartbeat a --worker w");
    stage.done("start a --worker w");
    // A program of the role's own works under its own claim.
    stage.ticket("b", "queued", "");
    let told = stage.done("claim b --worker v --role reviewer");
    assert!(!told.stdout.contains("yoi start"), "{told}");
    let refused = stage.yoi("start b --worker v --role reviewer");
    let hint = "`yoi release b --worker v --outcome abandoned`, then `yoi start b --role reviewer`";
    assert!(refused.code == 3 && refused.stderr.contains(hint), "{refused}");
}
