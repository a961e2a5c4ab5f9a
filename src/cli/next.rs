//! `yoi next` and `yoi offer`.
//!
//! Must not know: which tickets are offered.

use std::process::ExitCode;

use clap::Args;

use super::caller::By;
use super::claim::{Which, claimed, hand_over, refuse_untold};
use super::output::remark_lines;
use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
use crate::api::request::{NextRequest, Request};
use crate::api::view::{MoveView, NextView};

/// The exit code of having nothing to do.
const IDLE: u8 = 3;

/// What the help of `next` says below the options.
const LOOP: &str = "\
The highest priority first, within it whatever has been queued for longest. In
pull mode these are queued tickets, in orchestrated mode those that the
Orchestrator has accepted and nobody has claimed since, or that it offers again
(`yoi offer`). With --claim it is yours when this returns; where others were
faster, or a gate holds after all, the next one is tried.

Exit code 0: there is one. 3: idle, with what is held back and why; ask again
later, not at once. 1: something failed (git, the network, the disk): that is
not idle. With --json `idle`, `ticket` and `claim` say the same.

A worker's loop:
  yoi next --claim --json      ticket.id, claim.worker, claim.generation
  export YOI_WORKER=...        claim.worker, for the commands below
  yoi show ID                  what is to be done, and when it is done
  yoi start ID                 makes a worktree for it (claim.worktree_by)
  yoi heartbeat ID             at least every hour, while you work on it
  then one of these, and on with the next:
    yoi close ID               it is done, and this is the evidence
    yoi release ID --outcome pr-opened --pr URL      a pull request waits
    yoi block ID               it cannot go on, and this is in the way
    yoi decompose ID           it is several tickets
    yoi release ID --outcome abandoned --reason TEXT
Any of them that is refused (exit 3) because somebody else holds the ticket now
means: stop working on it.";

/// What the help of `offer` says below the options.
const OFFERING: &str = "\
In orchestrated mode a ticket that a worker has given up, or was not heard of
with, waits for the Orchestrator. This offers it to `yoi next` again: its
acceptance is renewed (accepted_at), and a stale claim of it is broken. In pull
mode tickets return to the queue by themselves.";

/// The next ticket for a worker; --claim: and claim it
#[derive(Args)]
#[command(after_help = LOOP)]
pub struct Arguments {
    /// Claim it
    #[arg(long)]
    claim: bool,
    /// Only tickets of this repository, or of none; several times for several
    #[arg(long, value_name = "REPO")]
    repo: Vec<String>,
    /// Something the worker can do (`requires`); without it nothing is asked of it
    #[arg(long, value_name = "WHAT")]
    can: Vec<String>,
    /// The agent behind the run: the claim is noted under its name
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    by: By,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Offer a ticket to workers again
#[derive(Args)]
#[command(after_help = OFFERING)]
pub struct OfferArguments {
    /// Its exact id
    id: String,
    #[command(flatten)]
    by: By,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Looks for the next ticket.
pub fn next(context: &Context, arguments: Arguments) -> Outcome {
    let Arguments { claim, repo, can, agent, which, by, json } = arguments;
    let who = which.request(String::new(), &by)?;
    if claim {
        refuse_untold(&who)?;
    }
    let request = NextRequest {
        claim,
        repos: repo,
        can,
        worker: who.worker,
        role: who.role,
        ttl: who.ttl,
        pid: who.pid,
        session: who.session,
        local: who.local,
        agent,
        caller: who.caller,
    };
    let (app, local) = (context.open()?, request.local);
    let answer = app.call(&Request::Next(request))?;
    let view: NextView = output::view(answer.clone())?;
    if let Some(claim) = &view.claim {
        let lines =
            if json { vec![output::as_json(&answer)?] } else { [claimed(claim), remark_lines(&view.remarks)].concat() };
        hand_over(&app, claim, local, &lines)?;
    } else {
        output::answer(answer, json, shown)?;
    }
    Ok(if view.idle { ExitCode::from(IDLE) } else { ExitCode::SUCCESS })
}

fn shown(view: &NextView) -> Result<(), Failure> {
    if let Some(ticket) = &view.ticket {
        let state = ticket.state.as_deref().unwrap_or("?");
        let line = format!("{} · {state} · {} · {}", ticket.id, ticket.priority, ticket.path);
        output::print(&output::harmless(&line))?;
        output::print(&output::harmless(&format!("  {}", output::title(&ticket.title))))?;
    } else {
        idle(view)?;
    }
    output::remarks(&view.remarks)
}

fn idle(view: &NextView) -> Result<(), Failure> {
    let none = "nothing is queued, and nothing in progress";
    let why = match view.held_back_count {
        0 => none.to_owned(),
        count => format!("{} held back", output::count(count, "ticket")),
    };
    output::print(&format!("idle: no ticket for this worker; {why}"))?;
    for held in &view.held_back {
        let reasons: Vec<_> = held.reasons.iter().map(|found| found.reason.as_str()).collect();
        output::print(&output::harmless(&format!("  {}: {}", held.id, reasons.join("; "))))?;
    }
    if view.held_back_count > view.held_back.len() {
        output::print(&format!("  and {} more", view.held_back_count - view.held_back.len()))?;
    }
    let counts: Vec<_> = view.counts.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    if !counts.is_empty() {
        output::print(&format!("by reason: {}", counts.join(", ")))?;
    }
    Ok(())
}

/// Offers.
pub fn offer(context: &Context, arguments: OfferArguments) -> Outcome {
    let OfferArguments { id, by, json } = arguments;
    let answer = context.open()?.call(&Request::Offer { id, caller: by.caller() })?;
    output::answer(answer, json, |view: &MoveView| {
        output::print(&output::harmless(&format!("{}: offered to workers", view.id)))?;
        output::remarks(&view.remarks)
    })
}
