//! Floor 1: what the decisions need from the outside, as traits, and errors that say what a decision needs to know.
//!
//! Must not know: which library or program fulfils a need.

pub mod processes;
pub mod store;
pub mod tickets;
pub mod worktree;

pub use processes::{Launch, Launched, Processes};
pub use store::{Query, Recorded, Store, StoreError, Stored};
pub use tickets::{EditError, Entry, Tickets};
pub use worktree::{MainWorktree, Obstacle};
