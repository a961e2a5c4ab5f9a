//! Becomes the agent: sees to it that it dies with its supervisor, then replaces itself by the program.
//!
//! Must not know: what the program is.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use super::super::files::{self, Text};

/// The exit code of a shim that did not become anybody.
pub const FAILED: u8 = 127;

/// Becomes `command`, which is killed when the supervisor with this pid ends. Returns only if that cannot be: why stands
/// in `failed` then, for the supervisor.
pub fn become_program(supervisor: u32, failed: &Path, command: &[OsString]) {
    let why = match replace(supervisor, command) {
        Ok(never) => match never {},
        Err(error) => {
            let program = command.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
            format!("`{program}` cannot be started: {error}")
        }
    };
    if let Ok(mut file) = files::open_own(failed, Text::Replaced) {
        let _ = io::Write::write_all(&mut file, why.as_bytes());
    }
}

fn replace(supervisor: u32, command: &[OsString]) -> io::Result<std::convert::Infallible> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // It may have ended before that: then nobody would end this one any more.
    if getppid().is_none_or(|parent| parent.as_raw_nonzero().get().unsigned_abs() != supervisor) {
        return Err(io::Error::other("its supervisor has ended"));
    }
    let Some((program, arguments)) = command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"));
    };
    Err(Command::new(program).args(arguments).exec())
}
