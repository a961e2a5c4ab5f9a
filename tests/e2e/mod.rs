//! The daemon from outside: real files, a real process, a scripted Orchestrator that uses only the public commands.

mod accept;
mod active;
mod attack;
mod boundaries;
mod exits;
mod follow;
mod hooks;
mod long_queue;
mod messages;
mod operation;
mod restart;
mod runs;
mod schema;
mod turns;
mod waiting;
mod watching;
