//! Starts that are under way: so that what one that was killed has claimed does not wait for the claim to go stale.
//!
//! Must not know: where a mark lies; what a start does.

use std::io;

use serde::{Deserialize, Serialize};

use crate::domain::ticket::TicketId;

/// Whose start of what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartMark {
    /// Which ticket.
    pub ticket: TicketId,
    /// For which worker: the name of one run.
    pub worker: String,
}

/// A mark that is held: of a start under way, or of one that was cut off and is being mended. Held by the kernel, so that it is
/// let go with its process.
pub trait Marked: Send {
    /// Whose it is.
    fn mark(&self) -> &StartMark;

    /// The start is over, one way or the other.
    fn forget(self: Box<Self>) -> io::Result<()>;
}

/// The marks of a workspace.
pub trait Starts: Send + Sync {
    /// A start begins. From the return on it is found as cut off once its process is gone.
    fn begin(&self, mark: &StartMark) -> io::Result<Box<dyn Marked>>;

    /// Starts that were cut off, each held.
    fn cut_off(&self) -> io::Result<Vec<Box<dyn Marked>>>;
}
