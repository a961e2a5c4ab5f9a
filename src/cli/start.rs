//! `yoi start`.
//!
//! Must not know: any rule of its own.

use clap::Args;

use super::caller::By;
use super::claim::{Which, claimed};
use super::{Outcome, context::Context, output};
use crate::api::request::Request;
use crate::api::view::StartView;

/// What the help says below the options.
const MORE: &str = "\
Claims the ticket for a worker, as `yoi claim` does, and makes a worktree for it:
.yoi/worktrees/ID ([worktrees] root) on branch yoi/ID. One that stands already is
used again, by one worker at a time. All of it, or nothing is left: what a start
that was killed had made is undone, or used, by the next one.

  yoi start fix-login
  cd .yoi/worktrees/fix-login
  yoi heartbeat fix-login --worker coder-7k2m9x4q   # within 90 minutes, again and again
  yoi worktree remove fix-login --worker coder-7k2m9x4q

This version runs no program in it: whoever starts a ticket works on it.";

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
    output::answer(context.open()?.call(&Request::Start(request))?, json, |view: &StartView| {
        let how = if view.made { "made" } else { "used again" };
        output::print(&output::harmless(&format!("worktree {how}: {}", view.worktree)))?;
        claimed(&view.claim)
    })
}
