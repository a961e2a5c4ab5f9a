//! Values as they would be written in the file.
//!
//! Must not know: which key a value is of.

use std::fmt::Write;

use chrono::TimeDelta;

use crate::text::duration;

/// A duration, or that there is none.
pub(super) fn off_or(length: Option<TimeDelta>) -> String {
    length.map_or_else(|| quoted("off"), |length| quoted(&duration::text(length)))
}

/// A list of words.
pub(super) fn list(words: &[String]) -> String {
    format!("[{}]", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", "))
}

/// A list of such lists.
pub(super) fn lists(commands: &[Vec<String>]) -> String {
    format!("[{}]", commands.iter().map(|command| list(command)).collect::<Vec<_>>().join(", "))
}

/// A TOML basic string.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
