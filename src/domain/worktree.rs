//! The worktrees that stand for tickets, and the rules about them: what one may be removed with, what a start and a removal
//! that were cut off leave to do (DESIGN.md 6.3; FAULTS kinds 9 and 10).
//!
//! Must not know: git, files; how any of it is found out.

pub mod journal;
pub mod lock;
pub mod probe;
pub mod removal;
#[cfg(test)]
mod tests;
pub mod using;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub use journal::{BranchAt, Journal, Left, Made, Mend, Phase};
pub use lock::{Hold, Lock};
pub use probe::{Commits, Named, Occupant, Probe};
pub use removal::{Reason, Removal, may_remove, reasons};
pub use using::{may_enter, may_use};

use super::backlog::Backlog;
use super::claim::name;
use super::facts;
use super::ticket::TicketId;

/// Where the branches of tickets' worktrees lie: `yoi/NAME`.
pub const BRANCHES: &str = "refs/heads/yoi/";

/// Where what a worktree held is saved: `refs/yoi/salvage/NAME/TIME`.
pub const SALVAGE: &str = "refs/yoi/salvage/";

/// A linked worktree that stands for a ticket, as git has it on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The ticket's name in folders and branches (`claim::name`).
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// The commit it is on; None where its branch has none yet, or cannot be read.
    pub head: Option<String>,
    /// The whole name of the branch it is on; None: HEAD is detached.
    pub branch: Option<String>,
    /// Who keeps it.
    pub lock: Lock,
    /// Why git takes it for gone (its folder is not there), in git's words.
    pub gone: Option<String>,
}

impl Tree {
    /// The ticket's id, as far as the name says it.
    pub fn ticket(&self) -> Option<TicketId> {
        name::id_of(&self.name)
    }

    /// The branch without what every branch's name begins with.
    pub fn short_branch(&self) -> Option<&str> {
        self.branch.as_deref().map(|branch| branch.strip_prefix("refs/heads/").unwrap_or(branch))
    }
}

/// The branch of a ticket's worktree as people write it: `yoi/NAME`.
pub fn short_branch_of(name: &str) -> String {
    branch_of(name).split_off("refs/heads/".len())
}

/// Whose each standing worktree is; a name that was cut is one of the backlog's tickets. Of several of one ticket the one
/// that somebody works in counts.
pub fn tickets_of(standing: Vec<(String, facts::Worktree)>, backlog: &Backlog) -> BTreeMap<TicketId, facts::Worktree> {
    let mut trees: BTreeMap<TicketId, facts::Worktree> = BTreeMap::new();
    for (its_name, tree) in standing {
        let cut = || backlog.tickets().map(|ticket| &ticket.id).find(|id| name::of(id) == its_name).cloned();
        let Some(id) = name::id_of(&its_name).or_else(cut) else { continue };
        let better = trees.get(&id).is_none_or(|other| other.live_process.is_none() && tree.live_process.is_some());
        if better {
            trees.insert(id, tree);
        }
    }
    trees
}

/// The whole name of the branch of a ticket's worktree.
pub fn branch_of(name: &str) -> String {
    format!("{BRANCHES}{name}")
}
