//! Floor 7: the command line. One file per command; each translates arguments to a request and a response to text.
//!
//! Must not know: any rule of its own.

mod config;
mod context;
mod init;
mod inspect;
mod output;
mod set;
mod trust;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use context::Context;

use crate::api::failure::Failure;

/// What a command returns: an exit code that is not an error's (mostly success), or a failure.
pub type Outcome = Result<ExitCode, Failure>;

/// yoi keeps a backlog of Markdown tickets moving.
#[derive(Parser)]
#[command(name = "yoi", version, max_term_width = 100)]
struct Arguments {
    /// The folder whose workspace to act on (default: YOI_WORKSPACE, else the current folder)
    #[arg(short = 'C', value_name = "DIR", global = true)]
    directory: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Config(config::Arguments),
    Init(init::Arguments),
    Trust(trust::Arguments),
    Inspect(inspect::Arguments),
    Set(set::Arguments),
}

/// Parses the arguments, runs the command, prints its failure if it fails.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    run(arguments).unwrap_or_else(|failure| {
        output::failure(&failure);
        ExitCode::from(failure.kind.exit_code())
    })
}

fn run(arguments: Arguments) -> Outcome {
    let context = Context::new(arguments.directory)?;
    match arguments.command {
        Command::Config(arguments) => config::run(&context, &arguments),
        Command::Init(arguments) => init::run(&context, &arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Set(arguments) => set::run(&arguments),
        Command::Trust(arguments) => trust::run(&context, &arguments),
    }
}
