//! Compare and swap of one file: what was read is exchanged for its edited text, and what comes out is looked at.
//!
//! If something else comes out, somebody wrote in between and theirs is the newest text: the edit is decided again and
//! made on it, unless a key being set changed in it too. Nothing is ever put back blindly. DESIGN.md 2.3.
//!
//! Must not know: tickets, workspaces; what an edit means.

mod exchange;

use std::io;
use std::path::Path;

use self::exchange::Place;
use super::files;
use super::locks::lock_directory;
use crate::text::merge::{Clash, Exchange, Failure, Step};

pub use crate::text::merge::{Decide, Swapped};

/// Why an edit did not happen.
#[derive(Debug)]
pub enum SwapError<R> {
    /// The decision refused.
    Refused(R),
    /// Somebody else changed a key of it meanwhile.
    Conflict(Clash),
    /// The text cannot be patched safely.
    Unsafe(String),
    /// There is no such file.
    Absent,
    /// The system refused.
    Io(io::Error),
}

impl<R> From<io::Error> for SwapError<R> {
    fn from(error: io::Error) -> Self {
        let absent = error.raw_os_error() == Some(rustix::io::Errno::NOENT.raw_os_error());
        if absent { SwapError::Absent } else { SwapError::Io(error) }
    }
}

impl<R> From<Failure<R>> for SwapError<R> {
    fn from(failure: Failure<R>) -> Self {
        match failure {
            Failure::Refused(reason) => SwapError::Refused(reason),
            Failure::Conflict(clash) => SwapError::Conflict(clash),
            Failure::Unsafe(message) => SwapError::Unsafe(message),
            Failure::Busy => busy("somebody keeps writing to this file; nothing of this edit was kept"),
        }
    }
}

/// Edits the file at `path` (symlinks are followed and kept). `decide` says what to change, given the text; it is asked
/// again on the newest text each time somebody wrote in between.
pub fn edit<R>(path: &Path, decide: Decide<'_, R>) -> Result<Swapped, SwapError<R>> {
    let path = path.canonicalize()?;
    let folder = path.parent().ok_or_else(|| io::Error::other("the file has no folder"))?;
    let _lock = lock_directory(folder)?;
    let mut exchange = Exchange::begin(files::read(&path)?);
    let mut place = Place::new(&path, folder);
    loop {
        let came_out = match exchange.next(decide) {
            Step::Put(ours) => place.put(exchange.expected(), &ours)?,
            Step::PutBack => place.put_back(exchange.expected())?,
            Step::End => break,
        };
        exchange.tell(came_out);
    }
    if !exchange.is_settled() {
        let kept = place.keep();
        let message = format!("somebody keeps writing to this file; their newest text is kept in {}", kept.join(", "));
        return Err(busy(&message));
    }
    Ok(exchange.end()?)
}

fn busy<R>(message: &str) -> SwapError<R> {
    SwapError::Io(io::Error::new(io::ErrorKind::ResourceBusy, message))
}

#[cfg(test)]
mod tests;
