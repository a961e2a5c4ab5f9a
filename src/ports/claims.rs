//! Claims: the newest step of each ticket's chain, moved by compare and swap (DESIGN.md 6.2).
//!
//! Must not know: which step may follow which (`domain::claim` decides), git.

use std::sync::Arc;

use crate::domain::claim::{Revision, Step, Tip};
use crate::domain::ticket::TicketId;

/// Why claims could not be read or moved: the world outside, never a race that was lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClaimsError {
    /// There is no git here, or none that can be asked: nothing can be claimed.
    #[error("{0}")]
    NoGit(String),
    /// The remote that arbitrates cannot be reached: nothing was changed.
    #[error("{0}")]
    Unreachable(String),
    /// It said no (a hook of its, permissions): nothing was changed.
    #[error("{0}")]
    Rejected(String),
    /// Nobody knows whether the step was taken: the answer was lost and could not be asked for again.
    #[error("{0}")]
    Unknown(String),
    /// The disk, a lock, permissions here: nothing was changed.
    #[error("{0}")]
    Failed(String),
}

/// What came of a swap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swapped {
    /// The chain is what was wanted, and this is its newest step.
    Moved(Tip),
    /// Somebody else was first: this is the newest step now.
    Lost(Option<Tip>),
}

/// A ticket whose chain cannot be read: another version's, or damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The ref, or what stands for it.
    pub name: String,
    /// In words.
    pub why: String,
}

/// All chains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllClaims {
    /// The newest step of each, by ticket.
    pub tips: Vec<Tip>,
    /// Those that cannot be read.
    pub unreadable: Vec<Unreadable>,
}

/// The chains of claims, one a ticket. The implementation never decides who may move one.
pub trait Claims: Send + Sync {
    /// The newest step of each chain, as far as it is known here without asking a remote.
    fn all(&self) -> Result<AllClaims, ClaimsError>;

    /// Asks a remote that arbitrates for all chains, so that `all` knows what it knows. Whether any is another than it was.
    fn refresh(&self) -> Result<bool, ClaimsError> {
        Ok(false)
    }

    /// The same for this machine alone: whoever else arbitrates is not asked, and hears of it when it can be. None where nobody
    /// else does.
    fn alone(&self) -> Option<Arc<dyn Claims>> {
        None
    }

    /// The newest step of one chain, by whoever arbitrates: with a remote it is asked.
    fn read(&self, id: &TicketId) -> Result<Option<Tip>, ClaimsError>;

    /// Puts steps, at least one, on top of `on` and makes the last of them the newest, if the newest is `expected` still
    /// (None: there is none yet). All or nothing. `on` is `expected`, or what that one stood in for.
    fn swap(
        &self,
        id: &TicketId,
        expected: Option<&Revision>,
        on: Option<&Revision>,
        steps: &[Step],
    ) -> Result<Swapped, ClaimsError>;
}
