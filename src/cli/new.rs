//! `yoi new`.

use std::process::ExitCode;

use clap::Args;

use super::caller::By;
use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
use crate::api::request::Request;
use crate::api::view::NewView;
use crate::app::App;
use crate::domain::ticket::{Priority, State};
use crate::text::draft::{Draft, slug};

/// Write a new ticket: a readable id, frontmatter, an empty body
#[derive(Args)]
pub struct Arguments {
    /// Its title
    title: String,
    /// planning, ready or queued
    #[arg(long, value_name = "STATE", default_value = "planning")]
    state: String,
    /// P0 (highest) to P4
    #[arg(long, value_name = "P", default_value = "P2")]
    priority: String,
    /// A label; may be given several times
    #[arg(long = "label", value_name = "L")]
    labels: Vec<String>,
    #[command(flatten)]
    by: By,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Writes it.
pub fn run(context: &Context, arguments: Arguments) -> Outcome {
    let Arguments { title, state, priority, labels, by, json } = arguments;
    if title.trim().is_empty() {
        return Err(Failure::usage("a ticket needs a title").hint("yoi new \"Login fails on Safari\""));
    }
    let state: State = state.parse().map_err(Failure::usage)?;
    if !matches!(state, State::Planning | State::Ready | State::Queued) {
        return Err(Failure::refused(format!("a new ticket is planning, ready or queued, not {state}"))
            .hint("write it first; the lifecycle takes it further"));
    }
    let priority: Priority = priority.parse().map_err(Failure::usage)?;
    let app = context.open()?;
    let queued_by = by.by.clone().unwrap_or_else(|| app.user_name());
    let keys = app.keys();
    let draft =
        Draft { title: &title, state, priority, labels: &labels, now: app.now(), queued_by: &queued_by, keys: &keys };
    let id = slug(&title, App::random());
    let request = Request::New { id, text: draft.text(), caller: by.caller() };
    let answer = app.call(&request)?;
    if json {
        output::json(&answer)?;
    } else {
        let view: NewView = output::view(answer)?;
        output::print(&output::harmless(&format!("{}  {}", view.id, view.path)))?;
    }
    Ok(ExitCode::SUCCESS)
}
