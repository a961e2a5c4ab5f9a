//! Keeps the claim of a supervised program: what its supervisor needs of git and of the workspace.
//!
//! Must not know: when a claim is renewed or given up; the program.

use std::sync::Arc;

use super::App;
use crate::adapters::claims::GitClaims;
use crate::adapters::claims::remote::RemoteClaims;
use crate::adapters::claims::trace::Trace;
use crate::adapters::environment::Environment;
use crate::adapters::processes::SystemProcesses;
use crate::adapters::workspace::{self, Workspace};
use crate::api::failure::{Failure, FailureKind};
use crate::api::request::{Caller, HolderRequest, ReleaseRequest, Request};
use crate::daemon::{Desk, Holder, VerbError, renew};
use crate::domain::claim::{Hold, Outcome, Revision};
use crate::domain::facts::ProcessIdentity;
use crate::ports::runs::PodRun;
use crate::ports::{Claims, Keeper};

/// Whoever gives up a claim that nobody has ended.
const YOI: &str = "yoi";

/// The claim of one Pod.
struct ClaimKeeper {
    environment: Environment,
    workspace: Workspace,
    claims: Arc<dyn Claims>,
    trace: Box<dyn Fn() -> Trace>,
    desk: Desk,
    /// For this machine alone, where the remote cannot be asked and the claim was made so.
    alone: Option<Desk>,
    holder: Holder,
    generation: u64,
    /// As it was when it was last looked at.
    seen: Option<(Trace, Option<Revision>)>,
}

/// The keeper of a Pod's claim; an error says in words why there is none.
pub fn keeper(pod: &PodRun) -> Result<Box<dyn Keeper>, String> {
    // Where its program was told to work has no say in whose claim it is.
    let environment = Environment::read().map_err(|error| format!("the environment: {error}"))?;
    let environment = Environment { workspace: None, ..environment };
    let workspace = workspace::find(&environment, Some(&pod.workspace)).map_err(|error| error.to_string())?;
    let processes = SystemProcesses::new().map_err(|error| format!("this machine's processes: {error}"))?;
    let (root, git, id) = (workspace.root.clone(), workspace.git_common_dir.clone(), pod.ticket.clone());
    let (claims, trace): (Arc<dyn Claims>, Box<dyn Fn() -> Trace>) = if let Some(remote) = &pod.remote {
        let claims = Arc::new(RemoteClaims::new(&root, git.as_deref(), remote));
        (Arc::<RemoteClaims>::clone(&claims), Box::new(move || claims.trace(&id)))
    } else {
        let claims = Arc::new(GitClaims::new(&root, git.as_deref()));
        (Arc::<GitClaims>::clone(&claims), Box::new(move || claims.trace(&id)))
    };
    let nonce = || ulid::Ulid::generate().to_string().to_lowercase();
    let desk = |claims| Desk::new(claims, Arc::new(processes.clone()), Arc::new(chrono::Utc::now), Arc::new(nonce));
    let alone = claims.alone().filter(|_| pod.alone).map(desk);
    let desk = desk(Arc::clone(&claims));
    let holder = Holder { id: pod.ticket.clone(), worker: pod.worker.clone(), generation: Some(pod.generation) };
    Ok(Box::new(ClaimKeeper {
        environment,
        workspace,
        claims,
        trace,
        desk,
        alone,
        holder,
        generation: pod.generation,
        seen: None,
    }))
}

impl Keeper for ClaimKeeper {
    fn look(&mut self) -> Option<Hold> {
        let trace = (self.trace)();
        if self.seen.as_ref().is_some_and(|(seen, _)| *seen == trace) {
            return None;
        }
        let tip = match self.claims.read(&self.holder.id) {
            Ok(tip) => tip,
            Err(error) => {
                tracing::warn!(%error, "a Pod's claim cannot be looked at");
                return None;
            }
        };
        let revision = tip.as_ref().map(|tip| tip.revision.clone());
        let known = self.seen.replace((trace, revision.clone()));
        // Refs are packed together: that moves none of them.
        let is_same = known.is_some_and(|(_, known)| known == revision);
        (!is_same).then(|| Hold::of(tip.as_ref(), &self.holder.worker, self.generation))
    }

    fn renew(&mut self, process: &ProcessIdentity) -> Result<Hold, String> {
        // From before: a step of somebody else's in this moment is looked at.
        let before = (self.trace)();
        let mut renewed = renew(&self.desk, &self.holder, process);
        if let (Err(VerbError::Failed(_)), Some(alone)) = (&renewed, &self.alone) {
            renewed = renew(alone, &self.holder, process);
        }
        match renewed {
            Ok(tip) => {
                self.seen = Some((before, Some(tip.revision)));
                Ok(Hold::Own)
            }
            Err(VerbError::Refused(refusal)) if refusal.passing => Err(refusal.to_string()),
            Err(VerbError::Refused(_)) => {
                let tip = self.claims.read(&self.holder.id).map_err(|error| error.to_string())?;
                Ok(Hold::of(tip.as_ref(), &self.holder.worker, self.generation))
            }
            Err(error) => Err(error.to_string()),
        }
    }

    fn release(&mut self, why: &str) -> Result<(), String> {
        let app =
            App::open_or_ask(self.environment.clone(), self.workspace.clone()).map_err(|failure| failure.message)?;
        let mut released = app.call(&self.release_request(why, false));
        if let (Err(Failure { kind: FailureKind::Failed, .. }), Some(_)) = (&released, &self.alone) {
            released = app.call(&self.release_request(why, true));
        }
        match released {
            Err(Failure { kind: FailureKind::Refused, passing: false, .. }) | Ok(_) => Ok(()),
            Err(failure) => Err(failure.message),
        }
    }
}

impl ClaimKeeper {
    fn release_request(&self, why: &str, local: bool) -> Request {
        let Holder { id, worker, generation } = &self.holder;
        let holder = HolderRequest { id: id.to_string(), worker: worker.clone(), generation: *generation, local };
        Request::Release(ReleaseRequest {
            holder,
            outcome: Outcome::Abandoned.as_str().into(),
            pr: None,
            reason: Some(why.to_owned()),
            caller: Caller { session: None, name: Some(YOI.into()) },
        })
    }
}
