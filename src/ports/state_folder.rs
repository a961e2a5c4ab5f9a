//! The workspace's state folder: what must survive the daemon, and is no history.
//!
//! Must not know: where it lies. DESIGN.md section 9.

use std::io;
use std::path::PathBuf;

use crate::domain::engine::{KickId, SavedSession};
use crate::domain::facts::{Pod, PodId};

/// A held kernel lock; let go when dropped.
pub trait Held: Send {}

/// The state folder.
pub trait StateFolder: Send + Sync {
    /// The registered Pods as last kept (alive or not).
    fn pods(&self) -> io::Result<Vec<Pod>>;

    /// Keeps the register.
    fn save_pods(&self, pods: &[Pod]) -> io::Result<()>;

    /// The Orchestrator's session as last kept.
    fn session(&self) -> io::Result<Option<SavedSession>>;

    /// Keeps it; None where there is none.
    fn save_session(&self, session: Option<&SavedSession>) -> io::Result<()>;

    /// Writes the work list of a kick as JSON; removed after the turn.
    fn write_kick(&self, kick: &KickId, json: &str) -> io::Result<PathBuf>;

    /// Removes it.
    fn remove_kick(&self, kick: &KickId) -> io::Result<()>;

    /// Removes all of them but the one of a turn that is still running.
    fn forget_kicks(&self, but: Option<&KickId>) -> io::Result<()>;

    /// Where the turn's output goes.
    fn kick_log(&self, kick: &KickId) -> PathBuf;

    /// Where the output of a Pod that yoi starts goes.
    fn pod_log(&self, pod: &PodId) -> PathBuf;

    /// The lock under which it is judged whether a role has room for one more ticket, and that one claimed.
    fn role_lock(&self) -> io::Result<Box<dyn Held>>;

    /// The workspace's accept lock, waited for, but not without end: held from the first gate to the record (DESIGN.md 6.1).
    fn accept_lock(&self) -> io::Result<Box<dyn Held>>;
}
