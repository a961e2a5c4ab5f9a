//! `yoi doctor`.

use std::process::ExitCode;

use clap::Args;

use super::terminal::{self, Colour};
use super::{Outcome, context::Context, output};
use crate::api::request::Request;
use crate::api::view::{DoctorView, FindingView};

/// Check tickets, configuration and surroundings; writes nothing
#[derive(Args)]
pub struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Checks. Exit 1 if anything does not work; remarks alone are exit 0.
pub fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let app = context.open()?;
    let mut view: DoctorView = output::view(app.call(&Request::Doctor)?)?;
    let (well, findings) = app.look_around();
    view.well.extend(well);
    view.findings.extend(findings);
    view.findings.sort_by(|a, b| (&a.severity, &a.subject, a.line).cmp(&(&b.severity, &b.subject, b.line)));
    let broken = view.findings.iter().any(|finding| finding.severity == "error");
    if arguments.json {
        output::json(&view)?;
    } else {
        let well = view.well.iter().map(|text| line("ok", Colour::Green, text));
        let found = view.findings.iter().map(finding);
        output::print(&well.chain(found).collect::<Vec<_>>().join("\n"))?;
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
