//! Making the worktree of an accepted ticket: a transaction. Each step is written down before it is taken, so that a start that
//! was cut off anywhere is undone or adopted at the next one (DESIGN.md 6.3; FAULTS kinds 9 and 12). Every side effect takes
//! the proof of acceptance. The host is not needed: git may take its time.
//!
//! Must not know: git, files; claims (whoever starts holds one).

use crate::adapters::fault;
use crate::domain::claim::name;
use crate::domain::ticket::Timestamp;
use crate::domain::worktree::{BranchAt, Hold, Journal, Made, Phase, Tree, branch_of, may_enter, may_use};
use crate::ports::Acceptance;
use crate::ports::worktrees::{Holding, Hook, Hooked, Worktrees, WorktreesError};

use super::mending::{find, mend, undo};

/// The place of the fault points.
const PLACE: &str = "start";

/// A worktree that a worker may use.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The worktree.
    pub tree: Tree,
    /// It was made just now, and was not there before.
    pub made: bool,
    /// What did not go as it could, in words.
    pub remarks: Vec<String>,
}

/// Makes the ticket's worktree, on its branch, or uses the one that stands; locks it for the worker; and runs the hook in a new
/// one. All of it, or nothing is left.
pub fn worktree_for(
    trees: &dyn Worktrees,
    proof: &Acceptance,
    hold: &Hold,
    now: Timestamp,
) -> Result<Standing, WorktreesError> {
    let name = name::of(proof.ticket());
    let holding = trees.hold(&name)?;
    mend(trees, &holding, true)?;
    if let Some(tree) = find(trees, &name)? {
        may_use(&tree, &hold.worker, now)?;
        trees.lock(proof, &tree, hold)?;
        // One that a start was cut off with was not given to anybody yet.
        if trees.journal(&holding)?.is_some() {
            fault::point(PLACE, "adopted");
            trees.run_hook(Hook::AfterCreate, &holding, &tree.path)?;
            trees.forget(&holding)?;
        }
        return standing(trees, &name, false);
    }
    let mut journal = plan(trees, &name, now)?;
    trees.note(&holding, &journal)?;
    fault::point(PLACE, "planned");
    if let Err(error) = make(trees, proof, &holding, &mut journal, hold) {
        undo(trees, &holding, journal)?;
        return Err(error);
    }
    trees.forget(&holding)?;
    fault::point(PLACE, "done");
    standing(trees, &name, true)
}

/// Refuses where somebody else works in the worktree that a start would use. `own`: who starts.
pub fn refuse_occupied(trees: &dyn Worktrees, name: &str, own: &[u32]) -> Result<(), WorktreesError> {
    let inside = trees.working_in(name, own);
    let Some(path) = inside.first().map(|first| first.path.clone()) else { return Ok(()) };
    let occupants: Vec<_> = inside.into_iter().map(|inside| inside.occupant).collect();
    Ok(may_enter(&path, &occupants)?)
}

fn plan(trees: &dyn Worktrees, name: &str, now: Timestamp) -> Result<Journal, WorktreesError> {
    let path = trees.place(name)?;
    let standing = trees.branch(name)?;
    let at = match &standing {
        Some(at) => at.clone(),
        None => trees.start_point()?,
    };
    let branch = standing.is_none().then(|| BranchAt { name: branch_of(name), at: at.clone() });
    let made = Made { branch, from: Some(at) };
    Ok(Journal { made, ..Journal::new(name, path, Phase::Making, now) })
}

fn make(
    trees: &dyn Worktrees,
    proof: &Acceptance,
    holding: &Holding,
    journal: &mut Journal,
    hold: &Hold,
) -> Result<(), WorktreesError> {
    if let Some(branch) = &journal.made.branch {
        trees.make_branch(proof, holding, &branch.at)?;
        fault::point(PLACE, "branch");
    }
    trees.make_folder(proof, holding, &journal.path)?;
    fault::point(PLACE, "folder");
    journal.phase = Phase::Made;
    trees.note(holding, journal)?;
    fault::point(PLACE, "made");
    let tree = find(trees, &journal.name)?.ok_or_else(|| gone(&journal.name))?;
    trees.lock(proof, &tree, hold)?;
    fault::point(PLACE, "locked");
    trees.run_hook(Hook::AfterCreate, holding, &journal.path)?;
    fault::point(PLACE, "hooked");
    Ok(())
}

fn standing(trees: &dyn Worktrees, name: &str, made: bool) -> Result<Standing, WorktreesError> {
    let tree = find(trees, name)?.ok_or_else(|| gone(name))?;
    let untrusted = made && trees.hooked(Hook::AfterCreate) == Hooked::Untrusted;
    let remark = || format!("the hook {} was not run: `yoi trust` shows it", Hook::AfterCreate.key());
    Ok(Standing { tree, made, remarks: untrusted.then(remark).into_iter().collect() })
}

fn gone(name: &str) -> WorktreesError {
    WorktreesError::Failed(format!("the worktree of `{name}` was there a moment ago, and is not any more"))
}
