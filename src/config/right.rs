//! A line that would be taken in the place of one that is not: what was written, in the right form where that is plain,
//! else an example.
//!
//! Must not know: places in the file; what a setting does.

use toml::de::DeValue;

use super::keys::Key;
use super::takes::Takes;
use super::written::quoted;

/// The line for this key, after that value was written for it; None where what it takes is said with an example anyway.
pub(super) fn line(key: &Key, written: &DeValue<'_>) -> Option<String> {
    let value = meant(key.takes, written).or_else(|| example(key.takes))?;
    Some(format!("{} = {value}", key.name))
}

/// What was written, in the form that the key takes; None where that is a guess.
fn meant(takes: Takes, written: &DeValue<'_>) -> Option<String> {
    let text = match written {
        DeValue::String(text) => text.trim(),
        _ => return None,
    };
    match takes {
        // A shell's quotes and signs would have to be understood first.
        Takes::Command if !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || " -_./=:".contains(c)) => {
            Some(list(text))
        }
        Takes::Count { most, .. } => text.parse::<u32>().ok().filter(|n| (1..=most).contains(n)).map(|n| n.to_string()),
        Takes::ExitCodes => text.parse::<u8>().ok().filter(|code| *code > 0).map(|code| code.to_string()),
        _ => None,
    }
}

fn list(words: &str) -> String {
    let words: Vec<_> = words.split_whitespace().map(quoted).collect();
    format!("[{}]", words.join(", "))
}

fn example(takes: Takes) -> Option<String> {
    let value = match takes {
        Takes::Folder => quoted("tickets"),
        Takes::Name => quoted("status"),
        Takes::Place => quoted(".yoi/worktrees"),
        Takes::Label => quoted("claimed"),
        Takes::Remote => quoted("origin"),
        Takes::States => "{ \"todo\" = \"queued\" }".into(),
        Takes::ExitCodes => "75".into(),
        Takes::Texts => "[\"usage limit reached\"]".into(),
        Takes::Count { most, .. } => 10.min(most).to_string(),
        Takes::Command | Takes::Commands | Takes::OneOf(_) | Takes::Duration { .. } => return None,
    };
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys::KEYS;
    use crate::config::parse;

    #[test]
    fn what_is_meant_is_written_out_and_a_guess_is_not() {
        let table = [
            (Takes::Command, "claude  -p", Some("[\"claude\", \"-p\"]")),
            (Takes::Command, "sh -c 'a b'", None),
            (Takes::Command, "", None),
            (Takes::Count { most: 100, unlimited: false }, " 10 ", Some("10")),
            (Takes::Count { most: 100, unlimited: false }, "101", None),
            (Takes::ExitCodes, "75", Some("75")),
            (Takes::ExitCodes, "0", None),
            (Takes::Name, "x", None),
        ];
        for (takes, text, expected) in table {
            let written = DeValue::String(text.into());
            assert_eq!(meant(takes, &written).as_deref(), expected, "{takes:?} {text:?}");
        }
        assert_eq!(meant(Takes::ExitCodes, &DeValue::Boolean(true)), None);
    }

    #[test]
    fn every_example_is_taken() {
        for key in KEYS {
            let mode = if key.section == "dispatch" { "" } else { "dispatch.mode = 'orchestrated'\n" };
            let of_a_session = ["wake", "busy_max"].contains(&key.name);
            let command = if key.section == "orchestrator" && key.name != "command" && !of_a_session {
                "orchestrator.command = ['x']\norchestrator.rate_limit_exit = 1\n"
            } else {
                ""
            };
            let command = if key.name == "rate_limit_exit" { "orchestrator.command = ['x']\n" } else { command };
            let Some(line) = line(key, &DeValue::Boolean(true)) else { continue };
            let text = format!("{mode}{command}{}.{line}\n", key.section);
            assert!(parse(&text).is_ok(), "{text}{:?}", parse(&text));
        }
    }
}
