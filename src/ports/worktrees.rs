//! Linked worktrees that stand for tickets: found, looked at, made, saved, taken away (DESIGN.md 6.3). Single steps: their
//! order is `daemon::{starting, removing}`, and what may be done `domain::worktree`.
//!
//! Must not know: git's commands; which step follows which.

use std::fmt::Debug;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::Acceptance;
use crate::domain::facts;
use crate::domain::refusal::Refusal;
use crate::domain::worktree::{BranchAt, Hold, Journal, Left, Occupant, Probe, Tree};

/// Why a step was not done.
#[derive(Debug, thiserror::Error)]
pub enum WorktreesError {
    /// There is no git here, or it will have nothing to do with this repository.
    #[error("{0}")]
    NoGit(String),
    /// A rule, or what is in the way, by name.
    #[error("{0}")]
    Refused(Refusal),
    /// Somebody else's lock was not let go within the time that it is waited for; it is named, and never removed.
    #[error("{0}")]
    Held(String),
    /// A hook of the configuration failed.
    #[error("{message}")]
    Hook {
        /// Which, and how.
        message: String,
        /// What it said, the end of it.
        output: Vec<String>,
    },
    /// The disk, permissions, git.
    #[error("{0}")]
    Failed(String),
}

impl WorktreesError {
    /// A rule's refusal; or what failed, in words, and what a program said to it.
    pub fn told(self) -> Result<Refusal, (String, Vec<String>)> {
        match self {
            WorktreesError::Refused(refusal) => Ok(refusal),
            WorktreesError::Hook { message, output } => Err((message, output)),
            WorktreesError::NoGit(message) | WorktreesError::Held(message) | WorktreesError::Failed(message) => {
                Err((message, Vec::new()))
            }
        }
    }
}

impl From<Refusal> for WorktreesError {
    fn from(refusal: Refusal) -> Self {
        WorktreesError::Refused(refusal)
    }
}

/// The kernel lock of one ticket's worktree. What is started for it holds it too, so that what a killed yoi had begun is not
/// taken up before it has ended.
#[derive(Debug)]
pub struct Holding {
    name: String,
    file: File,
}

impl Holding {
    /// With the lock's open file.
    pub fn new(name: &str, file: File) -> Self {
        Self { name: name.into(), file }
    }

    /// Whose.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The lock's file.
    pub fn file(&self) -> &File {
        &self.file
    }
}

/// One of the configuration's hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// After a worktree was made.
    AfterCreate,
    /// Before one is removed.
    BeforeRemove,
}

impl Hook {
    /// Its key.
    pub fn key(self) -> &'static str {
        match self {
            Hook::AfterCreate => "worktrees.after_create",
            Hook::BeforeRemove => "worktrees.before_remove",
        }
    }
}

/// Whether a hook takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hooked {
    /// None is configured.
    None,
    /// It runs.
    Runs,
    /// The user has not agreed to it.
    Untrusted,
}

/// What a folder and what git keeps for it looked like at one moment: equal prints, nothing changed in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Print(pub String);

/// What was saved of one worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvage {
    /// The ref: `refs/yoi/salvage/NAME/TIME`.
    pub reference: String,
    /// The commit.
    pub commit: String,
}

/// A restored worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// How many files, symlinks included.
    pub files: usize,
    /// What differs from how it was, in words.
    pub remarks: Vec<String>,
}

/// What is made for a restoration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restoration {
    /// What is brought back.
    pub salvage: Salvage,
    /// The whole name of the branch that it is to be on; None: HEAD is detached.
    pub branch: Option<String>,
    /// The commit that it was on; None: its branch had none yet.
    pub head: Option<String>,
    /// The branch is not there any more, and is made anew.
    pub makes: Option<BranchAt>,
    /// Why HEAD cannot be what it was, in words.
    pub detached_because: Option<String>,
}

/// A process that works in a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    /// Which worktree: its folder.
    pub path: PathBuf,
    /// Who.
    pub occupant: Occupant,
}

/// Worktrees by the name of their ticket (`domain::claim::name`).
pub trait Worktrees: Debug + Send + Sync {
    /// Those that stand, by name, with a process that works in one; read from git's and the system's files, without a
    /// process of its own.
    fn standing(&self) -> Vec<(String, facts::Worktree)>;

    /// Who works in those of this name, by working folder: not yoi, not these processes, and none that one of these descends from.
    fn working_in(&self, name: &str, but: &[u32]) -> Vec<Inside>;

    /// Where one of this name is to be made, as the settings say it: relative to the workspace, or absolute.
    fn intended(&self, name: &str) -> PathBuf;

    /// Those that git has on record.
    fn list(&self) -> Result<Vec<Tree>, WorktreesError>;

    /// Everything in one that removing it could destroy. What cannot be looked at is a part of the answer.
    fn probe(&self, tree: &Tree) -> Probe;

    /// Waits for the lock of one, but not without end.
    fn hold(&self, name: &str) -> Result<Holding, WorktreesError>;

    /// The same at once; None where it is held.
    fn try_hold(&self, name: &str) -> Result<Option<Holding>, WorktreesError>;

    /// The names of those for which something was begun and not ended.
    fn begun(&self) -> Result<Vec<String>, WorktreesError>;

    /// What was begun.
    fn journal(&self, holding: &Holding) -> Result<Option<Journal>, WorktreesError>;

    /// Writes down, durably, what is about to be done.
    fn note(&self, holding: &Holding, journal: &Journal) -> Result<(), WorktreesError>;

    /// It has ended.
    fn forget(&self, holding: &Holding) -> Result<(), WorktreesError>;

    /// What is there of what was begun.
    fn left(&self, journal: &Journal) -> Result<Left, WorktreesError>;

    /// Where a new one lies. Refused where something is there already, or where it would lie outside the workspace by a
    /// symlink.
    fn place(&self, name: &str) -> Result<PathBuf, WorktreesError>;

    /// The commit that a new one starts from: that of the workspace's own worktree.
    fn start_point(&self) -> Result<String, WorktreesError>;

    /// The commit of a ticket's branch, where there is one.
    fn branch(&self, name: &str) -> Result<Option<String>, WorktreesError>;

    /// Makes the branch at this commit.
    fn make_branch(&self, proof: &Acceptance, holding: &Holding, at: &str) -> Result<(), WorktreesError>;

    /// Makes the folder, with git's entry, on the ticket's branch.
    fn make_folder(&self, proof: &Acceptance, holding: &Holding, path: &Path) -> Result<(), WorktreesError>;

    /// Locks it for a worker; a former lock of yoi's is replaced.
    fn lock(&self, proof: &Acceptance, tree: &Tree, hold: &Hold) -> Result<(), WorktreesError>;

    /// Locks one for whoever is to keep it after the work; a former lock of yoi's is replaced. It protects, and starts nothing:
    /// no acceptance is asked for.
    fn retain(&self, tree: &Tree, hold: &Hold) -> Result<(), WorktreesError>;

    /// Whether this hook would run.
    fn hooked(&self, hook: Hook) -> Hooked;

    /// Runs a hook in the folder, to its end or its time limit.
    fn run_hook(&self, hook: Hook, holding: &Holding, path: &Path) -> Result<(), WorktreesError>;

    /// Takes away entry, folder and branch of what was made, as far as they are there.
    fn undo(&self, holding: &Holding, journal: &Journal) -> Result<(), WorktreesError>;

    /// What it looks like now.
    fn print(&self, tree: &Tree, folder: &Path) -> Print;

    /// Saves every byte of it under this ref, and reads all of it back.
    fn save(&self, tree: &Tree, reference: &str) -> Result<Salvage, WorktreesError>;

    /// Renames the folder, where nothing has the other name.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), WorktreesError>;

    /// Removes git's entry for a folder that is not there any more.
    fn drop_entry(&self, path: &Path) -> Result<(), WorktreesError>;

    /// Removes the branch, if it is at this commit still.
    fn drop_branch(&self, branch: &BranchAt) -> Result<(), WorktreesError>;

    /// Removes a folder that was put aside.
    fn drop_folder(&self, aside: &Path) -> Result<(), WorktreesError>;

    /// Removes what was saved of a worktree that is whole.
    fn drop_salvage(&self, reference: &str) -> Result<(), WorktreesError>;

    /// What was saved under a name, the newest last.
    fn salvages(&self, name: &str) -> Result<Vec<Salvage>, WorktreesError>;

    /// What bringing it back takes.
    fn restoration(&self, name: &str, salvage: &Salvage) -> Result<Restoration, WorktreesError>;

    /// Makes the worktree anew as it was saved, and compares every byte.
    fn restore(&self, holding: &Holding, path: &Path, wanted: &Restoration) -> Result<Restored, WorktreesError>;
}
