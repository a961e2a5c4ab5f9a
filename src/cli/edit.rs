//! `yoi edit`.

use std::process::ExitCode;

use clap::Args;

use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
use crate::api::request::Request;
use crate::api::view::{ShowView, TicketView};

/// Open a ticket in $VISUAL or $EDITOR, then say what it reads as
#[derive(Args)]
pub struct Arguments {
    /// Its exact id
    id: String,
}

/// Opens it.
pub fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let app = context.open()?;
    let path = app.path_of(&arguments.id)?;
    app.run_editor(&path)?;
    // Without the daemon's debounce in between: what is in the file now.
    match app.once(&Request::Show { id: arguments.id.clone(), brief: true }) {
        Ok(answer) => report(&output::view::<ShowView>(answer)?.ticket)?,
        Err(failure) => return Err(failure.hint("nothing is lost: `yoi edit` opens it again")),
    }
    Ok(ExitCode::SUCCESS)
}

fn report(ticket: &TicketView) -> Result<(), Failure> {
    let state = ticket.state.as_deref().unwrap_or("?");
    output::print(&output::harmless(&format!(
        "{}: {state}, {}, {}",
        ticket.id,
        ticket.priority,
        output::title(&ticket.title)
    )))?;
    for problem in &ticket.problems {
        let place = output::place(&ticket.path, problem.line, problem.column);
        output::print(&output::harmless(&format!("  {place}: {}", problem.message)))?;
    }
    Ok(())
}
