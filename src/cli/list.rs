//! `yoi list`.

use std::borrow::Cow;
use std::process::ExitCode;

use clap::Args;

use super::terminal::{self, Colour};
use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
use crate::api::listing::{Held, Listed};
use crate::api::request::ListRequest;
use crate::api::view::FaultView;

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
    let chosen = state.is_some() || class.is_some() || label.is_some();
    let request = ListRequest { state, class, label, all, brief: false };
    let app = context.open()?;
    if json {
        output::print(&app.list_json(&request)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    app.list(&request, |tickets, errors| {
        if tickets.is_empty() && chosen {
            output::print("no ticket is like that (`yoi list --all` shows every one)")?;
        } else if tickets.is_empty() {
            output::print("no tickets (`yoi new TITLE` makes one, `yoi list --all` shows closed ones too)")?;
        }
        if !tickets.is_empty() {
            output::verbatim(&lines(tickets, terminal::width()))?;
        }
        stateless(tickets)?;
        faults(errors)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A line a ticket with what keeps it where it is. On a terminal no title takes a second line, and the reason stands
/// below it.
fn lines(tickets: &[Listed<'_>], width: Option<usize>) -> String {
    const HEAD: [&str; 3] = ["ID", "STATE", "PRI"];
    let mut columns = HEAD.map(str::len);
    for ticket in tickets {
        for (widest, cell) in columns.iter_mut().zip(cells(*ticket)) {
            *widest = (*widest).max(terminal::columns(cell));
        }
    }
    let left = width.map(|width| width.saturating_sub(columns.iter().map(|column| column + 2).sum()).max(12));
    let mut text = String::new();
    line(&mut text, HEAD, columns, [Colour::Dim; 4], "TITLE");
    for ticket in tickets {
        let cells = cells(*ticket);
        let title = output::title(ticket.title());
        let title = match (left, reason(*ticket)) {
            (Some(left), reason) => (Cow::Owned(terminal::cut(&output::harmless(title), left)), reason),
            (None, Some(reason)) => (Cow::Owned(format!("{}  [{reason}]", at_most(title))), None),
            (None, None) => (at_most(title), None),
        };
        let (title, below) = title;
        let colours = [Colour::Plain, output::state_colour(cells[1]), Colour::Plain, Colour::Plain];
        line(&mut text, cells, columns, colours, &title);
        let wrapped = below.iter().zip(width).flat_map(|(reason, width)| terminal::wrapped(reason, width.max(40) - 4));
        for reason in wrapped {
            text.extend(["    ", &terminal::paint(Colour::Dim, &reason), "\n"]);
        }
    }
    text
}

/// `yoi show` and `--json` have all of it.
fn at_most(title: &str) -> Cow<'_, str> {
    // Columns are never more than bytes.
    if title.len() <= terminal::WIDE { Cow::Borrowed(title) } else { Cow::Owned(terminal::cut(title, terminal::WIDE)) }
}

/// Adds one line; nothing is left standing at its end.
fn line(text: &mut String, cells: [&str; 3], columns: [usize; 3], colours: [Colour; 4], title: &str) {
    for ((cell, to), colour) in cells.into_iter().zip(columns).zip(colours) {
        output::add(text, colour, cell);
        let blanks = to.saturating_sub(terminal::columns(cell)) + 2;
        text.extend(std::iter::repeat_n(' ', blanks));
    }
    output::add(text, colours[3], title);
    text.truncate(text.trim_end_matches(' ').len());
    text.push('\n');
}

fn cells(ticket: Listed<'_>) -> [&str; 3] {
    [ticket.id(), ticket.standing().unwrap_or("?"), ticket.priority()]
}

fn reason(ticket: Listed<'_>) -> Option<String> {
    let text = match ticket.held()? {
        Held::Waits(kind, detail) => format!("waits: {kind} — {detail}"),
        Held::Claim(worker, until, true) => format!("claimed by {worker}, respected until {until}"),
        Held::Claim(worker, until, false) => format!("claimed by {worker}, stale since {until}"),
        Held::PullRequest(pr) => format!("waits for its pull request: {pr}"),
        Held::Reverted(what) => what.into_owned(),
        Held::Gate(evidence, 0) => format!("held: {evidence}"),
        Held::Gate(evidence, more) => format!("held: {evidence}; and {more} more"),
    };
    Some(output::harmless(&text))
}

/// Prints why no state can be read of the tickets that have none.
fn stateless(tickets: &[Listed<'_>]) -> Result<(), Failure> {
    let without: Vec<_> = tickets.iter().filter(|ticket| ticket.standing().is_none()).collect();
    if without.is_empty() {
        return Ok(());
    }
    let title = format!("{} without a known state, which nothing happens to:", output::count(without.len(), "ticket"));
    output::print(&format!("\n{}", terminal::paint(Colour::Red, &title)))?;
    for problem in without.into_iter().flat_map(|ticket| ticket.problems()) {
        let place = output::place(&problem.path, problem.line, problem.column);
        output::print(&output::harmless(&format!("  {place}: {}", problem.message)))?;
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
