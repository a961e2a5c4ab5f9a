//! May a worktree that stands be used for a start, and what does another one that lies there get in the way of.
//!
//! Must not know: claims (whoever starts holds one).

use super::{Lock, Tree};
use crate::domain::refusal::Refusal;

/// A further role's start uses the ticket's worktree, unless it is gone, or somebody who is no worker keeps it. Whoever starts has
/// just won the ticket's claim: what a former worker's hold says is over.
pub fn may_use(tree: &Tree) -> Result<(), Refusal> {
    let place = tree.path.display();
    if let Some(why) = &tree.gone {
        return Err(Refusal::new(format!("the ticket has a worktree, {place}, whose folder is gone: {why}"))
            .hint("`yoi worktree remove ID` takes its entry away; or put the folder back"));
    }
    match &tree.lock {
        Lock::Open | Lock::Held(_) => Ok(()),
        Lock::Foreign(why) => {
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            Err(Refusal::new(format!("somebody locked the worktree {place}{why}"))
                .hint("`git worktree unlock PATH` takes the lock away"))
        }
    }
}
