//! `yoi hook`.

use clap::Args;

use super::{Outcome, context::Context, orders};
use crate::api::request::{HookRequest, Request};

/// What the help says below the options.
const MOMENTS: &str = "\
yoi hook busy --role coder --ticket ID --pid N   a worker is at it: the ticket
                                        is active while process N lives
yoi hook idle --role coder --pid N      it waits for a word
yoi hook gone --role coder --pid N      it has ended; so does the process's end
yoi hook rate-limited --retry-after S   the Orchestrator: no kick until then
yoi hook panel-open                     somebody looks: consider a kick";

/// Report that an agent is busy, idle or gone, or a panel opened
#[derive(Args)]
#[command(after_help = MOMENTS)]
pub struct Arguments {
    /// panel-open, busy, idle, gone, rate-limited
    event: String,
    /// The reporting session
    #[arg(long, env = "YOI_SESSION", value_name = "S", hide_env_values = true)]
    session: Option<String>,
    /// The Pod's role: coder, reviewer, ...
    #[arg(long, value_name = "R")]
    role: Option<String>,
    /// The ticket it works on
    #[arg(long, value_name = "ID")]
    ticket: Option<String>,
    /// The agent behind it
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    /// Its process: the Pod is live while this process is
    #[arg(long, value_name = "N")]
    pid: Option<u32>,
    /// With rate-limited: how long not to be kicked
    #[arg(long, value_name = "SECONDS")]
    retry_after: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reports.
pub fn run(context: &Context, arguments: Arguments) -> Outcome {
    let Arguments { event, session, role, ticket, agent, pid, retry_after, json } = arguments;
    let request = Request::Hook(HookRequest { event, role, ticket, agent, pid, retry_after, session });
    orders::done(context.open()?.call_daemon(&request)?, json)
}
