//! Commands without a daemon.
//!
//! Must not know: how a backlog is made.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::backlog::{Backlog, Layout};
use crate::measure::{Row, ms, side_by_side};
use crate::summary::Summary;
use crate::{Options, Place};

/// What lists are compared with.
pub const RG: &str = "rg -c '^state: '";
const NOTHING: &str = "a process that does nothing";
const REPLACE: &str = "fsync'd file, rename, fsync'd folder";

/// ripgrep over all tickets.
pub fn rg(backlog: &Backlog) -> Command {
    let mut command = backlog.command("rg");
    command.args(["-c", "^state: "]).arg(backlog.tickets());
    command
}

/// Whatever reads all tickets.
pub fn lists(place: &Place, options: &Options, summary: &mut Summary) {
    let Place { backlog, layout, name, rounds, .. } = place;
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
    rows.push(Row::process(RG, move || into_file(rg(backlog))));
    for line in ["list --all", "list", "list --state queued --label ui", "list --all --json", "status"] {
        rows.push(Row::process(format!("yoi {line}"), move || {
            let mut command = into_file(backlog.command(&options.yoi));
            command.args(line.split(' '));
            command
        }));
    }
    let medians = side_by_side(&format!("{name}, no daemon"), *rounds, RG, rows);
    let memory = most_memory(backlog, &options.yoi);
    println!("\nyoi list --all: at most {memory}");
    let target = if *layout == Layout::Flat { "1.2 x rg" } else { "0.8 x rg" };
    for (number, line, target) in [
        ("P1", "list --all", target),
        ("P2", "list --state queued --label ui", target),
        ("P1", "list --all --json", ""),
        ("P2", "status", ""),
    ] {
        let row = format!("yoi {line}");
        let (Some(median), Some(ratio)) = (medians.of(&row), medians.ratio(&row, RG)) else { continue };
        let measured = format!("{} ms, {ratio:.2} x rg", ms(median));
        summary.row(number, &format!("`{line}`, no daemon"), name, measured, target);
    }
    let target = if backlog.count() == 100_000 { "64 MB" } else { "" };
    summary.row("P1", "`list --all`, no daemon: memory at most", name, memory, target);
}

/// What one direct command holds at its end: it waits there for somebody to read what it prints.
fn most_memory(backlog: &Backlog, yoi: &Path) -> String {
    let mut command = backlog.command(yoi);
    let Ok(mut process) = command.args(["list", "--all"]).stdout(Stdio::piped()).spawn() else {
        return "?".into();
    };
    let status = format!("/proc/{}/status", process.id());
    let peak = || -> Option<u64> {
        let status = fs::read_to_string(&status).unwrap_or_default();
        status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
    };
    let mut last = 0;
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
    format!("{} MB", last / 1024)
}

/// Commands that are about one ticket.
pub fn single(place: &Place, program: &Path, summary: &mut Summary) {
    let Place { backlog, name, rounds, .. } = place;
    let id = Backlog::id(backlog.count() / 2);
    let yoi = |arguments: &[&str]| {
        let mut command = backlog.command(program);
        command.args(arguments);
        command
    };
    let mut round = 0;
    let rows = vec![
        Row::process(NOTHING, || backlog.command("true")),
        Row::new(REPLACE, || replace(&backlog.work().join(".yoi"))),
        Row::process("yoi --version", || yoi(&["--version"])),
        Row::process("yoi --help", || yoi(&["--help"])),
        Row::process("yoi show ID", || yoi(&["show", &id])),
        Row::process("yoi why ID", || yoi(&["why", &id])),
        Row::process("yoi set ID key=value", || {
            round += 1;
            yoi(&["set", &id, &format!("round={round}")])
        }),
    ];
    let medians = side_by_side(&format!("{name}, one of them, no daemon"), *rounds, NOTHING, rows);
    let mut row = |number: &str, what: &str, target: &str| {
        let measured = medians.of(what).map_or_else(String::new, |median| format!("{} ms", ms(median)));
        summary.row(number, &format!("`{what}`, no daemon"), name, measured, target);
    };
    row("P12", "yoi --version", "5 ms");
    row("P12", "yoi --help", "5 ms");
    row("P3", "yoi show ID", "3 ms");
    row("P3", "yoi why ID", "constant");
    let floor = medians.of(REPLACE).zip(medians.of(NOTHING)).map(|(replace, spawn)| replace + spawn);
    let target = floor.map_or_else(String::new, |floor| format!("{} ms", ms(floor + Duration::from_millis(3))));
    row("P3", "yoi set ID key=value", &target);
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
