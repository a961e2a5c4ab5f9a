//! Floor 2: the ports' implementations: ticket folder, watcher, git, SQLite, processes, runs.
//!
//! Must not know: any decision; a face.

pub mod ancestry;
pub mod claims;
pub mod config_file;
pub mod daemon_lock;
pub mod editor;
pub mod environment;
#[cfg(test)]
pub mod fakes;
pub mod fault;
pub mod files;
pub mod git;
mod git_layout;
pub mod git_program;
mod git_under_way;
pub mod guides;
pub mod kept;
pub mod locks;
pub mod own_files;
pub mod patient;
pub mod processes;
pub mod rotating_log;
pub mod runs;
pub mod sqlite;
pub mod starts;
pub mod state_files;
pub mod state_folder;
pub mod supervisor;
pub mod swap;
pub mod ticket_folder;
mod trunk;
pub mod trust;
pub mod wake;
pub mod watcher;
pub mod workspace;
pub mod worktrees;
