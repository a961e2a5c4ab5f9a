//! `yoi list`.

use std::process::ExitCode;

use clap::Args;

use super::{Outcome, context::Context, output};
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
        output::print("no tickets (yoi new TITLE makes one)")?;
    }
    if !view.tickets.is_empty() {
        let head = ["ID", "STATE", "PRI", "CLASS", "TITLE"].map(str::to_owned);
        let rows: Vec<_> = std::iter::once(head).chain(view.tickets.iter().map(row)).collect();
        output::table(&rows)?;
    }
    faults(&view.errors)?;
    Ok(ExitCode::SUCCESS)
}

fn row(ticket: &TicketView) -> [String; 5] {
    let waiting = ticket.waiting.as_ref().map(|w| format!("  [waits: {} — {}]", w.kind, w.detail));
    let held = ticket.gates.first().filter(|_| waiting.is_none()).map(|g| format!("  [held: {}]", g.evidence));
    let title = if ticket.title.is_empty() { "(no title)" } else { &ticket.title };
    [
        ticket.id.clone(),
        ticket.state.clone().unwrap_or_else(|| "?".into()),
        ticket.priority.clone(),
        ticket.class.clone().unwrap_or_else(|| "-".into()),
        format!("{title}{}", waiting.or(held).unwrap_or_default()),
    ]
}

/// Prints the files that are listed as errors, one a line.
pub fn faults(faults: &[FaultView]) -> Result<(), crate::api::failure::Failure> {
    if faults.is_empty() {
        return Ok(());
    }
    output::print(&format!("\n{} not readable as tickets:", output::count(faults.len(), "file")))?;
    for fault in faults {
        let place = output::place(&fault.path, fault.line, fault.column);
        output::print(&output::harmless(&format!("  {place}: {}", fault.message)))?;
    }
    Ok(())
}
