//! Waiting for a condition, with a bound.
//!
//! Must not know: what is waited for.

use std::thread;
use std::time::{Duration, Instant};

/// How often a condition is looked at.
const LOOK: Duration = Duration::from_millis(15);

/// Looks until there is something, and returns it; panics with what `state` says when it takes longer than `bound`.
pub fn until<T>(what: &str, bound: Duration, mut look: impl FnMut() -> Option<T>, state: impl FnOnce() -> String) -> T {
    let end = Instant::now() + bound;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited {bound:?} for {what}, and it did not come.\n{}", state());
        thread::sleep(LOOK);
    }
}
