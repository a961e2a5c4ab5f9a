//! The marks of claims and starts under way: made before anything is claimed, taken away when it is over, so that what was cut off is
//! found.
//!
//! Must not know: git, files; what is done about one that was cut off.

use std::sync::Arc;

use super::ClaimRequest;
use crate::daemon::verbs::unchanged;
use crate::daemon::{Lending, VerbError};
use crate::ports::starts::{Begun, Marked, StartMark};
use crate::ports::{Runs, Starts};

/// Where the marks are, and how to tell that a program works under a claim.
#[derive(Clone)]
pub(super) struct Marks {
    pub(super) starts: Arc<dyn Starts>,
    pub(super) runs: Arc<dyn Runs>,
}

impl Marks {
    pub(super) fn of<L: Lending>(lending: &mut L) -> Result<Self, VerbError> {
        lending.lend(|host| Self { starts: Arc::clone(&host.ports.starts), runs: Arc::clone(&host.ports.runs) })
    }
}

/// Notes what begins. From here on it is found if it is cut off.
pub(super) fn begin<L: Lending>(
    lending: &mut L,
    marks: &Marks,
    request: &ClaimRequest,
    begun: Begun,
) -> Result<Box<dyn Marked>, VerbError> {
    let what = match begun {
        Begun::Start => "the start could not be noted",
        Begun::Claim => "the claim could not be noted",
    };
    let nonce = lending.lend(|host| (host.ports.nonce)())?;
    let (ticket, worker) = (request.id.clone(), request.challenge.worker.clone());
    let mark = StartMark { ticket, worker, begun, nonce: Some(nonce), alone: lending.is_alone() };
    marks.starts.begin(&mark).map_err(|error| unchanged(what, &error))
}

/// A mark that stays is one of a start that was cut off: its claim would be given back once more, and refused.
pub(super) fn forgotten(marked: Box<dyn Marked>) {
    if let Err(error) = marked.forget() {
        tracing::warn!(%error, "the mark of a claim stays");
    }
}

pub(super) fn forget(marked: Box<dyn Marked>, error: VerbError) -> VerbError {
    forgotten(marked);
    error
}
