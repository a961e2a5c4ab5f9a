//! Compare and swap of one file: what was read is exchanged for its edited text, and what comes out is looked at.
//!
//! If something else comes out, somebody wrote in between and theirs is the newest text: the edit is decided again and
//! made on it, unless a key being set changed in it too. Nothing is ever put back blindly, and what was displaced is kept.
//! DESIGN.md 2.3.
//!
//! Must not know: tickets, workspaces; what an edit means.

mod exchange;

use std::io;
use std::path::Path;
use std::time::Duration;

use self::exchange::Place;
use super::files;
use super::kept::{Found, Journal};
use super::locks::{PATIENCE, lock_directory};
use crate::text::merge::{CameOut, Clash, Edit, Exchange, Failure, Step, holds_all_lines};

pub use crate::text::merge::{Decide, Swapped};

/// How often what came out is put back before it is kept beside instead.
const PUT_BACK: usize = 50;

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

/// Edits the file of a journal. `decide` says what to change, given the text; it is asked again on the newest text each
/// time somebody wrote in between. `own`: nobody asked for this edit but yoi itself. The lock on the file's folder is
/// waited for, but not longer than `patience`.
pub fn edit<R>(
    journal: &mut Journal,
    own: bool,
    patience: Duration,
    decide: Decide<'_, R>,
) -> Result<Swapped, SwapError<R>> {
    let path = journal.file.clone();
    let folder = folder(&path)?;
    let _lock = lock_directory(folder, patience)?;
    let text = files::read(&path)?;
    journal.meet(&text, None);
    let mut exchange = Exchange::begin(text);
    let mut place = Place::new(&path, folder, own, journal);
    let result = exchanged(&mut exchange, &mut place, decide);
    place.put_away();
    result?;
    if !exchange.is_settled() {
        let kept = journal.kept_paths().join(", ");
        return Err(busy(&format!("somebody keeps writing to this file; their newest text is kept in {kept}")));
    }
    Ok(exchange.end()?)
}

fn exchanged<R>(exchange: &mut Exchange<R>, place: &mut Place<'_>, decide: Decide<'_, R>) -> io::Result<()> {
    let mut theirs: Option<Vec<u8>> = None;
    loop {
        let came_out = match exchange.next(decide) {
            Step::Put(ours) => {
                let edit = Edit::made(exchange.newest(), exchange.changes(), &ours);
                place.put((exchange.newest(), exchange.expected(), &ours), vec![edit])?
            }
            Step::PutBack => place.put_back(exchange.newest(), exchange.expected())?,
            Step::End => return Ok(()),
        };
        if let CameOut::Other(newest) = &came_out {
            // Who saved last had perhaps read our text in between, in which the one before was not yet.
            place.meet(newest);
            let former = theirs.replace(newest.clone());
            if former.is_some_and(|former| !holds_all_lines(newest, &former)) {
                place.doubt_former();
            }
        }
        exchange.tell(came_out);
    }
}

/// Puts a text that was made of what somebody wrote into the displaced text of the exchange called `name` in the place of
/// the current one. Returns whether it is there now: not if anything else but the current one came out; then that is put
/// back.
pub(super) fn replace(
    journal: &mut Journal,
    name: &str,
    (theirs, current, text): (&[u8], &[u8], &[u8]),
    edits: Vec<Edit>,
) -> io::Result<bool> {
    let path = journal.file.clone();
    let folder = folder(&path)?;
    let _lock = lock_directory(folder, PATIENCE)?;
    let mut place = Place::new(&path, folder, false, journal).following(name);
    let mut expected = text.to_vec();
    let mut came_out = place.put((theirs, current, text), edits);
    for _ in 0..PUT_BACK {
        match came_out? {
            CameOut::Expected if expected == text => {
                place.put_away();
                return Ok(true);
            }
            CameOut::Expected | CameOut::NotPut(_) => break,
            CameOut::Other(newest) => {
                came_out = place.put_back(&newest, &expected);
                expected = newest;
            }
        }
    }
    place.put_away();
    Ok(false)
}

fn folder(path: &Path) -> io::Result<&Path> {
    path.parent().ok_or_else(|| io::Error::other("the file has no folder"))
}

fn busy<R>(message: &str) -> SwapError<R> {
    SwapError::Io(io::Error::new(io::ErrorKind::ResourceBusy, message))
}

/// Edits a file of which nothing is remembered after this process: what was displaced is looked at once more, and then
/// gone; what cannot be merged stays beside the file, and is returned.
pub fn edit_alone<R>(path: &Path, decide: Decide<'_, R>) -> Result<(Swapped, Vec<Found>), SwapError<R>> {
    let mut journal = Journal::passing(&path.canonicalize()?);
    let swapped = edit(&mut journal, false, PATIENCE, decide);
    let found = journal.last_look(chrono::Utc::now());
    Ok((swapped?, found))
}

#[cfg(test)]
mod tests;
