//! Floor 7: the command line. One file per command; each translates arguments to a request and a response to text.
//!
//! Must not know: any rule of its own.

mod agent_hook;
mod block;
mod caller;
mod claim;
mod close;
mod config;
mod context;
mod decompose;
mod demo;
mod doctor;
mod edit;
mod ending;
mod events;
mod guides;
mod hook;
mod init;
mod inspect;
mod kick;
mod list;
mod move_ticket;
mod new;
mod next;
mod orchestrator;
mod orders;
mod output;
mod overview;
mod pause;
mod pod;
mod run;
mod service;
mod set;
mod show;
mod start;
mod status;
mod terminal;
mod trust;
mod why;
mod work_set;
mod worktree;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use context::Context;

use crate::api::failure::Failure;

/// What a command returns: an exit code that is not an error's (mostly success), or a failure.
pub type Outcome = Result<ExitCode, Failure>;

/// yoi keeps a backlog of Markdown tickets moving.
#[derive(Parser)]
#[command(name = "yoi", version, max_term_width = 100)]
struct Arguments {
    /// The workspace of this folder [default: YOI_WORKSPACE, else .]
    #[arg(short = 'C', value_name = "DIR", global = true, display_order = 900)]
    directory: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(init::Arguments),
    Demo(demo::Arguments),
    Doctor(doctor::Arguments),
    New(new::Arguments),
    List(list::Arguments),
    Show(show::Arguments),
    Edit(edit::Arguments),
    Move(move_ticket::Arguments),
    Set(set::Arguments),
    Why(why::Arguments),
    Inspect(inspect::Arguments),
    WorkSet(work_set::Arguments),
    Plan(orders::PlanArguments),
    Wait(orders::WaitArguments),
    Await(orders::AwaitArguments),
    Accept(move_ticket::AcceptArguments),
    Offer(next::OfferArguments),
    Next(next::Arguments),
    Claim(claim::Arguments),
    Start(start::Arguments),
    Heartbeat(claim::HeartbeatArguments),
    Release(claim::ReleaseArguments),
    Worktree(worktree::Arguments),
    Block(block::Arguments),
    Decompose(decompose::Arguments),
    Close(close::Arguments),
    Kick(kick::Arguments),
    Pause(pause::PauseArguments),
    Resume(pause::ResumeArguments),
    Daemon(service::DaemonArguments),
    Up(service::UpArguments),
    Down(service::DownArguments),
    Status(status::Arguments),
    Logs(service::LogsArguments),
    Events(events::Arguments),
    Pod(pod::Arguments),
    Hook(hook::Arguments),
    Orchestrator(orchestrator::Arguments),
    Trust(trust::Arguments),
    Config(config::Arguments),
    #[command(hide = true)]
    Run(run::Arguments),
}

/// Parses the arguments, runs the command, prints its failure if it fails.
pub fn main() -> ExitCode {
    let matches = overview::grouped(Arguments::command()).try_get_matches();
    let arguments = match matches.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            if let Some(hint) = overview::hint(&error) {
                output::aside(&format!("\n{hint}"));
            }
            return exit(u8::try_from(error.exit_code()).unwrap_or(2), is_hook(std::env::args().skip(1)));
        }
    };
    let of_hook = matches!(arguments.command, Command::Hook(_));
    run(arguments).unwrap_or_else(|failure| {
        output::failure(&failure);
        exit(failure.kind.exit_code(), of_hook)
    })
}

/// Agents take a hook's exit code 2 for a veto of what they are about to do: a mistyped hook must not be one.
fn exit(code: u8, of_hook: bool) -> ExitCode {
    ExitCode::from(if of_hook && code == 2 { 1 } else { code })
}

/// Whether the command that could not be parsed is `hook`.
fn is_hook(mut arguments: impl Iterator<Item = String>) -> bool {
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-C" => drop(arguments.next()),
            option if option.starts_with('-') => {}
            command => return command == "hook",
        }
    }
    false
}

fn run(arguments: Arguments) -> Outcome {
    // A supervisor belongs to no folder: the one it was started from may be gone.
    if let Command::Run(arguments) = &arguments.command {
        return run::run(arguments);
    }
    // An agent's own hook goes on whatever happens: it makes its surroundings itself.
    if let Command::Hook(hook) = arguments.command {
        return hook::run(arguments.directory, hook);
    }
    let context = Context::new(arguments.directory)?;
    match arguments.command {
        Command::Init(arguments) => init::run(&context, &arguments),
        Command::Demo(arguments) => demo::run(&context, &arguments),
        Command::Doctor(arguments) => doctor::run(&context, &arguments),
        Command::New(arguments) => new::run(&context, arguments),
        Command::List(arguments) => list::run(&context, arguments),
        Command::Show(arguments) => show::run(&context, arguments),
        Command::Edit(arguments) => edit::run(&context, &arguments),
        Command::Move(arguments) => move_ticket::run(&context, arguments),
        Command::Set(arguments) => set::run(&context, &arguments),
        Command::Why(arguments) => why::run(&context, arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::WorkSet(arguments) => work_set::run(&context, &arguments),
        Command::Plan(arguments) => orders::plan(&context, arguments),
        Command::Wait(arguments) => orders::wait(&context, arguments),
        Command::Await(arguments) => orders::await_step(&context, arguments),
        Command::Offer(arguments) => next::offer(&context, arguments),
        Command::Next(arguments) => next::next(&context, arguments),
        Command::Claim(arguments) => claim::claim(&context, arguments),
        Command::Start(arguments) => start::run(&context, arguments),
        Command::Heartbeat(arguments) => claim::heartbeat(&context, arguments),
        Command::Release(arguments) => claim::release(&context, arguments),
        Command::Block(arguments) => block::run(&context, arguments),
        Command::Decompose(arguments) => decompose::run(&context, arguments),
        Command::Close(arguments) => close::run(&context, arguments),
        Command::Accept(arguments) => move_ticket::accept(&context, arguments),
        Command::Worktree(arguments) => worktree::run(&context, arguments),
        Command::Kick(arguments) => kick::run(&context, &arguments),
        Command::Pause(arguments) => pause::pause(&context, arguments),
        Command::Resume(arguments) => pause::resume(&context, &arguments),
        Command::Daemon(arguments) => service::daemon(context, arguments),
        Command::Up(arguments) => service::up(&context, &arguments),
        Command::Down(arguments) => service::down(&context, &arguments),
        Command::Status(arguments) => status::run(&context, &arguments),
        Command::Logs(arguments) => service::logs(&context, &arguments),
        Command::Events(arguments) => events::run(&context, &arguments),
        Command::Pod(arguments) => pod::run(&context, &arguments),
        Command::Hook(arguments) => hook::run(context.directory, arguments),
        Command::Orchestrator(arguments) => orchestrator::run(&context, arguments),
        Command::Trust(arguments) => trust::run(&context, &arguments),
        Command::Config(arguments) => config::run(&context, &arguments),
        Command::Run(arguments) => run::run(&arguments),
    }
}
