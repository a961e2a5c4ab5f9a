//! A role at a start: whether it has room for one more ticket, its program, and what is left of former ones.
//!
//! Must not know: git, files; how a program is supervised.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::marks::forget;
use super::mending::give_up;
use super::taking::claim_marked;
use super::{ClaimRequest, Claimed, Holder};
use crate::adapters::fault;
use crate::daemon::pods::Place;
use crate::daemon::starting::Standing;
use crate::daemon::verbs::unchanged;
use crate::daemon::{Host, Lending, RoleCommand, VerbError};
use crate::domain::engine::{Actor, Event};
use crate::domain::refusal::Refusal;
use crate::domain::roles;
use crate::domain::ticket::TicketId;
use crate::ports::runs::{End, How, PodRun, RunId, Sign, Standing as RunStanding, Whose};
use crate::ports::starts::Marked;
use crate::ports::{Held, Runs};

/// How long a supervisor may take to say that its program runs, and that program to become itself, before a start is told of as
/// it is.
const BEGINNING: Duration = Duration::from_secs(10);
const BECOMING: Duration = Duration::from_millis(300);

/// Where a role may have so many tickets at most, one start after another looks whether there is room, and claims.
pub(super) fn claim_with_room<L: Lending>(
    lending: &mut L,
    request: &ClaimRequest,
    marked: Box<dyn Marked>,
) -> Result<(Claimed, Box<dyn Marked>), VerbError> {
    match room(lending, request) {
        Ok(_lock) => claim_marked(lending, request, marked),
        Err(error) => Err(forget(marked, error)),
    }
}

fn room<L: Lending>(lending: &mut L, request: &ClaimRequest) -> Result<Option<Box<dyn Held>>, VerbError> {
    let asked = request.clone();
    let (state, max) = lending.lend(move |host| {
        let max = host.engine.policy().roles.get(&asked.challenge.role).and_then(|role| role.max);
        (Arc::clone(&host.ports.state), max)
    })?;
    let locked = max.map(|_| state.role_lock()).transpose();
    let lock = locked.map_err(|error| unchanged("whether the role has room cannot be said", &error))?;
    let asked = request.clone();
    lending.lend(move |host| host.may_begin(&asked, max))??;
    Ok(lock)
}

/// Starts the role's program in the worktree. Comes back when it is known to run, or not to; with where its output goes.
pub(super) fn launch<L: Lending>(
    lending: &mut L,
    request: &ClaimRequest,
    claimed: &Claimed,
    standing: &Standing,
    role: RoleCommand,
) -> Result<(PodRun, PathBuf), VerbError> {
    let place = Place {
        worktree: standing.tree.path.clone(),
        branch: standing.tree.short_branch().map(str::to_owned),
        alone: lending.is_alone(),
    };
    let (id, by, tip, (tell, first)) = (request.id.clone(), request.by.clone(), claimed.tip.clone(), channel());
    let (run, log) = lending.lend(move |host| {
        let proof = host.confirm(&id, &by)?;
        host.launch_pod(&proof, &role, (&tip, &place), tell)
    })??;
    fault::point("start", "launched");
    let process = match first.recv_timeout(BEGINNING) {
        Ok(Sign::Started(process)) => Some(process),
        Ok(Sign::Ended(end)) => return Err(not_started(&run, &end)),
        // It is slow, or hangs: what comes of it is taken in when it comes.
        Ok(Sign::Hangs(_)) | Err(_) => None,
    };
    if process.is_some()
        && let Ok(Sign::Ended(end)) = first.recv_timeout(BECOMING)
        && matches!(end.how, How::NotStarted(_))
    {
        return Err(not_started(&run, &end));
    }
    let begun = PodRun { process: process.clone(), ..run };
    if let Some(process) = process {
        let run = begun.clone();
        lending.lend(move |host| host.pod_begun(&run, process))?;
    }
    Ok((begun, log))
}

fn not_started(run: &PodRun, end: &End) -> VerbError {
    VerbError::Failed(format!("the command of [roles.{}]: {}", run.role, end.how.words()))
}

/// Gives back what is left of the claims of Pods that have ended: of this ticket, which a daemon that has just begun may not have
/// come to yet; without a daemon of all, and their files go, because nobody else takes in how they ended.
pub(super) fn mend_ended<L: Lending>(lending: &mut L, runs: &dyn Runs, id: &TicketId) -> Result<(), VerbError> {
    let resident = lending.lend(|host| host.resident)?;
    let found = runs.found().map_err(|error| unchanged("programs that have ended cannot be looked for", &error))?;
    for run in found {
        let (Whose::Pod(pod), RunStanding::Ended(end)) = (run.whose, run.standing) else { continue };
        if resident && pod.ticket != *id {
            continue;
        }
        match give_up(lending, &(&pod).into(), end.how.words(), Actor::Daemon) {
            Ok(()) | Err(VerbError::Refused(_)) if resident => {}
            Ok(()) | Err(VerbError::Refused(_)) => drop(runs.forget(&RunId::from(&pod.id))),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl From<&PodRun> for Holder {
    fn from(run: &PodRun) -> Self {
        Self { id: run.ticket.clone(), worker: run.worker.clone(), generation: Some(run.generation) }
    }
}

impl Host {
    /// Whether yoi itself starts the program of this role.
    pub fn has_program(&self, role: &str) -> bool {
        self.settings.roles.contains_key(role)
    }

    /// The program of the role, where it has one. One that nobody has agreed to is not left out in silence: whoever asks for the
    /// role wants it.
    pub(super) fn role_of(&self, request: &ClaimRequest) -> Result<Option<RoleCommand>, VerbError> {
        let role = &request.challenge.role;
        match self.settings.roles.get(role) {
            Some(command) if !command.trusted => {
                let message =
                    format!("`{}` is not started: nobody has agreed to the command of [roles.{role}]", request.id);
                Err(Refusal::new(message).hint("`yoi trust` shows it, and agrees to it").into())
            }
            command => Ok(command.cloned()),
        }
    }

    /// Whether a role may begin on the ticket: by claims that are read now.
    fn may_begin(&mut self, request: &ClaimRequest, max: Option<usize>) -> Result<(), VerbError> {
        let ClaimRequest { id, challenge, .. } = request;
        if max.is_some()
            && let Some(news) = self.read_claims()
        {
            let event = Event::ClaimsRead { news, full: true };
            if self.resident {
                self.tell(event);
            } else {
                // What follows from it for other tickets is a daemon's to do.
                drop(self.engine.step(event, self.now()));
            }
        }
        let facts = self.engine.facts();
        roles::nobody_else_works(facts, id, &challenge.process)?;
        roles::has_room(facts, &challenge.role, max, id, self.now())?;
        Ok(())
    }
}
