//! `yoi trust`: what the configuration would run, and this user's agreement to it.
//!
//! Must not know: where the agreement is kept.

use std::process::ExitCode;

use chrono::Utc;
use clap::Args;

use super::context::{Context, trust_failed, trust_status};
use super::{Outcome, output};
use crate::adapters::trust;
use crate::api::failure::{Failure, FailureKind};
use crate::api::request::Request;
use crate::api::settings::{CommandView, TrustStatus, TrustView};

/// What the help says below the options.
const MORE: &str = "\
A repository's configuration can name programs, and repositories are cloned and
merged: so its commands take effect only once you have agreed to exactly these,
in this folder. `--show` shows them without agreeing.";

/// Show the commands of the configuration, and agree to them
#[derive(Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    /// Only show them
    #[arg(long)]
    show: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let (workspace, config) = context.settings()?;
    let commands = trust::commands_of(&config);
    let before = context.trust(&workspace, &config)?;
    let mut now = before;
    if !arguments.show && !commands.is_empty() {
        trust::record(&context.environment, &workspace.root, &commands, Utc::now()).map_err(|e| trust_failed(&e))?;
        let read = trust::status(&context.environment, &workspace.root, &commands).map_err(|e| trust_failed(&e))?;
        now = trust_status(read);
        tell_daemon(context)?;
    }
    let commands = commands.into_iter();
    let view = TrustView {
        version: 1,
        workspace: workspace.root.display().to_string(),
        commands: commands.map(|c| CommandView { key: c.key.into_owned(), arguments: c.arguments }).collect(),
        before,
        now,
    };
    if arguments.json {
        output::json(&view)?;
    } else {
        output::print(&text(&view))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A running daemon takes it at once. Without one there is nobody to tell.
fn tell_daemon(context: &Context) -> Result<(), Failure> {
    match context.open()?.call_daemon(&Request::Reload) {
        Err(failure) if failure.kind == FailureKind::DaemonNeeded => Ok(()),
        answer => answer.map(drop),
    }
}

fn text(view: &TrustView) -> String {
    let workspace = output::harmless(&view.workspace);
    if view.now == TrustStatus::NothingToRun {
        return format!("{workspace}: {}", view.now.sentence());
    }
    let mut lines = vec![format!("{workspace} would run:")];
    lines.extend(view.commands.iter().map(|c| format!("  {}  {}", c.key, output::command(&c.arguments))));
    lines.push(match (view.before, view.now) {
        (TrustStatus::Trusted, _) => "trusted already".to_owned(),
        (before, TrustStatus::Trusted) => format!("trusted from now on (before: {})", before.sentence()),
        (_, now) => format!("{}; `yoi trust` agrees to it", now.sentence()),
    });
    lines.join("\n")
}
