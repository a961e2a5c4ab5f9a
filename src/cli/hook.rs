//! `yoi hook`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::{Outcome, agent_hook, context::Context, output};
use crate::adapters::ancestry::{self, Ancestry};
use crate::adapters::environment::agent_session;
use crate::api::failure::Failure;
use crate::api::request::{HookRequest, Request};
use crate::api::view::HookView;
use crate::text::agent_hook::{Fields, fields};

/// What the help says below the options.
const MOMENTS: &str = "\
yoi hook claude-code                    for Claude Code's own hooks: its JSON on
yoi hook codex                          standard input; see docs/orchestrating.md
yoi hook busy --role coder --ticket ID --pid N   a worker is at it: the ticket
                                        is active while process N lives
yoi hook idle --role coder --pid N      it waits for a word
yoi hook gone --role coder --pid N      it has ended; so does the process's end
yoi hook panel-open                     somebody looks: consider a kick

An Orchestrator that no command runs reports itself, with --session S:
orchestrator-spawn, orchestrator-restore, busy, idle, turn-failed, gone,
rate-limited --retry-after S, interrupted, active. With --take-list the answer
is the list of what it has to decide, if there is something. With `-` further
fields come as JSON on standard input: session_id, stop_hook_active,
background_tasks, agent_id, reason, retry_after.

`yoi hook` never exits with 2, which agents take for a veto.";

/// Report that an agent is busy, idle or gone, or a panel opened
#[derive(Args)]
#[command(after_help = MOMENTS)]
pub struct Arguments {
    /// claude-code, codex, panel-open, busy, idle, gone, ...
    pub event: String,
    /// The agent's JSON, or `-`: it comes on standard input (claude-code, codex: always)
    #[arg(value_name = "JSON")]
    pub input: Option<String>,
    /// The reporting session
    #[arg(long, env = "YOI_SESSION", value_name = "S", hide_env_values = true)]
    pub session: Option<String>,
    /// The Pod's role: coder, reviewer, ...
    #[arg(long, value_name = "R")]
    pub role: Option<String>,
    /// The ticket it works on
    #[arg(long, value_name = "ID")]
    ticket: Option<String>,
    /// The agent behind it
    #[arg(long, value_name = "A")]
    agent: Option<String>,
    /// Its process: the Pod, or the session, is live while this process is
    #[arg(long, value_name = "N")]
    pub pid: Option<u32>,
    /// With rate-limited: how long not to be kicked
    #[arg(long, value_name = "SECONDS")]
    retry_after: Option<u64>,
    /// With turn-failed: why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Print the list of what is to be decided, which counts as handed over
    #[arg(long)]
    take_list: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Reports.
pub fn run(directory: Option<PathBuf>, arguments: Arguments) -> Outcome {
    if matches!(arguments.event.as_str(), "claude-code" | "codex") {
        return Ok(agent_hook::run(directory, arguments));
    }
    let context = Context::new(directory)?;
    let said = match &arguments.input {
        Some(_) => agent_hook::input(&arguments).and_then(|bytes| fields(&bytes)).map_err(Failure::usage)?,
        None => Fields::default(),
    };
    let given = arguments.input.is_some();
    let Arguments { event, session, role, ticket, agent, pid, retry_after, reason, take_list, json, input: _ } =
        arguments;
    // A sub-agent's moments are no more than a sign that the session lives.
    let event = if said.beside { "alive".into() } else { event };
    let session = session.or(said.session);
    let of_session = role.is_none() && matches!(event.as_str(), "orchestrator-spawn" | "orchestrator-restore");
    // Where it comes from tells nothing of a role's Pod.
    let Ancestry { agent: above, pids, .. } = match role {
        Some(_) => Ancestry::default(),
        None if of_session => ancestry::of_session(pid).map_err(Failure::refused)?,
        None => ancestry::of(pid),
    };
    let request = Request::Hook(HookRequest {
        session: session.or_else(|| agent_session().map(|(_, id)| id)),
        // A session without a process could never be found to have ended.
        pid: pid.or_else(|| above.filter(|_| of_session)),
        found: pid.is_none(),
        ancestors: pids,
        event,
        role,
        ticket,
        agent,
        retry_after: retry_after.or(said.retry_after),
        reason: reason.or(said.reason),
        takes_list: take_list && !said.continued,
        first: given && !said.continued,
        background: said.background,
        confirms: take_list,
        ..HookRequest::default()
    });
    let app = context.open()?;
    let answer = app.call_daemon(&request)?;
    let view: HookView = output::view(answer.clone())?;
    let kick = agent_hook::kick_of(&view);
    if json {
        output::json(&answer)?;
        agent_hook::confirm(app, kick);
        return Ok(ExitCode::SUCCESS);
    }
    match view.list {
        Some(list) if output::offer(&list)? => agent_hook::confirm(app, kick),
        Some(_) => {}
        None if take_list => {}
        None => output::print(&output::harmless(&view.done))?,
    }
    // Beside what may be a list for an agent.
    for remark in &view.remarks {
        output::aside(&output::harmless(remark));
    }
    Ok(ExitCode::SUCCESS)
}
