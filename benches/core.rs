//! One reading, one edit, one step of the engine, measured inside one process. docs/performance.md says how to run this.
//!
//!     cargo bench --bench core
//!
//! Must not know: files, processes.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta};
use yoi::domain::backlog::Entry;
use yoi::domain::edit::Change;
use yoi::domain::engine::{Engine, Event, Reach, Start};
use yoi::domain::facts::Dirty;
use yoi::domain::ledger::SavedLedger;
use yoi::domain::policy::Policy;
use yoi::domain::ticket::{TicketId, Timestamp};
use yoi::text::keys::KeyMap;
use yoi::text::patch::patch;
use yoi::text::read::{Reading, read};

/// So often, or for so long.
const ROUNDS: usize = 2000;
const LONGEST: Duration = Duration::from_secs(1);

fn main() {
    let plain = text(7, "queued", "core", "");
    let other = text(7, "queued", "core", "note: | # read by the YAML parser\n  a block\n");
    println!("| | median microseconds | 99th percentile |\n|---|---|---|");
    row("read a ticket of the usual kind", || drop(black_box(entry(7, &plain))));
    row("read one that needs the YAML parser", || drop(black_box(entry(7, &other))));
    let change = [Change::text("state", "inprogress")];
    row("edit one key", || drop(black_box(patch(plain.as_bytes(), &change))));
    for count in [100, 1000, 10_000, 100_000] {
        steps(count);
    }
}

/// Steps of an engine that knows so many tickets, 15 of 100 queued and 5 in progress.
fn steps(count: usize) {
    let (mut engine, mut now) = started(count);
    // Far enough apart that the engine joins nothing.
    let mut step = |engine: &mut Engine, event: Event| {
        now += TimeDelta::seconds(61);
        let begun = Instant::now();
        black_box(engine.step(event, now));
        begun.elapsed()
    };
    let saved = |number: usize, repo: &str| Event::FilesRead {
        entries: vec![(path(number), entry(number, &text(number, state(number), repo, "")))],
        full: false,
    };
    let name = |what: &str| format!("{count} tickets: {what}");
    timed(&name("nothing happened"), || step(&mut engine, Event::Ticked));
    let mut round = 0;
    timed(&name("a done ticket's text changed"), || {
        round += 1;
        step(&mut engine, saved(20, &format!("r{round}")))
    });
    timed(&name("a queued ticket's text changed"), || {
        round += 1;
        step(&mut engine, saved(10, &format!("r{round}")))
    });
    timed(&name("a ticket entered or left the queue"), || {
        round += 1;
        let state = if round % 2 == 0 { "queued" } else { "ready" };
        let ticket = entry(30, &text(30, state, "core", ""));
        step(&mut engine, Event::FilesRead { entries: vec![(path(30), ticket)], full: false })
    });
}

fn started(count: usize) -> (Engine, Timestamp) {
    let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap_or_default();
    let mut engine = Engine::new(now);
    let start = Start {
        policy: Policy::default(),
        reach: Reach::No("nobody is to be reached here".into()),
        whom: None,
        session: "s".into(),
        files: (0..count).map(|n| (path(n), entry(n, &text(n, state(n), "core", "")))).collect(),
        recorded: None,
        recorded_at: None,
        ledger: SavedLedger::default(),
        adopted: None,
        pods: Vec::new(),
        ended_pods: Vec::new(),
        ended_turns: Vec::new(),
        claims: Vec::new(),
        worktrees: Vec::new(),
        dirty: Dirty::NotProbed,
        editor_name: "Ana".into(),
    };
    let begun = Instant::now();
    engine.step(Event::Started(Box::new(start)), now);
    println!("| {count} tickets: the start | {:.0} | |", micros(begun.elapsed()));
    (engine, now)
}

fn row(name: &str, mut work: impl FnMut()) {
    timed(name, || {
        let begun = Instant::now();
        work();
        begun.elapsed()
    });
}

fn timed(name: &str, mut once: impl FnMut() -> Duration) {
    let end = Instant::now() + LONGEST;
    let mut times: Vec<_> = (0..ROUNDS).take_while(|_| Instant::now() < end).map(|_| once()).collect();
    times.sort();
    let at = |percent: usize| micros(times.get(times.len() * percent / 100).copied().unwrap_or_default());
    println!("| {name} | {:.2} | {:.2} |", at(50), at(99));
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn state(number: usize) -> &'static str {
    match number % 20 {
        0 => "done",
        1 => "inprogress",
        10..=12 => "queued",
        2..=4 => "ready",
        _ => "closed",
    }
}

fn path(number: usize) -> PathBuf {
    format!("tickets/ticket-{number:06}.md").into()
}

fn entry(number: usize, text: &str) -> Entry {
    let id = TicketId::new(format!("ticket-{number:06}"));
    match read(text.as_bytes(), id, path(number), &KeyMap::default()) {
        Reading::Ticket(ticket) => Entry::Ticket(ticket),
        Reading::NotATicket | Reading::Unreadable(_) => Entry::NotATicket,
    }
}

fn text(number: usize, state: &str, repo: &str, more: &str) -> String {
    let body = "Some words that a person wrote about it, and a few more.\n".repeat(20);
    format!(
        "---\ntitle: \"Fix the watcher ({number})\"\nstate: {state}\npriority: P1\ncreated_at: 2026-11-30T08:00:00Z\n\
         queued_by: Ana\nqueued_at: 2026-11-30T09:00:00Z\nlabels: [bug, ui]\ndepends_on: [ticket-{:06}]\nrepo: {repo}\n\
         {more}---\n\n{body}",
        number / 2
    )
}
