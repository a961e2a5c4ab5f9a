//! `yoi status`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;

use super::terminal::{self, Colour};
use super::{Outcome, context::Context, list, output};
use crate::api::connections::ConnectionsView;
use crate::api::view::{EventView, HeldTicketView, HolderView, RemoteView, StatusView};
use crate::api::watching::WatchView;
use crate::domain::classify::Class;
use crate::domain::ticket::State;

/// Say what is happening: daemon, Orchestrator, last decision
#[derive(Args)]
pub struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Says it.
pub fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let view = context.open()?.status()?;
    if arguments.json {
        output::json(&view)?;
        return Ok(ExitCode::SUCCESS);
    }
    let lines = lines(&view);
    output::table(&lines, |row, column| colour(&lines[row], column))?;
    list::faults(&view.errors)?;
    if !view.attention.is_empty() {
        output::print(&format!("\n{}", terminal::paint(Colour::Yellow, "needs a look:")))?;
        for event in &view.attention {
            output::print(&output::harmless(&format!("  {}", entry(event))))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// How many claims are named.
const CLAIMS: usize = 5;

fn claim(held: &HeldTicketView) -> String {
    let HolderView { worker, role, beat, until, fresh, .. } = &held.claim;
    let until = if *fresh { format!("respected until {until}") } else { format!("stale since {until}") };
    format!("{} by {worker} ({role}) {until}, last heard of at {beat}", held.id)
}

fn lines(view: &StatusView) -> Vec<[String; 2]> {
    let mut lines = Vec::new();
    let mut line = |name: &str, text: String| lines.push([name.to_owned(), text]);
    match (view.running, view.pid) {
        (true, Some(pid)) => {
            line("daemon", format!("running (pid {pid}) since {}", view.started_at.as_deref().unwrap_or("?")));
        }
        _ => line("daemon", "not running; `yoi up` starts it".into()),
    }
    line("workspace", view.workspace.clone());
    line("state folder", view.state_folder.clone());
    line("socket", view.socket.clone());
    line("mode", view.mode.clone());
    if let Some(watcher) = &view.watcher {
        line("watcher", watcher.clone());
    }
    if let Some(watching) = &view.watching {
        line("notices", notices(watching));
    }
    if let Some(text) = view.connections.as_ref().and_then(connections) {
        line("connections", text);
    }
    let states = State::ALL.map(State::as_str);
    // Files that are no tickets are counted below; these are tickets whose state is not known.
    let stateless = view.tickets.get("unreadable").map(|n| format!(", {n} without a known state")).unwrap_or_default();
    let plain = match view.without_frontmatter {
        0 => String::new(),
        number => format!(", {} without frontmatter (`yoi doctor` names them)", output::count(number, "file")),
    };
    let tickets = counts(&states, &view.tickets) + &stateless + &plain;
    let tickets = tickets.trim_start_matches(", ");
    line("tickets", if tickets.is_empty() { "none".into() } else { tickets.to_owned() });
    if !view.classes.is_empty() {
        line("classes", counts(&Class::ALL.map(Class::as_str), &view.classes));
    }
    for held in view.claims.iter().take(CLAIMS) {
        line("claim", claim(held));
    }
    if view.claims.len() > CLAIMS {
        line("claims", format!("{} more (`--json` has them all)", view.claims.len() - CLAIMS));
    }
    if let Some(remote) = &view.remote {
        line("remote", self::remote(remote, view.running));
    }
    let absent = view.orchestrator.as_ref().is_none_or(|pod| pod.state == "gone");
    if let Some(pod) = &view.orchestrator {
        let since = if pod.since.is_empty() { String::new() } else { format!(" since {}", pod.since) };
        let detail = pod.detail.as_ref().map(|d| format!(": {d}")).unwrap_or_default();
        // Nobody has gone where nobody ever was.
        let state = if pod.state == "gone" { "none" } else { &pod.state };
        line("orchestrator", format!("{state}{since}{detail}"));
    }
    for (name, text) in [
        // Of an Orchestrator that is not there; `--json` has it.
        ("session", if absent { &None } else { &view.session }),
        ("last boundary", &view.last_boundary),
        ("last decision", &view.last_decision),
        ("pending kick", &view.pending),
        ("last delivery", &view.delivery),
    ] {
        if let Some(text) = text {
            let text = text.strip_prefix("The last decision, ").unwrap_or(text);
            line(name, text.replacen(", was row ", ", row ", 1));
        }
    }
    // The next few; `--json` has them all.
    for timer in view.timers.iter().take(3) {
        line("next", format!("{} at {}", timer.what, timer.at));
    }
    if view.running {
        let failed = format!("{} not delivered", view.failed_deliveries);
        line("kicks", format!("{} sent, {} saved, {failed}", view.kicks_sent, view.kicks_saved));
    }
    for obstacle in &view.obstacles {
        line("obstacle", obstacle.clone());
    }
    lines
}

/// What the claims of other clones are known by.
fn remote(remote: &RemoteView, running: bool) -> String {
    let name = &remote.name;
    match (&remote.seen_at, running) {
        (Some(at), _) => format!("{name} said at {at} which claims there are"),
        (None, true) => format!("{name} has not said yet which claims there are"),
        (None, false) => {
            format!("{name} is asked by commands that move a claim, and by nobody else while no daemon runs")
        }
    }
}

/// How fast changes are noticed, and what was not.
fn notices(view: &WatchView) -> String {
    let s = |number: u64| if number == 1 { "" } else { "s" };
    let mut text = view.lag.as_ref().map_or_else(String::new, |lag| format!("lag {lag}, "));
    let folders =
        if view.folders > 0 { format!(" in {} folder{}", view.folders, s(view.folders as u64)) } else { String::new() };
    let _ = write!(text, "{} ticket{}{folders}, {} missed", view.tickets, s(view.tickets as u64), view.missed);
    if let Some(last) = &view.last_rescan {
        let _ = write!(text, ", {} rescan{} (the last: {last})", view.rescans, s(view.rescans));
    }
    text
}

/// Who is connected, where it is worth a word.
fn connections(view: &ConnectionsView) -> Option<String> {
    let ConnectionsView { open, most, streams, most_streams, refused, let_go } = view;
    let quiet = *refused == 0 && *let_go == 0 && open * 2 <= *most;
    let of = format!("{open} of at most {most}, {streams} of at most {most_streams} streams");
    (!quiet).then(|| format!("{of}; {refused} refused, {let_go} let go that said nothing"))
}

/// In the order of these names.
fn counts(names: &[&str], map: &BTreeMap<String, usize>) -> String {
    let counted = names.iter().filter_map(|name| map.get(*name).map(|n| format!("{n} {name}")));
    counted.collect::<Vec<_>>().join(", ")
}

fn colour(line: &[String; 2], column: usize) -> Colour {
    match (line[0].as_str(), column) {
        ("obstacle", _) => Colour::Red,
        (_, 0) => Colour::Dim,
        ("daemon", _) if line[1].starts_with("running") => Colour::Green,
        ("daemon", _) => Colour::Yellow,
        _ => Colour::Plain,
    }
}

/// One event in a line.
fn entry(event: &EventView) -> String {
    let ticket = event.ticket.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
    let what = event.data.get("what").or_else(|| event.data.get("why")).and_then(|v| v.as_str()).unwrap_or_default();
    let items = event.data.get("items").and_then(|v| v.as_array()).map(|items| {
        let names: Vec<_> = items.iter().filter_map(|item| item.as_str()).take(10).collect();
        format!(" ({})", names.join(", "))
    });
    let to_do = event.data.get("do").and_then(|v| v.as_str()).map(|text| format!("; {text}")).unwrap_or_default();
    format!("{} {}{ticket}: {what}{}{to_do}", event.at, event.kind, items.unwrap_or_default())
}
