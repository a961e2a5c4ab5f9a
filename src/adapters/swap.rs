//! Compare and swap of one file: what was read is exchanged for its edited text, and what comes out is looked at.
//!
//! If something else comes out, somebody wrote in between and theirs is the newest text: the edit is decided again and
//! made on it, unless a key being set changed in it too. Nothing is ever put back blindly. DESIGN.md 2.3.
//!
//! Must not know: tickets, workspaces; what an edit means.

mod exchange;

use std::io;
use std::path::Path;

use serde_yaml::Value;

use self::exchange::{Outcome, Place};
use super::files;
use super::locks::lock_directory;
use crate::domain::edit::Change;
use crate::text::document::{Contents, Document};
use crate::text::patch::patch;
use crate::text::quote;

/// So many times may somebody write in between before we give up; then only their newest text is put back in place.
const ATTEMPTS: usize = 50;

/// Says what to change in a text.
pub type Decide<'d, R> = &'d mut dyn FnMut(&[u8]) -> Result<Vec<Change>, R>;

/// A finished edit.
#[derive(Debug, PartialEq, Eq)]
pub struct Swapped {
    /// The newest text that the edit was made on.
    pub before: Vec<u8>,
    /// The text in the file now.
    pub after: Vec<u8>,
}

/// Why an edit did not happen.
#[derive(Debug)]
pub enum SwapError<R> {
    /// The decision refused.
    Refused(R),
    /// Somebody else changed this key meanwhile.
    Conflict {
        /// The key.
        key: String,
        /// Its value now, as YAML.
        theirs: String,
        /// The value wanted, as YAML.
        ours: String,
    },
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

/// Edits the file at `path` (symlinks are followed and kept). `decide` says what to change, given the text; it is asked
/// again on the newest text each time somebody wrote in between.
pub fn edit<R>(path: &Path, decide: Decide<'_, R>) -> Result<Swapped, SwapError<R>> {
    let path = path.canonicalize()?;
    let folder = path.parent().ok_or_else(|| io::Error::other("the file has no folder"))?;
    let _lock = lock_directory(folder)?;
    let mut newest = files::read(&path)?;
    let mut expected = newest.clone();
    let mut place = Place::new(&path, folder);
    let mut wanted = Ok(Vec::new());
    for attempt in 0..2 * ATTEMPTS {
        if attempt == ATTEMPTS {
            wanted = Err(busy("somebody keeps writing to this file; nothing of this edit was kept"));
        }
        let ours = match wanted.and_then(|_| decided(&newest, decide)) {
            Ok((changes, bytes)) => {
                wanted = Ok(changes);
                bytes
            }
            Err(error) => {
                wanted = Err(error);
                newest.clone()
            }
        };
        if ours == expected {
            return wanted.map(|_| Swapped { before: newest, after: ours });
        }
        match place.exchange(&expected, &ours)? {
            Outcome::Done => return wanted.map(|_| Swapped { before: newest, after: ours }),
            Outcome::Displaced(theirs) => {
                wanted = wanted.and_then(|changes| unless_conflict(changes, &newest, &theirs));
                (newest, expected) = (theirs, ours);
            }
            Outcome::Changed(theirs) => {
                wanted = wanted.and_then(|changes| unless_conflict(changes, &newest, &theirs));
                (newest, expected) = (theirs.clone(), theirs);
            }
        }
    }
    let kept = place.keep();
    Err(busy(&format!("somebody keeps writing to this file; their newest text is kept in {}", kept.join(", "))))
}

fn busy<R>(message: &str) -> SwapError<R> {
    SwapError::Io(io::Error::new(io::ErrorKind::ResourceBusy, message))
}

fn decided<R>(text: &[u8], decide: Decide<'_, R>) -> Result<(Vec<Change>, Vec<u8>), SwapError<R>> {
    let changes = decide(text).map_err(SwapError::Refused)?;
    let bytes = patch(text, &changes).map_err(|error| SwapError::Unsafe(error.to_string()))?;
    Ok((changes, bytes))
}

/// The changes again, unless a key being set has another value now, and not the one wanted. Adding to and removing from a
/// list goes together with other changes of the same list.
fn unless_conflict<R>(changes: Vec<Change>, base: &[u8], theirs: &[u8]) -> Result<Vec<Change>, SwapError<R>> {
    if !matches!(Document::read(theirs), Contents::Document(_)) {
        return Ok(changes); // the next decision sees it, and refuses
    }
    for change in &changes {
        let ours = match change {
            Change::Set(_, value) | Change::Written(_, value, _) => Some(value),
            Change::Unset(_) => None,
            Change::Add(..) | Change::Remove(..) => continue,
        };
        let (was, is) = (value_of(base, change.key()), value_of(theirs, change.key()));
        if was != is && is.as_ref() != ours {
            let (theirs, ours) = (shown(is.as_ref()), shown(ours));
            return Err(SwapError::Conflict { key: change.key().to_owned(), theirs, ours });
        }
    }
    Ok(changes)
}

fn value_of(bytes: &[u8], key: &str) -> Option<Value> {
    match Document::read(bytes) {
        Contents::Document(document) => document.map.get(key).cloned(),
        _ => None,
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "absent".into(), |v| quote::value(v, None, false).unwrap_or_else(|| "a tagged value".into()))
}

#[cfg(test)]
mod tests;
