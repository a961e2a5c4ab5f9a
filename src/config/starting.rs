//! The text of a new configuration.
//!
//! Must not know: where it is written, who is asked.

use std::fmt::Write;

use super::written::quoted;
use crate::domain::policy::Mode;

/// What somebody chooses for a new workspace; everything else keeps its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// The ticket folder, as given; [`super::parse`] of the text says whether it can be one.
    pub tickets: String,
    /// Who starts work.
    pub mode: Mode,
    /// The Orchestrator's program and arguments; empty for none yet.
    pub command: Vec<String>,
}

/// The configuration file for these choices.
pub fn text(choices: &Choices) -> String {
    let mut text = String::from(
        "# The settings of this yoi workspace. Every key is optional; `yoi config` prints what holds and where it came \
         from.\n",
    );
    let _ = write!(text, "\n[tickets]\nroot = {}\n", quoted(&choices.tickets));
    text.push_str("\n[dispatch]\n# orchestrated: one Orchestrator decides what starts. pull: workers drain the queue themselves.\n");
    let _ = writeln!(text, "mode = {}", quoted(choices.mode.as_str()));
    if choices.mode == Mode::Orchestrated {
        text.push_str(
            "\n[orchestrator]\n# Program and arguments, never a shell string; the work list goes to its standard input. After a \
             change\n# `yoi trust` puts it into effect. Without a command the Orchestrator is an agent's own session that \
             registers\n# itself (`yoi orchestrator attach`).\n",
        );
        let words: Vec<_> = choices.command.iter().map(|word| quoted(word)).collect();
        let _ = match words.as_slice() {
            [] => writeln!(text, "# command = [\"claude\", \"-p\"]"),
            words => writeln!(text, "command = [{}]", words.join(", ")),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;

    #[test]
    fn what_is_written_reads_as_what_was_chosen() {
        let odd = ["a b", "\"q\"", "back\\slash", "", "new\nline", "tab\t", "é\u{7f}\u{1b}"];
        for command in [&[][..], &["claude", "-p"], &odd] {
            for mode in Mode::ALL {
                let command: Vec<_> = command.iter().map(|&word| word.to_owned()).collect();
                if mode == Mode::Pull && !command.is_empty() {
                    continue;
                }
                let choices = Choices { tickets: "työ/\"x\"".to_owned(), mode, command: command.clone() };
                let config = parse(&text(&choices)).unwrap();
                assert_eq!(config.tickets_root.to_str(), Some("työ/\"x\""));
                assert_eq!(config.mode, mode);
                let read = config.orchestrator.map(|exec| exec.command).unwrap_or_default();
                assert_eq!(read, command);
            }
        }
    }
}
