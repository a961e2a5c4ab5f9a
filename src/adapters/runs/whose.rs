//! Whose run it is that left its files in a folder: this workspace's, or that of one which this one was copied from. In a
//! copy a lock is free, and says nothing: its supervisor holds the original's.
//!
//! Must not know: what becomes of a run that is somebody else's.

use super::files::{RunFiles, Started};
use crate::adapters::processes::SystemProcesses;
use crate::ports::Processes;

/// Whether those who are recorded there may be signalled. A held lock is this workspace's by itself, if nothing speaks
/// against it; where it is free there has to be proof.
pub(super) fn is_own(files: &RunFiles, started: &Started, held: bool) -> bool {
    started.place.as_ref().map_or(held, |place| files.is_at(place))
}

/// Whether a run that has no end belongs to another workspace, as far as anybody can tell. `shared`: more rests on it than this
/// workspace has, a claim that a remote knows too. Of a former boot nothing tells a copy from the original then, and it is
/// let be.
pub(super) fn is_foreign(
    files: &RunFiles,
    started: &Started,
    (held, shared): (bool, bool),
    processes: &SystemProcesses,
) -> bool {
    match &started.place {
        Some(_) if shared && !held && !processes.is_of_this_boot(&started.supervisor) => true,
        // What is held and lies elsewhere than noted is just being made anew.
        Some(place) if held => files.is_linked_to(place),
        // Devices are numbered anew with each boot; and nothing of a former one is left that could be anybody's.
        Some(place) => processes.is_of_this_boot(&started.supervisor) && !files.is_at(place),
        None => !held && processes.is_alive(&started.supervisor),
    }
}
