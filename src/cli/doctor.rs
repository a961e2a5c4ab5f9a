//! `yoi doctor`.

use std::process::ExitCode;

use clap::Args;

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
        let mut lines: Vec<_> = view.well.iter().map(|line| format!("ok      {line}")).collect();
        lines.extend(view.findings.iter().map(line));
        output::print(&lines.iter().map(|line| output::harmless(line)).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn line(finding: &FindingView) -> String {
    let place = output::place(&finding.subject, finding.line, finding.column);
    format!("{:<7} {place}: {}", finding.severity, finding.message)
}
