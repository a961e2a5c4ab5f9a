//! `yoi show`.

use clap::Args;

use super::terminal::{self, Colour};
use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
use crate::api::request::Request;
use crate::api::view::{HolderView, ShowView};

/// Show one ticket: what is derived of it, then its file
#[derive(Args)]
pub struct Arguments {
    /// Its id, or a unique beginning of it
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Shows.
pub fn run(context: &Context, arguments: Arguments) -> Outcome {
    output::answer(
        context.open()?.call(&Request::Show { id: arguments.id, brief: !arguments.json })?,
        arguments.json,
        shown,
    )
}

fn shown(view: &ShowView) -> Result<(), Failure> {
    let ticket = &view.ticket;
    let state = ticket.state.as_deref().unwrap_or("?");
    let class = ticket.class.as_ref().map(|class| format!(" · {class}")).unwrap_or_default();
    let id = terminal::paint(Colour::Bold, &output::harmless(&ticket.id));
    let rest = format!(" · {state}{class} · {} · {}", ticket.priority, ticket.path);
    output::print(&(id + &output::harmless(&rest)))?;
    if let Some(claim) = &ticket.claim {
        let HolderView { worker, role, own_end, until, .. } = claim;
        let line = if claim.fresh {
            format!("claimed by {worker} ({role}) until {own_end}; others respect that until {until}")
        } else {
            format!("claimed by {worker} ({role}), stale since {until}")
        };
        output::print(&output::harmless(&line))?;
    }
    if let Some(reverted) = &ticket.reverted {
        output::print(&output::harmless(&format!("! {reverted} (`yoi why {}` says what to do)", ticket.id)))?;
    }
    for problem in &ticket.problems {
        let place = output::place(&ticket.path, problem.line, problem.column);
        output::print(&output::harmless(&format!("! {place}: {}", problem.message)))?;
    }
    output::print("")?;
    let text: Vec<_> = view.text.lines().map(output::harmless_line).collect();
    output::print(&text.join("\n"))
}
