//! Whoever lets clients in, as the host and `status` see it.
//!
//! Must not know: how clients come.

/// How many clients are there, and what became of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Connections now.
    pub open: usize,
    /// At once at most.
    pub most: usize,
    /// Of these, streams that last.
    pub streams: usize,
    /// At once at most.
    pub most_streams: usize,
    /// How many were told that there is no place, since the start.
    pub refused: u64,
    /// How many were let go because they said nothing, stopped half-way or did not read, since the start.
    pub let_go: u64,
    /// Why nobody can be let in just now.
    pub trouble: Option<String>,
}

/// The door. One implementation: `http::door`.
pub trait Door: Send + Sync {
    /// How it goes.
    fn traffic(&self) -> Traffic;
}
