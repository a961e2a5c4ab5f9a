//! `yoi why`.

use std::process::ExitCode;

use clap::Args;

use super::{Outcome, context::Context, output};
use crate::api::request::Request;
use crate::api::view::WhyView;

/// Explain why a ticket is where it is, and what happens next
#[derive(Args)]
pub struct Arguments {
    /// Its id, or a unique beginning of it
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Explains.
pub fn run(context: &Context, arguments: Arguments) -> Outcome {
    let answer = context.open()?.call(&Request::Why { id: arguments.id })?;
    if arguments.json {
        output::json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let view: WhyView = output::view(answer)?;
    output::print(&output::harmless(&format!("{}  {}", view.ticket.id, view.ticket.title)))?;
    for line in &view.because {
        output::print(&output::harmless(&format!("  {line}")))?;
    }
    Ok(ExitCode::SUCCESS)
}
