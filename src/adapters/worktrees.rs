//! Linked worktrees through the git program, which knows every kind of repository; what has to be cheap is read from git's
//! own small files.
//!
//! Must not know: what may be removed, or which step follows which.

mod admin;
mod asking;
mod hooks;
mod journals;
mod listing;
mod making;
mod manifest;
mod occupants;
mod paths;
mod places;
mod printing;
mod probing;
mod removing;
mod restoring;
mod saving;
mod trouble;
mod verifying;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::domain::facts;
use crate::domain::worktree::{BranchAt, Hold, Journal, Left, Probe, Tree};
use crate::ports::Acceptance;
use crate::ports::worktrees::{
    Holding, Hook, Hooked, Inside, Print, Restoration, Restored, Salvage, Worktrees, WorktreesError,
};

pub use hooks::Hooks;

/// How long a lock that others hold is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long git may take to check out, or to save, a worktree.
const LONG: Duration = Duration::from_mins(20);

/// What is said where there is no repository.
const NO_GIT: &str = "there is no git repository here, and worktrees need one; everything about tickets works without";

/// The worktrees of one workspace's tickets.
#[derive(Clone, Debug)]
pub struct GitWorktrees {
    /// The workspace, canonical.
    workspace: PathBuf,
    /// The folder that all worktrees of the repository share; None without git.
    common: Option<PathBuf>,
    /// Where new ones are made: below the workspace, unless it is absolute.
    root: PathBuf,
    /// Locks and journals.
    state: PathBuf,
    hooks: Hooks,
    patience: Duration,
}

impl GitWorktrees {
    /// Those of the workspace, whose repository has this common directory; new ones below `root`, which is relative to the
    /// workspace or absolute. `state`: where locks and journals of theirs are kept.
    pub fn new(workspace: &Path, common: Option<&Path>, root: &Path, state: PathBuf, hooks: Hooks) -> Self {
        Self {
            workspace: workspace.to_owned(),
            common: common.map(Path::to_owned),
            root: root.to_owned(),
            state,
            hooks,
            patience: PATIENCE,
        }
    }

    fn common(&self) -> Result<&Path, WorktreesError> {
        self.common.as_deref().ok_or_else(|| WorktreesError::NoGit(NO_GIT.into()))
    }

    /// Locks are waited for so long, and not 10 s.
    #[must_use]
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }
}

impl Worktrees for GitWorktrees {
    fn standing(&self) -> Vec<(String, facts::Worktree)> {
        self.all_standing()
    }

    fn working_in(&self, name: &str, but: &[u32]) -> Vec<Inside> {
        self.others_in(name, but)
    }

    fn intended(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn list(&self) -> Result<Vec<Tree>, WorktreesError> {
        self.listed()
    }

    fn probe(&self, tree: &Tree) -> Probe {
        self.probed(tree)
    }

    fn hold(&self, name: &str) -> Result<Holding, WorktreesError> {
        self.held(name, self.patience)
    }

    fn try_hold(&self, name: &str) -> Result<Option<Holding>, WorktreesError> {
        match self.held(name, Duration::ZERO) {
            Err(WorktreesError::Held(_)) => Ok(None),
            held => held.map(Some),
        }
    }

    fn begun(&self) -> Result<Vec<String>, WorktreesError> {
        self.journaled()
    }

    fn journal(&self, holding: &Holding) -> Result<Option<Journal>, WorktreesError> {
        self.read_journal(holding.name())
    }

    fn note(&self, holding: &Holding, journal: &Journal) -> Result<(), WorktreesError> {
        self.write_journal(holding.name(), journal)
    }

    fn forget(&self, holding: &Holding) -> Result<(), WorktreesError> {
        self.remove_journal(holding.name())
    }

    fn left(&self, journal: &Journal) -> Result<Left, WorktreesError> {
        self.what_is_left(journal)
    }

    fn place(&self, name: &str) -> Result<PathBuf, WorktreesError> {
        self.free_place(name)
    }

    fn start_point(&self) -> Result<String, WorktreesError> {
        self.head_commit()
    }

    fn branch(&self, name: &str) -> Result<Option<String>, WorktreesError> {
        self.branch_commit(name)
    }

    fn make_branch(&self, _proof: &Acceptance, holding: &Holding, at: &str) -> Result<(), WorktreesError> {
        self.create_branch(holding.name(), at)
    }

    fn make_folder(&self, _proof: &Acceptance, holding: &Holding, path: &Path) -> Result<(), WorktreesError> {
        self.add(holding, path)
    }

    fn lock(&self, _proof: &Acceptance, tree: &Tree, hold: &Hold) -> Result<(), WorktreesError> {
        self.lock_for(tree, hold)
    }

    fn retain(&self, tree: &Tree, hold: &Hold) -> Result<(), WorktreesError> {
        self.lock_for(tree, hold)
    }

    fn hooked(&self, hook: Hook) -> Hooked {
        self.hooks.hooked(hook)
    }

    fn run_hook(&self, hook: Hook, holding: &Holding, path: &Path) -> Result<(), WorktreesError> {
        self.hooks.run(hook, holding, &self.workspace, path)
    }

    fn undo(&self, _holding: &Holding, journal: &Journal) -> Result<(), WorktreesError> {
        self.take_back(journal)
    }

    fn print(&self, tree: &Tree, folder: &Path) -> Print {
        self.print_of(tree, folder)
    }

    fn save(&self, tree: &Tree, reference: &str) -> Result<Salvage, WorktreesError> {
        self.salvage(tree, reference)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), WorktreesError> {
        removing::rename(from, to)
    }

    fn drop_entry(&self, path: &Path) -> Result<(), WorktreesError> {
        self.remove_entry(path)
    }

    fn drop_branch(&self, branch: &BranchAt) -> Result<(), WorktreesError> {
        self.remove_branch(branch)
    }

    fn drop_folder(&self, aside: &Path) -> Result<(), WorktreesError> {
        removing::remove_folder(aside)
    }

    fn drop_salvage(&self, reference: &str) -> Result<(), WorktreesError> {
        self.remove_salvage(reference)
    }

    fn salvages(&self, name: &str) -> Result<Vec<Salvage>, WorktreesError> {
        self.saved_of(name)
    }

    fn restoration(&self, name: &str, salvage: &Salvage) -> Result<Restoration, WorktreesError> {
        self.planned_restoration(name, salvage)
    }

    fn restore(&self, holding: &Holding, path: &Path, wanted: &Restoration) -> Result<Restored, WorktreesError> {
        self.bring_back(holding, path, wanted)
    }
}
