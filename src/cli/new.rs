//! `yoi new`.

use clap::Args;

use super::caller::By;
use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
use crate::api::request::Request;
use crate::api::view::NewView;
use crate::app::App;
use crate::text::draft::slug;

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
    let app = context.open()?;
    let id = slug(&title, App::random());
    let request = Request::New { id, title, state, priority, labels, caller: by.caller() };
    output::answer(app.call(&request)?, json, |view: &NewView| {
        output::print(&output::harmless(&format!("{}  {}", view.id, view.path)))
    })
}
