//! `yoi start` from outside: a claim and a worktree, both or nothing, whatever is killed and whoever else starts.
//! `YOI_ROUNDS` says how often each step is killed, 1 where nothing is set.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::support::stage::Stage;
use crate::support::wait::until;

/// How long anything may take.
const BOUND: Duration = Duration::from_secs(30);
/// Every step of a start.
const STEPS: [&str; 9] = ["marked", "claimed", "planned", "branch", "folder", "made", "locked", "hooked", "done"];

fn stage() -> Stage {
    let stage = Stage::new();
    stage.bench.write("work/.yoi/config.toml", "[dispatch]\nmode = \"pull\"\n[gates]\ndirty_workspace = \"off\"\n");
    stage.ticket("a", "queued", "");
    stage
}

/// One in each kind of repository: by libgit2, and by the git program alone.
fn stages() -> impl Iterator<Item = Stage> {
    let of_format = |format: &str| {
        let stage = stage();
        fs::remove_dir_all(stage.bench.path("work/.git")).unwrap();
        let mut init = stage.bench.program("git", "work");
        let made = stage.bench.run(init.args(["init", "--quiet", "--initial-branch=main", format]));
        if made.code != 0 {
            eprintln!("skipped: this git knows no {format}: {made}");
            return None;
        }
        stage.bench.git("work", &["add", "--all"]);
        stage.bench.git("work", &["commit", "--quiet", "--message=files"]);
        Some(stage)
    };
    let formats = ["--ref-format=reftable", "--object-format=sha256"];
    std::iter::once(stage()).chain(formats.into_iter().filter_map(of_format))
}

fn rounds() -> u32 {
    std::env::var("YOI_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

fn has_fault_points() -> bool {
    if !cfg!(debug_assertions) {
        eprintln!("skipped: fault points are in debug builds only");
    }
    cfg!(debug_assertions)
}

/// Branches and worktrees of tickets, and marks of starts.
fn made(stage: &Stage) -> Vec<String> {
    let git = |arguments: &[&str]| stage.bench.git("work", arguments);
    let branches = git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/yoi"]);
    let entries = git(&["worktree", "list", "--porcelain"]);
    let entries = entries.lines().filter_map(|line| line.strip_prefix("worktree ")).skip(1);
    let entries = entries.map(|path| format!("entry {}", path.rsplit('/').next().unwrap_or_default()));
    let folder = |path: &str| fs::read_dir(stage.bench.path(path)).into_iter().flatten().flatten();
    let folders = folder("work/.yoi/worktrees").map(|entry| format!("folder {}", entry.file_name().display()));
    let marks = folder("work/.git/yoi/starts").map(|entry| format!("mark {}", entry.file_name().display()));
    branches.lines().map(|branch| format!("branch {branch}")).chain(entries).chain(folders).chain(marks).collect()
}

fn of_a() -> Vec<String> {
    ["branch yoi/a", "entry a", "folder a"].map(str::to_owned).into()
}

#[test]
fn a_start_makes_a_claim_and_a_worktree_and_both_go_again() {
    let stage = stage();
    let view = stage.json("start a --worker w");
    assert_eq!(
        (&view["state"], &view["made"], &view["on_branch"]),
        (&"inprogress".into(), &true.into(), &"yoi/a".into())
    );
    assert_eq!(made(&stage), of_a());
    let refused = stage.yoi("start a --worker v");
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("lost-race: `a` is held by w (coder)"), "{refused}");
    let refused = stage.yoi("worktree remove a");
    assert!(refused.code == 3 && refused.stderr.contains("`w` holds it until"), "{refused}");
    stage.done("release a --worker w --outcome abandoned");
    let again = stage.json("start a --worker v --role reviewer");
    assert_eq!((&again["made"], &again["generation"]), (&false.into(), &2.into()));
    stage.done("release a --worker v --outcome abandoned");
    stage.done("worktree remove a");
    assert_eq!(made(&stage), Vec::<String>::new());
}

#[test]
fn what_is_blocked_leaves_no_worktree_that_nothing_is_in() {
    let stage = stage();
    let block = "block a --worker w --blocker key --evidence 401 --unblock vault --then retry";
    stage.done("start a --worker w");
    stage.done(block);
    assert_eq!(made(&stage), Vec::<String>::new());
    let thread = stage.bench.read("work/tickets/a.thread.md");
    assert!(thread.contains("worktree removed (it was clean, at"), "{thread}");
    stage.done("set a --remove labels=blocked");
    stage.done("start a --worker w2");
    stage.bench.write("work/.yoi/worktrees/a/new", "mine");
    stage.done(&block.replace(" w ", " w2 "));
    assert_eq!(made(&stage), of_a());
    let thread = stage.bench.read("work/tickets/a.thread.md");
    assert!(thread.contains("1 untracked (untracked: new)") && thread.contains(", until 20"), "{thread}");
}

#[test]
fn what_is_not_accepted_is_not_started_in_orchestrated_mode() {
    let stage = Stage::new();
    stage.ticket("a", "queued", "");
    let refused = stage.yoi("start a --worker w");
    assert!(refused.code == 3 && refused.stderr.contains("yoi accept a"), "{refused}");
    assert_eq!((made(&stage), stage.bench.git("work", &["for-each-ref", "refs/yoi"])), (Vec::new(), String::new()));
    stage.done("accept a");
    stage.done("start a --worker w");
    assert_eq!(made(&stage), of_a());
}

#[test]
fn a_start_that_is_killed_at_any_step_keeps_nobody_from_the_next_one() {
    if !has_fault_points() {
        return;
    }
    for stage in stages() {
        for (round, step) in (0..rounds()).flat_map(|round| STEPS.map(|step| (round, step))) {
            let mut command = stage.bench.command("work");
            command.args(["start", "a", "--worker", &format!("killed-{step}-{round}")]);
            let killed = command.env("YOI_FAULT", format!("start:{step}")).output().unwrap();
            assert_eq!(killed.status.code(), None, "{step}: {}", String::from_utf8_lossy(&killed.stderr));
            let worker = format!("next-{step}-{round}");
            stage.done(&format!("start a --worker {worker}"));
            assert_eq!(made(&stage), of_a(), "{step}");
            stage.done(&format!("release a --worker {worker} --outcome abandoned"));
            stage.done(&format!("worktree remove a --worker {worker}"));
            assert_eq!(made(&stage), Vec::<String>::new(), "{step}");
            let refs = stage.bench.git("work", &["for-each-ref", "--format=%(refname)", "refs/yoi"]);
            assert_eq!(refs.trim(), "refs/yoi/claims/a", "{step}");
        }
    }
}

#[test]
fn a_daemon_that_is_killed_in_a_start_gives_the_claim_back_when_it_is_there_again() {
    if !has_fault_points() {
        return;
    }
    for step in ["claimed", "branch", "made"] {
        let stage = stage();
        stage.start_with([("YOI_FAULT", &format!("start:{step}"))]);
        assert_ne!(stage.yoi("start a --worker w").code, 0, "{step}");
        stage.kill();
        stage.start();
        let free = || (stage.json("show a")["ticket"]["state"] == "queued").then_some(());
        until("the ticket in the queue again", BOUND, free, || stage.bench.read("daemon.log"));
        stage.done("start a --worker v");
        assert_eq!(made(&stage), of_a(), "{step}");
        stage.stop();
    }
}

/// Whoever presses Ctrl-C hears nothing of what the daemon has made for him.
#[test]
fn a_start_whose_client_goes_away_is_undone_by_the_daemon() {
    let stage = stage();
    let wait = "touch ../../../began; while ! test -e ../../../go; do sleep 0.02; done";
    stage.bench.write(
        "work/.yoi/config.toml",
        &format!(
            "[dispatch]\nmode = \"pull\"\n[gates]\ndirty_workspace = \"off\"\n[worktrees]\nafter_create = \
             [[\"sh\", \"-c\", \"{wait}\"]]\n"
        ),
    );
    stage.done("trust");
    stage.start();
    let mut command = stage.bench.command("work");
    let mut client = command.args(["start", "a", "--worker", "w"]).spawn().unwrap();
    let began = || stage.bench.path("work/began").exists().then_some(());
    until("the hook of the new worktree", BOUND, began, || stage.bench.read("daemon.log"));
    client.kill().unwrap();
    client.wait().unwrap();
    // This very request alone is connected.
    let alone = || (stage.json("status")["connections"]["open"] == 1).then_some(());
    until("the client to be gone", BOUND, alone, || stage.json("status").to_string());
    stage.bench.write("work/go", "");
    let free = || (made(&stage).is_empty() && stage.json("show a")["ticket"]["state"] == "queued").then_some(());
    until("the start undone", BOUND, free, || format!("{:?} {}", made(&stage), stage.bench.read("daemon.log")));
    stage.done("start a --worker v");
    assert_eq!(made(&stage), of_a());
    stage.stop();
}

#[test]
fn of_two_starts_at_once_one_is_made_and_the_other_is_told_whose_it_is() {
    for daemon in [false, true] {
        let stage = stage();
        if daemon {
            stage.start();
        }
        let start = |worker: &str| {
            let mut command = stage.bench.command("work");
            command.args(["start", "a", "--worker", worker]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let children = ["one", "two", "three", "four"].map(start);
        let ended = children.map(|child| child.wait_with_output().unwrap());
        let codes: Vec<_> = ended.iter().map(|output| output.status.code()).collect();
        assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
        for output in ended.iter().filter(|output| output.status.code() != Some(0)) {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(3) && said.contains("lost-race: `a` is held by"), "{said}");
        }
        assert_eq!(made(&stage), of_a());
        if daemon {
            stage.stop();
        }
    }
}

#[test]
fn eight_starts_at_once_wait_for_whoever_holds_gits_locks() {
    let stage = stage();
    let ids: Vec<_> = (0..8).map(|number| format!("t{number}")).collect();
    for id in &ids {
        stage.ticket(id, "queued", "");
    }
    let locks =
        ["config.lock", "packed-refs.lock", "index.lock"].map(|name| stage.bench.path(&format!("work/.git/{name}")));
    for lock in &locks {
        fs::File::create_new(lock).unwrap();
    }
    let start = |id: &String| {
        let mut command = stage.bench.command("work");
        command.args(["start", id]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = ids.iter().map(start).collect();
    // Another program at work with the repository.
    thread::sleep(Duration::from_secs(2));
    for lock in &locks {
        fs::remove_file(lock).unwrap();
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(made(&stage).len(), 24);
}

#[test]
fn what_somebody_wrote_into_a_worktree_whose_making_was_cut_off_stays() {
    if !has_fault_points() {
        return;
    }
    for step in ["folder", "made", "locked"] {
        for next in ["worktree list", "start a --worker v"] {
            let stage = stage();
            stage.bench.write("work/f", "as it was\n");
            stage.bench.git("work", &["add", "f"]);
            stage.bench.git("work", &["commit", "--quiet", "--message=f"]);
            let mut command = stage.bench.command("work");
            let killed =
                command.args(["start", "a", "--worker", "w"]).env("YOI_FAULT", format!("start:{step}")).output();
            assert_eq!(killed.unwrap().status.code(), None, "{step}");
            stage.bench.write("work/.yoi/worktrees/a/f", "precious\n");
            stage.done(next);
            assert_eq!(stage.bench.read("work/.yoi/worktrees/a/f"), "precious\n", "{step} {next}");
        }
    }
}

#[test]
fn a_block_that_is_refused_takes_nothing_away_and_a_holders_worktree_is_its_own() {
    let stage = stage();
    stage.done("start a --worker w");
    let refused = stage.yoi("worktree remove a --worker v");
    assert!(refused.code == 3 && refused.stderr.contains("`w` holds"), "{refused}");
    stage.run(&["move", "a", "planning", "--force", "--reason", "not now"]);
    let refused = stage.yoi("block a --worker w --blocker key --evidence 401 --unblock vault --then retry");
    assert!(refused.code == 3 && refused.stderr.contains("planning"), "{refused}");
    assert_eq!(made(&stage), of_a());
    // The lock says until when the claim held at the start, and no beat moves that: the claim counts.
    let path = stage.bench.path("work/.yoi/worktrees/a");
    stage.bench.git("work", &["worktree", "unlock", path.to_str().unwrap()]);
    let refused = stage.yoi("worktree remove a --force");
    assert!(refused.code == 3 && refused.stderr.contains("`w` holds its ticket"), "{refused}");
    stage.done("release a --worker w --outcome abandoned");
    stage.done("worktree remove a");
}

#[test]
fn a_worktree_whose_folder_somebody_deleted_is_not_used_again_and_can_be_removed() {
    let stage = stage();
    stage.done("start a --worker w");
    stage.done("release a --worker w --outcome abandoned");
    fs::remove_dir_all(stage.bench.path("work/.yoi/worktrees/a")).unwrap();
    let refused = stage.yoi("start a --worker v");
    assert!(refused.code == 3 && refused.stderr.contains("whose folder is gone"), "{refused}");
    assert!(stage.json("show a")["ticket"]["state"] == "queued");
    stage.done("worktree remove a --force");
    stage.done("start a --worker u");
    assert_eq!(made(&stage), of_a());
}
