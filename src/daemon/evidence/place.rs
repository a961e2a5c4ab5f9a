//! What becomes of a ticket's worktree when the work on it ends: with a block it goes, if nothing would be lost with it; whoever
//! closes may say who keeps it.
//!
//! Must not know: git; what the verb writes.

use super::{Ending, look_at_work};
use crate::daemon::mending::find;
use crate::daemon::removing::{RemoveOrder, remove_worktree};
use crate::daemon::{Lending, VerbError};
use crate::domain::claim::name;
use crate::domain::evidence::block::Fate;
use crate::domain::evidence::close::Standing;
use crate::domain::ticket::TicketId;
use crate::domain::worktree::{Hold, Lock};
use crate::ports::WorktreesError;

/// What becomes of a blocked ticket's worktree: it goes if nothing would be lost with it, else it stays, and why.
pub(super) fn fate<L: Lending>(
    lending: &mut L,
    id: &TicketId,
    (owner, holds): (&str, bool),
    ending: &Ending,
) -> Result<Fate, VerbError> {
    // Nothing goes for a block that is refused then.
    let (of, by, block) = (id.clone(), owner.to_owned(), ending.clone());
    lending.lend(move |host| host.may_block(&of, (by, holds), &block))??;
    let found = look_at_work(lending, id)?;
    let Standing::There(path) = &found.worktree else { return Ok(Fate::None) };
    let (trees, now) = lending.lend(|host| (host.worktrees(), host.now()))?;
    let name = name::of(id);
    let hold = find(trees.as_ref(), &name).ok().flatten().and_then(|tree| tree.lock.hold().cloned());
    // Nobody but whoever asks holds the ticket: what a lock of a former worker says is over.
    let former = hold.as_ref().filter(|hold| hold.is_of_a_claim());
    let worker = Some(former.map_or_else(|| owner.to_owned(), |hold| hold.worker.clone()));
    match remove_worktree(trees.as_ref(), &RemoveOrder { name, worker, holder: None, force: false }, now) {
        Ok(_) => Ok(Fate::Removed { path: path.clone() }),
        Err(error) => Ok(Fate::kept(found, owner, &reasons(&error), hold.map(|hold| hold.until))),
    }
}

/// Why a worktree stays, in words.
fn reasons(error: &WorktreesError) -> Vec<String> {
    match error {
        WorktreesError::Refused(refusal) if !refusal.evidence.is_empty() => refusal.evidence.clone(),
        other => vec![other.to_string()],
    }
}

/// Locks the worktree of a closed ticket for whoever is to keep it. What cannot be is said: the ticket is closed.
pub(super) fn retain<L: Lending>(lending: &mut L, (id, hold): &(TicketId, Option<Hold>)) -> Option<String> {
    let hold = hold.as_ref()?;
    let failed =
        |error: &dyn std::fmt::Display| format!("the worktree could not be locked for {}: {error}", hold.worker);
    let trees = match lending.lend(|host| host.worktrees()) {
        Ok(trees) => trees,
        Err(error) => return Some(failed(&error)),
    };
    match find(trees.as_ref(), &name::of(id)) {
        Ok(None) => Some(format!("`{id}` has no worktree of yoi's: nothing was locked for {}", hold.worker)),
        // Whoever locked it has his reasons, and it stays by that.
        Ok(Some(tree)) if matches!(tree.lock, Lock::Foreign(_)) => None,
        Ok(Some(tree)) => trees.retain(&tree, hold).err().map(|error| failed(&error)),
        Err(error) => Some(failed(&error)),
    }
}
