//! `yoi pod list`.

use clap::{Args, Subcommand};

use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
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
    output::answer(context.open()?.call(&Request::Pods)?, json, listed)
}

fn listed(view: &PodsView) -> Result<(), Failure> {
    if view.pods.is_empty() {
        return output::print("no Pods are registered");
    }
    let head = ["POD", "ROLE", "STATE", "TICKET", "PID", "SINCE", ""].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(view.pods.iter().map(row)).collect();
    output::table(&rows, output::head)
}

fn row(pod: &PodView) -> [String; 7] {
    let PodView { id, role, state, ticket, pid, since, detail, .. } = pod.clone();
    let dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    [id, role, state, dash(ticket), dash(pid.map(|pid| pid.to_string())), since, detail.unwrap_or_default()]
}
