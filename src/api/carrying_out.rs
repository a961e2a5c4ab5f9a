//! Every request, carried out: those that wait for git on the asker's own thread, with the host borrowed for moments; every other
//! one is one visit.
//!
//! Must not know: what comes of a request.

use serde_json::Value;

use super::failure::Failure;
use super::handle::handle;
use super::request::Request;
use super::{claiming, evidence, seeking, worktrees};
use crate::daemon::{Alone, Lending};

/// Carries out any request.
pub fn carry_out<L: Lending>(request: Request, lending: &mut L) -> Result<Value, Failure> {
    if request.is_local() { by_kind(request, &mut Alone(lending)) } else { by_kind(request, lending) }
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
