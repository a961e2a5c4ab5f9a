//! `block`, `decompose`, `close`: requests made into what the core demands, on the asker's own thread.
//!
//! Must not know: what is demanded; git, files.

use serde_json::Value;

use super::caller::{actor, recorded_name};
use super::claiming::check_name;
use super::failure::Failure;
use super::request::{BlockRequest, ChildRequest, CloseRequest, DecomposeRequest, EndRequest};
use super::view::{ChildView, EndView, VERSION, value};
use crate::daemon::{self, Ended, Ending, Holder, Lending};
use crate::domain::engine::Actor;
use crate::domain::evidence::block::{self, Block};
use crate::domain::evidence::close::{self, Closing};
use crate::domain::evidence::decompose::{Child, Decomposition};
use crate::domain::ticket::{Ticket, TicketId};
use crate::text::retained;

/// Blocks.
pub fn block<L: Lending>(request: &BlockRequest, lending: &mut L) -> Result<Value, Failure> {
    let BlockRequest { end, blocker, evidence, unblock, then } = request;
    let asked = block::Asked {
        blocker: blocker.as_deref(),
        evidence: evidence.as_deref(),
        unblock: unblock.as_deref(),
        then: then.as_deref(),
    };
    let block = Block::of(&TicketId::new(&end.id), &asked)?;
    end_work(end, Ending::Block(block), lending)
}

/// Decomposes.
pub fn decompose<L: Lending>(request: DecomposeRequest, lending: &mut L) -> Result<Value, Failure> {
    let DecomposeRequest { end, children, why, keep_priority } = request;
    let children = children.into_iter().map(child).collect();
    let id = TicketId::new(&end.id);
    let decomposition = Decomposition::of(&id, children, why.as_deref(), keep_priority.as_deref())?;
    end_work(&end, Ending::Decompose(decomposition), lending)
}

fn child(request: ChildRequest) -> Child {
    let ChildRequest { title, acceptance, validation, labels, depends_on, touches, repo, body, line } = request;
    Child { title, acceptance, validation, labels, depends_on, touches, repo, body, line }
}

impl From<Child> for ChildRequest {
    fn from(child: Child) -> Self {
        let Child { title, acceptance, validation, labels, depends_on, touches, repo, body, line } = child;
        Self { title, acceptance, validation, labels, depends_on, touches, repo, body, line }
    }
}

/// Closes.
pub fn close<L: Lending>(request: &CloseRequest, lending: &mut L) -> Result<Value, Failure> {
    let CloseRequest { end, pr, merge_state, no_pr, tests, artifact, no_artifact, residual, workspace } = request;
    let id = TicketId::new(&end.id);
    let now = lending.lend(|host| host.now())?;
    let asked = close::Asked {
        pr: pr.as_deref(),
        merge_state: merge_state.as_deref(),
        no_pr: no_pr.as_deref(),
        tests: tests.as_deref(),
        artifact: artifact.as_deref(),
        no_artifact: no_artifact.as_deref(),
        residual: residual.as_deref(),
        workspace: workspace.as_deref().map(|text| retained::read(text, now)),
    };
    let checks = daemon::look_at_work(lending, &id)?;
    let closing = Closing::of(&id, &asked, &checks, now)?;
    end_work(end, Ending::Close(closing), lending)
}

fn end_work<L: Lending>(request: &EndRequest, ending: Ending, lending: &mut L) -> Result<Value, Failure> {
    let EndRequest { id, worker, generation, caller, .. } = request;
    let id = TicketId::new(id);
    let holder = match worker {
        Some(worker) => {
            check_name("worker", worker)?;
            Some(Holder { id: id.clone(), worker: worker.clone(), generation: *generation })
        }
        None if generation.is_some() => {
            let failure = Failure::usage("a generation is of a worker's claim, and no worker is named");
            return Err(failure.hint("--worker W, as `yoi claim` printed it"));
        }
        None => None,
    };
    let caller = caller.clone();
    let (by, actor) = lending.lend(move |host| (recorded_name(host, &caller), actor(host, &caller)))?;
    // A worker is named in the history as in the thread.
    let actor = match (actor, worker) {
        (Actor::Somebody(_), Some(worker)) => Actor::Somebody(worker.clone()),
        (other, _) => other,
    };
    let outcome = ending.outcome();
    let ended = daemon::end_work(lending, daemon::EndRequest { id, holder, by, actor, ending })?;
    let Ended { before, after, note, holds, children, remarks } = ended;
    let child = |(ticket, was_there): (Ticket, bool)| ChildView {
        id: ticket.id.to_string(),
        path: ticket.path.display().to_string(),
        title: ticket.title.clone(),
        was_there,
    };
    value(&EndView {
        version: VERSION,
        id: after.id.to_string(),
        path: after.path.display().to_string(),
        from: before.state.map(|state| state.to_string()),
        to: after.state.map(|state| state.to_string()),
        outcome: outcome.to_string(),
        worker: worker.clone().filter(|_| holds),
        note,
        children: children.into_iter().map(child).collect(),
        remarks,
    })
}
