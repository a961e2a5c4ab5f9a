//! `yoi doctor`.

use std::process::ExitCode;

use clap::Args;

use super::caller::By;
use super::terminal::{self, Colour};
use super::{Outcome, context::Context, output};
use crate::api::request::Request;
use crate::api::view::{DoctorView, FindingView, VERSION};

/// What the help says below the options.
const MORE: &str = "\
Without --fix nothing is written. --fix stamps queued tickets that have no
queued_at, completes .yoi/.gitignore, closes an open state folder, moves a
damaged store aside, and packs claims by the thousand. It deletes nothing.";

/// Check tickets, configuration and surroundings; --fix: mend
#[derive(Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    /// Mend what can be mended
    #[arg(long)]
    fix: bool,
    #[command(flatten)]
    by: By,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Checks. Exit 1 if anything does not work; remarks alone are exit 0.
pub fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let app = context.open_to_look()?;
    // First what everything else rests on.
    let around = app.look_around(arguments.fix);
    let request = Request::Doctor { fix: arguments.fix, caller: arguments.by.caller() };
    let mut view = match app.call(&request) {
        Ok(answer) => output::view(answer)?,
        // Why the tickets cannot be read is among what was found around them.
        Err(_) if around.keeps_from_reading() => DoctorView { version: VERSION, ..DoctorView::default() },
        Err(failure) => return Err(failure),
    };
    view.well.extend(around.well);
    view.findings.extend(around.findings);
    view.fixed.extend(around.fixed);
    view.findings.sort_by(|a, b| (&a.severity, &a.subject, a.line).cmp(&(&b.severity, &b.subject, b.line)));
    // The daemon and this process look at the same folder.
    view.findings.dedup();
    let broken = view.findings.iter().any(|finding| finding.severity == "error");
    if arguments.json {
        output::json(&view)?;
    } else {
        let well = view.well.iter().map(|text| line("ok", Colour::Green, text));
        let fixed = view.fixed.iter().map(|text| line("fixed", Colour::Green, text));
        let found = view.findings.iter().map(finding);
        output::print(&well.chain(fixed).chain(found).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn finding(finding: &FindingView) -> String {
    let place = output::place(&finding.subject, finding.line, finding.column);
    let colour = if finding.severity == "error" { Colour::Red } else { Colour::Yellow };
    line(&finding.severity, colour, &format!("{place}: {}", finding.message))
}

fn line(severity: &str, colour: Colour, text: &str) -> String {
    let severity = output::harmless(&terminal::filled(severity, 7));
    format!("{} {}", terminal::paint(colour, &severity), output::harmless(text))
}
