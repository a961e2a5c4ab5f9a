//! `yoi move` and `yoi accept`.

use clap::Args;
use serde_json::Value;

use super::caller::By;
use super::{Outcome, context::Context, output};
use crate::api::request::Request;
use crate::api::view::MoveView;

/// What the help says below the options.
const MORE: &str = "\
planning -> ready -> queued -> inprogress -> done, one step at a time; a refusal
says where it can go instead. To inprogress is `yoi accept`: every gate has to
let it pass. To closed is `yoi close`, which takes evidence; --force passes it over.";

/// Move a ticket to another state, by the rules of the lifecycle
#[derive(Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    /// Its exact id
    id: String,
    /// planning, ready, queued, inprogress, done or closed
    state: String,
    /// Past the rules; needs --reason
    #[arg(long)]
    force: bool,
    /// Why, for the ticket's thread
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    by: By,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Start a queued ticket if every gate lets it pass: to inprogress
#[derive(Args)]
pub struct AcceptArguments {
    /// Its exact id
    id: String,
    #[command(flatten)]
    by: By,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Moves.
pub fn run(context: &Context, arguments: Arguments) -> Outcome {
    let Arguments { id, state: to, by, force, reason, json } = arguments;
    let caller = by.caller();
    let answer = context.open()?.call(&Request::Move { id, to, force, reason, caller })?;
    show(answer, json)
}

/// Accepts.
pub fn accept(context: &Context, arguments: AcceptArguments) -> Outcome {
    let AcceptArguments { id, by, json } = arguments;
    let answer = context.open()?.call(&Request::Accept { id, caller: by.caller() })?;
    show(answer, json)
}

fn show(answer: Value, json: bool) -> Outcome {
    output::answer(answer, json, |view: &MoveView| {
        let state = |state: &Option<String>| state.clone().unwrap_or_else(|| "?".into());
        output::print(&output::harmless(&format!("{}: {} -> {}", view.id, state(&view.from), state(&view.to))))?;
        output::remarks(&view.remarks)
    })
}
