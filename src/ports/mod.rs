//! Floor 1: what the decisions need from the outside, as traits, and errors that say what a decision needs to know.
//!
//! Must not know: which library or program fulfils a need.

pub mod acceptance;
pub mod claims;
pub mod door;
pub mod keeper;
pub mod notices;
pub mod processes;
pub mod runs;
pub mod starts;
pub mod state_folder;
pub mod store;
pub mod tickets;
pub mod waker;
pub mod worktree;
pub mod worktrees;

pub use acceptance::Acceptance;
pub use claims::{AllClaims, Claims, ClaimsError, Swapped, Unreadable};
pub use door::{Door, Traffic};
pub use keeper::Keeper;
pub use notices::{Lag, Notices, Noticing};
pub use processes::Processes;
pub use runs::{Launch, Runs};
pub use starts::Starts;
pub use state_folder::{Held, StateFolder};
pub use store::{Query, Recorded, Store, StoreError, Stored};
pub use tickets::{EditError, Entry, Review, Reviewing, Tickets};
pub use waker::{Wake, Waker, Woken};
pub use worktree::{MainWorktree, Obstacle};
pub use worktrees::{Worktrees, WorktreesError};
