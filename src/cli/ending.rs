//! What `block`, `decompose` and `close` have in common: of which ticket, as whose worker, and what came of it.
//!
//! Must not know: what each of them demands.

use clap::Args;
use serde_json::Value;

use super::caller::By;
use super::{Outcome, claim, output};
use crate::api::failure::Failure;
use crate::api::request::EndRequest;
use crate::api::view::EndView;

/// Of which ticket, and who asks.
#[derive(Args)]
pub struct Of {
    /// The exact id of the ticket
    pub id: String,
    /// The worker that holds it (default: YOI_WORKER; without one, the ticket must be held by nobody)
    #[arg(long, env = "YOI_WORKER", value_name = "W", hide_env_values = true)]
    worker: Option<String>,
    /// Which of its claims (default: YOI_GENERATION, if YOI_TICKET is this ticket; else whichever it holds)
    #[arg(long, value_name = "N", requires = "worker")]
    generation: Option<u64>,
    /// Where [claims] remote cannot be asked: for this machine alone (docs/workers.md)
    #[arg(long)]
    local: bool,
    #[command(flatten)]
    by: By,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Of {
    /// On the wire.
    pub fn request(&self) -> Result<EndRequest, Failure> {
        let Self { id, worker, generation, local, by, .. } = self;
        let generation = if worker.is_some() { claim::generation(*generation, id)? } else { None };
        Ok(EndRequest { id: id.clone(), worker: worker.clone(), generation, local: *local, caller: by.caller() })
    }

    /// Prints what came of it.
    pub fn show(&self, answer: Value) -> Outcome {
        output::answer(answer, self.json, |view: &EndView| {
            let state = |state: &Option<String>| state.clone().unwrap_or_else(|| "?".into());
            let claim = view.worker.as_ref().map(|worker| format!("; the claim of {worker} has ended"));
            let (from, to) = (state(&view.from), state(&view.to));
            let moved = if from == to { to } else { format!("{from} -> {to}") };
            let what = if view.outcome == "done" { "closed" } else { &view.outcome };
            output::print(&output::harmless(&format!("{}: {what}; {moved}{}", view.id, claim.unwrap_or_default())))?;
            for child in &view.children {
                let there = if child.was_there { "  (was there already)" } else { "" };
                output::print(&output::harmless(&format!("  {}  {}  {}{there}", child.id, child.path, child.title)))?;
            }
            output::remarks(&view.remarks)
        })
    }
}
