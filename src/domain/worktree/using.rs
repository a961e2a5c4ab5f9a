//! May a worktree that stands be used for a start, and what does another one that lies there get in the way of.
//!
//! Must not know: claims (whoever starts holds one).

use std::path::Path;

use super::{Lock, Occupant, Tree};
use crate::domain::refusal::Refusal;
use crate::domain::ticket::Timestamp;

/// Somebody who works in it has not finished, whoever holds the ticket's claim.
pub fn may_enter(path: &Path, occupants: &[Occupant]) -> Result<(), Refusal> {
    let Some(first) = occupants.first() else { return Ok(()) };
    let who = format!("process {} ({})", first.pid, first.program);
    let place = path.display();
    let named = occupants.iter().map(|other| format!("process {} ({}) works in {place}", other.pid, other.program));
    Err(Refusal::new(format!("{who} works in the ticket's worktree, {place}"))
        .evidence(named.skip(1))
        .hint("wait until it has ended, or end it; a shell is out of it with `cd`"))
}

/// A further role's start uses the ticket's worktree, unless it is gone, or somebody who is no worker keeps it. Whoever starts has
/// just won the ticket's claim: what a former worker's hold says is over; what is retained for something else is not.
pub fn may_use(tree: &Tree, worker: &str, now: Timestamp) -> Result<(), Refusal> {
    let place = tree.path.display();
    if let Some(why) = &tree.gone {
        return Err(Refusal::new(format!("the ticket has a worktree, {place}, whose folder is gone: {why}"))
            .hint("`yoi worktree remove ID` takes its entry away; or put the folder back"));
    }
    match &tree.lock {
        Lock::Held(hold) if !hold.is_of_a_claim() && now < hold.until && hold.worker != worker => {
            Err(Refusal::new(format!("the worktree {place} is not to be worked in: {}", hold.words()))
                .hint("`git worktree unlock PATH` takes that away; or wait"))
        }
        Lock::Open | Lock::Held(_) => Ok(()),
        Lock::Foreign(why) => {
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            Err(Refusal::new(format!("somebody locked the worktree {place}{why}"))
                .hint("`git worktree unlock PATH` takes the lock away"))
        }
    }
}
