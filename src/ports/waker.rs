//! Waking a session that waits at its prompt.
//!
//! Must not know: why it is woken.

use std::ffi::OsString;
use std::path::PathBuf;

/// The `wake` commands, and what they run in.
#[derive(Clone, Debug)]
pub struct Wake {
    /// Argument lists, in order.
    pub commands: Vec<Vec<String>>,
    /// Working folder.
    pub folder: PathBuf,
    /// Added to the inherited environment.
    pub set: Vec<(String, OsString)>,
    /// Taken out of it.
    pub unset: Vec<String>,
}

/// How the outcome is told: None, or why it failed, in words.
pub type Woken = Box<dyn FnOnce(Option<String>) + Send>;

/// What brings an idle session to its next contact (DESIGN.md 5.1, `wake`).
pub trait Waker: Send + Sync {
    /// Runs the commands one after the other on a thread of its own, each within a time limit, until one fails; calls
    /// back once.
    fn wake(&self, wake: Wake, call: Woken);
}
