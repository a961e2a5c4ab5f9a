//! `yoi pod list`.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::{Outcome, context::Context, output};
use crate::api::request::Request;
use crate::api::view::{PodView, PodsView};

/// The agent sessions that are known: pod list
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: PodCommand,
}

#[derive(Subcommand)]
enum PodCommand {
    /// List them: the Orchestrator's first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Lists.
pub fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let PodCommand::List { json } = arguments.command;
    let answer = context.open()?.call(&Request::Pods)?;
    if json {
        output::json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let view: PodsView = output::view(answer)?;
    if view.pods.is_empty() {
        output::print("no Pods are registered")?;
        return Ok(ExitCode::SUCCESS);
    }
    let head = ["POD", "ROLE", "STATE", "TICKET", "PID", "SINCE", ""].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(view.pods.into_iter().map(row)).collect();
    output::table(&rows, output::head)?;
    Ok(ExitCode::SUCCESS)
}

fn row(pod: PodView) -> [String; 7] {
    let dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    let pid = pod.pid.map(|pid| pid.to_string());
    [pod.id, pod.role, pod.state, dash(pod.ticket), dash(pid), pod.since, pod.detail.unwrap_or_default()]
}
