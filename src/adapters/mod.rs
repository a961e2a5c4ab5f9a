//! Floor 2: the ports' implementations: ticket folder, watcher, git, SQLite, processes.
//!
//! Must not know: any decision; a face.

pub mod daemon_lock;
#[cfg(test)]
pub mod fakes;
pub mod git;
pub mod git_program;
pub mod processes;
pub mod sqlite;
pub mod state_files;
pub mod watcher;
