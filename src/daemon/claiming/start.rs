//! `yoi start`: a claim for a worker, and a worktree for it to work in; both, or nothing is left (DESIGN.md 6.3).
//!
//! What a start that was killed has claimed is given back by the next one, or by the next daemon; what it has made of a worktree
//! is undone or adopted there, too.
//!
//! Must not know: git, files.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::{ClaimRequest, Claimed, Holder, claim, release};
use crate::adapters::fault;
use crate::daemon::pods::Place;
use crate::daemon::removing::{RemoveOrder, remove_worktree};
use crate::daemon::starting::{Standing, worktree_for};
use crate::daemon::verbs::unchanged;
use crate::daemon::{Host, Lending, RoleCommand, VerbError};
use crate::domain::claim::{Ending, Outcome, claimable, name};
use crate::domain::classify::clock;
use crate::domain::engine::{Actor, Event};
use crate::domain::refusal::Refusal;
use crate::domain::roles;
use crate::domain::ticket::TicketId;
use crate::domain::worktree::Hold;
use crate::ports::runs::{End, How, PodRun, RunId, Sign, Standing as RunStanding, Whose};
use crate::ports::starts::{Marked, StartMark};
use crate::ports::{Acceptance, Runs, Starts, WorktreesError};

/// Under whose name a claim is given back that a start was cut off with.
const YOI: &str = "yoi";
/// How long a supervisor may take to say that its program runs, and that program to become itself, before a start is told of as
/// it is.
const BEGINNING: Duration = Duration::from_secs(10);
const BECOMING: Duration = Duration::from_millis(300);

/// What a start made. With a Pod comes where its output goes.
#[derive(Clone, Debug)]
pub struct Started {
    /// The claim.
    pub claimed: Claimed,
    /// The worktree.
    pub standing: Standing,
    /// The program that works on it; None where the role has none, and whoever started it does.
    pub pod: Option<(PodRun, PathBuf)>,
}

impl From<WorktreesError> for VerbError {
    fn from(error: WorktreesError) -> Self {
        match error {
            WorktreesError::Refused(refusal) => VerbError::Refused(refusal),
            WorktreesError::Hook { message, output } => VerbError::Failed([vec![message], output].concat().join("\n")),
            WorktreesError::NoGit(message) | WorktreesError::Held(message) | WorktreesError::Failed(message) => {
                VerbError::Failed(message)
            }
        }
    }
}

/// Claims the ticket, makes its worktree, or uses the one that stands, and starts the role's program in it, if it has one.
pub fn start<L: Lending>(lending: &mut L, request: &ClaimRequest) -> Result<Started, VerbError> {
    let (starts, runs) = lending.lend(|host| (Arc::clone(&host.ports.starts), Arc::clone(&host.ports.runs)))?;
    let asked = request.clone();
    let role = lending.lend(move |host| host.role_of(&asked))??;
    mend_starts(lending, (starts.as_ref(), runs.as_ref()), Some(&request.id))?;
    forget_ended(lending, runs.as_ref())?;
    let mark = StartMark { ticket: request.id.clone(), worker: request.challenge.worker.clone() };
    let marked = starts.begin(&mark).map_err(|error| unchanged("the start could not be noted", &error))?;
    fault::point("start", "marked");
    let claimed = match claim_with_room(lending, request) {
        Ok(claimed) => claimed,
        Err(error) => return Err(forget(marked, error)),
    };
    fault::point("start", "claimed");
    match make_and_launch(lending, request, &claimed, role) {
        Ok((standing, pod)) => {
            forgotten(marked);
            let mut started = Started { claimed, standing, pod };
            started.claimed.remarks.append(&mut started.standing.remarks);
            Ok(started)
        }
        Err(error) => {
            let why = format!("the start failed: {error}");
            let given_back = give_up(lending, &(&mark).into(), why, request.actor.clone());
            Err(forget(marked, with(error, given_back.err())))
        }
    }
}

/// Where a role may have so many tickets at most, one start after another looks whether there is room, and claims.
fn claim_with_room<L: Lending>(lending: &mut L, request: &ClaimRequest) -> Result<Claimed, VerbError> {
    let asked = request.clone();
    let (state, max) = lending.lend(move |host| {
        let max = host.engine.policy().roles.get(&asked.challenge.role).and_then(|role| role.max);
        (Arc::clone(&host.ports.state), max)
    })?;
    let locked = max.map(|_| state.role_lock()).transpose();
    let _lock = locked.map_err(|error| unchanged("whether the role has room cannot be said", &error))?;
    let asked = request.clone();
    lending.lend(move |host| host.may_begin(&asked, max))??;
    claim(lending, request)
}

fn make_and_launch<L: Lending>(
    lending: &mut L,
    request: &ClaimRequest,
    claimed: &Claimed,
    role: Option<RoleCommand>,
) -> Result<(Standing, Option<(PodRun, PathBuf)>), VerbError> {
    let standing = make(lending, request, claimed)?;
    let Some(role) = role else { return Ok((standing, None)) };
    fault::point("start", "launching");
    match launch(lending, request, claimed, &standing, role) {
        Ok(pod) => Ok((standing, Some(pod))),
        Err(error) if standing.made => Err(with(error, unmake(lending, request).err())),
        Err(error) => Err(error),
    }
}

/// Takes a worktree away again that was made just now.
fn unmake<L: Lending>(lending: &mut L, request: &ClaimRequest) -> Result<(), VerbError> {
    let (trees, now) = lending.lend(|host| (host.worktrees(), host.now()))?;
    let worker = Some(request.challenge.worker.clone());
    let order = RemoveOrder { name: name::of(&request.id), worker, force: false };
    remove_worktree(trees.as_ref(), &order, now)?;
    Ok(())
}

fn launch<L: Lending>(
    lending: &mut L,
    request: &ClaimRequest,
    claimed: &Claimed,
    standing: &Standing,
    role: RoleCommand,
) -> Result<(PodRun, PathBuf), VerbError> {
    let place = Place { worktree: standing.tree.path.clone(), branch: standing.tree.short_branch().map(str::to_owned) };
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

fn make<L: Lending>(lending: &mut L, request: &ClaimRequest, claimed: &Claimed) -> Result<Standing, VerbError> {
    let (id, by) = (request.id.clone(), request.by.clone());
    let (proof, trees) =
        lending.lend(move |host| Ok::<_, VerbError>((host.confirm(&id, &by)?, host.worktrees())))??;
    let hold = Hold { worker: request.challenge.worker.clone(), until: claimed.until };
    let now = claimed.tip.step.at;
    let standing = worktree_for(trees.as_ref(), &proof, &hold, now)?;
    let (id, worker) = (request.id.clone(), hold.worker);
    let place = standing.tree.path.display().to_string();
    let how = if standing.made { "made" } else { "used again" };
    // A missing note is no reason to undo anything.
    let _ = lending.lend(move |host| {
        let path = host.writable(&id)?;
        let note = format!("{} START by {worker}: worktree {place}, {how}", clock(host.now()));
        host.noted(&path, &note);
        Ok::<_, VerbError>(())
    })?;
    Ok(standing)
}

impl From<&StartMark> for Holder {
    fn from(mark: &StartMark) -> Self {
        Self { id: mark.ticket.clone(), worker: mark.worker.clone(), generation: None }
    }
}

impl From<&PodRun> for Holder {
    fn from(run: &PodRun) -> Self {
        Self { id: run.ticket.clone(), worker: run.worker.clone(), generation: Some(run.generation) }
    }
}

impl Host {
    /// The program of the role, where it has one. One that nobody has agreed to is not left out in silence: whoever asks for the
    /// role wants it.
    fn role_of(&self, request: &ClaimRequest) -> Result<Option<RoleCommand>, VerbError> {
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

    /// The proof of an acceptance that stands in the file.
    fn confirm(&mut self, id: &TicketId, by: &str) -> Result<Acceptance, VerbError> {
        let path = self.writable(id)?;
        let mode = self.engine.policy().mode;
        let _lock = self.accept_lock()?;
        let now = self.now();
        let mut gates = |fresh: &crate::domain::ticket::Ticket| {
            claimable(fresh, mode)?;
            // It was accepted a moment ago, and somebody has moved it since.
            Err(Refusal::new(format!("`{}` is not accepted any more", fresh.id)))
        };
        Ok(Acceptance::record(self.ports.tickets.as_ref(), &path, by, now, &mut gates)?.0)
    }
}

/// Gives back what starts that were cut off have claimed: of this ticket, or of all. A claim that a program works under by now is
/// that one's.
pub fn mend_starts<L: Lending>(
    lending: &mut L,
    (starts, runs): (&dyn Starts, &dyn Runs),
    of: Option<&TicketId>,
) -> Result<(), VerbError> {
    let cut_off =
        starts.cut_off().map_err(|error| unchanged("starts that were cut off cannot be looked for", &error))?;
    for marked in cut_off.into_iter().filter(|marked| of.is_none_or(|id| *id == marked.mark().ticket)) {
        let mark = marked.mark().clone();
        if is_at_work(runs, &mark)? {
            forgotten(marked);
            continue;
        }
        match give_up(lending, &(&mark).into(), "the start was cut off".into(), Actor::Daemon) {
            // It never came to a claim, or that has ended since.
            Ok(()) | Err(VerbError::Refused(_)) => forgotten(marked),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Without a daemon nobody takes in how Pods ended: whatever is left of their claims is given back, and their files go.
fn forget_ended<L: Lending>(lending: &mut L, runs: &dyn Runs) -> Result<(), VerbError> {
    if lending.lend(|host| host.resident)? {
        return Ok(());
    }
    let found = runs.found().map_err(|error| unchanged("programs that have ended cannot be looked for", &error))?;
    for run in found {
        if let (Whose::Pod(pod), RunStanding::Ended(end)) = (run.whose, run.standing) {
            match give_up(lending, &(&pod).into(), end.how.words(), Actor::Daemon) {
                Ok(()) | Err(VerbError::Refused(_)) => drop(runs.forget(&RunId::from(&pod.id))),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Whether the start that was cut off had got so far as to start its program.
fn is_at_work(runs: &dyn Runs, mark: &StartMark) -> Result<bool, VerbError> {
    let found = runs.found().map_err(|error| unchanged("programs that were started cannot be looked for", &error))?;
    Ok(found.iter().any(|run| match &run.whose {
        Whose::Pod(pod) => {
            run.standing == RunStanding::Running && pod.ticket == mark.ticket && pod.worker == mark.worker
        }
        Whose::Turn(_) => false,
    }))
}

/// Gives a claim back that leads to nothing any more.
pub(in crate::daemon) fn give_up<L: Lending>(
    lending: &mut L,
    holder: &Holder,
    why: String,
    actor: Actor,
) -> Result<(), VerbError> {
    let (mode, label) = lending.lend(|host| {
        let policy = host.engine.policy();
        (policy.mode, policy.claims.label.clone())
    })?;
    let ending = Ending { outcome: Outcome::Abandoned, pr: None, by: YOI.into(), mode, label };
    release(lending, holder, (ending, Some(why)), actor).map(drop)
}

/// A mark that stays is one of a start that was cut off: its claim would be given back once more, and refused.
fn forgotten(marked: Box<dyn Marked>) {
    if let Err(error) = marked.forget() {
        tracing::warn!(%error, "the mark of a start stays");
    }
}

fn forget(marked: Box<dyn Marked>, error: VerbError) -> VerbError {
    forgotten(marked);
    error
}

/// What else went wrong.
fn with(error: VerbError, more: Option<VerbError>) -> VerbError {
    let Some(more) = more else { return error };
    let line = format!("the claim could not be given back and goes stale by itself: {more}");
    match error {
        VerbError::Refused(refusal) => VerbError::Refused(refusal.evidence([line])),
        other => VerbError::Failed(format!("{other}; {line}")),
    }
}
