//! Floor 5: HTTP on the workspace's Unix socket, both ends. Requests and answers are those of `api`.
//!
//! Must not know: any rule; where the socket lies.

mod answer;
mod answering;
pub mod client;
pub mod door;
pub mod server;
mod socket;
