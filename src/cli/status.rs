//! `yoi status`.

use std::process::ExitCode;

use clap::Args;

use super::{Outcome, context::Context, list, output};
use crate::api::view::{EventView, StatusView};

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
    output::table(&lines)?;
    list::faults(&view.errors)?;
    if !view.attention.is_empty() {
        output::print("\nneeds a look:")?;
        for event in &view.attention {
            output::print(&output::harmless(&format!("  {}", entry(event))))?;
        }
    }
    Ok(ExitCode::SUCCESS)
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
    let counts = |map: &std::collections::BTreeMap<String, usize>| {
        map.iter().map(|(name, n)| format!("{n} {name}")).collect::<Vec<_>>().join(", ")
    };
    line("tickets", if view.tickets.is_empty() { "none".into() } else { counts(&view.tickets) });
    if !view.classes.is_empty() {
        line("classes", counts(&view.classes));
    }
    if let Some(pod) = &view.orchestrator {
        let since = if pod.since.is_empty() { String::new() } else { format!(" since {}", pod.since) };
        let detail = pod.detail.as_ref().map(|d| format!(": {d}")).unwrap_or_default();
        line("orchestrator", format!("{}{since}{detail}", pod.state));
    }
    for (name, text) in [
        ("session", &view.session),
        ("last boundary", &view.last_boundary),
        ("last decision", &view.last_decision),
        ("next wake", &view.next_wake),
    ] {
        if let Some(text) = text {
            line(name, text.clone());
        }
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

/// One event in a line.
fn entry(event: &EventView) -> String {
    let ticket = event.ticket.as_ref().map(|id| format!(" {id}")).unwrap_or_default();
    let what = event.data.get("what").or_else(|| event.data.get("why")).and_then(|v| v.as_str()).unwrap_or_default();
    let items = event.data.get("items").and_then(|v| v.as_array()).map(|items| {
        let names: Vec<_> = items.iter().filter_map(|item| item.as_str()).take(10).collect();
        format!(" ({})", names.join(", "))
    });
    format!("{} {}{ticket}: {what}{}", event.at, event.kind, items.unwrap_or_default())
}
