//! yoi: a file-based ticket orchestrator daemon. The rooms in floor order; arrows point down only.

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
