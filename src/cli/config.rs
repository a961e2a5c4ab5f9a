//! `yoi config`: the effective settings, and where each came from.
//!
//! Must not know: how a setting is read.

use std::process::ExitCode;

use clap::Args;

use super::context::Context;
use super::{Outcome, output};
use crate::adapters::workspace::ChosenBy;
use crate::api::settings::{ConfigView, SettingView, SourceView, TrustStatus};
use crate::config::{FILE, Source};

/// The keys that hold commands, besides those of roles.
const RUN: [&str; 4] =
    ["orchestrator.command", "orchestrator.wake", "worktrees.after_create", "worktrees.before_remove"];

/// Print the effective settings and where each came from
#[derive(Args)]
pub struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let (workspace, config) = context.settings()?;
    let settings = config.settings.iter().map(|setting| SettingView {
        key: setting.key.clone(),
        value: setting.value.clone(),
        source: match setting.source {
            Source::Default => SourceView::Default,
            Source::File { line } => SourceView::File { line },
        },
    });
    let view = ConfigView {
        version: 1,
        workspace: workspace.root.display().to_string(),
        workspace_source: chosen_by(workspace.chosen_by),
        state_dir: workspace.state_dir.display().to_string(),
        settings: settings.collect(),
        trust: context.trust(&workspace, &config)?,
    };
    if arguments.json {
        output::json(&view)?;
    } else {
        let source = words(&view.workspace_source);
        output::print(&output::harmless(&format!("workspace     {} ({source})", view.workspace)))?;
        output::print(&output::harmless(&format!("state folder  {}", view.state_dir)))?;
        output::table(&rows(&view), output::names)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn chosen_by(chosen_by: ChosenBy) -> SourceView {
    match chosen_by {
        ChosenBy::Option => SourceView::Option { option: "-C".to_owned() },
        ChosenBy::Variable => SourceView::Environment { variable: "YOI_WORKSPACE".to_owned() },
        ChosenBy::CurrentFolder => SourceView::CurrentFolder,
    }
}

fn rows(view: &ConfigView) -> Vec<[String; 3]> {
    let off = matches!(view.trust, TrustStatus::NeverTrusted | TrustStatus::Changed);
    let row = |setting: &SettingView| {
        let mut source = words(&setting.source);
        if off && runs(&setting.key) && setting.value != "[]" {
            source = format!("{source} ({}; see `yoi trust`)", view.trust.sentence());
        }
        [setting.key.clone(), setting.value.clone(), source]
    };
    view.settings.iter().map(row).collect()
}

/// Whether a key holds what yoi would run: that takes effect once trusted.
fn runs(key: &str) -> bool {
    let of_role = key.starts_with("roles.") && key.ends_with(".command");
    of_role || RUN.contains(&key)
}

fn words(source: &SourceView) -> String {
    match source {
        SourceView::Default => "default".to_owned(),
        SourceView::File { line } => format!("{FILE}:{line}"),
        SourceView::Environment { variable } => format!("from {variable}"),
        SourceView::Option { option } => format!("from {option}"),
        SourceView::CurrentFolder => "from the current folder".to_owned(),
    }
}
