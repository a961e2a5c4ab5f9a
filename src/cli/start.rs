//! `yoi start`.
//!
//! Must not know: any rule of its own.

use std::process::ExitCode;

use clap::Args;

use super::caller::By;
use super::claim::{self, Which};
use super::{Outcome, context::Context, output};
use crate::api::request::Request;
use crate::api::view::{ClaimView, StartView, StartedPod};

/// What the help says below the options.
const MORE: &str = "\
Claims the ticket for a worker, as `yoi claim` does, and makes a worktree for it:
.yoi/worktrees/ID ([worktrees] root) on branch yoi/ID. One that stands already is
used again, by one worker at a time. All of it, or nothing is left: what a start
that was killed had made is undone, or used, by the next one. Whoever has claimed
the ticket already (under this name, in this process) keeps that claim.

  yoi start fix-login
  cd .yoi/worktrees/fix-login
  yoi heartbeat fix-login --worker coder-7k2m9x4q   # within 90 minutes, again and again
  yoi worktree remove fix-login --worker coder-7k2m9x4q

Where the role has a command ([roles.coder] command, trusted), that runs in the
worktree, under a supervisor that keeps its claim, its log and its limits, and
that goes on when the daemon does not; the ticket goes to its standard input.
`yoi pod list` shows it, `yoi logs --pod POD` what it printed. Without a command
whoever starts the ticket works on it.";

/// Claim a ticket, and make a worktree to work on it in
#[derive(Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    /// Its exact id
    id: String,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    by: By,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Starts.
pub fn run(context: &Context, arguments: Arguments) -> Outcome {
    let Arguments { id, which, by, json } = arguments;
    let request = which.request(id, &by)?;
    let (app, local) = (context.open()?, request.local);
    let answer = app.call(&Request::Start(request))?;
    let view: StartView = output::view(answer.clone())?;
    let lines = if json { vec![output::as_json(&answer)?] } else { started(&view) };
    // A program keeps its claim itself, and who had one before knows of it.
    if view.pod.is_some() || view.held_before {
        output::deliver(&lines)?;
    } else {
        let stays = || [format!("the worktree {} stays, and the next start of the ticket uses it", view.worktree)];
        claim::hand_over(&app, &view.claim, local, &lines).map_err(|failure| failure.evidence(stays()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn started(view: &StartView) -> Vec<String> {
    let how = if view.made { "made" } else { "used again" };
    let mut lines = vec![output::harmless(&format!("worktree {how}: {}", view.worktree))];
    lines.extend(match &view.pod {
        None => claim::claimed(&view.claim),
        Some(pod) => begun(&view.claim, pod),
    });
    lines
}

/// What a person reads of a program that works now.
fn begun(claim: &ClaimView, pod: &StartedPod) -> Vec<String> {
    let pid = pod.pid.map(|pid| format!(", pid {pid}")).unwrap_or_default();
    let lines = [
        format!("{} is claimed by {}: {} ({}{pid}) works on it", claim.id, claim.worker, pod.id, claim.role),
        format!("  {}", claim.title),
        format!("  log {}", pod.log),
    ];
    lines.iter().map(|line| output::harmless(line)).chain(output::remark_lines(&claim.remarks)).collect()
}
