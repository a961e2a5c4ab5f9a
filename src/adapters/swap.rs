//! Compare and swap of one file: what was read is exchanged for its edited text, and what comes out is looked at.
//!
//! If something else comes out, somebody wrote in between and theirs is the newest text: the edit is decided again and
//! made on it, unless a key being set changed in it too. What was displaced is kept, and is never put back itself: a file
//! that was out of its place for a moment may be written over by somebody who has read what stood there meanwhile, and so
//! nothing that others wrote is ever where that could happen. DESIGN.md 2.3.
//!
//! Must not know: tickets, workspaces; what an edit means.

mod exchange;

use std::io;
use std::path::Path;
use std::time::Duration;

use self::exchange::Place;
use super::kept::{Found, Journal, settled};
use super::locks::{PATIENCE, lock_directory};
use super::{fault, files};
use crate::text::merge::{CameOut, Clash, Edit, Exchange, Failure, Step};

pub use crate::text::merge::{Decide, Swapped};

/// How often the newest text is put in place before it is kept beside instead.
const GIVE_BACK: usize = 50;

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
    // Half a text that somebody is just writing in place is not edited; nobody else's edits in the folder wait for that.
    let settled = || settled(&path, files::read, |text| journal.is_ours(text));
    let before = settled()?;
    fault::delay("before-lock");
    let _lock = lock_directory(folder, patience)?;
    let now = files::read(&path)?;
    let text = if now == before { now } else { settled()? };
    journal.meet(&text, None);
    let mut exchange = Exchange::begin(text);
    let mut place = Place::new(&path, folder, own, journal);
    let result = exchanged(&mut exchange, &mut place, decide);
    place.put_away();
    result.map_err(|error| place.midway(error))?;
    if !exchange.is_settled() {
        let kept = place.kept_paths().join(", ");
        return Err(busy(&format!("somebody keeps writing to this file; their newest text is kept in {kept}")));
    }
    let swapped = exchange.end()?;
    place.acknowledge(&swapped.after);
    Ok(swapped)
}

fn exchanged<R>(exchange: &mut Exchange<R>, place: &mut Place<'_>, decide: Decide<'_, R>) -> io::Result<()> {
    while let Step::Put(ours) = exchange.next(decide) {
        let came_out = place.put((exchange.newest(), exchange.expected(), &ours), exchange.edits(&ours))?;
        if let CameOut::Other(newest) | CameOut::NotPut(newest) = &came_out {
            place.meet(newest);
        }
        exchange.tell(came_out);
        fault::delay("after-look");
    }
    Ok(())
}

/// Puts a text that was made of what somebody wrote into the displaced text of the exchange called `name` in the place of
/// the current one. Returns whether it is there now: not if anything else but the current one was there.
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
    // Before the exchange, so that no crash comes between; taken back where their text does not come into the file.
    let taken = place.meet_later(theirs, name);
    let result = place.put((theirs, current, text), edits);
    if matches!(result, Ok(CameOut::NotPut(_) | CameOut::Other(_))) || (result.is_err() && !place.has_put()) {
        place.withdraw(taken.as_ref());
    }
    let result = result.and_then(|came_out| match came_out {
        CameOut::Expected => Ok(true),
        CameOut::NotPut(_) => Ok(false),
        // Ours was there for a moment, and hides from now on what their text has taken back.
        CameOut::Other(newest) => give_back(&mut place, newest, text.to_vec()).map(|()| false),
    });
    place.put_away();
    result
}

/// Puts the newest text in the place of ours.
fn give_back(place: &mut Place<'_>, mut newest: Vec<u8>, mut ours: Vec<u8>) -> io::Result<()> {
    for _ in 0..GIVE_BACK {
        place.meet(&newest);
        let CameOut::Other(theirs) = place.put((&newest, &ours, &newest), Vec::new())? else { break };
        ours = std::mem::replace(&mut newest, theirs);
    }
    Ok(())
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
