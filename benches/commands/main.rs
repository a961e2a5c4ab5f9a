//! Whole commands measured side by side with ripgrep and with what the system itself takes: docs/performance.md says
//! how to run this and what came out.
//!
//!     cargo bench --bench commands -- [--sizes 1000,10000] [--rounds 15] [--floor PROGRAM]
//!     ... [--yoi PROGRAM] measures another build.
//!
//! Must not know: what yoi does inside.

mod backlog;
mod measure;
mod resident;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use backlog::{Backlog, Layout};
use measure::{Row, ms, side_by_side};
use resident::{Fallible, Resident};

/// The program under test, where no other is named.
const THIS: &str = env!("CARGO_BIN_EXE_yoi");
const RG: &str = "rg -c '^state: '";

struct Options {
    yoi: PathBuf,
    sizes: Vec<usize>,
    rounds: usize,
    /// A program that only walks, stats and reads: `PROGRAM stat DIR`, `PROGRAM state DIR THREADS`.
    floor: Option<PathBuf>,
}

fn options() -> Options {
    let mut options = Options { yoi: THIS.into(), sizes: vec![1000, 10_000], rounds: 15, floor: None };
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        match argument.as_str() {
            "--sizes" => options.sizes = value.split(',').filter_map(|size| size.parse().ok()).collect(),
            "--rounds" => options.rounds = value.parse().unwrap_or(options.rounds),
            "--floor" => options.floor = Some(value.into()),
            "--yoi" => options.yoi = value.into(),
            other => {
                eprintln!("unknown: {other}; it takes --sizes, --rounds, --floor and --yoi, each with a value");
                std::process::exit(2);
            }
        }
    }
    options
}

fn main() -> Fallible<()> {
    let options = options();
    println!("Needs nothing but yoi itself; git, ripgrep and a floor program add rows where they are there.");
    for &size in &options.sizes {
        let rounds = if size > 20_000 { options.rounds.div_ceil(2) } else { options.rounds };
        for (layout, name) in [(Layout::Flat, "<id>.md"), (Layout::Folders, "<id>/item.md")] {
            let backlog = Backlog::new(size, layout)?;
            lists(&format!("{size} tickets, `{name}`"), &backlog, &options, rounds);
            if layout == Layout::Flat {
                single(&format!("{size} tickets, one of them"), &backlog, &options.yoi, rounds);
            }
            resident(&format!("{size} tickets, `{name}`, daemon"), &backlog, &options.yoi, rounds)?;
        }
    }
    Ok(())
}

fn lists(title: &str, backlog: &Backlog, options: &Options, rounds: usize) {
    let output = backlog.work().join(".yoi/output");
    let into_file = &|mut command: Command| {
        command.stdout(File::create(&output).map_or_else(|_| Stdio::null(), Stdio::from));
        command
    };
    let tickets = &backlog.tickets();
    let mut rows = Vec::new();
    for arguments in [&["stat", ""][..], &["state", "1"], &["state", "2"]] {
        let Some(floor) = &options.floor else { continue };
        let (what, threads) = (arguments[0], arguments[1]);
        rows.push(Row::process(format!("floor: {what} {threads}"), move || {
            let mut command = into_file(backlog.command(floor));
            command.args([what.as_ref(), tickets.as_os_str()]).args((!threads.is_empty()).then_some(threads));
            command
        }));
    }
    rows.push(Row::process(RG, move || {
        let mut command = into_file(backlog.command("rg"));
        command.args(["-c", "^state: "]).arg(tickets);
        command
    }));
    for line in ["list --all", "list", "list --state queued", "list --all --json", "status"] {
        rows.push(Row::process(format!("yoi {line}"), move || {
            let mut command = into_file(backlog.command(&options.yoi));
            command.args(line.split(' '));
            command
        }));
    }
    side_by_side(title, rounds, RG, rows);
    println!("\nyoi list --all: at most {}", most_memory(backlog, &options.yoi));
}

/// What one direct command holds at its end: it waits there for somebody to read what it prints.
fn most_memory(backlog: &Backlog, yoi: &Path) -> String {
    let mut command = backlog.command(yoi);
    let Ok(mut process) = command.args(["list", "--all"]).stdout(Stdio::piped()).spawn() else {
        return "?".into();
    };
    let status = format!("/proc/{}/status", process.id());
    let peak = || {
        let status = fs::read_to_string(&status).unwrap_or_default();
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map(|rest| rest.trim().to_owned())
    };
    let mut last = String::new();
    let end = Instant::now() + Duration::from_secs(10);
    // Until it does not grow any more: a pipe takes 64 KiB, and the list is longer.
    while Instant::now() < end {
        std::thread::sleep(Duration::from_millis(500));
        match peak() {
            Some(peak) if peak == last => break,
            Some(peak) => last = peak,
            None => break,
        }
    }
    drop(process.stdout.take());
    let _ = process.wait();
    last
}

fn single(title: &str, backlog: &Backlog, program: &Path, rounds: usize) {
    let id = Backlog::id(backlog.count() / 2);
    let yoi = |arguments: &[&str]| {
        let mut command = backlog.command(program);
        command.args(arguments);
        command
    };
    let mut round = 0;
    let rows = vec![
        Row::process("a process that does nothing", || backlog.command("true")),
        Row::new("fsync'd file, rename, fsync'd folder", || replace(&backlog.work().join(".yoi"))),
        Row::process("yoi --version", || yoi(&["--version"])),
        Row::process("yoi --help", || yoi(&["--help"])),
        Row::process("yoi show ID", || yoi(&["show", &id])),
        Row::process("yoi why ID", || yoi(&["why", &id])),
        Row::process("yoi set ID key=value", || {
            round += 1;
            yoi(&["set", &id, &format!("round={round}")])
        }),
    ];
    side_by_side(title, rounds, "a process that does nothing", rows);
}

/// What any careful write takes.
fn replace(folder: &Path) -> Result<Duration, String> {
    let begun = Instant::now();
    let write = || {
        let beside = folder.join("beside");
        let mut file = File::create(&beside)?;
        file.write_all(&[b'x'; 1500])?;
        file.sync_all()?;
        fs::rename(beside, folder.join("there"))?;
        File::open(folder)?.sync_all()
    };
    write().map_err(|error| error.to_string())?;
    Ok(begun.elapsed())
}

fn resident(title: &str, backlog: &Backlog, yoi: &Path, rounds: usize) -> Fallible<()> {
    let mut starts = Vec::new();
    for _ in 0..3 {
        starts.push(Resident::start(backlog, yoi)?.1);
    }
    starts.sort();
    let (daemon, _) = Resident::start(backlog, yoi)?;
    let (now, most) = daemon.memory();
    let rows =
        ["show ticket-000007", "list --state queued --label ui", "list --state inprogress", "list", "list --all"];
    let rows = rows.map(|line| {
        Row::process(format!("yoi {line}"), move || {
            let mut command = backlog.command(yoi);
            command.args(line.split(' '));
            command
        })
    });
    side_by_side(&format!("{title}, through it"), rounds, "yoi list --all", rows.into());
    let seconds = 5;
    let (ticks, wakes) = daemon.rest(Duration::from_secs(seconds));
    let (renamed, in_place) = (daemon.saves(50, true)?, daemon.saves(50, false)?);
    println!("\n| {title} | |\n|---|---|");
    println!("| start to first answer, ms | {} |", ms(starts[1]));
    println!("| memory after the start, at most, MB | {now:.1}, {most:.1} |");
    println!("| {seconds} s of rest: hundredths of a second of CPU, wakes | {ticks}, {wakes} |");
    println!("| a save by rename is known after ms | {renamed} |");
    println!("| a save in place is known after ms | {in_place} |");
    for number in [1000, 10_000].into_iter().filter(|number| *number <= backlog.count()) {
        println!("| {number} saves in a row are known after ms | {} |", daemon.burst(number)?);
    }
    let (now, most) = daemon.memory();
    println!("| memory at the end, at most, MB | {now:.1}, {most:.1} |");
    Ok(())
}
