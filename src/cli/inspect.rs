//! `yoi inspect`: what yoi reads from files, wherever they lie.
//!
//! Must not know: workspaces, configuration; how a file is read.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::Outcome;
use super::output::harmless;
use crate::adapters::files;
use crate::adapters::ticket_folder::id_of;
use crate::api::inspect::{InspectStatus, Inspection, Remark};
use crate::domain::ticket::Diagnostic;
use crate::text::crosscheck;
use crate::text::document::{Contents, Document, Field, Text};
use crate::text::keys::KeyMap;
use crate::text::read::problems;
use crate::text::slice::newline_kind;

/// Show what yoi reads from files, wherever they lie.
#[derive(Args)]
pub struct Arguments {
    /// One JSON object a line, one for each file.
    #[arg(long)]
    json: bool,
    /// The files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// Prints one inspection a file; exit 1 if any file is invalid.
pub fn run(arguments: &Arguments) -> Outcome {
    let mut invalid = false;
    for file in &arguments.files {
        let inspection = inspect(file);
        invalid |= inspection.status == InspectStatus::Invalid;
        let text = if arguments.json { super::output::json_line(&inspection) } else { for_people(&inspection) };
        super::output::verbatim(&text)?;
    }
    Ok(if invalid { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn inspect(file: &Path) -> Inspection {
    let mut inspection = blank(file);
    match files::read(file) {
        Ok(bytes) => fill(&mut inspection, &bytes),
        Err(error) => {
            let absent = error.kind() == io::ErrorKind::NotFound;
            let message = if absent { "there is no such file".into() } else { error.to_string() };
            fail(&mut inspection, Diagnostic { line: 0, column: 0, message });
        }
    }
    inspection
}

fn blank(file: &Path) -> Inspection {
    Inspection {
        version: 1,
        file: file.to_string_lossy().into_owned(),
        id: id_of(file).to_string(),
        status: InspectStatus::Ticket,
        title: None,
        state: None,
        labels: Vec::new(),
        depends_on: Vec::new(),
        created_at: None,
        updated_at: None,
        queued_at: None,
        body_start: None,
        bom: false,
        newline: "none".into(),
        problems: Vec::new(),
        error: None,
    }
}

fn fail(inspection: &mut Inspection, error: Diagnostic) {
    inspection.status = InspectStatus::Invalid;
    inspection.error = Some(remark(error));
}

fn remark(d: Diagnostic) -> Remark {
    Remark { line: d.line, column: d.column, message: d.message }
}

fn fill(inspection: &mut Inspection, bytes: &[u8]) {
    inspection.bom = bytes.starts_with(b"\xef\xbb\xbf");
    newline_kind(bytes).clone_into(&mut inspection.newline);
    let whole = |message: String| Remark { line: 1, column: 1, message };
    match Document::read(bytes) {
        Contents::Document(document) => {
            fill_ticket(inspection, &document);
            inspection.problems.extend(problems(bytes, &KeyMap::default()).into_iter().map(remark));
            inspection.problems.extend(crosscheck::remark(&document).map(whole));
        }
        Contents::NoFrontmatter(why) => {
            inspection.status = InspectStatus::NoFrontmatter;
            inspection.body_start = Some(if inspection.bom { 3 } else { 0 });
            inspection.problems.extend(why.map(whole));
        }
        Contents::Unsupported(what) => {
            inspection.status = InspectStatus::Unsupported;
            inspection.problems.push(whole(what));
        }
        Contents::Invalid(error) => fail(inspection, error),
    }
}

fn fill_ticket(inspection: &mut Inspection, document: &Document) {
    let one = |key: &str| match document.field(key) {
        Field::Text(text) => Some(text.text),
        _ => None,
    };
    let list = |key: &str| document.list(key).0.into_iter().map(|item: Text| item.text).collect();
    inspection.title = one("title");
    inspection.state = one("state");
    inspection.labels = list("labels");
    inspection.depends_on = list("depends_on");
    inspection.created_at = one("created_at");
    inspection.updated_at = one("updated_at");
    inspection.queued_at = one("queued_at");
    inspection.body_start = Some(document.slice.body_start);
}

fn for_people(inspection: &Inspection) -> String {
    let status = match inspection.status {
        InspectStatus::Ticket => "ticket",
        InspectStatus::NoFrontmatter => "no frontmatter",
        InspectStatus::Unsupported => "unsupported",
        InspectStatus::Invalid => "invalid",
    };
    let mut lines = vec![harmless(&inspection.file)];
    let mut row = |name: &str, value: &str| {
        if !value.is_empty() {
            lines.push(format!("  {name:<11} {}", harmless(value)));
        }
    };
    row("id", &inspection.id);
    row("status", status);
    row("title", inspection.title.as_deref().unwrap_or_default());
    row("state", inspection.state.as_deref().unwrap_or_default());
    row("labels", &inspection.labels.join(", "));
    row("depends on", &inspection.depends_on.join(", "));
    row("created at", inspection.created_at.as_deref().unwrap_or_default());
    row("updated at", inspection.updated_at.as_deref().unwrap_or_default());
    row("queued at", inspection.queued_at.as_deref().unwrap_or_default());
    row("body", &inspection.body_start.map(|n| format!("from byte {n}")).unwrap_or_default());
    row(
        "lines end",
        &format!("{}{}", inspection.newline, if inspection.bom { ", with a byte order mark" } else { "" }),
    );
    for problem in &inspection.problems {
        row("problem", &placed(problem));
    }
    if let Some(error) = &inspection.error {
        row("error", &placed(error));
    }
    lines.join("\n") + "\n"
}

fn placed(remark: &Remark) -> String {
    if remark.line == 0 {
        return remark.message.clone();
    }
    format!("line {}, column {}: {}", remark.line, remark.column, remark.message)
}
