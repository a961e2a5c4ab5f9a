//! The main worktree as git sees it.
//!
//! Must not know: which git implementation answers.

use crate::domain::evidence::close::Checks;
use crate::domain::facts::Dirty;

/// Something that git is in the middle of, during which ticket files say nothing reliable (DESIGN.md 2.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// In words, with the path: "a rebase is under way (.git/rebase-merge)".
    pub what: String,
    /// It is normally over within moments (a held lock), and worth waiting for.
    pub passing: bool,
}

/// The main worktree of the workspace. Without git everything is [`Dirty::NotProbed`] and nothing is in the way.
pub trait MainWorktree: Send + Sync {
    /// Uncommitted changes to tracked files outside the ticket folder and `.yoi/`; at most 5 paths are named. Never
    /// takes the index lock.
    fn dirty(&self) -> Dirty;

    /// The same for whoever does not need it now: None where the answer is told later.
    fn dirty_in_time(&self) -> Option<Dirty> {
        Some(self.dirty())
    }

    /// The last answer of all, where answers are told later: what is told may have been overtaken.
    fn newest(&self) -> Option<Dirty> {
        None
    }

    /// A merge, rebase, cherry-pick or revert under way, or a held `index.lock`.
    fn obstacle(&self) -> Option<Obstacle>;

    /// Git has taken every file of the ticket folder out of the worktree: it kept some once, and keeps none any more. Then
    /// it took the folder with the last one, and nobody moved it away. Not where it keeps one of them in another place.
    fn emptied_tickets(&self) -> bool {
        false
    }

    /// The branch and the worktree of the ticket with this name in git (`domain::claim::name`). May take its time.
    fn of_ticket(&self, _name: &str) -> Checks {
        Checks::default()
    }

    /// Git's `user.name`, for edits made in an editor.
    fn user_name(&self) -> Option<String>;
}
