//! Every request, carried out: those that wait for git on the asker's own thread, with the host borrowed for moments; every other
//! one is one visit.
//!
//! Must not know: what comes of a request.

use serde_json::Value;

use super::failure::Failure;
use super::handle::handle;
use super::request::{ReleaseRequest, Request};
use super::view::{ClaimView, NextView, StartView};
use super::{claiming, evidence, seeking, worktrees};
use crate::daemon::{Alone, Lending};

/// Carries out any request.
pub fn carry_out<L: Lending>(request: Request, lending: &mut L) -> Result<Value, Failure> {
    if request.is_local() { by_kind(request, &mut Alone(lending)) } else { by_kind(request, lending) }
}

/// Takes back what was carried out for somebody who could not be told of it: a claim, which would keep everybody else from the
/// ticket, and the worktree that was made for it, unless there is something in it by now. A program that was started keeps its
/// claim itself, and who had one before knows of it.
pub fn take_back<L: Lending>(request: &Request, answer: Value, lending: &mut L) {
    let (claim, made) = match request {
        Request::Claim(_) => (serde_json::from_value::<ClaimView>(answer).ok(), false),
        Request::Next(_) => (serde_json::from_value::<NextView>(answer).ok().and_then(|view| view.claim), false),
        Request::Start(_) => {
            let view = serde_json::from_value::<StartView>(answer).ok();
            let view = view.filter(|view| view.pod.is_none() && !view.held_before);
            let made = view.as_ref().is_some_and(|view| view.made);
            (view.map(|view| view.claim), made)
        }
        _ => return,
    };
    let Some(claim) = claim else { return };
    let (id, worker) = (claim.id.clone(), Some(claim.worker.clone()));
    // Before the claim: whoever has the ticket next may be at work in it.
    let remove = made.then_some(Request::RemoveWorktree { id, force: false, worker });
    let release = Request::Release(ReleaseRequest::untold(&claim, request.is_local()));
    for taken_back in remove.into_iter().chain([release]) {
        if let Err(error) = carry_out(taken_back, lending) {
            tracing::warn!(ticket = claim.id, worker = claim.worker, %error, "what nobody was told of stays");
        }
    }
}

fn by_kind<L: Lending>(request: Request, lending: &mut L) -> Result<Value, Failure> {
    match request {
        Request::Claim(request) => claiming::claim(request, lending),
        Request::Start(request) => claiming::start(request, lending),
        Request::Heartbeat(request) => claiming::heartbeat(&request, lending),
        Request::Release(request) => claiming::release(request, lending),
        request if request.is_about_worktrees() => worktrees::carry_out(request, lending),
        Request::Block(request) => evidence::block(&request, lending),
        Request::Decompose(request) => evidence::decompose(request, lending),
        Request::Close(request) => evidence::close(&request, lending),
        Request::Next(request) => seeking::next(request, lending),
        Request::Offer { id, caller } => seeking::offer(&id, caller, lending),
        other => lending.lend(move |host| handle(other, host))?,
    }
}
