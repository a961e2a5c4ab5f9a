//! What a start, a removal or a restoration that was cut off has left is ended here: undone, adopted, put back or finished, by what
//! was written down before each step (DESIGN.md 6.3; FAULTS kinds 9, 10 and 12).
//!
//! Must not know: git, files; how any of them goes when nothing cuts it off.

use crate::adapters::fault;
use crate::domain::refusal::Refusal;
use crate::domain::worktree::{Journal, Mend, Phase, Tree};
use crate::ports::worktrees::{Holding, Worktrees, WorktreesError};

/// The place of a removal's fault points.
pub(super) const REMOVING: &str = "worktree-remove";

/// The worktree of this name.
pub(super) fn find(trees: &dyn Worktrees, name: &str) -> Result<Option<Tree>, WorktreesError> {
    Ok(trees.list()?.into_iter().find(|tree| tree.name == name))
}

/// Takes away what this run, or one that was cut off, has made.
pub(super) fn undo(trees: &dyn Worktrees, holding: &Holding, mut journal: Journal) -> Result<(), WorktreesError> {
    journal.phase = Phase::Undoing;
    trees.note(holding, &journal)?;
    fault::point("undo", "noted");
    trees.undo(holding, &journal)?;
    fault::point("undo", "undone");
    trees.forget(holding)
}

/// Ends what a run that was cut off had begun. `wanted`: the ticket is being started just now.
pub(super) fn mend(trees: &dyn Worktrees, holding: &Holding, wanted: bool) -> Result<(), WorktreesError> {
    let Some(mut journal) = trees.journal(holding)? else { return Ok(()) };
    let left = trees.left(&journal)?;
    match journal.mend(&left, wanted) {
        Mend::Forget => trees.forget(holding),
        Mend::Undo => undo(trees, holding, journal),
        // Somebody's files lie there, and git knows nothing of it: it is left alone.
        Mend::Adopt if !left.entry => trees.forget(holding),
        Mend::Adopt if journal.phase == Phase::Making => {
            journal.phase = Phase::Made;
            trees.note(holding, &journal)
        }
        Mend::Adopt if journal.phase == Phase::Restoring => trees.forget(holding),
        Mend::Adopt => Ok(()),
        Mend::PutBack => put_back(trees, holding, &journal, left.aside),
        Mend::Blocked => Err(blocked(&journal).into()),
        Mend::Finish => finish(trees, holding, &journal),
    }
}

/// Ends whatever runs that were cut off had begun, but what somebody is at work on. What could not be ended is told, and tried
/// again next time.
pub fn mend_all(trees: &dyn Worktrees) -> Result<Vec<String>, WorktreesError> {
    let mut troubles = Vec::new();
    for name in trees.begun()? {
        let mended = trees.try_hold(&name).and_then(|held| held.map_or(Ok(()), |held| mend(trees, &held, false)));
        troubles.extend(mended.err().map(|error| format!("what was begun with the worktree of `{name}`: {error}")));
    }
    Ok(troubles)
}

/// Puts a worktree that was not removed back where it was. What was saved of it is not needed.
fn put_back(trees: &dyn Worktrees, holding: &Holding, journal: &Journal, is_aside: bool) -> Result<(), WorktreesError> {
    let Phase::Saving { salvage, aside } = &journal.phase else { return trees.forget(holding) };
    if is_aside {
        trees.rename(aside, &journal.path)?;
    }
    salvage.as_deref().map_or(Ok(()), |reference| trees.drop_salvage(reference))?;
    trees.forget(holding)
}

/// Something came to where it was before it could be put back.
fn blocked(journal: &Journal) -> Refusal {
    let aside = match &journal.phase {
        Phase::Saving { aside, .. } => aside.display().to_string(),
        _ => String::new(),
    };
    let path = journal.path.display();
    Refusal::new(format!(
        "a removal of {path} was cut off, and something else lies there by now; all of it is in {aside}"
    ))
    .hint(format!("move {path} away: then it is put back"))
}

/// Takes away what is left of one that is going.
pub(super) fn finish(trees: &dyn Worktrees, holding: &Holding, journal: &Journal) -> Result<(), WorktreesError> {
    let Phase::Going { aside, branch } = &journal.phase else { return Ok(()) };
    trees.drop_entry(&journal.path)?;
    fault::point(REMOVING, "entry");
    branch.as_ref().map_or(Ok(()), |branch| trees.drop_branch(branch))?;
    fault::point(REMOVING, "branch");
    trees.drop_folder(aside)?;
    fault::point(REMOVING, "folder");
    trees.forget(holding)?;
    fault::point(REMOVING, "done");
    Ok(())
}
