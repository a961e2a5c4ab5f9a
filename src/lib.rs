//! yoi: a file-based ticket orchestrator daemon. The rooms in floor order; arrows point down only.

// They panic where nothing can be written; `cli::output` does not.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod domain;
pub mod text;

pub mod ports;

pub mod adapters;
pub mod config;

pub mod daemon;

pub mod api;

pub mod http;

pub mod app;

pub mod cli;

#[cfg(test)]
mod sim;
