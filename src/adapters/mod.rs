//! Floor 2: the ports' implementations: ticket folder, watcher, git, SQLite, processes.
//!
//! Must not know: any decision; a face.

#[cfg(test)]
pub mod fakes;
pub mod processes;
pub mod sqlite;
pub mod watcher;
