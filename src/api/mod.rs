//! Floor 4: the one contract behind every face: requests, responses, views, errors.
//!
//! Must not know: files, git, SQL, a terminal.

mod caller;
mod carrying_out;
mod claiming;
pub mod connections;
mod delivery;
mod evidence;
pub mod failure;
pub mod handle;
pub mod hook;
pub mod inspect;
pub mod listing;
mod operation;
mod present;
mod remote;
mod report;
pub mod request;
pub mod schema;
mod seeking;
mod session;
pub mod settings;
pub mod view;
pub mod watching;
mod worktrees;

pub use carrying_out::{carry_out, take_back};
pub use handle::handle;
pub use present::event;
pub use session::watch;
