//! Requests of a claim's holder, or of whoever wants one.
//!
//! Must not know: git, files; who may move a claim.

use chrono::TimeDelta;
use serde_json::Value;

use super::caller::{actor, recorded_name};
use super::failure::Failure;
use super::handle::move_view;
use super::request::{ClaimRequest, HolderRequest, ReleaseRequest};
use super::view::{BeatView, ClaimView, MoveView, StartView, StartedPod, VERSION, value};
use crate::daemon::{self, Claimed, Holder, Host, Lending, Released, Started};
use crate::domain::claim::{Challenge, Ending, LEAST_TTL, MOST_TTL, name};
use crate::domain::classify::clock;
use crate::domain::facts::TimeDeltaSeconds;
use crate::domain::roles::{LONGEST_NAME, is_name};
use crate::domain::ticket::TicketId;
use crate::domain::worktree::short_branch_of;

/// What a worker is where nobody says.
const ROLE: &str = "coder";
/// How many letters of chance a made-up worker's name has.
const CHANCE: usize = 8;

pub(super) fn claim<L: Lending>(request: ClaimRequest, lending: &mut L) -> Result<Value, Failure> {
    let prepared = lending.lend(move |host| challenge(request, host))??;
    let done = daemon::claim(lending, &prepared)?;
    value(&just_claimed(lending, &done))
}

pub(super) fn start<L: Lending>(request: ClaimRequest, lending: &mut L) -> Result<Value, Failure> {
    let prepared = lending.lend(move |host| challenge(request, host))??;
    let Started { claimed: done, held_before, standing, pod } = daemon::start(lending, &prepared)?;
    let branch = standing.tree.short_branch().map(str::to_owned);
    let pod = pod.map(|(run, log)| StartedPod {
        id: run.id.to_string(),
        pid: run.process.map(|process| process.pid),
        log: log.display().to_string(),
    });
    value(&StartView {
        claim: claimed(&done),
        worktree: standing.tree.path.display().to_string(),
        made: standing.made,
        held_before,
        on_branch: branch,
        pod,
    })
}

/// Who claims, by what the request says of itself.
pub(super) fn challenge(request: ClaimRequest, host: &mut Host) -> Result<daemon::ClaimRequest, Failure> {
    let ClaimRequest { id, worker, role, ttl, pid, session, own, caller, .. } = request;
    let role = role.unwrap_or_else(|| ROLE.to_owned());
    let worker = worker.unwrap_or_else(|| made_up(&role, &(host.ports().nonce)()));
    for (what, name) in [("worker", &worker), ("role", &role)] {
        check_name(what, name)?;
    }
    let longest = host.engine().policy().claims.ttl;
    let ttl = ttl.map_or(Some(longest), TimeDelta::try_seconds);
    let ttl = ttl.filter(|ttl| (LEAST_TTL..=MOST_TTL).contains(ttl));
    let ttl = ttl.ok_or_else(|| Failure::usage("a claim holds from `1m` to `7d` without a sign of life"))?;
    let process = host
        .ports()
        .processes
        .identify(pid)
        .map_err(|error| Failure::usage(format!("the process that is to hold the claim: {error}")))?;
    let (by, actor) = (recorded_name(host, &caller), actor(host, &caller));
    let challenge = Challenge { worker, role, ttl: TimeDeltaSeconds(ttl.num_seconds()), process, session };
    let own = own.into_iter().chain([pid]).collect();
    Ok(daemon::ClaimRequest { id: TicketId::new(id), challenge, own, by, actor })
}

/// A name for a run that has none.
fn made_up(role: &str, nonce: &str) -> String {
    let chance = &nonce[nonce.len().saturating_sub(CHANCE)..];
    format!("{role}-{chance}")
}

/// What stands in a commit's subject and in notes: one word.
pub(super) fn check_name(what: &str, name: &str) -> Result<(), Failure> {
    if !is_name(name) {
        let message = format!("the name of a {what} is one word of at most {LONGEST_NAME} bytes");
        return Err(Failure::usage(message).hint(format!("--{what} codex-lane-3, say")));
    }
    Ok(())
}

/// A claim without a worktree yet.
pub(super) fn just_claimed<L: Lending>(lending: &mut L, done: &Claimed) -> ClaimView {
    let role = done.tip.step.role.clone();
    // A daemon that ends just now must not keep the claim from its holder.
    let has_program = lending.lend(move |host| host.has_program(&role)).unwrap_or(true);
    let view = claimed(done);
    let by = (!has_program).then(|| format!("yoi start {} --worker {}", view.id, view.worker));
    ClaimView { worktree_by: by, ..view }
}

fn claimed(done: &Claimed) -> ClaimView {
    let (step, ticket) = (&done.tip.step, &done.ticket);
    ClaimView {
        version: VERSION,
        id: step.ticket.to_string(),
        title: ticket.title.clone(),
        path: ticket.path.display().to_string(),
        state: ticket.state.map(|state| state.to_string()),
        worker: step.worker.clone(),
        role: step.role.clone(),
        generation: step.generation,
        own_end: clock(done.own_end),
        until: clock(done.until),
        branch: short_branch_of(&name::of(&step.ticket)),
        broken: done.broken.clone(),
        worktree_by: None,
        remarks: done.remarks.clone(),
    }
}

fn holder(request: &HolderRequest) -> Result<Holder, Failure> {
    check_name("worker", &request.worker)?;
    Ok(Holder { id: TicketId::new(&request.id), worker: request.worker.clone(), generation: request.generation })
}

pub(super) fn heartbeat<L: Lending>(request: &HolderRequest, lending: &mut L) -> Result<Value, Failure> {
    let (tip, [own_end, until]) = daemon::heartbeat(lending, &holder(request)?)?;
    let step = tip.step;
    value(&BeatView {
        version: VERSION,
        id: step.ticket.to_string(),
        worker: step.worker,
        generation: step.generation,
        own_end: clock(own_end),
        until: clock(until),
    })
}

pub(super) fn release<L: Lending>(request: ReleaseRequest, lending: &mut L) -> Result<Value, Failure> {
    let ReleaseRequest { holder: who, outcome, pr, reason, caller } = request;
    let outcome = outcome.parse().map_err(Failure::usage)?;
    let holder = holder(&who)?;
    let (mode, label, by, actor) = lending.lend(move |host| {
        let policy = host.engine().policy();
        (policy.mode, policy.claims.label.clone(), recorded_name(host, &caller), actor(host, &caller))
    })?;
    let ending = Ending { outcome, pr, by, mode, label };
    let Released { written, remarks } = daemon::release(lending, &holder, (ending, reason), actor)?;
    value(&match &written {
        Some([before, after]) => move_view(before, after, remarks),
        None => {
            MoveView { version: VERSION, id: holder.id.to_string(), path: String::new(), from: None, to: None, remarks }
        }
    })
}
