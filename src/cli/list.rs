//! `yoi list`.

use std::process::ExitCode;

use clap::Args;

use super::terminal::{self, Colour};
use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
use crate::api::request::{ListRequest, Request};
use crate::api::view::{FaultView, ListView, TicketView};

/// List tickets, and every file that cannot be read as one
#[derive(Args)]
pub struct Arguments {
    /// Only tickets in this state
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Only tickets of this class: new_queued, planned_queued, active_inprogress, actionable_inprogress
    #[arg(long, value_name = "CLASS")]
    class: Option<String>,
    /// Only tickets with this label
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,
    /// Closed tickets too, which are hidden otherwise
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Lists.
pub fn run(context: &Context, arguments: Arguments) -> Outcome {
    let json = arguments.json;
    let Arguments { state, class, label, all, .. } = arguments;
    let answer = context.open()?.call(&Request::List(ListRequest { state, class, label, all }))?;
    if json {
        output::json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let view: ListView = output::view(answer)?;
    if view.tickets.is_empty() && view.errors.is_empty() {
        output::print("no tickets (`yoi new TITLE` makes one, `yoi list --all` shows closed ones too)")?;
    }
    if !view.tickets.is_empty() {
        output::print(&lines(&view.tickets, terminal::width()).join("\n"))?;
    }
    stateless(&view.tickets)?;
    faults(&view.errors)?;
    Ok(ExitCode::SUCCESS)
}

/// A line a ticket with what keeps it where it is. On a terminal no title takes a second line, and the reason stands
/// below it.
fn lines(tickets: &[TicketView], width: Option<usize>) -> Vec<String> {
    let head = ["ID", "STATE", "PRI", "TITLE"].map(str::to_owned);
    let mut rows: Vec<_> = std::iter::once(head).chain(tickets.iter().map(row)).collect();
    let reasons: Vec<_> = std::iter::once(None).chain(tickets.iter().map(reason)).collect();
    let widest = |column: usize| rows.iter().map(|row| terminal::columns(&row[column])).max().unwrap_or(0) + 2;
    let left = width.map(|width| width.saturating_sub((0..3).map(widest).sum()).max(12));
    for (row, reason) in rows.iter_mut().zip(&reasons) {
        match (left, reason) {
            (Some(left), _) => row[3] = terminal::cut(&output::harmless(&row[3]), left),
            (None, Some(reason)) => row[3] = format!("{}  [{reason}]", row[3]),
            (None, None) => {}
        }
    }
    let states: Vec<_> = rows.iter().map(|row| output::state_colour(&row[1])).collect();
    let colour = |row: usize, column: usize| match (row, column) {
        (0, _) => Colour::Dim,
        (row, 1) => states[row],
        _ => Colour::Plain,
    };
    let below = |reason: &Option<String>| {
        let (Some(width), Some(reason)) = (width, reason) else { return Vec::new() };
        let lines = terminal::wrapped(reason, width.max(40) - 4).into_iter();
        lines.map(|line| format!("    {}", terminal::paint(Colour::Dim, &line))).collect::<Vec<_>>()
    };
    let lines = output::aligned(&rows, colour).into_iter().zip(&reasons);
    lines.flat_map(|(line, reason)| std::iter::once(line).chain(below(reason))).collect()
}

/// The class says the state too.
fn row(ticket: &TicketView) -> [String; 4] {
    let title = if ticket.title.is_empty() { "(no title)" } else { &ticket.title };
    let state = ticket.class.clone().or_else(|| ticket.state.clone()).unwrap_or_else(|| "?".into());
    [ticket.id.clone(), state, ticket.priority.clone(), title.to_owned()]
}

/// Why a queued ticket does not start, as far as one line says it.
fn reason(ticket: &TicketView) -> Option<String> {
    let waiting = ticket.waiting.as_ref().map(|w| format!("waits: {} — {}", w.kind, w.detail));
    let more = match ticket.gates.len().saturating_sub(1) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let held = || ticket.gates.first().map(|gate| format!("held: {}{more}", gate.evidence));
    waiting.or_else(held).map(|text| output::harmless(&text))
}

/// Prints why no state can be read of the tickets that have none.
fn stateless(tickets: &[TicketView]) -> Result<(), Failure> {
    let without: Vec<_> = tickets.iter().filter(|ticket| ticket.state.is_none()).collect();
    if without.is_empty() {
        return Ok(());
    }
    let title = format!("{} without a known state, which nothing happens to:", output::count(without.len(), "ticket"));
    output::print(&format!("\n{}", terminal::paint(Colour::Red, &title)))?;
    for ticket in without {
        for problem in &ticket.problems {
            let place = output::place(&ticket.path, problem.line, problem.column);
            output::print(&output::harmless(&format!("  {place}: {}", problem.message)))?;
        }
    }
    output::print("  other names: `state_key` and `states` under [frontmatter] in .yoi/config.toml")
}

/// Prints the files that are listed as errors, one a line.
pub fn faults(faults: &[FaultView]) -> Result<(), Failure> {
    if faults.is_empty() {
        return Ok(());
    }
    let title = format!("{} not readable as tickets:", output::count(faults.len(), "file"));
    output::print(&format!("\n{}", terminal::paint(Colour::Red, &title)))?;
    for fault in faults {
        let place = output::place(&fault.path, fault.line, fault.column);
        output::print(&output::harmless(&format!("  {place}: {}", fault.message)))?;
    }
    Ok(())
}
