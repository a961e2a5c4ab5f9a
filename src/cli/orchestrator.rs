//! `yoi orchestrator`: for an Orchestrator that no command runs, and to begin its session anew.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::caller::InSession;
use super::{Outcome, context::Context, output};
use crate::adapters::ancestry;
use crate::adapters::environment::agent_session;
use crate::api::failure::Failure;
use crate::api::request::{Request, SessionRequest};
use crate::app::App;

/// What the help says below the commands.
const MORE: &str = "\
Without [orchestrator] command the Orchestrator is whoever registers: an agent
whose hooks call `yoi hook claude-code` (started with YOI_ROLE=orchestrator, or
attached), or a program of your own that reads `yoi orchestrator watch` and
reports `yoi hook idle --session S` after each line. docs/orchestrating.md.";

/// Be the Orchestrator: attach a session, read kicks, begin anew
#[derive(Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make the agent session that this runs in the Orchestrator's
    Attach {
        #[command(flatten)]
        which: Which,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Register, and print one JSON line a kick until somebody ends it
    Watch(Which),
    /// Begin the Orchestrator's session anew: nothing is noted, all is new
    Reset {
        #[command(flatten)]
        session: InSession,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct Which {
    #[command(flatten)]
    session: InSession,
    /// Its process (default: the nearest one above that is no shell)
    #[arg(long, value_name = "N")]
    pid: Option<u32>,
}

impl Which {
    fn process(&self) -> Result<Option<u32>, Failure> {
        self.pid.map_or_else(|| ancestry::agent_process().map_err(Failure::refused), |pid| Ok(Some(pid)))
    }
}

/// Runs one of them.
pub fn run(context: &Context, arguments: Arguments) -> Outcome {
    match arguments.command {
        Command::Attach { which, json } => attach(&context.open()?, &which, json),
        Command::Watch(which) => watch(&context.open()?, &which),
        Command::Reset { session, json } => {
            output::done(context.open()?.call_daemon(&Request::Reset { caller: session.caller() })?, json)
        }
    }
}

fn attach(app: &App, which: &Which, json: bool) -> Outcome {
    let Some(id) = which.session.id() else {
        return Err(Failure::usage("this runs in no agent session that says which one it is")
            .hint("run it inside the agent (in Claude Code: `!yoi orchestrator attach`), or give --session S"));
    };
    let request = SessionRequest {
        session: id,
        pid: which.process()?,
        agent: agent_session().map(|(agent, _)| agent.to_owned()),
    };
    output::done(app.call_daemon(&Request::Attach(request))?, json)
}

fn watch(app: &App, which: &Which) -> Outcome {
    let id = which.session.id().unwrap_or_else(|| format!("w-{}-{:08x}", std::process::id(), App::random()));
    // Its own process: the session is gone with the reader.
    let pid = Some(which.pid.unwrap_or_else(std::process::id));
    let mut going = Ok(true);
    let to_the_end = app.watch(&SessionRequest { session: id, pid, agent: None }, |line| {
        going = output::offer(&format!("{line}\n"));
        matches!(going, Ok(true))
    })?;
    if going? && !to_the_end {
        return Err(Failure::daemon_needed("the daemon has ended, and the session with it"));
    }
    Ok(ExitCode::SUCCESS)
}
