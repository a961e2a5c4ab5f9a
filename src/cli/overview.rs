//! `yoi --help`: the commands in groups, one a line, so that they fit a screen.
//!
//! Must not know: what a command does beyond the sentence that it says of itself.

use std::fmt::Write as _;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::ContextKind;

/// The groups in the order in which a newcomer meets them. A test holds that every command is in one of them.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Set up, see it work, check", &["init", "demo", "doctor"]),
    ("Tickets (no daemon needed)", &["new", "list", "show", "why", "edit", "move", "set", "inspect"]),
    ("The daemon", &["up", "down", "daemon", "status", "logs", "events"]),
    (
        "The Orchestrator's",
        &["work-set", "plan", "wait", "await", "accept", "offer", "kick", "pause", "resume", "orchestrator"],
    ),
    ("A worker's", &["next", "start", "claim", "heartbeat", "release", "block", "decompose", "close", "worktree"]),
    ("Reports of agents and panels", &["hook", "pod"]),
    ("Settings", &["config", "trust"]),
];

const END: &str = "\
A ticket goes planning -> ready -> queued -> inprogress -> done -> closed.
`yoi COMMAND --help` says more about a command, `yoi why ID` about a ticket.";

/// Commands that this version does not have yet.
const LATER: [&str; 12] = [
    "panel",
    "scan",
    "inbox",
    "agents",
    "agent",
    "simulate",
    "mcp",
    "alerts",
    "schema",
    "service",
    "completions",
    "man",
];

/// What to say to somebody who asks for a command that is not there yet.
pub fn hint(error: &clap::Error) -> Option<String> {
    let asked = error.get(ContextKind::InvalidSubcommand)?.to_string();
    let name = LATER.into_iter().find(|name| *name == asked)?;
    let instead = match name {
        "inbox" => "what needs a look is in `yoi status`, all of it in `yoi events`",
        "agents" | "agent" => "`yoi pod list` shows who is at work",
        "panel" => "`yoi status` and `yoi events --follow` show what happens",
        _ => "README.md says what is not here yet",
    };
    Some(format!("This version has no `yoi {name}` yet: {instead}."))
}

/// The command line with its commands in groups.
pub fn grouped(command: Command) -> Command {
    let template = template(&command);
    command.help_template(template)
}

fn template(command: &Command) -> StyledStr {
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    // No empty lines between the groups: all of it is to fit a screen.
    let mut text = String::from("{about}\n\n{usage-heading} {usage}\n\n");
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(StyledStr::to_string);
            let _ = writeln!(text, "  {literal}{name:<12}{literal:#}  {}", about.unwrap_or_default());
        }
    }
    let _ = write!(text, "{header}Options:{header:#}\n{{options}}\n\n{END}");
    StyledStr::from(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_command_is_in_one_group_and_fits_a_line() {
        let command = crate::cli::Arguments::command();
        let there: Vec<_> = command.get_subcommands().filter(|c| !c.is_hide_set()).map(Command::get_name).collect();
        let listed: Vec<_> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!(listed.iter().collect::<BTreeSet<_>>(), there.iter().collect::<BTreeSet<_>>());
        assert_eq!(listed.len(), there.len(), "one is named twice");
        let help = grouped(command).render_help().to_string();
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(help.lines().count() <= 58, "{help}");
    }
}
