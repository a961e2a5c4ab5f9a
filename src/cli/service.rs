//! `yoi daemon`, `up`, `down`, `logs`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;

/// Run the daemon in the foreground
#[derive(Args)]
pub struct DaemonArguments {
    /// The workspace (default: that of the current folder)
    directory: Option<PathBuf>,
    /// Leave the terminal's session: used by `yoi up`
    #[arg(long, hide = true)]
    detached: bool,
    /// A daemon that starts anew: its lock is standard input, with the last good settings
    #[arg(long, hide = true)]
    anew: bool,
}

/// Start the daemon in the background
#[derive(Args)]
pub struct UpArguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Stop the daemon; a running turn and agents at work go on
#[derive(Args)]
pub struct DownArguments {
    /// End the running turn and the Pods that yoi started, too; also where no daemon is running
    #[arg(long)]
    pods: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Print the daemon's log, a turn's (--turn) or a Pod's (--pod)
#[derive(Args)]
pub struct LogsArguments {
    /// The output of this kick's turn; `last` is the newest
    #[arg(long, value_name = "KICK")]
    turn: Option<String>,
    /// The output of this Pod, which `yoi start` began
    #[arg(long, value_name = "POD", conflicts_with = "turn")]
    pod: Option<String>,
    /// Only the last N lines
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200)]
    lines: usize,
}

/// Runs the daemon.
pub fn daemon(context: Context, arguments: DaemonArguments) -> Outcome {
    let context = match arguments.directory {
        Some(directory) => Context { directory: Some(directory), ..context },
        None => context,
    };
    let (app, lock) = if arguments.anew { context.open_anew()? } else { (context.open()?, None) };
    app.run_daemon(arguments.detached, lock)?;
    Ok(ExitCode::SUCCESS)
}

/// Starts it.
pub fn up(context: &Context, arguments: &UpArguments) -> Outcome {
    let started = context.open()?.up()?;
    if arguments.json {
        output::json(&started)?;
    } else {
        let how = if started.already { "is running already" } else { "runs" };
        output::print(&output::harmless(&format!("the daemon {how} (pid {}) for {}", started.pid, started.workspace)))?;
        for obstacle in &started.obstacles {
            output::print(&output::harmless(&format!("  {obstacle}")))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Stops it.
pub fn down(context: &Context, arguments: &DownArguments) -> Outcome {
    let stopped = context.open_as_it_is()?.down(arguments.pods)?;
    if arguments.json {
        output::json(&stopped)?;
        return Ok(ExitCode::SUCCESS);
    }
    match stopped.pid {
        Some(pid) => output::print(&format!("the daemon (pid {pid}) has stopped"))?,
        None => output::print("the daemon was not running")?,
    }
    for lost in &stopped.unkept {
        output::print(&output::harmless(&format!("not kept: {lost}")))?;
    }
    for kick in &stopped.ended_turns {
        output::print(&output::harmless(&format!("the turn of kick {kick} was ended")))?;
    }
    for pod in &stopped.ended_pods {
        output::print(&output::harmless(&format!("{pod} was ended")))?;
    }
    for kick in &stopped.turns {
        let end = "the next daemon takes it over, `yoi down --pods` ends it";
        output::print(&output::harmless(&format!("the turn of kick {kick} goes on: {end}")))?;
    }
    if stopped.pods > 0 {
        let why = if arguments.pods { ": yoi ends only what it has started (`yoi pod list` names them)" } else { "" };
        output::print(&format!("{} left running{why}", output::count(stopped.pods, "Pod")))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints a log.
pub fn logs(context: &Context, arguments: &LogsArguments) -> Outcome {
    let app = context.open_as_it_is()?;
    let path = app.log(arguments.turn.as_deref(), arguments.pod.as_deref())?;
    let text = std::fs::read(&path).map_err(|error| {
        Failure::failed(format!("{}: {error}", path.display())).hint("has the daemon run in this workspace?")
    })?;
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().collect();
    if lines.is_empty() {
        output::aside(&format!("({} is empty: nothing was printed)", output::harmless(&path.display().to_string())));
        return Ok(ExitCode::SUCCESS);
    }
    let shown = &lines[lines.len().saturating_sub(arguments.lines)..];
    output::verbatim(&shown.iter().map(|line| output::harmless_line(line) + "\n").collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}
