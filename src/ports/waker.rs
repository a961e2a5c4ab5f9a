//! Waking a session that waits at its prompt.
//!
//! Must not know: which commands do it; why.

/// How the outcome is told: None, or why it failed, in words.
pub type Woken = Box<dyn FnOnce(Option<String>) + Send>;

/// What brings an idle session to its next contact (DESIGN.md 5.1, `wake`).
pub trait Waker: Send + Sync {
    /// Does it, on a thread of its own, within limits of its own; calls back once.
    fn wake(&self, call: Woken);
}
