//! `yoi pause` and `yoi resume`.

use clap::Args;

use super::caller::By;
use super::{Outcome, context::Context, output};
use crate::api::request::Request;

/// What the help says below the options.
const MORE: &str = "\
A running turn goes on. The pause outlives the daemon, and `yoi status`, `why`
and `work-set` show it. Tickets can be edited, moved and accepted meanwhile.
Where the disk is full it holds as long as the daemon runs, and the command
fails and says so.";

/// Hold all kicks
#[derive(Args)]
#[command(after_help = MORE)]
pub struct PauseArguments {
    /// Why, for whoever looks
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    by: By,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Let kicks go on
#[derive(Args)]
pub struct ResumeArguments {
    #[command(flatten)]
    by: By,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Pauses.
pub fn pause(context: &Context, arguments: PauseArguments) -> Outcome {
    let request = Request::Pause { reason: arguments.reason, caller: arguments.by.caller() };
    ask(context, &request, arguments.json)
}

/// Resumes.
pub fn resume(context: &Context, arguments: &ResumeArguments) -> Outcome {
    ask(context, &Request::Resume { caller: arguments.by.caller() }, arguments.json)
}

fn ask(context: &Context, request: &Request, json: bool) -> Outcome {
    output::done(context.open()?.call(request)?, json)
}
