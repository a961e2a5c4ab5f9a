//! Text for people and JSON for programs: failures on standard error, control characters made harmless.

use std::io::{self, Write};

use serde::Serialize;

use crate::api::failure::Failure;

/// Replaces control characters (escapes, bidirectional overrides too) so that text from files cannot steer a terminal.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if is_harmful(c) { '\u{fffd}' } else { c }).collect()
}

fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Prints a failure to standard error.
pub fn failure(failure: &Failure) {
    eprintln!("yoi: {}", failure.to_string().lines().map(harmless).collect::<Vec<_>>().join("\n"));
}

/// Prints a value as JSON, for programs.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::failed(format!("JSON: {error}")))?;
    print(&text)
}

/// One JSON object on one line.
pub fn json_line<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

/// Prints text and ends its last line.
pub fn print(text: &str) -> Result<(), Failure> {
    verbatim(&format!("{text}\n"))
}

/// Prints exactly this text. A reader that went away (`yoi list | head`) is no failure.
pub fn verbatim(text: &str) -> Result<(), Failure> {
    offer(text).map(drop)
}

/// Prints exactly this text; false where nobody reads any more.
pub fn offer(text: &str) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::failed(format!("standard output: {error}"))),
    }
}

/// Prints rows with aligned columns.
pub fn table<const N: usize>(rows: &[[String; N]]) -> Result<(), Failure> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{:<width$}", harmless(cell)));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    print(&rows.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// An argument list on one line, each argument in quotes, so that nobody takes two for one.
pub fn command(arguments: &[String]) -> String {
    harmless(&format!("{arguments:?}"))
}

/// Reads an answer as the view it is.
pub fn view<T: serde::de::DeserializeOwned>(answer: serde_json::Value) -> Result<T, Failure> {
    serde_json::from_value(answer).map_err(|error| {
        Failure::failed(format!("the daemon's answer is not what this yoi expects: {error}"))
            .hint("is the daemon of another version? restart it with `yoi down` and `yoi up`")
    })
}

/// `path:line:column`, as far as there is a line and a column.
pub fn place(path: &str, line: usize, column: usize) -> String {
    match (line, column) {
        (0, _) => path.to_owned(),
        (line, 0) => format!("{path}:{line}"),
        (line, column) => format!("{path}:{line}:{column}"),
    }
}

/// `1 file`, `2 files`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// As [`harmless`], with tabs kept: for the text of a file.
pub fn harmless_line(text: &str) -> String {
    text.split('\t').map(harmless).collect::<Vec<_>>().join("\t")
}
