//! `yoi claim`, `yoi heartbeat` and `yoi release`.
//!
//! Must not know: any rule of its own.

use std::process::ExitCode;

use chrono::TimeDelta;
use clap::Args;

use super::caller::By;
use super::{Outcome, context::Context, output};
use crate::adapters::{ancestry, environment};
use crate::api::failure::Failure;
use crate::api::request::{ClaimRequest, HolderRequest, ReleaseRequest, Request};
use crate::api::view::{BeatView, ClaimView, MoveView};
use crate::app::App;
use crate::text::duration;

/// What the help of `claim` says below the options.
const CLAIMING: &str = "\
Of any number of workers that claim a ticket at once one wins; the others exit
with 3 and are told who holds it. A claim holds for 90 minutes ([claims] ttl)
after its last `yoi heartbeat`; two minutes later others may take it, and then
every command of the former holder is refused.

`yoi start` makes a worktree for the work: of a ticket that this run has claimed,
or of one that it claims with that.

In pull mode a queued ticket is accepted by it, behind every gate; in
orchestrated mode only what `yoi accept` has accepted can be claimed.

With [claims] remote that git server says whose it is. Where it cannot be asked
nothing is claimed (exit 1); --local claims for this machine alone, and whoever
claims the ticket at the remote before that hears of it has it instead.

It prints the worker's name, which every later command of that worker takes:
  yoi claim fix-login
  export YOI_WORKER=coder-7k2m9x4q   # or --worker with each command
  yoi heartbeat fix-login
  yoi release fix-login --outcome pr-opened --pr https://example.org/pull/7";

/// What the help of `release` says below the options.
const RELEASING: &str = "\
abandoned  nothing came of it. In pull mode the ticket enters the queue again,
           in orchestrated mode the Orchestrator decides
pr-opened  a pull request waits (--pr URL): nobody is offered the ticket until
           it is done or closed, or `pr` is taken out of its file
done       it is done; `yoi close` then records the evidence";

/// Claim a ticket: no other worker gets it meanwhile
#[derive(Args)]
#[command(after_help = CLAIMING)]
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

/// Who claims, and for how long.
#[derive(Args)]
pub struct Which {
    /// A name for this run, used once (default: YOI_WORKER, else one is made up and printed)
    #[arg(long, env = "YOI_WORKER", value_name = "W", hide_env_values = true)]
    worker: Option<String>,
    /// What it is (default: YOI_ROLE, else coder)
    #[arg(long, env = "YOI_ROLE", value_name = "ROLE", hide_env_values = true)]
    role: Option<String>,
    /// How long it holds without a heartbeat (default: [claims] ttl)
    #[arg(long, value_name = "DURATION")]
    ttl: Option<String>,
    /// The process that holds it (default: the nearest one above this that is no shell)
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// Where [claims] remote cannot be asked: for this machine alone (docs/workers.md)
    #[arg(long)]
    local: bool,
}

/// The holder of a claim.
#[derive(Args)]
pub struct Held {
    /// The exact id of the ticket
    id: String,
    /// The worker's name, as `yoi claim` printed it (default: YOI_WORKER)
    #[arg(long, env = "YOI_WORKER", value_name = "W", hide_env_values = true)]
    worker: String,
    /// Which of its claims (default: YOI_GENERATION, if YOI_TICKET is this ticket; else whichever it holds)
    #[arg(long, value_name = "N")]
    generation: Option<u64>,
    /// Where [claims] remote cannot be asked: for this machine alone (docs/workers.md)
    #[arg(long)]
    local: bool,
}

/// A sign of life: the claim holds for its whole time again
#[derive(Args)]
pub struct HeartbeatArguments {
    #[command(flatten)]
    held: Held,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Give a claim up, with what became of it
#[derive(Args)]
#[command(after_help = RELEASING)]
pub struct ReleaseArguments {
    #[command(flatten)]
    held: Held,
    /// abandoned, pr-opened or done
    #[arg(long, value_name = "OUTCOME")]
    outcome: String,
    /// With pr-opened: the pull request
    #[arg(long, value_name = "URL")]
    pr: Option<String>,
    /// Why, for the ticket's thread
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    by: By,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Which {
    /// On the wire.
    pub fn request(self, id: String, by: &By) -> Result<ClaimRequest, Failure> {
        let seconds = |text: &String| duration::parse(text).map(|ttl: TimeDelta| ttl.num_seconds());
        let ttl = self.ttl.as_ref().map(seconds).transpose().map_err(|why| Failure::usage(format!("--ttl: {why}")))?;
        let caller = by.caller();
        Ok(ClaimRequest {
            id,
            worker: self.worker,
            role: self.role,
            ttl,
            pid: self.pid.unwrap_or_else(nearest),
            session: caller.session.clone(),
            own: ancestry::of(None).pids.into_iter().chain([std::process::id()]).collect(),
            local: self.local,
            caller,
        })
    }
}

/// A name that was made up is known by what is printed alone.
pub fn refuse_untold(request: &ClaimRequest) -> Result<(), Failure> {
    if request.worker.is_some() || !environment::discards_output() {
        return Ok(());
    }
    Err(Failure::usage(
        "nobody would be told the worker's name: standard output is closed, or /dev/null; nothing was claimed",
    )
    .hint("give the run a name of its own: --worker W, or YOI_WORKER"))
}

/// The agent's process; the shell's where there is none, and not this command's own, which is gone at once.
fn nearest() -> u32 {
    let above = ancestry::of(None);
    above.agent.or_else(|| above.pids.first().copied()).unwrap_or_else(std::process::id)
}

impl Held {
    /// On the wire.
    pub fn request(self) -> Result<HolderRequest, Failure> {
        let generation = generation(self.generation, &self.id)?;
        Ok(HolderRequest { id: self.id, worker: self.worker, generation, local: self.local })
    }
}

/// As it was said, else as the process was told.
pub fn generation(said: Option<u64>, id: &str) -> Result<Option<u64>, Failure> {
    if said.is_some() { Ok(said) } else { environment::generation_of(id).map_err(Failure::usage) }
}

/// Claims.
pub fn claim(context: &Context, arguments: Arguments) -> Outcome {
    let Arguments { id, which, by, json } = arguments;
    let request = which.request(id, &by)?;
    refuse_untold(&request)?;
    let (app, local) = (context.open()?, request.local);
    let answer = app.call(&Request::Claim(request))?;
    let view: ClaimView = output::view(answer.clone())?;
    let lines = if json { vec![output::as_json(&answer)?] } else { claimed(&view) };
    hand_over(&app, &view, local, &lines)?;
    Ok(ExitCode::SUCCESS)
}

/// What a worker reads of its claim.
pub fn claimed(view: &ClaimView) -> Vec<String> {
    let state = view.state.as_deref().unwrap_or("?");
    let mut lines = vec![
        format!(
            "{} is claimed by {} until {}; others respect that until {}",
            view.id, view.worker, view.own_end, view.until
        ),
        format!("  {}", view.title),
        format!("  {}, {state}; branch {}; generation {}", view.path, view.branch, view.generation),
    ];
    lines.extend(view.broken.as_ref().map(|prior| format!("  the stale claim of {prior} was broken for it")));
    lines.extend(view.worktree_by.as_ref().map(|command| format!("  {command} makes a worktree for it")));
    lines.push(format!("  further commands take --worker {0}, or YOI_WORKER={0}", view.worker));
    lines.iter().map(|line| output::harmless(line)).chain(output::remark_lines(&view.remarks)).collect()
}

/// Prints what a worker has to know of its new claim. One that nobody was told of would keep everybody from the ticket: it is
/// given back.
pub fn hand_over(app: &App, claim: &ClaimView, local: bool, lines: &[String]) -> Result<(), Failure> {
    let Err(failure) = output::deliver(lines) else { return Ok(()) };
    let ClaimView { id, worker, generation, .. } = claim;
    Err(match app.call(&Request::Release(ReleaseRequest::untold(claim, local))) {
        Ok(_) => failure.evidence([format!("`{id}` was claimed for {worker}, and the claim was given back")]),
        Err(error) => failure
            .evidence([format!(
                "`{id}` is claimed by {worker} (generation {generation}), and could not be given back: {error}"
            )])
            .hint(format!("`yoi release {id} --worker {worker} --outcome abandoned` ends the claim")),
    })
}

/// Beats.
pub fn heartbeat(context: &Context, arguments: HeartbeatArguments) -> Outcome {
    let answer = context.open()?.call(&Request::Heartbeat(arguments.held.request()?))?;
    output::answer(answer, arguments.json, |view: &BeatView| {
        let BeatView { id, worker, own_end, until, .. } = view;
        output::print(&output::harmless(&format!(
            "{id} is held by {worker} until {own_end}; others respect that until {until}"
        )))
    })
}

/// Releases.
pub fn release(context: &Context, arguments: ReleaseArguments) -> Outcome {
    let ReleaseArguments { held, outcome, pr, reason, by, json } = arguments;
    let request = ReleaseRequest { holder: held.request()?, outcome: outcome.clone(), pr, reason, caller: by.caller() };
    output::answer(context.open()?.call(&Request::Release(request))?, json, |view: &MoveView| {
        output::print(&output::harmless(&format!("{}: released as {outcome}{}", view.id, moved(view))))?;
        output::remarks(&view.remarks)
    })
}

/// What the end of a claim did to the ticket's state.
fn moved(view: &MoveView) -> String {
    match (&view.from, &view.to) {
        _ if view.path.is_empty() => String::new(),
        (from, to) if from == to => format!("; still {}", to.as_deref().unwrap_or("?")),
        (from, to) => format!("; {} -> {}", from.as_deref().unwrap_or("?"), to.as_deref().unwrap_or("?")),
    }
}
