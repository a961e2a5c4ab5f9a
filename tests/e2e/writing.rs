//! Writing among others (DESIGN.md 2.3; FAULTS kinds 1 and 15): many processes edit one ticket while editors save it.
//!
//! `YOI_ROUNDS=20 cargo test writing` makes the races as often, and at full length.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::support::stage::{BOUND, Stage, ticket_path};
use crate::support::wait::until;

const WRITERS: usize = 8;

/// How often a race is run, and how many edits each process makes.
fn rounds() -> (usize, usize) {
    match std::env::var("YOI_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()) {
        Some(rounds) => (rounds, 50),
        None => (1, 8),
    }
}

/// The last value of each key that was acknowledged, and when it was asked for (seconds since 1970).
type Acknowledged = BTreeMap<String, (String, i64)>;

/// Each writer sets a key of its own again and again; every other one is held for a moment just before it exchanges, or
/// just after, so that others come in between.
fn edit(stage: &Stage, edits: usize, asked: &AtomicUsize, may_lose: bool) -> Acknowledged {
    let last = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (last, bench) = (&last, &stage.bench);
            scope.spawn(move || {
                let key = format!("k{writer}");
                for n in 0..edits {
                    asked.fetch_add(1, Ordering::AcqRel);
                    // Reports tell whole seconds.
                    let began = Utc::now().timestamp();
                    let delay = ["", "before-exchange:2", "", "after-exchange:2"][writer % 4];
                    let mut command = bench.command("work");
                    command.env("YOI_DELAY", delay).args(["set", "a", &format!("{key}=v{n}")]);
                    let answer = bench.run(&mut command);
                    match answer.code {
                        0 => drop(last.lock().unwrap().insert(key.clone(), (format!("v{n}"), began))),
                        _ => assert!(may_lose && !answer.stderr.is_empty(), "{answer}"),
                    }
                }
            });
        }
    });
    last.into_inner().unwrap()
}

/// An editor: reads the ticket, adds a line, saves. Two of them do not race each other.
struct Editors<'s> {
    path: PathBuf,
    turn: Mutex<()>,
    /// How many edits yoi was asked for so far; each editor saves as often.
    asked: &'s AtomicUsize,
    over: &'s AtomicBool,
    written: Mutex<Vec<String>>,
}

impl Editors<'_> {
    fn run(&self, name: &str, save: fn(&PathBuf, &str)) {
        let mut n = 0;
        while !self.over.load(Ordering::Acquire) {
            if n >= self.asked.load(Ordering::Acquire) {
                // Not spinning: the processes that edit need the processors.
                thread::sleep(Duration::from_micros(200));
                continue;
            }
            let turn = self.turn.lock().unwrap();
            // Nobody saves what cannot be read: it is another's text that is being written.
            if let Ok(text) = fs::read_to_string(&self.path)
                && text.matches("---\n").count() >= 2
            {
                let line = format!("<{name} {n}>");
                save(&self.path, &format!("{text}{line}\n"));
                self.written.lock().unwrap().push(line);
                n += 1;
            }
            drop(turn);
        }
    }
}

/// Ends the editors.
struct Over<'s>(&'s AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The old file is moved aside as a backup, a new one is written, the backup goes.
fn save_like_vim(path: &PathBuf, text: &str) {
    let backup = path.with_extension("md~");
    fs::rename(path, &backup).unwrap();
    let mut new = File::create(path).unwrap();
    new.write_all(text.as_bytes()).unwrap();
    new.sync_all().unwrap();
    drop(new);
    fs::remove_file(backup).unwrap();
}

fn save_in_place(path: &PathBuf, text: &str) {
    let mut open = File::options().write(true).truncate(true).open(path).unwrap();
    let (first, rest) = text.as_bytes().split_at(text.len() / 2);
    open.write_all(first).unwrap();
    thread::yield_now();
    open.write_all(rest).unwrap();
}

/// All texts that yoi keeps of what it displaced.
fn kept(stage: &Stage) -> String {
    let folder = fs::read_dir(stage.bench.path("work/.git/yoi/kept")).into_iter().flatten().flatten();
    let texts = folder.filter(|entry| !entry.file_name().to_string_lossy().ends_with(".journal"));
    texts.map(|entry| fs::read_to_string(entry.path()).unwrap_or_default()).collect()
}

/// What is missing: a line of an editor's, or an acknowledged change that is neither in the file nor reported.
fn missing(stage: &Stage, acknowledged: &Acknowledged, lines: &[String]) -> Vec<String> {
    let text = stage.text("a");
    let kept = kept(stage);
    let has = |text: &str, line: &str| text.lines().any(|found| found == line);
    // An editor that read what another had written half of has its own words after those.
    let lost = lines.iter().filter(|line| !text.contains(*line) && !kept.contains(*line));
    let mut missing: Vec<String> = lost.map(|line| format!("the line `{line}`")).collect();
    let events = stage.events();
    // A report from before the change cannot be about it.
    let reports = |key: &str, since: i64| {
        events.iter().any(|event| {
            let at: DateTime<Utc> = event["at"].as_str().unwrap().parse().unwrap();
            let what = event["data"]["what"].as_str().unwrap_or_default();
            at.timestamp() >= since && what.contains("was saved over") && what.contains(&format!("`{key}`"))
        })
    };
    for (key, (value, since)) in acknowledged {
        if !has(&text, &format!("{key}: {value}")) && !reports(key, *since) {
            missing.push(format!("{key}={value}"));
        }
    }
    missing
}

fn race(daemon: bool, editors: bool) {
    let (rounds, edits) = rounds();
    for round in 0..rounds {
        let stage = Stage::new();
        stage.ticket("a", "planning", "");
        if daemon {
            let delay = ["", "before-exchange:2", "after-exchange:2"][round % 3];
            stage.start_with([("YOI_DELAY", delay)]);
        }
        let (over, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
        let path = stage.bench.path(&ticket_path("a"));
        let saving =
            Editors { path, turn: Mutex::new(()), asked: &asked, over: &over, written: Mutex::new(Vec::new()) };
        let acknowledged = thread::scope(|scope| {
            if editors {
                scope.spawn(|| saving.run("vim", save_like_vim));
                scope.spawn(|| saving.run("place", save_in_place));
            }
            // However it ends: nobody would wait for editors that never stop.
            let _over = Over(&over);
            edit(&stage, edits, &asked, editors)
        });
        let lines = saving.written.into_inner().unwrap();
        if !editors {
            assert_eq!(acknowledged.len(), WRITERS);
            assert!(acknowledged.values().all(|(value, _)| *value == format!("v{}", edits - 1)));
        }
        // Asking is looking, where no daemon looks by itself.
        stage.done("why a");
        let complete = || {
            let missing = missing(&stage, &acknowledged, &lines);
            if missing.is_empty() {
                Some(())
            } else {
                stage.done("why a");
                None
            }
        };
        let state = || {
            let missing = missing(&stage, &acknowledged, &lines);
            format!("round {round}: {missing:?}\n{}\n{}", stage.text("a"), stage.yoi("events"))
        };
        until("every line and every change", BOUND, complete, state);
    }
}

#[test]
fn no_acknowledged_edit_of_many_processes_is_lost() {
    race(false, false);
}

#[test]
fn no_acknowledged_edit_is_lost_through_the_daemon() {
    race(true, false);
}

#[test]
fn among_editors_nothing_is_lost_without_a_word() {
    race(false, true);
}

#[test]
fn among_editors_nothing_is_lost_without_a_word_through_the_daemon() {
    race(true, true);
}

#[test]
fn what_an_editor_saves_over_is_reported_with_its_keys() {
    let stage = Stage::new();
    stage.ticket("a", "planning", "");
    let old = stage.text("a");
    stage.done("set a priority=P0 extra=1");
    stage.bench.write(&ticket_path("a"), &old.replace("Body", "More"));
    let why = stage.done("why a").stdout;
    assert!(why.contains("saved over by an editor that had read before it: `extra`, `priority`"), "{why}");
    let inbox = |stage: &Stage| stage.events().iter().filter(|event| event["kind"] == "INBOX").count();
    assert_eq!(inbox(&stage), 1);
    // A daemon that starts finds it remembered, and does not say it again.
    stage.start();
    assert!(stage.done("why a").stdout.contains("`extra`, `priority`"));
    assert_eq!(inbox(&stage), 1);
    stage.done("set a extra=2");
    assert!(!stage.done("why a").stdout.contains("saved over"));
}

#[test]
fn a_stamp_waits_for_the_editor_that_has_the_file_open() {
    let stage = Stage::new();
    stage.ticket("a", "ready", "");
    stage.start();
    let mark = stage.bench.path("work/tickets/.a.md.swp");
    fs::write(&mark, "").unwrap();
    stage.save("a", "state: ready", "state: queued");
    let waits =
        || stage.done("why a").stdout.contains("waits for the editor that has it open (.a.md.swp)").then_some(());
    until("the wait", BOUND, waits, || stage.story());
    assert!(!stage.text("a").contains("queued_at"));
    // What people ask for does not wait.
    stage.done("set a extra=1");
    assert!(stage.text("a").contains("extra: 1") && !stage.text("a").contains("queued_at"));
    fs::remove_file(&mark).unwrap();
    until("the stamp", BOUND, || stage.text("a").contains("queued_at").then_some(()), || stage.story());
    assert!(!stage.done("why a").stdout.contains("waits for the editor"));
}

#[test]
fn a_mark_that_a_dead_editor_left_holds_a_stamp_no_longer_than_configured() {
    let stage = Stage::with("[writes]\npolite_max = \"1s\"\n");
    stage.ticket("a", "ready", "");
    stage.start();
    fs::write(stage.bench.path("work/tickets/.a.md.swp"), "").unwrap();
    stage.save("a", "state: ready", "state: queued");
    until("the stamp", BOUND, || stage.text("a").contains("queued_at").then_some(()), || stage.story());
}
