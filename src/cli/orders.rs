//! `yoi plan`, `yoi wait`, `yoi await`: the Orchestrator's notes. They live in the daemon's memory.

use clap::Args;

use super::caller::InSession;
use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
use crate::api::request::Request;
use crate::text::duration;

/// What `plan`, `wait` and `await` have in common.
const SESSION: &str = "\
The note belongs to the Orchestrator's session: its command finds YOI_SESSION
set. By hand give --session; `yoi work-set` says which one it is.";

/// Take note of a ticket, with an order or without
#[derive(Args)]
#[command(after_help = SESSION)]
pub struct PlanArguments {
    /// Its exact id
    id: String,
    /// Its place: lower comes first
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    order: Option<i64>,
    #[command(flatten)]
    common: Common,
}

/// Let a queued ticket wait, with a reason
#[derive(Args)]
#[command(after_help = SESSION)]
pub struct WaitArguments {
    /// Its exact id
    id: String,
    /// dependency, conflict, dirty_workspace, capacity, human_gate (refused unless that gate holds it) or other
    #[arg(long, value_name = "KIND")]
    kind: String,
    /// The reason in words, at most 280 characters
    #[arg(long, value_name = "TEXT")]
    detail: String,
    #[command(flatten)]
    common: Common,
}

/// Say that a delegated step of a ticket is under way
#[derive(Args)]
#[command(after_help = SESSION)]
pub struct AwaitArguments {
    /// Its exact id
    id: String,
    /// The step in a few words: coder, reviewer, planning sync, merge, cleanup
    #[arg(long, value_name = "TEXT")]
    step: String,
    /// How long at most, up to 24h: 90m, 2h
    #[arg(long = "for", value_name = "DURATION")]
    span: String,
    #[command(flatten)]
    common: Common,
}

/// What all three take.
#[derive(Args)]
struct Common {
    #[command(flatten)]
    session: InSession,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Plans.
pub fn plan(context: &Context, arguments: PlanArguments) -> Outcome {
    let caller = arguments.common.session.caller();
    let request = Request::Plan { id: arguments.id, order: arguments.order, caller };
    output::done(context.open()?.call_daemon(&request)?, arguments.common.json)
}

/// Lets wait.
pub fn wait(context: &Context, arguments: WaitArguments) -> Outcome {
    let caller = arguments.common.session.caller();
    let WaitArguments { id, kind, detail, common } = arguments;
    output::done(context.open()?.call_daemon(&Request::Wait { id, kind, detail, caller })?, common.json)
}

/// Awaits.
pub fn await_step(context: &Context, arguments: AwaitArguments) -> Outcome {
    let caller = arguments.common.session.caller();
    let AwaitArguments { id, step, span, common } = arguments;
    let span = duration::parse(&span).map_err(|why| Failure::usage(format!("--for {span}: {why}")))?;
    let request = Request::Await { id, step, seconds: span.num_seconds(), caller };
    output::done(context.open()?.call_daemon(&request)?, common.json)
}
