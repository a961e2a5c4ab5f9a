//! Idle means idle: no CPU, no writes, no wakes but declared timers; an own write is read again at most once
//! (FAULTS kind 14).

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::stage::{BOUND, Stage, ticket_text};
use crate::support::wait::until;

/// What the system counts of a process, all its threads together.
#[derive(Clone, Copy, Debug)]
struct Counters {
    cpu: Duration,
    wakes: u64,
    written: u64,
    memory_kib: u64,
}

impl Counters {
    fn of(pid: &str) -> Self {
        let number = |text: &str, name: &str| -> u64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            line.trim().trim_end_matches(" kB").parse().unwrap_or_default()
        };
        let read = |path: String| fs::read_to_string(path).unwrap_or_default();
        let (mut nanoseconds, mut wakes) = (0, 0);
        for task in fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten() {
            let task = task.path().display().to_string();
            let run = read(format!("{task}/schedstat"));
            nanoseconds += run.split(' ').next().and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
            let status = read(format!("{task}/status"));
            wakes += number(&status, "voluntary_ctxt_switches:") + number(&status, "nonvoluntary_ctxt_switches:");
        }
        let written = number(&read(format!("/proc/{pid}/io")), "wchar:");
        let memory_kib = number(&read(format!("/proc/{pid}/status")), "VmHWM:");
        Self { cpu: Duration::from_nanos(nanoseconds), wakes, written, memory_kib }
    }
}

/// Takes a minute, and is run for its figures: `cargo test --release idle_for_a_minute -- --ignored --nocapture`.
/// `YOI_TICKETS` says with how many tickets, `YOI_FOLDERS=1` gives each a folder of its own.
#[test]
#[ignore = "takes more than a minute; its figures are what it is run for"]
fn idle_for_a_minute() {
    let count: usize = std::env::var("YOI_TICKETS").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    let folders = std::env::var_os("YOI_FOLDERS").is_some();
    let stage = Stage::new();
    for number in 0..count {
        let end = if folders { "/item.md" } else { ".md" };
        stage.bench.write(&format!("work/tickets/t{number:06}{end}"), &ticket_text(&format!("t{number}"), "ready", ""));
    }
    stage.start();
    stage.rest();
    let pid = stage.json("status")["pid"].to_string();
    // Its threads of the first minute (those that answered) have ended.
    thread::sleep(Duration::from_secs(15));
    let (before, began) = (Counters::of(&pid), Instant::now());
    thread::sleep(Duration::from_mins(1));
    let (after, took) = (Counters::of(&pid), began.elapsed());
    let cpu = after.cpu.saturating_sub(before.cpu);
    let (wakes, written) = (after.wakes - before.wakes, after.written - before.written);
    eprintln!(
        "{count} tickets, idle for {:.1} s: {:.3} ms of CPU, {wakes} wakes, {written} bytes written, {} KiB at most in memory",
        took.as_secs_f64(),
        cpu.as_secs_f64() * 1000.0,
        after.memory_kib
    );
    assert!(cpu < Duration::from_millis(5), "{cpu:?}");
    assert_eq!(written, 0);
    assert!(wakes <= 2, "{wakes}");
}

/// How often the daemon read each file after its start.
fn reads(stage: &Stage) -> BTreeMap<String, usize> {
    let mut reads = BTreeMap::new();
    for line in stage.bench.read("daemon.log").lines() {
        if let Some((_, path)) = line.split_once("a ticket file is read path=") {
            *reads.entry(path.trim().to_owned()).or_default() += 1;
        }
    }
    reads
}

/// So often it is tried on a machine that has other things to do.
const TRIES: usize = 8;

/// A machine that was busy for a moment tells of a change late, and then the file is looked at once more, rightly so.
/// What is read twice for no reason is so each time.
#[test]
fn an_own_write_is_read_again_at_most_once() {
    let more: Vec<_> = (0..TRIES).map_while(|_| read_more_than_once()).collect();
    assert!(more.len() < TRIES, "{}", more.join("\n"));
}

/// What was read more than once after an own write, if anything was.
fn read_more_than_once() -> Option<String> {
    let mut stage = Stage::new();
    stage.bench.set("YOI_LOG", "debug");
    stage.bench.set("NO_COLOR", "1");
    for id in ["set", "moved", "queued", "accepted", "last"] {
        stage.ticket(id, "ready", "");
    }
    stage.start();
    stage.rest();
    for line in
        ["set set priority=P0", "move moved planning", "move queued queued", "move accepted queued", "new Another"]
    {
        stage.done(line);
    }
    stage.rest();
    let before = reads(&stage).get("tickets/accepted.md").copied().unwrap_or_default();
    stage.done("accept accepted");
    stage.save("last", "title: ", "title: x");
    // A file that yoi has just written is read a little later than others.
    let all_read = || {
        let reads = reads(&stage);
        let read = |id: &&str| reads.contains_key(&format!("tickets/{id}.md"));
        ["set", "moved", "queued", "accepted", "last"].iter().all(read).then_some(())
    };
    until("every change to be read", BOUND, all_read, || format!("{:?}\n{}", reads(&stage), stage.story()));
    let reads = reads(&stage);
    assert!(reads.keys().all(|path| !path.contains("thread")), "a note is no ticket's change: {reads:?}");
    let too_often = |(path, count): &(&String, &usize)| {
        // A kick for a queued ticket reads it once more, so that it rests on fresh data.
        let kicks = if path.ends_with("queued.md") { stage.kicks() } else { 0 };
        let most = if path.ends_with("accepted.md") { before + 1 + stage.kicks() } else { 1 + kicks };
        **count > most
    };
    let (path, count) = reads.iter().find(too_often)?;
    Some(format!("{path}: {count} times, {before} before: {reads:?}\n{}", stage.story()))
}
