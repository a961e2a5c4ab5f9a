//! Floor 0: every decision of yoi, as plain data and pure functions.
//!
//! Must not know: files, network, processes, threads, environment, the current time, async, git, SQL.

pub mod edit;
pub mod policy;
pub mod ticket;
