//! Removing a worktree, and bringing one back: transactions, as starting one is. Nothing goes before everything that is only
//! there is saved and read back, and nothing that changed meanwhile (DESIGN.md 6.3; FAULTS kind 10).
//!
//! Must not know: git, files.

use chrono::SecondsFormat;

use crate::adapters::fault;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::Timestamp;
use crate::domain::worktree::{
    BranchAt, Hold, Journal, Made, Named, Phase, Probe, Removal, SALVAGE, Tree, branch_of, may_remove,
};
use crate::ports::worktrees::{Holding, Hook, Hooked, Restored, Salvage, Worktrees, WorktreesError};

use super::mending::{REMOVING as PLACE, find, finish, mend, undo};

/// The place of a restoration's fault points.
const RESTORE: &str = "worktree-restore";

/// Whose worktree is to go.
#[derive(Clone, Debug)]
pub struct RemoveOrder {
    /// The ticket's name (`claim::name`).
    pub name: String,
    /// The worker who asks: its own lock is no obstacle.
    pub worker: Option<String>,
    /// Who has a fresh claim on the ticket, if anybody does: nobody else removes it.
    pub holder: Option<String>,
    /// Save what is in it, and remove it then.
    pub force: bool,
}

/// A worktree that is gone.
#[derive(Clone, Debug)]
pub struct Gone {
    /// As it was.
    pub tree: Tree,
    /// Where all of it is saved.
    pub salvage: Option<Salvage>,
    /// The branch went too.
    pub branch: Option<BranchAt>,
    /// What else is to be said.
    pub remarks: Vec<String>,
}

/// Removes a worktree, with its branch where that is merged.
pub fn remove_worktree(trees: &dyn Worktrees, order: &RemoveOrder, now: Timestamp) -> Result<Gone, WorktreesError> {
    let holding = trees.hold(&order.name)?;
    mend(trees, &holding, false)?;
    let tree = find(trees, &order.name)?.ok_or_else(|| Refusal::new("the ticket has no worktree").hint(LIST))?;
    let mut remarks = Vec::new();
    if tree.gone.is_none() {
        remarks.extend(hook(trees, &holding, &tree, order, now)?);
    }
    // Before it is looked at: what is found is what goes.
    let print = trees.print(&tree, &tree.path);
    let probe = trees.probe(&tree);
    let removal = may_remove(&tree, &probe, (order.worker.as_deref(), order.holder.as_deref()), order.force, now)?;
    let aside = tree.path.with_file_name(format!(".yoi-removing-{}", order.name));
    let reference = removal.salvage.then(|| reference(&order.name, now));
    let saving = Phase::Saving { salvage: reference.clone(), aside: aside.clone() };
    let mut journal = Journal::new(&order.name, tree.path.clone(), saving, now);
    trees.note(&holding, &journal)?;
    fault::point(PLACE, "planned");
    let set_aside = || {
        let salvage = reference.as_deref().map(|reference| trees.save(&tree, reference)).transpose()?;
        fault::point(PLACE, "saved");
        if tree.gone.is_none() {
            trees.rename(&tree.path, &aside)?;
        }
        fault::point(PLACE, "aside");
        if tree.gone.is_none() && trees.print(&tree, &aside) != print {
            let changed = Refusal::new(format!("{} changed while it was looked at", tree.path.display()));
            return Err(Refusal { passing: true, ..changed.hint("try again") }.into());
        }
        Ok(salvage)
    };
    let salvage = match set_aside() {
        Ok(salvage) => salvage,
        Err(error) => {
            mend(trees, &holding, false)?;
            return Err(error);
        }
    };
    let branch = dropped(trees, &order.name, &removal)?;
    journal.phase = Phase::Going { aside, branch: branch.clone() };
    trees.note(&holding, &journal)?;
    fault::point(PLACE, "going");
    finish(trees, &holding, &journal)?;
    remarks.extend(passed_over(&removal, &probe));
    Ok(Gone { tree, salvage, branch, remarks })
}

const LIST: &str = "`yoi worktree list` shows those that are there";

/// Runs the hook where nothing but what it may take away speaks against the removal.
fn hook(
    trees: &dyn Worktrees,
    holding: &Holding,
    tree: &Tree,
    order: &RemoveOrder,
    now: Timestamp,
) -> Result<Option<String>, WorktreesError> {
    match trees.hooked(Hook::BeforeRemove) {
        Hooked::None => return Ok(None),
        Hooked::Untrusted => {
            return Ok(Some(format!("the hook {} was not run: `yoi trust` shows it", Hook::BeforeRemove.key())));
        }
        Hooked::Runs => {}
    }
    let probe = Probe { ignored: Named::default(), ..trees.probe(tree) };
    may_remove(tree, &probe, (order.worker.as_deref(), order.holder.as_deref()), order.force, now)?;
    trees.run_hook(Hook::BeforeRemove, holding, &tree.path)?;
    fault::point(PLACE, "hooked");
    Ok(None)
}

fn reference(name: &str, now: Timestamp) -> String {
    let time = now.to_rfc3339_opts(SecondsFormat::Millis, true).replace([':', '.', '-'], "");
    format!("{SALVAGE}{name}/{time}")
}

fn dropped(trees: &dyn Worktrees, name: &str, removal: &Removal) -> Result<Option<BranchAt>, WorktreesError> {
    if !removal.drop_branch {
        return Ok(None);
    }
    Ok(trees.branch(name)?.map(|at| BranchAt { name: branch_of(name), at }))
}

fn passed_over(removal: &Removal, probe: &Probe) -> Vec<String> {
    let mut remarks: Vec<_> = removal.passed_over.iter().map(|what| format!("passed over: {what}")).collect();
    if !probe.caches.is_empty() {
        remarks.push(format!("removed with it, unsaved, because it can be made anew: {}", probe.caches));
    }
    if probe.stashes > 0 {
        remarks.push("the stash is the repository's, and is as it was: `git stash list`".into());
    }
    remarks
}

/// A worktree that is back.
#[derive(Clone, Debug)]
pub struct Back {
    /// The worktree.
    pub tree: Tree,
    /// What it was brought back from; it is kept.
    pub salvage: Salvage,
    /// How much of it there is, and what differs.
    pub restored: Restored,
}

/// Brings back the newest of what was saved under this name, or this one; locked for whoever holds the ticket.
pub fn restore_worktree(
    trees: &dyn Worktrees,
    name: &str,
    (from, holder): (Option<&str>, Option<&Hold>),
    now: Timestamp,
) -> Result<Back, WorktreesError> {
    let holding = trees.hold(name)?;
    mend(trees, &holding, false)?;
    if let Some(tree) = find(trees, name)? {
        return Err(Refusal::new(format!("the ticket has a worktree: {}", tree.path.display()))
            .hint("remove that one first")
            .into());
    }
    let salvage = chosen(trees.salvages(name)?, from)?;
    let wanted = trees.restoration(name, &salvage)?;
    let path = trees.place(name)?;
    let made = Made { branch: wanted.makes.clone(), from: Some(salvage.commit.clone()) };
    let journal = Journal { made, ..Journal::new(name, path.clone(), Phase::Restoring, now) };
    trees.note(&holding, &journal)?;
    fault::point(RESTORE, "planned");
    let mut restored = match trees.restore(&holding, &path, &wanted) {
        Ok(restored) => restored,
        Err(error) => {
            undo(trees, &holding, journal)?;
            return Err(error);
        }
    };
    fault::point(RESTORE, "restored");
    trees.forget(&holding)?;
    let tree = find(trees, name)?.ok_or_else(|| WorktreesError::Failed("the restored worktree is gone".into()))?;
    let Some(hold) = holder else { return Ok(Back { tree, salvage, restored }) };
    match trees.retain(&tree, hold) {
        Ok(()) => restored.remarks.push(format!("it is locked again: {}", hold.words())),
        Err(error) => restored.remarks.push(format!("it could not be locked for {}: {error}", hold.worker)),
    }
    Ok(Back { tree, salvage, restored })
}

fn chosen(saved: Vec<Salvage>, from: Option<&str>) -> Result<Salvage, WorktreesError> {
    let names: Vec<_> = saved.iter().map(|salvage| salvage.reference.clone()).collect();
    // A time, or the whole name.
    let is_it = |salvage: &Salvage, from: &str| {
        salvage.reference == from || salvage.reference.rsplit('/').next().is_some_and(|time| time == from)
    };
    let found = saved.into_iter().rfind(|salvage| from.is_none_or(|from| is_it(salvage, from)));
    found.ok_or_else(|| {
        let what = from.map_or_else(String::new, |from| format!(" as `{from}`"));
        Refusal::new(format!("nothing was saved of this ticket's worktree{what}")).evidence(names).into()
    })
}
