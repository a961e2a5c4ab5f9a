//! Watching among everything: bursts, an overflow, folders that go and come back, missed changes, the watch limit. The
//! board converges to what a fresh start shows, and `status` says what happened (FAULTS kinds 4 and 23).

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Command;

use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use crate::support::stage::{BOUND, Stage, ticket_path, ticket_text};
use crate::support::wait::until;

/// What a program without any memory shows of the files that are there now.
fn fresh(stage: &Stage) -> Value {
    shell(stage, "rm -rf fresh; mkdir fresh; cp -a work/* work/.yoi fresh/");
    comparable(stage.bench.yoi("fresh", "list --all --json").json())
}

fn comparable(mut list: Value) -> Value {
    list["daemon"].take();
    list
}

/// Waits until the daemon shows what a fresh start shows.
fn converges(stage: &Stage) {
    let truth = fresh(stage);
    let board = || comparable(stage.json("list --all"));
    until(
        "the board of a fresh start",
        BOUND,
        || (board() == truth).then_some(()),
        || format!("{}\n{}\n{}", truth["tickets"], board()["tickets"], stage.story()),
    );
}

fn shell(stage: &Stage, line: &str) {
    let answer = stage.bench.run(stage.bench.program("sh", "").args(["-euc", line]));
    assert_eq!(answer.code, 0, "{line}: {answer}");
}

fn watching(stage: &Stage) -> Value {
    stage.json("status")["watching"].clone()
}

/// So many committed tickets, `ready` on the branch `main` and `closed` on `other`.
fn committed(stage: &Stage, count: usize) {
    for (state, branch) in [("ready", "main"), ("closed", "other")] {
        for number in 0..count {
            stage.ticket(&format!("t{number:05}"), state, "");
        }
        if branch == "other" {
            stage.bench.git("work", &["checkout", "--quiet", "-b", "other"]);
        }
        stage.bench.git("work", &["add", "--all"]);
        stage.bench.git("work", &["commit", "--quiet", "--message=tickets"]);
    }
    stage.bench.git("work", &["checkout", "--quiet", "main"]);
}

fn kicks_and_suppressions(stage: &Stage, mark: usize) -> usize {
    let decided = |event: &&Value| event["kind"].as_str().is_some_and(|kind| kind.starts_with("KICK_"));
    stage.events().iter().skip(mark).filter(decided).count()
}

#[test]
fn a_thousand_tickets_checked_out_back_and_forth() {
    let stage = Stage::new();
    committed(&stage, 1000);
    stage.start();
    stage.rest();
    converges(&stage);
    for branch in ["other", "main"] {
        let mark = stage.mark();
        stage.bench.git("work", &["checkout", "--quiet", branch]);
        converges(&stage);
        assert!(kicks_and_suppressions(&stage, mark) <= 1, "{branch}: {}", stage.story());
        assert_eq!(stage.bench.git("work", &["status", "--porcelain"]), "", "{branch}: nothing was written");
    }
    assert_eq!(watching(&stage)["missed"], 0);
}

#[test]
fn a_thousand_tickets_that_enter_the_queue_in_one_checkout_are_one_decision() {
    let stage = Stage::new();
    committed(&stage, 300);
    let now = stage.bench.run(stage.bench.program("date", "").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"])).stdout;
    for number in 0..300 {
        stage.ticket(&format!("t{number:05}"), "queued", &format!("queued_at: \"{}\"\nqueued_by: ana", now.trim()));
    }
    stage.bench.git("work", &["checkout", "--quiet", "-b", "queue"]);
    stage.bench.git("work", &["commit", "--quiet", "--all", "--message=queued"]);
    stage.bench.git("work", &["checkout", "--quiet", "main"]);
    stage.start();
    stage.rest();
    let mark = stage.mark();
    stage.hold();
    stage.bench.git("work", &["checkout", "--quiet", "queue"]);
    converges(&stage);
    stage.kicked(mark, "ticket_queued");
    let kicks = stage.events().iter().skip(mark).filter(|event| event["kind"] == "KICK_SENT").count();
    assert_eq!(kicks, 1, "{}", stage.story());
    assert_eq!(stage.bench.git("work", &["status", "--porcelain"]), "", "nothing was written");
    stage.release();
}

/// Lowers the kernel's limit of waiting notices, and sets it back at the end. It is the whole machine's: what starts to
/// watch meanwhile gets the small one, too.
struct SmallQueue {
    usual: String,
    _alone: File,
}

impl SmallQueue {
    const SETTING: &str = "/proc/sys/fs/inotify/max_queued_events";
    const SMALL: &str = "256";

    /// None, with a notice, where this user may not.
    fn set() -> Option<Self> {
        let setting = File::options().read(true).write(true).open(Self::SETTING);
        let Ok(alone) = setting else {
            eprintln!("SKIPPED: only root can lower {}, so no overflow is tried", Self::SETTING);
            return None;
        };
        // Others that do the same would take the small one for the usual one.
        flock(&alone, FlockOperation::LockExclusive).unwrap();
        let usual = fs::read_to_string(Self::SETTING).unwrap();
        // Left by a test that was killed.
        let usual = if usual.trim() == Self::SMALL { "16384".into() } else { usual };
        fs::write(Self::SETTING, Self::SMALL).unwrap();
        Some(Self { usual, _alone: alone })
    }
}

impl Drop for SmallQueue {
    fn drop(&mut self) {
        let _ = fs::write(Self::SETTING, &self.usual);
    }
}

/// Starts a daemon whose queue is small, and has `burst` done while it sleeps, so that it overflows for certain.
fn overflows(stage: &Stage, burst: impl FnOnce()) -> bool {
    let Some(small) = SmallQueue::set() else { return false };
    stage.start();
    drop(small);
    stage.rest();
    let pid = stage.json("status")["pid"].to_string();
    shell(stage, &format!("kill -STOP {pid}"));
    burst();
    shell(stage, &format!("kill -CONT {pid}"));
    let overflow =
        |event: &Value| event["kind"] == "WATCHER_RESCAN" && event["data"]["why"] == "the watcher's queue overflowed";
    stage.event(0, "the overflow", overflow);
    converges(stage);
    true
}

#[test]
fn a_daemon_that_slept_through_a_checkout_overflows_and_knows_it() {
    let stage = Stage::new();
    committed(&stage, 500);
    if overflows(&stage, || drop(stage.bench.git("work", &["checkout", "--quiet", "other"]))) {
        let status = stage.json("status");
        assert_eq!(status["tickets"]["closed"], 500);
        assert!(status["watching"]["rescans"].as_u64() >= Some(1), "{status}");
        assert_eq!(status["watching"]["missed"], 0);
    }
}

#[test]
fn a_burst_of_5000_writes_with_a_small_queue_ends_in_few_looks() {
    let stage = Stage::new();
    for number in 0..500 {
        stage.bench.write(&format!("work/tickets/t{number}/item.md"), &ticket_text("x", "ready", ""));
    }
    let burst = || {
        for round in 0..10 {
            let state = if round % 2 == 0 { "planning" } else { "done" };
            for number in 0..500 {
                stage.bench.write(&format!("work/tickets/t{number}/item.md"), &ticket_text("x", state, ""));
            }
        }
    };
    if overflows(&stage, burst) {
        assert_eq!(stage.json("status")["tickets"]["done"], 500);
        // A look at everything opens every file and folder: that is no notice, and so no further overflow.
        stage.bench.write("work/tickets/t0/item.md", &ticket_text("x", "closed", ""));
        converges(&stage);
        let watching = watching(&stage);
        assert!(watching["rescans"].as_u64() <= Some(4), "{watching}: {}", stage.story());
        assert_eq!(watching["missed"], 0);
    }
}

#[test]
fn a_ticket_folder_that_goes_and_comes_back() {
    let stage = Stage::new();
    let stamps = "queued_at: \"2026-11-01T08:00:00Z\"\nqueued_by: ana";
    for number in 0..20 {
        stage.ticket(&format!("t{number}"), if number < 10 { "ready" } else { "queued" }, stamps);
    }
    stage.bench.write("work/tickets/epic/item.md", &ticket_text("epic", "ready", ""));
    stage.start();
    stage.rest();
    let texts = || (0..20).map(|number| stage.text(&format!("t{number}"))).collect::<Vec<_>>();
    let before = texts();
    let table = [
        ("moved away and back", "mv work/tickets away", "mv away work/tickets"),
        (
            "with a process in it",
            "(cd work/tickets; exec sleep 600 >sleeping 2>&1) & echo $! > sleeper
             until [ -e work/tickets/sleeping ]; do sleep 0.01; done; mv work/tickets away",
            "mv away work/tickets; kill $(cat sleeper)",
        ),
        ("the workspace's copy", "cp -a work/tickets copy; mv work/tickets away", "rm -r away; mv copy work/tickets"),
        ("by a link", "mv work/tickets work/real", "ln -s real work/tickets"),
        ("no link any more", "rm work/tickets", "mv work/real work/tickets"),
    ];
    for (name, go, come) in table {
        let mark = stage.mark();
        shell(&stage, go);
        let gone = |event: &Value| event["data"]["why"].as_str().is_some_and(|why| why.contains("tickets is gone"));
        stage.event(mark, name, gone);
        let status = stage.json("status");
        let obstacle = status["obstacles"].to_string();
        assert!(obstacle.contains("the ticket folder cannot be read"), "{name}: {obstacle}");
        assert_eq!(status["watching"]["tickets"], 21, "{name}: what was known stays");
        shell(&stage, come);
        converges(&stage);
        assert!(!stage.json("status")["obstacles"].to_string().contains("cannot be read"), "{name}");
        let folder = stage.json("status")["watching"]["last_rescan"].to_string();
        assert!(folder.contains("the ticket folder tickets"), "{name}: {folder}");
        assert_eq!(texts(), before, "{name}: nothing was queued anew");
        let mark = stage.mark();
        stage.save_in_place("t0", "title: ", "title: x");
        stage.save_in_place("t0", "title: x", "title: ");
        stage.bench.write("work/tickets/epic/late.md", "");
        converges(&stage);
        assert_eq!(kicks_and_suppressions(&stage, mark), 0, "{name}");
    }
}

#[test]
fn a_ticket_folder_that_is_deleted_and_made_anew() {
    let stage = Stage::new();
    for number in 0..20 {
        stage.ticket(&format!("t{number}"), "ready", "");
    }
    stage.start();
    stage.rest();
    shell(&stage, "rm -r work/tickets");
    until(
        "its end",
        BOUND,
        || stage.json("status")["obstacles"].to_string().contains("cannot be read").then_some(()),
        || stage.story(),
    );
    stage.ticket("new", "planning", "");
    converges(&stage);
    shell(&stage, "rm -r work/tickets; mkdir work/tickets");
    converges(&stage);
    shell(&stage, "rm -r work/tickets; mkdir -p work/tickets/deep/er");
    stage.bench.write("work/tickets/deep/er/a.md", &ticket_text("a", "ready", ""));
    converges(&stage);
    stage.bench.write("work/tickets/deep/er/a.md", &ticket_text("a", "done", ""));
    converges(&stage);
}

#[test]
fn folders_that_appear_with_tickets_in_them() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.start();
    stage.rest();
    let ticket = |state: &str| format!("printf -- '---\\ntitle: x\\nstate: {state}\\n---\\n'");
    let lines = [
        format!("mkdir -p work/tickets/1/2/3; {} > work/tickets/1/2/3/b.md", ticket("ready")),
        format!(
            "mkdir -p out/c; {} > out/c/item.md; {} > out/c/notes.md; mv out work/tickets/in",
            ticket("ready"),
            ticket("done")
        ),
        format!("mkdir work/tickets/d; {0} > work/tickets/d/item.md", ticket("ready")),
        // An `item.md` takes what lies beside it, and gives it back.
        format!("{} > work/tickets/1/2/item.md", ticket("ready")),
        "rm work/tickets/1/2/item.md".into(),
        "mv work/tickets/in/c/item.md work/tickets/in/c/other.md".into(),
        "mv work/tickets/1 work/tickets/.hidden; sleep 0.1; mv work/tickets/.hidden work/tickets/one".into(),
        "mv work/tickets/in gone".into(),
        "rm -r work/tickets/one work/tickets/d".into(),
    ];
    for line in lines {
        shell(&stage, &line);
        converges(&stage);
    }
    assert_eq!(watching(&stage)["missed"], 0);
}

#[test]
fn what_nobody_notices_is_found_by_comparing() {
    let stage = Stage::with("[watch]\nverify_every = \"1s\"\n");
    stage.bench.write("elsewhere/target.md", &ticket_text("link", "ready", ""));
    symlink(stage.bench.path("elsewhere/target.md"), stage.bench.path(&ticket_path("link"))).unwrap();
    stage.ticket("a", "ready", "");
    stage.start();
    stage.rest();
    let mark = stage.mark();
    // Nothing happens in the ticket folder.
    stage.bench.write("elsewhere/target.md", &ticket_text("link", "done", ""));
    let missed = stage.event(mark, "the missed change", |event| event["kind"] == "WATCHER_MISSED");
    assert_eq!((&missed["data"]["count"], &missed["data"]["paths"][0]), (&1.into(), &"tickets/link.md".into()));
    converges(&stage);
    assert_eq!(watching(&stage)["missed"], 1);
    let status = stage.yoi("status").stdout;
    assert!(status.contains("1 missed"), "{status}");
    // What is noticed is not missed, however often it is compared.
    for round in 0..3 {
        let compared = watching(&stage)["verified_at"].clone();
        stage.save("a", "title: ", &format!("title: {round}"));
        until(
            "another comparison",
            BOUND,
            || (watching(&stage)["verified_at"] != compared).then_some(()),
            || stage.story(),
        );
    }
    assert_eq!(watching(&stage)["missed"], 1, "{}", stage.story());
}

#[test]
fn the_lag_is_shown_and_measuring_it_is_no_change() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.bench.git("work", &["add", "--all"]);
    stage.bench.git("work", &["commit", "--quiet", "--message=tickets"]);
    stage.start();
    stage.rest();
    let mark = stage.mark();
    for _ in 0..20 {
        let watching = watching(&stage);
        assert_eq!(
            (&watching["backend"], &watching["tickets"], &watching["folders"]),
            (&"inotify".into(), &1.into(), &1.into())
        );
        assert!(watching["lag_ms"].as_f64().is_some_and(|lag| lag < 2000.0), "{watching}");
    }
    assert_eq!(stage.mark(), mark);
    assert_eq!(stage.bench.git("work", &["status", "--porcelain"]), "");
    assert_eq!(stage.bench.tree("work/tickets"), ["a.md"]);
    stage.bench.write("work/.git/MERGE_HEAD", "0000000000000000000000000000000000000000\n");
    let said = watching(&stage);
    assert!(said["lag"].as_str().unwrap().starts_with("not measured: a merge is under way"), "{said}");
    fs::remove_file(stage.bench.path("work/.git/MERGE_HEAD")).unwrap();
}

/// A user namespace has limits of its own, which its root sets.
fn namespaces_can_be_made() -> bool {
    let made =
        Command::new("unshare").args(["-Ur", "sh", "-c", "echo 99 > /proc/sys/user/max_inotify_watches"]).output();
    let can = made.is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("SKIPPED: no user namespace can be made here (unshare -Ur), so the watch limit is not tried");
    }
    can
}

#[test]
fn the_limit_of_watches_leads_to_looks_by_the_clock_and_back() {
    if !namespaces_can_be_made() {
        return;
    }
    let stage = Stage::new();
    for number in 0..5 {
        stage.bench.write(&format!("work/tickets/t{number}/item.md"), &ticket_text("x", "ready", ""));
    }
    let limited = |watches: u32| {
        let line = format!("echo {watches} > /proc/sys/user/max_inotify_watches; exec yoi daemon 2>daemon.log");
        stage.bench.program("unshare", "work").args(["-Ur", "sh", "-c", &line]).spawn().unwrap()
    };
    // At the start.
    let mut daemon = limited(4);
    let says = |what: &str| stage.json("status")["watcher"].as_str().is_some_and(|text| text.contains(what));
    until(
        "polling",
        BOUND,
        || says("polling: the system's limit of watches is reached").then_some(()),
        || stage.story(),
    );
    stage.bench.write("work/tickets/t0/item.md", &ticket_text("x", "done", ""));
    converges(&stage);
    let said = watching(&stage);
    assert_eq!((&said["backend"], &said["missed"]), (&"polling".into(), &0.into()));
    assert_eq!(said["lag"], "not measured: changes are looked for every 2 s");
    stage.done("down");
    daemon.wait().unwrap();
    // Later.
    let mut daemon = limited(60);
    until("inotify", BOUND, || says("inotify").then_some(()), || stage.story());
    for number in 0..80 {
        stage.bench.write(&format!("work/tickets/more{number}/item.md"), &ticket_text("x", "ready", ""));
    }
    until(
        "polling",
        BOUND,
        || says("polling: the system's limit of watches is reached").then_some(()),
        || stage.story(),
    );
    converges(&stage);
    stage.bench.write("work/tickets/more79/item.md", &ticket_text("x", "done", ""));
    converges(&stage);
    let because = |event: &Value| event["data"]["why"].as_str().is_some_and(|why| why.contains("polling from now on"));
    assert!(stage.events().iter().any(because), "{}", stage.story());
    stage.done("down");
    daemon.wait().unwrap();
}
