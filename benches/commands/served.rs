//! Commands that ask a daemon, and what the daemon itself takes.
//!
//! Must not know: how a backlog is made.

use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::Place;
use crate::backlog::{MOST, NEAR};
use crate::burst;
use crate::direct::rg;
use crate::measure::{Row, median, ms, side_by_side, whole_process};
use crate::resident::{Fallible, Resident};
use crate::summary::Summary;

/// A daemon's start, what it answers, what it notices.
pub fn commands(place: &Place, yoi: &Path, summary: &mut Summary) -> Fallible<()> {
    let Place { backlog, name, rounds, .. } = place;
    start(place, yoi, summary)?;
    let (daemon, _) = Resident::start(backlog, yoi)?;
    let (now, most) = daemon.memory();
    println!("\nmemory after the start of the daemon: {now:.1} MB, at most {most:.1} MB");
    let lines = [
        "show ticket-000007",
        "list --state queued --label rare",
        "list --state queued --label ui",
        "list --state inprogress",
        "list",
        "list --all",
        "list --all --json",
        "status",
    ];
    let rows = lines.map(|line| {
        Row::process(format!("yoi {line}"), move || {
            let mut command = backlog.command(yoi);
            command.args(line.split(' '));
            command
        })
    });
    let medians = side_by_side(&format!("{name}, through the daemon"), *rounds, "yoi list --all", rows.into());
    for line in &lines {
        let Some(median) = medians.of(&format!("yoi {line}")) else { continue };
        let target = match (*line, backlog.count()) {
            ("list --state queued --label rare", 100_000) => "1.3 x that at 10,000",
            (line, _) if line.starts_with("list --state") => "5 ms",
            _ => "",
        };
        summary.row("P2", &format!("`{line}`, through the daemon"), name, format!("{} ms", ms(median)), target);
    }
    let target = "5 / 20 ms";
    let how = |how: &str| format!("save {how} -> known, median / 99th percentile");
    summary.row("P5", &how("by rename"), name, format!("{} ms", daemon.saves(100, true)?), target);
    summary.row("P5", &how("in place"), name, format!("{} ms", daemon.saves(100, false)?), target);
    if backlog.count() == MOST {
        bursts(place, daemon, yoi, summary)?;
    }
    Ok(())
}

/// Side by side with ripgrep.
fn start(place: &Place, yoi: &Path, summary: &mut Summary) -> Fallible<()> {
    let (mut starts, mut searches) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        searches.extend(whole_process(&mut rg(&place.backlog)));
        starts.push(Resident::start(&place.backlog, yoi)?.1);
    }
    let (start, search) = (median(&mut starts), median(&mut searches));
    let ratio = start.as_secs_f64() / search.as_secs_f64();
    let target = if place.name.contains('/') { "4 x rg" } else { "2 x rg" };
    let measured = format!("{} ms, {ratio:.2} x rg", ms(start));
    summary.row("P4", "start of the daemon -> its first answer", &place.name, measured, target);
    Ok(())
}

fn bursts(place: &Place, daemon: Resident<'_>, yoi: &Path, summary: &mut Summary) -> Fallible<()> {
    let backlog = &place.backlog;
    if let Err(why) = place.tracked.clone().and_then(|()| backlog.as_committed()) {
        summary.row("P6", "checkout", &place.name, format!("not measured: {why}"), "");
        return Ok(());
    }
    // Until it has come to rest after that.
    thread::sleep(Duration::from_secs(2));
    for (number, rounds, target) in [(NEAR, 10, "30 ms"), (MOST, 6, "100 ms")] {
        let settled = burst::checkouts(backlog, &daemon, number, rounds)?;
        let measured = format!("{} ms, at most {}", ms(settled.after), ms(settled.longest));
        summary.row("P6", &format!("checkout of {number} -> settled"), &place.name, measured, target);
        let measured = format!("{} ms", ms(settled.suspended));
        let what = format!("the same, daemon stopped meanwhile (of {number}): going on -> settled");
        summary.row("P6", &what, &place.name, measured, "");
    }
    let known = daemon.tickets()?;
    drop(daemon);
    let equal = if known == Resident::start(backlog, yoi)?.0.tickets()? { "yes" } else { "no" };
    summary.row("P6", "the board after that equals a fresh start's", &place.name, equal.into(), "yes");
    Ok(())
}

/// All daemons at once, left alone.
pub fn at_rest(places: &[Place], yoi: &Path, time: Duration, summary: &mut Summary) -> Fallible<()> {
    let mut daemons = Vec::new();
    for place in places {
        daemons.push((place, Resident::start(&place.backlog, yoi)?.0));
    }
    thread::sleep(Duration::from_secs(3));
    let before: Vec<_> = daemons.iter().map(|(_, daemon)| daemon.doings()).collect();
    thread::sleep(time);
    for ((place, daemon), before) in daemons.iter().zip(before) {
        let done = daemon.doings().since(before);
        let what = format!("{} s at rest: CPU, wakes, writes", time.as_secs());
        let measured = format!("{} ms, {}, {}", ms(done.cpu), done.wakes, done.writes);
        summary.row("P8", &what, &place.name, measured, "5 ms, 0, 0");
        let (now, most) = daemon.memory();
        let target = match place.backlog.count() {
            10_000 => "16 MB",
            100_000 => "60 MB",
            _ => "",
        };
        let measured = format!("{now:.1} MB ({:.1} its own), at most {most:.1}", daemon.own_memory());
        summary.row("P7", "memory of the daemon, resident", &place.name, measured, target);
    }
    Ok(())
}
