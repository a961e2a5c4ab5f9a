//! The daemon from outside: real files, a real process, a scripted Orchestrator that uses only the public commands.

mod accept;
mod active;
mod attack;
mod boundaries;
mod checkouts;
mod clocks;
mod connections;
mod editors;
mod exits;
mod faults;
mod follow;
mod full_disk;
mod held;
mod hooks;
mod idle;
mod long_queue;
mod messages;
mod offered_again;
mod operation;
mod restart;
mod runs;
mod schema;
mod turns;
mod waiting;
mod watching;
mod writing;
