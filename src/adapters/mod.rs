//! Floor 2: the ports' implementations: ticket folder, watcher, git, SQLite, processes.
//!
//! Must not know: any decision; a face.

pub mod processes;
pub mod watcher;
