//! `yoi why`.

use std::process::ExitCode;

use clap::Args;

use super::terminal::{self, Colour};
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
    let id = terminal::paint(Colour::Bold, &output::harmless(&view.ticket.id));
    output::print(&format!("{id}  {}", output::harmless(&view.ticket.title)))?;
    // On a terminal a sentence goes on below its beginning; elsewhere it is one line.
    let width = terminal::width().map_or(usize::MAX, |width| width.max(40) - 4);
    for sentence in &view.because {
        let lines = terminal::wrapped(&output::harmless(sentence), width);
        output::print(&format!("  {}", lines.join("\n    ")))?;
    }
    Ok(ExitCode::SUCCESS)
}
