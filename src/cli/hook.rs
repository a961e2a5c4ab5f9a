//! `yoi hook`.

use clap::Args;

use super::{Outcome, context::Context, orders};
use crate::api::request::{HookRequest, Request};

/// Report a lifecycle moment: panel-open; busy, idle or gone of a role's Pod; rate-limited
#[derive(Args)]
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
