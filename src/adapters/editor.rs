//! Starts the user's editor on a file, in the foreground.
//!
//! Must not know: what is edited.

use std::io;
use std::path::Path;
use std::process::Command;

/// Runs it and waits. `command` is as people set it: a program and plain arguments, separated by blanks.
pub fn run(command: &str, path: &Path) -> io::Result<()> {
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else { return Err(io::Error::other("it is empty")) };
    let status = Command::new(program).args(words).arg(path).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("it ended with {status}"))) }
}
