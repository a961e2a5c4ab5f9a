//! `yoi start`: a claim for a worker, and a worktree for it to work in; both, or nothing is left (DESIGN.md 6.3).
//!
//! What a start that was killed has claimed is given back by the next one, or by the next daemon; what it has made of a worktree
//! is undone or adopted there, too.
//!
//! Must not know: git, files.

use std::path::PathBuf;

use super::fence::Holder;
use super::fenced::heartbeat;
use super::marks::{Marks, begin, forget, forgotten};
use super::mending::{give_up, mend_starts};
use super::role::{claim_with_room, launch, mend_ended};
use super::{ClaimRequest, Claimed};
use crate::adapters::fault;
use crate::daemon::removing::{RemoveOrder, remove_worktree};
use crate::daemon::starting::{Standing, refuse_occupied, worktree_for};
use crate::daemon::{Host, Lending, RoleCommand, VerbError};
use crate::domain::claim::{claimable, holds_already, name};
use crate::domain::classify::clock;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::TicketId;
use crate::domain::worktree::Hold;
use crate::ports::runs::PodRun;
use crate::ports::starts::Begun;
use crate::ports::{Acceptance, WorktreesError};

/// What a start made. With a Pod comes where its output goes.
#[derive(Clone, Debug)]
pub struct Started {
    /// The claim.
    pub claimed: Claimed,
    /// It was there before.
    pub held_before: bool,
    /// The worktree.
    pub standing: Standing,
    /// The program that works on it; None where the role has none, and whoever started it does.
    pub pod: Option<(PodRun, PathBuf)>,
}

impl From<WorktreesError> for VerbError {
    fn from(error: WorktreesError) -> Self {
        match error.told() {
            Ok(refusal) => VerbError::Refused(refusal),
            Err((message, output)) => VerbError::Failed([vec![message], output].concat().join("\n")),
        }
    }
}

/// Claims the ticket, unless the asker has it already, makes its worktree, or uses the one that stands, and starts the role's program in it, if it has one.
pub fn start<L: Lending>(lending: &mut L, request: &ClaimRequest) -> Result<Started, VerbError> {
    let marks = Marks::of(lending)?;
    let asked = request.clone();
    let role = lending.lend(move |host| host.role_of(&asked))??;
    mend_starts(lending, (marks.starts.as_ref(), marks.runs.as_ref()), Some(&request.id))?;
    mend_ended(lending, marks.runs.as_ref(), &request.id)?;
    if holds_it(lending, request)? {
        return start_held(lending, request, role.as_ref());
    }
    refuse_strangers(lending, request)?;
    let marked = begin(lending, &marks, request, Begun::Start)?;
    let mark = marked.mark().clone();
    fault::point("start", "marked");
    let (claimed, marked) = claim_with_room(lending, request, marked)?;
    fault::point("start", "claimed");
    match make_and_launch(lending, request, &claimed, role) {
        Ok((standing, pod)) => {
            forgotten(marked);
            let mut started = Started { claimed, held_before: false, standing, pod };
            started.claimed.remarks.append(&mut started.standing.remarks);
            Ok(started)
        }
        Err(error) => {
            let why = format!("the start failed: {error}");
            match give_up(lending, &(&mark).into(), why, request.actor.clone()) {
                // Refused: its program's supervisor has given it back.
                Ok(()) | Err(VerbError::Refused(_)) => Err(forget(marked, error)),
                // The mark stays: whoever comes next gives it back.
                Err(more) => Err(with(error, Some(more))),
            }
        }
    }
}

/// Whether the asker has claimed the ticket already.
fn holds_it<L: Lending>(lending: &mut L, request: &ClaimRequest) -> Result<bool, VerbError> {
    let ClaimRequest { id, challenge, .. } = request.clone();
    let alone = lending.is_alone();
    // Git, a remote above all, is asked only where there is something to be found.
    let desk = lending.lend(move |host| {
        let claim = host.engine.facts().claims.get(&id);
        claim.is_some_and(|claim| claim.worker == challenge.worker).then(|| host.desk(alone))
    })?;
    let Some(desk) = desk else { return Ok(false) };
    let Some(tip) = desk.claims.read(&request.id)? else { return Ok(false) };
    Ok(holds_already(&request.id, &tip, &request.challenge, (&desk.machine(), desk.now()))?)
}

/// A worktree for whoever has the claim already. That stays, whatever becomes of the worktree.
fn start_held<L: Lending>(
    lending: &mut L,
    request: &ClaimRequest,
    role: Option<&RoleCommand>,
) -> Result<Started, VerbError> {
    let (id, worker) = (request.id.clone(), request.challenge.worker.clone());
    if role.is_some() {
        let role = &request.challenge.role;
        let message =
            format!("`{id}` is held by {worker}, and the program of [roles.{role}] works under a claim of its own");
        let hint =
            format!("`yoi release {id} --worker {worker} --outcome abandoned`, then `yoi start {id} --role {role}`");
        return Err(Refusal::new(message).hint(hint).into());
    }
    let trees = lending.lend(|host| host.worktrees())?;
    refuse_occupied(trees.as_ref(), &name::of(&id), &request.own)?;
    let holder = Holder { id: id.clone(), worker, generation: None };
    let (tip, [own_end, until]) = heartbeat(lending, &holder)?;
    let ticket = lending.lend(move |host| {
        let path = host.writable(&id)?;
        host.known(&id, &path)
    })??;
    let claimed = Claimed { tip, ticket, broken: None, own_end, until, remarks: Vec::new() };
    let standing = make(lending, request, &claimed)?;
    let claimed = Claimed { remarks: standing.remarks.clone(), ..claimed };
    Ok(Started { claimed, held_before: true, standing, pod: None })
}

/// Before anything is claimed, since it would be given back at once. Whoever holds the ticket is told of by the claim.
fn refuse_strangers<L: Lending>(lending: &mut L, request: &ClaimRequest) -> Result<(), VerbError> {
    let id = request.id.clone();
    let (trees, taken) = lending.lend(move |host| {
        let (facts, now) = (host.engine.facts(), host.now());
        let held = facts.claims.get(&id).is_some_and(|claim| claim.fresh_for_others(now));
        (host.worktrees(), held || facts.pods_on(&id).next().is_some())
    })?;
    if taken {
        return Ok(());
    }
    Ok(refuse_occupied(trees.as_ref(), &name::of(&request.id), &request.own)?)
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
    let order = RemoveOrder { name: name::of(&request.id), worker, holder: None, force: false };
    remove_worktree(trees.as_ref(), &order, now)?;
    Ok(())
}

fn make<L: Lending>(lending: &mut L, request: &ClaimRequest, claimed: &Claimed) -> Result<Standing, VerbError> {
    let (id, by) = (request.id.clone(), request.by.clone());
    let (proof, trees) =
        lending.lend(move |host| Ok::<_, VerbError>((host.confirm(&id, &by)?, host.worktrees())))??;
    let hold = Hold { worker: request.challenge.worker.clone(), until: claimed.until, retained_for: None };
    let now = claimed.tip.step.at;
    let standing = worktree_for(trees.as_ref(), &proof, &hold, now)?;
    let (id, worker) = (request.id.clone(), hold.worker);
    let place = standing.tree.path.clone();
    let how = if standing.made { "made" } else { "used again" };
    // A missing note is no reason to undo anything.
    let _ = lending.lend(move |host| {
        let path = host.writable(&id)?;
        // By the workspace, which may be moved, where it lies as intended.
        let intended = host.worktrees().intended(&name::of(&id));
        let place = if place.ends_with(&intended) { intended } else { place };
        let note = format!("{} START by {worker}: worktree {}, {how}", clock(host.now()), place.display());
        host.noted(&path, &note);
        Ok::<_, VerbError>(())
    })?;
    Ok(standing)
}

impl Host {
    /// The proof of an acceptance that stands in the file.
    pub(super) fn confirm(&mut self, id: &TicketId, by: &str) -> Result<Acceptance, VerbError> {
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

/// What else went wrong.
fn with(error: VerbError, more: Option<VerbError>) -> VerbError {
    let Some(more) = more else { return error };
    let line = format!("the claim could not be given back yet, and will be by whoever comes next: {more}");
    error.and(line)
}
