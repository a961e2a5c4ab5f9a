//! `yoi init`: a new workspace.
//!
//! Must not know: what a configuration looks like, how files are made.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use chrono::Utc;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::context::{Context, no_workspace, trust_failed};
use super::{Outcome, guides, output};
use crate::adapters::trust;
use crate::adapters::workspace::{self, CreateError, Workspace};
use crate::api::failure::Failure;
use crate::config::starting::{self, Choices};
use crate::config::{self, Config};
use crate::domain::policy::Mode;

/// What the help says below the options.
const MORE: &str = "\
In a git repository the workspace is the top of the main worktree, elsewhere
the folder itself. On a terminal it asks what no option says; without one it
takes options and defaults.

--agents-block puts a block between <!-- yoi:begin --> and <!-- yoi:end --> into
AGENTS.md and CLAUDE.md, those that are there, else into a new AGENTS.md. Nothing
else in them is touched; said again, it brings the block up to date. In a
workspace that is there already it does this and nothing else.

Example: yoi init --orchestrator-command claude -p --allowedTools 'Bash(yoi:*)'";

/// Make a workspace here: .yoi/config.toml and the ticket folder
#[derive(Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    /// Who starts work: one Orchestrator that is kicked when there is something to decide (orchestrated), or workers
    /// that drain the queue themselves (pull) [default: pull]
    #[arg(long, value_parser = PossibleValuesParser::new(Mode::ALL.map(Mode::as_str)).map(|name| mode(&name)))]
    mode: Option<Mode>,
    /// The ticket folder, inside the workspace [default: tickets]
    #[arg(long, value_name = "DIR")]
    tickets: Option<String>,
    /// The Orchestrator's program and its arguments, all that follow on the line; means --mode orchestrated
    #[arg(long, value_name = "ARG", num_args = 1.., allow_hyphen_values = true)]
    orchestrator_command: Vec<String>,
    /// Tell agents in AGENTS.md and CLAUDE.md how to work with yoi; also where the workspace is there already
    #[arg(long)]
    agents_block: bool,
}

fn mode(name: &str) -> Mode {
    Mode::ALL.into_iter().find(|mode| mode.as_str() == name).unwrap_or_default()
}

/// Runs the command.
pub fn run(context: &Context, arguments: &Arguments) -> Outcome {
    let place = place(context)?;
    let given = given(arguments)?;
    if given.says_only_the_block() && place.root.join(config::FILE).symlink_metadata().is_ok() {
        guides::write(&guides::look(&place.root)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (choices, block) = if io::stdin().is_terminal() && io::stdout().is_terminal() {
        ask(given, &mut io::stdin().lock(), &mut io::stdout())?
    } else {
        given.or_defaults()
    };
    // Looked at first: where a guide cannot take the block, nothing at all is made.
    let guides = if block { guides::look(&place.root)? } else { Vec::new() };
    let text = starting::text(&choices);
    let config = config::parse(&text).map_err(|problems| {
        Failure::usage("such a workspace cannot be made").evidence(problems.into_iter().map(|problem| problem.message))
    })?;
    workspace::create(&place.root, &config.tickets_root, &text).map_err(|error| not_made(&error))?;
    let commands = trust::commands_of(&config);
    if !commands.is_empty() {
        trust::record(&context.environment, &place.root, &commands, Utc::now()).map_err(|error| {
            trust_failed(&error).hint("the workspace is made; `yoi trust` puts the Orchestrator's command into effect")
        })?;
    }
    output::print(&report(&place, &config))?;
    guides::write(&guides)?;
    Ok(ExitCode::SUCCESS)
}

/// Where the workspace is to be; refused inside another one, unless a repository of its own lies between.
fn place(context: &Context) -> Result<Workspace, Failure> {
    let directory = context.directory.as_deref();
    let place = workspace::place_for_new(&context.environment, directory).map_err(|error| no_workspace(&error))?;
    let around = workspace::find(&context.environment, directory).ok();
    match around.filter(|around| around.git_common_dir == place.git_common_dir && around.root != place.root) {
        None => Ok(place),
        Some(around) => Err(Failure::refused(format!(
            "{} belongs to the workspace {} already",
            place.root.display(),
            around.root.display()
        ))),
    }
}

fn not_made(error: &CreateError) -> Failure {
    match error {
        CreateError::ConfigExists(_) => {
            Failure::refused(error.to_string()).hint("edit it; `yoi config` prints what holds")
        }
        _ => Failure::failed(error.to_string()),
    }
}

/// What the options say.
#[derive(Clone, Default)]
struct Given {
    tickets: Option<String>,
    mode: Option<Mode>,
    command: Option<Vec<String>>,
    block: bool,
}

impl Given {
    fn says_only_the_block(&self) -> bool {
        self.block && self.tickets.is_none() && self.mode.is_none() && self.command.is_none()
    }

    /// And whether the agents' guides get their block.
    fn or_defaults(self) -> (Choices, bool) {
        let choices = Choices {
            tickets: self.tickets.unwrap_or_else(|| "tickets".to_owned()),
            mode: self.mode.unwrap_or_default(),
            command: self.command.unwrap_or_default(),
        };
        (choices, self.block)
    }
}

fn given(arguments: &Arguments) -> Result<Given, Failure> {
    let command = Some(arguments.orchestrator_command.clone()).filter(|words| !words.is_empty());
    let mode = match (arguments.mode, &command) {
        (Some(Mode::Pull), Some(_)) => {
            return Err(Failure::usage(
                "--orchestrator-command makes no sense with --mode pull, which has no Orchestrator",
            ));
        }
        (None, Some(_)) => Some(Mode::Orchestrated),
        (mode, _) => mode,
    };
    Ok(Given { tickets: arguments.tickets.clone(), mode, command, block: arguments.agents_block })
}

/// Asks for what is not given; an empty answer takes the default.
fn ask(given: Given, input: &mut impl BufRead, output: &mut impl Write) -> Result<(Choices, bool), Failure> {
    let tickets = match given.tickets {
        Some(tickets) => tickets,
        None => answer(input, output, "Ticket folder [tickets]: ")?,
    };
    let tickets = if tickets.is_empty() { "tickets".to_owned() } else { tickets };
    let mode = match given.mode {
        Some(mode) => mode,
        None => ask_mode(input, output)?,
    };
    let mut command = given.command.unwrap_or_default();
    if mode == Mode::Orchestrated && command.is_empty() {
        say(
            output,
            "The Orchestrator's program and arguments, one a line; an empty line ends them. None: it registers itself.\n",
        )?;
        loop {
            let word = answer(input, output, "> ")?;
            if word.is_empty() {
                break;
            }
            command.push(word);
        }
    }
    let block = given.block || ask_block(input, output)?;
    Ok((Choices { tickets, mode, command }, block))
}

fn ask_block(input: &mut impl BufRead, output: &mut impl Write) -> Result<bool, Failure> {
    loop {
        match answer(input, output, "Tell agents in AGENTS.md or CLAUDE.md how to work with yoi, yes or no [no]: ")?
            .as_str()
        {
            "yes" | "y" => return Ok(true),
            "no" | "n" | "" => return Ok(false),
            _ => say(output, "Please answer `yes` or `no`.\n")?,
        }
    }
}

fn ask_mode(input: &mut impl BufRead, output: &mut impl Write) -> Result<Mode, Failure> {
    say(
        output,
        "orchestrated: one Orchestrator decides what starts, and is kicked when there is something to decide.\n\
         pull: workers drain the queue themselves, with `yoi next --claim`.\n",
    )?;
    loop {
        let name = answer(input, output, "Who starts work, orchestrated or pull [pull]: ")?;
        match Mode::ALL.into_iter().find(|mode| mode.as_str() == name) {
            Some(mode) => return Ok(mode),
            None if name.is_empty() => return Ok(Mode::default()),
            None => say(output, "Please answer `orchestrated` or `pull`.\n")?,
        }
    }
}

fn answer(input: &mut impl BufRead, output: &mut impl Write, question: &str) -> Result<String, Failure> {
    say(output, question)?;
    let mut line = String::new();
    match input.read_line(&mut line) {
        Ok(0) => Err(Failure::failed("no answer; nothing was written")),
        Ok(_) => Ok(line.trim().to_owned()),
        Err(error) => Err(Failure::failed(format!("standard input: {error}"))),
    }
}

fn say(output: &mut impl Write, text: &str) -> Result<(), Failure> {
    let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    written.map_err(|error| Failure::failed(format!("standard output: {error}")))
}

fn report(place: &Workspace, config: &Config) -> String {
    let folder = config.tickets_root.join("").display().to_string();
    let mut lines = vec![
        format!("Made the workspace {}", place.root.display()),
        format!("  {:<18} {} mode", config::FILE, config.mode.as_str()),
        format!("  {:<18} what must not be tracked of it", ".yoi/.gitignore"),
        format!("  {folder:<18} the tickets"),
    ];
    if place.git_common_dir.is_none() {
        let state = place.state_dir.strip_prefix(&place.root).unwrap_or(&place.state_dir);
        lines.push(format!(
            "No git here: yoi's state lies in {}, the dirty-workspace gate has nothing to look at, and workers cannot \
             claim tickets, because claims are kept in git.",
            state.display()
        ));
    }
    match &config.orchestrator {
        Some(exec) => {
            let command = output::command(&exec.command);
            lines.push(format!("The Orchestrator's command, trusted because you gave it: {command}"));
        }
        None if config.mode == Mode::Orchestrated => {
            lines.push(format!(
                "The Orchestrator is either a program that yoi runs: write its command into {}, then `yoi trust`;",
                config::FILE
            ));
            lines.push("or an agent's own session that registers itself: `yoi orchestrator attach` in it.".into());
        }
        None => lines.push(format!(
            "In pull mode yoi watches and explains, and kicks nobody; `mode` in {} changes that.",
            config::FILE
        )),
    }
    lines.push("Go on with `yoi new TITLE` (a ticket), `yoi up` (the daemon) and `yoi status` (what it does).".into());
    lines.iter().map(|line| output::harmless(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    type Chosen<'a> = (&'a str, Mode, &'a [&'a str], bool);

    /// The choices that a conversation on a terminal leads to.
    fn check(given: Given, typed: &str, expected: Option<Chosen<'_>>) {
        let mut said = Vec::new();
        let choices = ask(given, &mut typed.as_bytes(), &mut said);
        let expected = expected.map(|(tickets, mode, command, block)| {
            let command = command.iter().map(|&word| word.to_owned()).collect();
            (Choices { tickets: tickets.to_owned(), mode, command }, block)
        });
        assert_eq!(choices.ok(), expected, "{typed:?}: {}", String::from_utf8_lossy(&said));
    }

    #[test]
    fn what_is_asked_on_a_terminal() {
        let nothing = Given::default;
        let claude: &[&str] = &["claude", "-p"];
        check(nothing(), "\n\n\n", Some(("tickets", Mode::Pull, &[], false)));
        check(nothing(), "work\nno\npull\nwhat\nyes\n", Some(("work", Mode::Pull, &[], true)));
        check(nothing(), "\norchestrated\n\nno\n", Some(("tickets", Mode::Orchestrated, &[], false)));
        check(nothing(), "\norchestrated\nclaude\n-p\n\n\n", Some(("tickets", Mode::Orchestrated, claude, false)));
        check(nothing(), "\n", None);
        check(nothing(), "\n\n", None);
        check(nothing(), "\norchestrated\nclaude\n", None);
        let (mode, command) = (Some(Mode::Orchestrated), Some(vec!["x".into()]));
        let all = Given { tickets: Some("t".into()), mode, command, block: true };
        check(all, "", Some(("t", Mode::Orchestrated, &["x"], true)));
    }
}
