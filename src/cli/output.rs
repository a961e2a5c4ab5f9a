//! Text for people: failures on standard error, control characters made harmless.

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

/// One JSON object on one line.
pub fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

/// Prints to standard output; a reader that went away (`| head`) is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}
