//! Floor 0: every decision of yoi, as plain data and pure functions.
//!
//! Must not know: files, network, processes, threads, environment, the current time, async, git, SQL.

pub mod accept;
pub mod attention;
pub mod backlog;
pub mod brief;
pub mod claim;
pub mod classify;
pub mod concern;
pub mod differences;
mod digest;
pub mod doors;
pub mod edit;
pub mod engine;
pub mod evidence;
pub mod explain;
pub mod facts;
mod filed;
pub mod finding;
pub mod gates;
pub mod git_name;
pub mod glance;
pub mod harmless;
pub mod indices;
pub mod kick;
pub mod ledger;
pub mod lifecycle;
pub mod obstruction;
pub mod policy;
pub mod rate_limit;
pub mod refusal;
pub mod remarks;
pub mod roles;
#[cfg(test)]
pub(crate) mod sample;
pub mod seldom;
pub mod ticket;
pub mod worklist;
pub mod workset;
pub mod worktree;
