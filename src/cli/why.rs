//! `yoi why`.

use clap::Args;

use super::terminal::{self, Colour};
use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
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
    output::answer(context.open()?.call(&Request::Why { id: arguments.id })?, arguments.json, explained)
}

fn explained(view: &WhyView) -> Result<(), Failure> {
    let id = terminal::paint(Colour::Bold, &output::harmless(&view.ticket.id));
    let title = terminal::cut(&output::harmless(output::title(&view.ticket.title)), terminal::WIDE);
    output::print(&format!("{id}  {title}"))?;
    // On a terminal a sentence goes on below its beginning; elsewhere it is one line.
    let width = terminal::width().map_or(usize::MAX, |width| width.max(40) - 4);
    for sentence in &view.because {
        let lines = terminal::wrapped(&output::harmless(sentence), width);
        output::print(&format!("  {}", lines.join("\n    ")))?;
    }
    Ok(())
}
