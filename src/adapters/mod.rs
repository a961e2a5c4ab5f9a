//! Floor 2: the ports' implementations: ticket folder, watcher, git, SQLite, processes.
//!
//! Must not know: any decision; a face.

pub mod environment;
pub mod files;
mod git_layout;
pub mod locks;
pub mod swap;
pub mod ticket_folder;
pub mod trust;
pub mod workspace;
