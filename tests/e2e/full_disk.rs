//! A disk of 1 MiB that is full: whatever yoi would write it refuses in words, the old text stays whole, and when there is
//! room again it goes on by itself (FAULTS kind 15).
//!
//! The disk is a tmpfs in a mount namespace of the test's own; where the system allows none, the tests are skipped with a
//! notice.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};

use crate::support::namespace;
use crate::support::stage::{BOUND, Stage, ticket_path, ticket_text};
use crate::support::wait::until;

/// What the system gives at least.
const PAGE: u64 = 4096;

/// Runs this test once more, in a process whose temporary folder is the disk.
fn on_a_small_disk(name: &str, test: fn()) {
    namespace::in_its_own(
        &format!("e2e::full_disk::{name}"),
        r#"mount -t tmpfs -o size=1m small "$TMPDIR""#,
        "no small disk can be mounted here, so a full one is not tried",
        test,
    );
}

/// Fills the disk, but for so many pages.
fn fill(stage: &Stage, left: u64) {
    let mut file = File::create(stage.bench.path("filler")).unwrap();
    let error = loop {
        if let Err(error) = file.write_all(&[b'x'; 4096]) {
            break error;
        }
    };
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    let size = file.metadata().unwrap().len() / PAGE * PAGE;
    file.set_len(size - left * PAGE).unwrap();
}

fn make_room(stage: &Stage) {
    fs::remove_file(stage.bench.path("filler")).unwrap();
}

/// Every file in the ticket folder, hidden ones too.
fn tickets(stage: &Stage) -> BTreeMap<String, String> {
    let entries = fs::read_dir(stage.bench.path("work/tickets")).unwrap().map(Result::unwrap);
    entries.map(|e| (e.file_name().into_string().unwrap(), fs::read_to_string(e.path()).unwrap())).collect()
}

/// What asks for a write of a ticket.
const WRITES: [&str; 6] = [
    "set a extra=1",
    "move a queued --reason because",
    "move a done --force --reason because",
    "accept b",
    "new Another",
    "set a labels+=urgent",
];

#[track_caller]
fn check_refused(stage: &Stage, line: &str) {
    let before = tickets(stage);
    let answer = stage.yoi(line);
    for what in ["No space left on device", "nothing was changed", "make room on the disk"] {
        assert!(answer.code == 1 && answer.stderr.contains(what), "{line}: {answer}");
    }
    assert_eq!(tickets(stage), before, "{line}");
}

fn two_tickets() -> Stage {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.ticket("b", "queued", "");
    stage
}

#[test]
fn commands_refuse_on_a_full_disk_and_leave_every_file_whole() {
    on_a_small_disk("commands_refuse_on_a_full_disk_and_leave_every_file_whole", || {
        let stage = two_tickets();
        fill(&stage, 0);
        for line in WRITES {
            check_refused(&stage, line);
        }
        for line in ["pause", "trust", "up"] {
            let answer = stage.yoi(line);
            let said = ["No space left on device", "disk is full"].iter().any(|what| answer.stderr.contains(what));
            assert!(answer.code == 1 && said, "{line}: {answer}");
        }
        // Reading goes on.
        assert!(stage.done("list").stdout.contains("new_queued"));
        assert!(stage.done("show a").stdout.contains("title"));
        stage.done("why a");
        make_room(&stage);
        for line in WRITES {
            stage.done(line);
        }
        stage.done("pause");
    });
}

#[test]
fn a_pause_that_cannot_be_kept_holds_and_says_that_a_restart_loses_it() {
    on_a_small_disk("a_pause_that_cannot_be_kept_holds_and_says_that_a_restart_loses_it", || {
        let stage = Stage::new();
        stage.start();
        stage.rest();
        let obstacles = || stage.json("status")["obstacles"].to_string();
        let full = |line: &str| {
            fill(&stage, 0);
            // What the store has set aside is used up.
            let refuses = || {
                stage.yoi(line);
                obstacles().contains("history cannot be kept").then_some(())
            };
            until("a store that refuses", BOUND, refuses, obstacles);
        };
        let refused = |line: &str, what: &str| {
            let answer = stage.yoi(line);
            let said = answer.stderr.contains(what) && answer.stderr.contains("it could not be kept: ");
            assert!(answer.code == 1 && said, "{line}: {answer}");
        };
        full("kick");
        refused("pause --reason lunch", "held from now on, but a restart");
        assert!(obstacles().contains("the pause could not be kept yet"), "{}", obstacles());
        assert!(stage.yoi("kick --dry-run").stdout.contains("(lunch)"), "it holds");
        make_room(&stage);
        until("a kept pause", BOUND, || (!obstacles().contains("could not be kept")).then_some(()), obstacles);
        stage.kill();
        stage.start();
        assert!(obstacles().contains("(lunch)"), "{}", obstacles());

        full("pause --reason lunch");
        stage.done("pause --reason lunch");
        refused("resume", "go on from now on, but a restart");
        refused("resume", "go on from now on, but a restart");
        assert!(obstacles().contains("that the pause has ended could not be kept yet"), "{}", obstacles());
        stage.kill();
        make_room(&stage);
        stage.start();
        assert!(obstacles().contains("(lunch)"), "it was said: {}", obstacles());
        stage.done("resume");
        assert_eq!(obstacles(), "[]");
    });
}

/// Pauses with a disk so full that the store, which has a little room of its own, refuses.
fn pause_without_room(stage: &Stage) {
    fill(stage, 0);
    let status = || stage.json("status")["obstacles"].to_string();
    let refused = || {
        stage.yoi("kick");
        // What the kick has let go is used up again.
        let mut file = File::options().append(true).open(stage.bench.path("filler")).unwrap();
        while file.write_all(&[b'x'; 4096]).is_ok() {}
        status().contains("history cannot be kept").then_some(())
    };
    until("a store that refuses", BOUND, refused, status);
    let answer = stage.yoi("pause --reason lunch");
    assert!(answer.code == 1 && answer.stderr.contains("it could not be kept: "), "{answer}");
}

#[test]
fn what_a_restart_would_not_find_is_said_by_whatever_is_asked_for_and_at_the_end() {
    on_a_small_disk("what_a_restart_would_not_find_is_said_by_whatever_is_asked_for_and_at_the_end", || {
        let stage = Stage::new();
        stage.ticket("a", "queued", "");
        stage.ticket("b", "inprogress", "accepted_by: o\naccepted_at: \"2026-11-30T08:00:00Z\"");
        stage.start();
        stage.rest();
        let asked = ["plan a", "wait a --kind other --detail later", "await b --step merge --for 1h"];
        let lost = "taken, but not kept yet: a restart would not find ";
        pause_without_room(&stage);
        for line in asked {
            let answer = stage.order(line);
            let said = answer.stdout.contains(lost) && answer.stdout.contains("disk is full");
            assert!(answer.code == 0 && said, "{line}: {answer}");
            let answer = stage.order(&format!("{line} --json"));
            assert!(answer.json()["remarks"][0].as_str().unwrap().starts_with(lost), "{answer}");
        }
        assert!(stage.done("orchestrator reset").stdout.contains(lost));
        let answer = stage.done("hook rate-limited --retry-after 600");
        assert!(answer.stderr.contains(lost) && answer.stderr.contains("the counts and waits"), "{answer}");
        let pause =
            |text: &str| text.contains("a restart would not find the pause (paused since ") && text.contains("(lunch)");

        // Whoever ends the daemon is told, and so is its log.
        let down = stage.done("down --json").json();
        assert!(pause(&down["unkept"].to_string()), "{down}");
        stage.ended();
        assert!(pause(&stage.bench.read("daemon.log")), "{}", stage.story());

        make_room(&stage);
        stage.start();
        for line in asked {
            let answer = stage.order(line);
            assert!(answer.code == 0 && !answer.stdout.contains("taken"), "{line}: {answer}");
        }
        pause_without_room(&stage);
        stage.terminate();
        assert!(pause(&stage.bench.read("daemon.log")), "{}", stage.story());

        // What there is room for in the end is kept.
        make_room(&stage);
        stage.start();
        pause_without_room(&stage);
        make_room(&stage);
        assert!(!stage.done("down").stdout.contains("not kept"));
        stage.ended();
        assert!(stage.yoi("kick --dry-run").stderr.contains("daemon"));
        stage.start();
        assert!(stage.yoi("kick --dry-run").stdout.contains("(lunch)"));
    });
}

#[test]
fn a_workspace_is_made_whole_or_not_at_all() {
    on_a_small_disk("a_workspace_is_made_whole_or_not_at_all", || {
        let stage = Stage::new();
        for left in 0..=2 {
            stage.bench.folder("other");
            fill(&stage, left);
            let answer = stage.bench.yoi("other", "init");
            let made = |path: &str| fs::read_to_string(stage.bench.path(&format!("other/.yoi/{path}")));
            if left < 2 {
                assert!(answer.code != 0 && answer.stderr.contains("No space left on device"), "{left}: {answer}");
                assert!(made("config.toml").is_err());
            }
            make_room(&stage);
            if left < 2 {
                let answer = stage.bench.yoi("other", "init");
                assert_eq!(answer.code, 0, "{answer}");
            }
            assert!(made("config.toml").is_ok() && made(".gitignore").unwrap().contains("/worktrees/\n"));
            fs::remove_dir_all(stage.bench.path("other")).unwrap();
        }
    });
}

#[test]
fn with_a_little_room_a_write_is_whole_or_refused() {
    on_a_small_disk("with_a_little_room_a_write_is_whole_or_refused", || {
        let stage = two_tickets();
        // A thread to which a note can be added only in part.
        let thread = format!("# a\n\n{}\n", "x".repeat(4084));
        for left in 0..=8 {
            for line in WRITES {
                for (id, state) in [("a", "ready"), ("b", "queued")] {
                    stage.ticket(id, state, "");
                }
                stage.bench.write("work/tickets/a.thread.md", &thread);
                let _ = fs::remove_dir_all(stage.bench.path("work/.git/yoi"));
                let _ = fs::remove_file(stage.bench.path("work/tickets/b.thread.md"));
                let before = tickets(&stage);
                fill(&stage, left);
                let answer = stage.yoi(line);
                make_room(&stage);
                let mut after = tickets(&stage);
                let what = format!("{line} with {left} pages: {answer}");
                if answer.code != 0 {
                    assert!(answer.stderr.contains("No space left"), "{what}");
                    assert_eq!(after, before, "{what}");
                    continue;
                }
                let written = |name: &str| after[name] != before[name];
                assert!(line.starts_with("new") || written("a.md") || written("b.md"), "{what}");
                // The frontmatter comes first: a note is there as a whole, or missing, and that is said.
                let notes: Vec<_> = after.iter().filter(|(name, _)| name.ends_with(".thread.md")).collect();
                let whole = |(name, text): &(&String, &String)| {
                    before.get(*name) == Some(text) || (text.ends_with('\n') && !text.trim_end().ends_with('x'))
                };
                assert!(notes.iter().all(whole), "{what}\n{notes:?}");
                let noted = notes.iter().any(|(name, text)| before.get(*name) != Some(*text));
                let wanted = line.contains("move") || line.contains("accept");
                assert!(noted == wanted || answer.to_string().contains("note could not be added"), "{what}");
                after.retain(|name, _| !before.contains_key(name) && !name.ends_with(".thread.md"));
                let made = usize::from(line.starts_with("new"));
                assert_eq!(after.len(), made, "{what}: {after:?}");
                for name in after.keys() {
                    fs::remove_file(stage.bench.path(&format!("work/tickets/{name}"))).unwrap();
                }
            }
        }
    });
}

#[test]
fn a_daemon_goes_on_by_itself_when_there_is_room_again() {
    on_a_small_disk("a_daemon_goes_on_by_itself_when_there_is_room_again", || {
        let stage = Stage::new();
        stage.ticket("a", "ready", "");
        stage.ticket("b", "ready", "");
        stage.start();
        // An editor's text that is written already, and takes no room when it comes.
        stage.bench.write("work/tickets/.b", &ticket_text("b", "queued", ""));
        let obstacles = || stage.json("status")["obstacles"].to_string();
        fill(&stage, 0);
        fs::rename(stage.bench.path("work/tickets/.b"), stage.bench.path(&ticket_path("b"))).unwrap();
        let says = |what: &str| {
            until(
                what,
                BOUND,
                || obstacles().contains(what).then_some(()),
                || format!("{}\n{}", obstacles(), stage.story()),
            );
        };
        says("history cannot be kept");
        says("last turn failed");
        says("No space left on device");
        for line in &WRITES[..2] {
            check_refused(&stage, line);
        }
        assert!(stage.done("why b").stdout.contains("No space left on device"), "{}", stage.done("why b"));
        let pid = stage.worker("coder", "a");
        says("a restart would not find the live Pods");
        assert!(!stage.text("b").contains("queued_at"));

        make_room(&stage);
        until("the stamp", BOUND, || stage.text("b").contains("queued_at").then_some(()), || stage.story());
        assert_eq!(stage.nth_turn(1).items(), ["b"]);
        until("no obstacle", BOUND, || (obstacles() == "[]").then_some(()), obstacles);
        // What happened meanwhile is in the history, and on the disk.
        let events = stage.events();
        let is = |kind: &str| events.iter().any(|event| event["kind"] == kind);
        assert!(is("STAMP_FAILED") && is("KICK_SENT"), "{}", stage.story());
        assert!(stage.bench.read("work/.git/yoi/pods.json").contains(&pid.to_string()));
        stage.kill();
        stage.start();
        assert!(stage.done("pod list").stdout.contains("coder"));
    });
}
