//! `yoi kick`.

use std::process::ExitCode;

use clap::Args;

use super::{Outcome, context::Context, output};
use crate::adapters::environment::agent_session;
use crate::api::request::{Caller, Request};
use crate::api::view::KickView;

/// What the help says below the options.
const MORE: &str = "\
A kick runs the Orchestrator's command with the list of what it has to decide.
Asked for, it skips back-off and brakes, but an absent or busy Orchestrator is
never kicked, nor one that has nothing to decide (exit 3).";

/// Ask for a kick now; --dry-run: what would be decided, and why
#[derive(Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    /// Only say what would be decided, and why
    #[arg(long)]
    dry_run: bool,
    /// The Orchestrator's session, which is refused: it does not kick itself
    #[arg(long, env = "YOI_SESSION", value_name = "S", hide_env_values = true)]
    session: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Kicks. A suppressed kick is a refusal (exit 3) unless it was only asked about.
pub fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let session = arguments.session.clone().or_else(|| agent_session().map(|(_, id)| id));
    let caller = Caller { session, name: None };
    let request = Request::Kick { dry_run: arguments.dry_run, caller };
    let answer = context.open()?.call_daemon(&request)?;
    let view: KickView = output::view(answer.clone())?;
    let refused = view.decision != "kick" && !arguments.dry_run;
    let code = if refused { ExitCode::from(3) } else { ExitCode::SUCCESS };
    if arguments.json {
        output::json(&answer)?;
        return Ok(code);
    }
    let would = if arguments.dry_run { "would be: " } else { "" };
    let decision = if view.decision == "kick" { "kick" } else { "no kick" };
    let name = if view.decision == "kick" { String::new() } else { format!("{}, ", view.decision) };
    let mut lines = vec![format!("{would}{decision}: {} ({name}row {})", view.detail, view.row)];
    for (number, item) in view.items.iter().enumerate() {
        lines.push(format!("  {}. {} ({}) {} — {}", number + 1, item.id, item.class, item.title, item.reason));
    }
    if view.left_out > 0 {
        lines.push(format!("  and {} more", view.left_out));
    }
    let kicks = output::count(view.kicks_today, "kick");
    // An empty sum of floats is minus nothing.
    let seconds = view.turn_seconds_today.max(0.0) + 0.0;
    lines.push(format!("today: {kicks}, {seconds:.1} s of turns"));
    output::print(&lines.iter().map(|line| output::harmless(line)).collect::<Vec<_>>().join("\n"))?;
    Ok(code)
}
