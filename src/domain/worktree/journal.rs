//! What a start, a removal or a restoration has done so far, written down before each step, and what is left to do where it
//! was cut off: one that was making something is undone or adopted, one that was removing goes on or is taken back.
//!
//! Must not know: where it is written, how a step is done.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::domain::ticket::Timestamp;

/// What is being done to the worktree of one ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// The version of this text.
    pub version: u32,
    /// The ticket's name.
    pub name: String,
    /// When it began.
    pub since: Timestamp,
    /// The worktree's folder.
    pub path: PathBuf,
    /// What was made for it.
    pub made: Made,
    /// How far it has come.
    pub phase: Phase,
}

/// What did not exist before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// The branch, where it was made.
    pub branch: Option<BranchAt>,
    /// What the folder's files were taken from: a commit, or what was saved.
    pub from: Option<String>,
}

/// A branch, as long as it is where it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchAt {
    /// Its whole name.
    pub name: String,
    /// The commit.
    pub at: String,
}

/// How far it has come. Each is written before what it names is begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "doing")]
pub enum Phase {
    /// Branch and folder are being made: nobody knows of them yet.
    Making,
    /// They are there; lock and hook follow.
    Made,
    /// A restoration writes files that are all saved.
    Restoring,
    /// What was made is being taken away again.
    Undoing,
    /// What a worktree holds is being saved; it has not been touched.
    Saving {
        /// The ref that will hold it; None where there is nothing to save.
        salvage: Option<String>,
        /// Where the folder is put aside.
        aside: PathBuf,
    },
    /// It was looked at once more after it was put aside, and is going.
    Going {
        /// Where the folder is.
        aside: PathBuf,
        /// The branch that goes too.
        branch: Option<BranchAt>,
    },
}

/// What is there where a run was cut off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is looked at by itself, and none follows from another")]
pub struct Left {
    /// Git has an entry for the folder.
    pub entry: bool,
    /// The folder is there.
    pub folder: bool,
    /// The folder holds nothing but what it was made from: no change, no further file, no further commit, nobody in it.
    pub pristine: bool,
    /// The folder is where it was put aside.
    pub aside: bool,
}

/// What to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mend {
    /// Nothing is left but the journal.
    Forget,
    /// Take away what was made, entry, folder and branch.
    Undo,
    /// It stands, and is used as it is.
    Adopt,
    /// Put the folder back, and forget what was saved of it: it is whole.
    PutBack,
    /// Take away what is left of it.
    Finish,
    /// It was put aside, and something else lies in its place by now: that has to be moved away first.
    Blocked,
}

impl Journal {
    /// A new one.
    pub fn new(name: &str, path: PathBuf, phase: Phase, now: Timestamp) -> Self {
        Self { version: 1, name: name.into(), since: now, path, made: Made::default(), phase }
    }

    /// What to do where the run that wrote this was cut off. `wanted`: the ticket is being started again just now.
    pub fn mend(&self, left: &Left, wanted: bool) -> Mend {
        match &self.phase {
            // Nobody's work goes, also where it came after that was decided.
            Phase::Undoing if left.folder && !left.pristine => Mend::Adopt,
            Phase::Undoing => Mend::Undo,
            // Whole, and a start would only make it again.
            Phase::Made if left.entry && left.folder && (wanted || !left.pristine) => Mend::Adopt,
            Phase::Making | Phase::Restoring | Phase::Made if !left.folder || left.pristine => Mend::Undo,
            // Somebody has been at work in it.
            Phase::Making | Phase::Restoring | Phase::Made => Mend::Adopt,
            Phase::Saving { .. } if left.aside && left.folder => Mend::Blocked,
            Phase::Saving { .. } if left.aside => Mend::PutBack,
            Phase::Saving { salvage: Some(_), .. } => Mend::PutBack,
            Phase::Saving { .. } => Mend::Forget,
            Phase::Going { .. } => Mend::Finish,
        }
    }
}
