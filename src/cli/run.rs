//! `yoi run`: the supervisor of one run, and what becomes its program. Started by the daemon alone.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Outcome;
use crate::adapters::supervisor::{self, shim};
use crate::api::failure::Failure;
use crate::app::keeping;

/// Supervise one program that the daemon starts (internal)
#[derive(Args)]
pub struct Arguments {
    /// Become the program, and die with the supervisor that has this pid
    #[arg(long = "become", value_name = "PID")]
    supervisor: Option<u32>,
    /// The order's file; with --become the file for a failure
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// With --become the program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Runs the supervisor to the end of its run.
pub fn run(arguments: &Arguments) -> Outcome {
    if let Some(supervisor) = arguments.supervisor {
        shim::become_program(supervisor, &arguments.file, &arguments.command);
        return Ok(ExitCode::from(shim::FAILED));
    }
    supervisor::run(&arguments.file, &keeping::keeper).map_err(|error| Failure::refused(error.to_string()))?;
    Ok(ExitCode::SUCCESS)
}
