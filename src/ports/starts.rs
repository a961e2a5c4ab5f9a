//! Claims, and starts, that are under way: so that what one that was killed has claimed does not wait for the claim to go stale.
//!
//! Must not know: where a mark lies; what a claim or a start does.

use std::io;

use serde::{Deserialize, Serialize};

use crate::domain::ticket::TicketId;

/// What is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Begun {
    /// A claim, and a worktree for it.
    #[default]
    Start,
    /// A claim alone. Its mark is for a process that is killed, and is not synced: after a power cut nobody holds the claim
    /// either, and it goes stale by itself.
    Claim,
}

/// Whose start, or claim, of what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartMark {
    /// Which ticket.
    pub ticket: TicketId,
    /// For which worker: the name of one run.
    pub worker: String,
    /// What it is.
    #[serde(default)]
    pub begun: Begun,
    /// The nonce of the claim that it takes: that very one is given back if it is cut off, and no other.
    #[serde(default)]
    pub nonce: Option<String>,
    /// It is taken for this machine alone, beside a remote that says who has it.
    #[serde(default)]
    pub alone: bool,
}

/// A mark that is held: of one under way, or of one that was cut off and is being mended. Held by the kernel, so that it is
/// let go with its process.
pub trait Marked: Send {
    /// Whose it is.
    fn mark(&self) -> &StartMark;

    /// It is over, one way or the other.
    fn forget(self: Box<Self>) -> io::Result<()>;
}

/// The marks of a workspace.
pub trait Starts: Send + Sync {
    /// One begins. From the return on it is found as cut off once its process is gone.
    fn begin(&self, mark: &StartMark) -> io::Result<Box<dyn Marked>>;

    /// Those that were cut off: of this ticket, or all.
    fn cut_off(&self, of: Option<&TicketId>) -> io::Result<CutOff>;
}

/// What was cut off.
#[derive(Default)]
pub struct CutOff {
    /// Each held by whoever has looked, to be mended.
    pub held: Vec<Box<dyn Marked>>,
    /// Somebody else is mending some of it just now.
    pub is_being_mended: bool,
}
