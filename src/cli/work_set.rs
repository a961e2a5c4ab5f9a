//! `yoi work-set`.

use clap::Args;

use super::terminal::{self, Colour};
use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
use crate::api::request::Request;
use crate::api::view::WorkSetView;

/// Show what is taken note of, what comes next, and what waits
#[derive(Args)]
pub struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Shows.
pub fn run(context: &Context, arguments: &Arguments) -> Outcome {
    output::answer(context.open()?.call_daemon(&Request::WorkSet)?, arguments.json, shown)
}

fn shown(view: &WorkSetView) -> Result<(), Failure> {
    let mut lines = vec![format!("session {}", view.session)];
    lines.extend(view.paused.as_ref().map(|paused| format!("{paused}: no kicks until `yoi resume`")));
    section(
        &mut lines,
        "taken in",
        view.entries.iter().map(|ticket| {
            let order = ticket.order.map(|n| format!("#{n} ")).unwrap_or_default();
            let waiting = ticket.waiting.as_ref().map(|w| format!(" — waits ({}): {}", w.kind, w.detail));
            let awaited = ticket.awaited.as_ref().map(|a| format!(" — awaits `{}` until {}", a.step, a.due));
            let note = waiting.or(awaited).unwrap_or_default();
            let title = terminal::cut(&ticket.title, terminal::WIDE);
            format!("{order}{} ({}) {title}{note}", ticket.id, ticket.class.as_deref().unwrap_or("-"))
        }),
    );
    section(
        &mut lines,
        "next",
        view.next.iter().map(|item| {
            let seen = if item.seen { ", seen" } else { "" };
            format!("{} ({}{seen}) {} — {}", item.id, item.class, item.title, item.reason)
        }),
    );
    section(&mut lines, "waiting", view.waiting.iter().map(|held| format!("{} — {}", held.id, held.reason)));
    let back = view.holding_back.iter().map(|held| format!("{} — {}", held.id, held.reason));
    section(&mut lines, "at work, so that no kick comes for queued tickets", back);
    let paint = |line: &String| {
        let colour = if line.starts_with(' ') { Colour::Plain } else { Colour::Bold };
        terminal::paint(colour, &output::harmless(line))
    };
    output::print(&lines.iter().map(paint).collect::<Vec<_>>().join("\n"))
}

fn section(lines: &mut Vec<String>, title: &str, entries: impl Iterator<Item = String>) {
    let entries: Vec<_> = entries.collect();
    if entries.is_empty() {
        lines.push(format!("{title}: none"));
    } else {
        lines.push(format!("{title}:"));
        lines.extend(entries.into_iter().map(|entry| format!("  {entry}")));
    }
}
