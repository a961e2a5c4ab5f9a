//! Requests about worktrees: carried out on the asker's own thread, since git takes its time; the host only says which
//! worktrees there are, and whose.
//!
//! Must not know: git, files; what may be removed.

use std::collections::BTreeMap;
use std::thread;

use chrono::SecondsFormat;
use serde_json::Value;

use super::failure::Failure;
use super::request::Request;
use super::view::{RestoredView, VERSION, WorktreeRemovedView, WorktreeView, WorktreesView, value};
use crate::daemon::mending::mend_all;
use crate::daemon::removing::{RemoveOrder, remove_worktree, restore_worktree};
use crate::daemon::{Host, Lending, held, stands};
use crate::domain::claim::{Stands, name};
use crate::domain::ticket::{TicketId, Timestamp};
use crate::domain::worktree::{Hold, Lock, Probe, Reason, Tree, reasons};
use crate::ports::{Entry, Worktrees, WorktreesError};

/// How many worktrees are looked at at a time.
const AT_ONCE: usize = 4;

/// Who holds which ticket.
type Held = BTreeMap<TicketId, String>;

/// Carries out one of them.
pub(super) fn carry_out<L: Lending>(request: Request, lending: &mut L) -> Result<Value, Failure> {
    let (trees, now) = lending.lend(|host| (host.worktrees(), host.now()))?;
    match request {
        Request::Worktrees => list(trees.as_ref(), lending, now),
        Request::RemoveWorktree { id, force, worker } => {
            let name = name::of(&TicketId::new(&id));
            let holder = match stands(lending, &TicketId::new(&id))? {
                (_, Stands::Held(claim)) => Some(claim.worker),
                _ => None,
            };
            let worker = match worker {
                None => former(trees.as_ref(), &name, holder.as_deref()).map_err(|error| of_ticket(error, &id))?,
                named => named,
            };
            let order = RemoveOrder { name, worker, holder, force };
            let gone = remove_worktree(trees.as_ref(), &order, now).map_err(|error| of_ticket(error, &id))?;
            value(&WorktreeRemovedView {
                version: VERSION,
                id,
                path: gone.tree.path.display().to_string(),
                salvage: gone.salvage.map(|salvage| salvage.reference),
                branch_removed: gone.branch.map(|branch| short(&branch.name).to_owned()),
                remarks: gone.remarks,
            })
        }
        Request::RestoreWorktree { id, from } => {
            let name = name::of(&TicketId::new(&id));
            let holder = match stands(lending, &TicketId::new(&id))? {
                (_, Stands::Held(claim)) => {
                    Some(Hold { until: claim.expires(), worker: claim.worker, retained_for: None })
                }
                _ => None,
            };
            let back = restore_worktree(trees.as_ref(), &name, (from.as_deref(), holder.as_ref()), now)
                .map_err(|error| of_ticket(error, &id))?;
            value(&RestoredView {
                version: VERSION,
                id,
                path: back.tree.path.display().to_string(),
                branch: back.tree.short_branch().map(str::to_owned),
                salvage: back.salvage.reference,
                files: back.restored.files,
                remarks: back.restored.remarks,
            })
        }
        _ => Err(Failure::usage("this is no request about worktrees")),
    }
}

/// Whoever the worktree was locked for, if the ticket is nobody's any more: what that lock says is over then.
fn former(trees: &dyn Worktrees, name: &str, holder: Option<&str>) -> Result<Option<String>, WorktreesError> {
    let tree = trees.list()?.into_iter().find(|tree| tree.name == *name);
    let hold = tree.and_then(|tree| tree.lock.hold().cloned()).filter(Hold::is_of_a_claim);
    Ok(hold.map(|hold| hold.worker).filter(|worker| holder != Some(worker.as_str())))
}

/// The same by what is known here: a list asks no remote. Without a word about claims the lock counts.
fn former_here<'a>(tree: &'a Tree, ticket: Option<&TicketId>, held: Option<&Held>) -> Option<&'a str> {
    let (hold, held) = (tree.lock.hold().filter(|hold| hold.is_of_a_claim())?, held?);
    let is_held = held.get(ticket?) == Some(&hold.worker);
    (!is_held).then_some(hold.worker.as_str())
}

fn list<L: Lending>(trees: &dyn Worktrees, lending: &mut L, now: Timestamp) -> Result<Value, Failure> {
    let troubles = mend_all(trees)?;
    let mut worktrees = Vec::new();
    let all = trees.list()?;
    let held = if all.iter().any(|tree| tree.lock.hold().is_some()) { held(lending)? } else { None };
    for (tree, probe) in looked_at(trees, all) {
        let name = tree.name.clone();
        let ticket = match tree.ticket() {
            Some(ticket) => Some(ticket),
            // A long name was cut: whose it is, is known by those that there are.
            None => lending.lend(move |host| whose(host, &name))?,
        };
        let asker = former_here(&tree, ticket.as_ref(), held.as_ref());
        worktrees.push(view(&tree, &probe, ticket, (asker, now)));
    }
    value(&WorktreesView { version: VERSION, worktrees, remarks: troubles })
}

/// Git has a dozen questions to answer for each: a few are asked at a time.
fn looked_at(trees: &dyn Worktrees, all: Vec<Tree>) -> Vec<(Tree, Probe)> {
    let look = |tree: &Tree| trees.probe(tree);
    let probes: Vec<_> = all
        .chunks(AT_ONCE)
        .flat_map(|some| {
            thread::scope(|scope| {
                let looks: Vec<_> = some.iter().map(|tree| scope.spawn(move || look(tree))).collect();
                let ended = looks.into_iter().map(|look| look.join().ok());
                ended
                    .map(|probe| probe.unwrap_or_else(|| Probe::unreadable("looking at it failed")))
                    .collect::<Vec<_>>()
            })
        })
        .collect();
    all.into_iter().zip(probes).collect()
}

fn whose(host: &Host, name: &str) -> Option<TicketId> {
    let known = host.engine().backlog().tickets().map(|ticket| ticket.id.clone()).find(|id| name::of(id) == name);
    // A command's own host has read none for this.
    let read = || {
        let entries = host.ports().tickets.scan().ok()?.into_iter();
        let mut ids = entries
            .filter_map(|(_, entry)| if let Entry::Ticket(found) = entry { Some(found.id.clone()) } else { None });
        ids.find(|id| name::of(id) == name)
    };
    known.or_else(read)
}

fn view(tree: &Tree, probe: &Probe, ticket: Option<TicketId>, (asker, now): (Option<&str>, Timestamp)) -> WorktreeView {
    let hold = tree.lock.hold();
    WorktreeView {
        ticket: ticket.map(|ticket| ticket.to_string()),
        path: tree.path.display().to_string(),
        branch: tree.short_branch().map(str::to_owned),
        owner: hold.map(|hold| hold.worker.clone()),
        expires: hold.map(|Hold { until, .. }| until.to_rfc3339_opts(SecondsFormat::Secs, true)),
        retained_for: hold.and_then(|hold| hold.retained_for.clone()),
        locked: match &tree.lock {
            Lock::Foreign(why) => Some(why.clone()),
            Lock::Open | Lock::Held(_) => None,
        },
        gone: tree.gone.is_some(),
        dirty: probe.is_dirty(),
        merged: probe.is_merged(),
        stays_because: reasons(tree, probe, asker, now).iter().map(Reason::text).collect(),
    }
}

fn short(branch: &str) -> &str {
    branch.strip_prefix("refs/heads/").unwrap_or(branch)
}

/// A refusal names the ticket.
fn of_ticket(error: WorktreesError, id: &str) -> Failure {
    let failure = Failure::from(error);
    Failure { message: format!("`{id}`: {}", failure.message), ..failure }
}

impl From<WorktreesError> for Failure {
    fn from(error: WorktreesError) -> Self {
        match error.told() {
            Ok(refusal) => refusal.into(),
            Err((message, output)) => Failure::failed(message).evidence(output),
        }
    }
}
