//! What becomes of an edit when somebody else writes the same file: pure decisions on texts. One exchange, step by step
//! ([`Exchange`]); edits made again on a text that came to light later ([`replay`]). DESIGN.md 2.3.
//!
//! Must not know: files, how a text is exchanged for another, who the others are.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_yaml::Value;

use super::document::{Contents, Document};
use super::patch::patch;
use super::quote;
use crate::domain::edit::Change;

/// So many times may somebody write in between before the edit is given up; so many more times is only their newest text
/// put in place.
const ATTEMPTS: usize = 50;

/// Says what to change in a text.
pub type Decide<'d, R> = &'d mut dyn FnMut(&[u8]) -> Result<Vec<Change>, R>;

/// A finished edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swapped {
    /// The newest text that the edit was made on.
    pub before: Vec<u8>,
    /// The text in the file now.
    pub after: Vec<u8>,
}

/// A key that both sides set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The key.
    pub key: String,
    /// Its value now, as YAML.
    pub theirs: String,
    /// The value wanted, as YAML.
    pub ours: String,
}

/// Why an edit is not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure<R> {
    /// The decision refused.
    Refused(R),
    /// Somebody else changed a key of it meanwhile.
    Conflict(Clash),
    /// The text cannot be patched safely.
    Unsafe(String),
    /// Somebody keeps writing.
    Busy,
}

/// What is to be done next with the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Put this text into the place of what is there, look at what came out, and tell. What came out is never put back
    /// itself: whoever has read the file in between would write into it, and it would be nowhere else.
    Put(Vec<u8>),
    /// Nothing more.
    End,
}

/// What came of one exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CameOut {
    /// [`Exchange::expected`].
    Expected,
    /// This other text: somebody wrote in between, and it is the newest.
    Other(Vec<u8>),
    /// Nothing was put in place, because this other text is there now.
    NotPut(Vec<u8>),
}

/// One edit of one file, from what was read to the end.
#[derive(Clone, Debug)]
pub struct Exchange<R> {
    /// The newest text of somebody else's (or that was read).
    newest: Vec<u8>,
    /// What is in the file, if nobody has written since.
    expected: Vec<u8>,
    /// What was put there last.
    ours: Vec<u8>,
    wanted: Result<Vec<Change>, Failure<R>>,
    attempts: usize,
    finished: bool,
}

impl<R> Exchange<R> {
    /// Begins with the file's text as read.
    pub fn begin(text: Vec<u8>) -> Self {
        Self {
            expected: text.clone(),
            ours: text.clone(),
            newest: text,
            wanted: Ok(Vec::new()),
            attempts: 0,
            finished: false,
        }
    }

    /// What is in the file as far as is known: what should come out of the next exchange.
    pub fn expected(&self) -> &[u8] {
        &self.expected
    }

    /// The newest text known: what the edit is made on.
    pub fn newest(&self) -> &[u8] {
        &self.newest
    }

    /// The changes of the step in hand.
    pub fn changes(&self) -> &[Change] {
        self.wanted.as_deref().unwrap_or_default()
    }

    /// The edit that the text in hand is made by; none where it is somebody else's as it is.
    pub fn edits(&self, ours: &[u8]) -> Vec<Edit> {
        let changes = self.changes();
        if changes.is_empty() { Vec::new() } else { vec![Edit::made(&self.newest, changes, ours)] }
    }

    /// Says what to do now. `decide` is asked on the newest text each time.
    pub fn next(&mut self, decide: Decide<'_, R>) -> Step {
        if self.finished || self.attempts == 2 * ATTEMPTS {
            return Step::End;
        }
        self.attempts += 1;
        if self.attempts > ATTEMPTS && self.wanted.is_ok() {
            self.wanted = Err(Failure::Busy);
        }
        if self.wanted.is_ok() {
            self.wanted = decided(&self.newest, decide).map(|(changes, ours)| {
                self.ours = ours;
                changes
            });
        }
        if self.wanted.is_err() {
            self.ours.clone_from(&self.newest);
        }
        // Where somebody's text came out the exchange is made even if it changes nothing: that theirs is in it must be noted.
        if self.ours == self.expected && self.newest == self.expected {
            self.finished = true;
            return Step::End;
        }
        Step::Put(self.ours.clone())
    }

    /// Takes in what came of the last step.
    pub fn tell(&mut self, came_out: CameOut) {
        let theirs = match came_out {
            CameOut::Expected => {
                self.finished = true;
                return;
            }
            CameOut::Other(theirs) => {
                self.expected.clone_from(&self.ours);
                theirs
            }
            CameOut::NotPut(theirs) => {
                self.expected.clone_from(&theirs);
                theirs
            }
        };
        if let Ok(changes) = &self.wanted
            && let Some(clash) = Edit::on(&self.newest, changes.clone()).clash(&theirs)
        {
            self.wanted = Err(Failure::Conflict(clash));
        }
        self.newest = theirs;
    }

    /// What came of it all. `Busy` where somebody kept writing; then [`Exchange::is_settled`] says whether their newest
    /// text is in the file.
    pub fn end(self) -> Result<Swapped, Failure<R>> {
        let settled = self.finished;
        let swapped = Swapped { before: self.newest, after: self.ours };
        self.wanted.and(if settled { Ok(swapped) } else { Err(Failure::Busy) })
    }

    /// Whether the newest text, edited or not, is in the file. Otherwise it is in what came out last.
    pub fn is_settled(&self) -> bool {
        self.finished
    }
}

fn decided<R>(text: &[u8], decide: Decide<'_, R>) -> Result<(Vec<Change>, Vec<u8>), Failure<R>> {
    let changes = decide(text).map_err(Failure::Refused)?;
    let bytes = patch(text, &changes).map_err(|error| Failure::Unsafe(error.to_string()))?;
    Ok((changes, bytes))
}

/// What an edit changes, and what its keys held before: enough to make it again by compare and swap, key by key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    /// In this order.
    pub changes: Vec<Change>,
    /// The value of each key before; None where it was not there.
    pub before: BTreeMap<String, Option<Value>>,
    /// The value of each key after, where that is known.
    pub after: BTreeMap<String, Option<Value>>,
}

impl Edit {
    /// An edit of this text.
    pub fn on(base: &[u8], changes: Vec<Change>) -> Self {
        let keys: Vec<String> = changes.iter().map(|change| change.key().to_owned()).collect();
        Self { before: values(base, keys), changes, after: BTreeMap::new() }
    }

    /// An edit of this text that led to that one.
    pub fn made(base: &[u8], changes: &[Change], placed: &[u8]) -> Self {
        let edit = Self::on(base, changes.to_vec());
        Self { after: values(placed, edit.before.keys().cloned()), ..edit }
    }

    /// Each key with its value before and after.
    pub fn effects(&self) -> impl Iterator<Item = (&str, &Option<Value>, &Option<Value>)> {
        self.before.iter().filter_map(|(key, before)| Some((key.as_str(), before, self.after.get(key)?)))
    }

    /// The key that has another value in this text than before the edit, and not the one that the edit sets. Adding to
    /// and removing from a list goes together with other changes of the same list. A text that cannot be read has none:
    /// whoever edits it next sees that.
    pub fn clash(&self, theirs: &[u8]) -> Option<Clash> {
        let Contents::Document(theirs) = Document::read(theirs) else { return None };
        self.changes.iter().find_map(|change| {
            let ours = match change {
                Change::Set(_, value) | Change::Written(_, value, _) => Some(value),
                Change::Unset(_) => None,
                Change::Add(..) | Change::Remove(..) => return None,
            };
            let (was, is) = (self.before.get(change.key())?.as_ref(), theirs.map.get(change.key()));
            let clash = || Clash { key: change.key().to_owned(), theirs: shown(is), ours: shown(ours) };
            (was != is && is != ours).then(clash)
        })
    }
}

/// The values of these keys in a text.
pub fn values(text: &[u8], keys: impl IntoIterator<Item = String>) -> BTreeMap<String, Option<Value>> {
    let document = match Document::read(text) {
        Contents::Document(document) => Some(document),
        _ => None,
    };
    let value = |key: &String| document.as_ref().and_then(|document| document.map.get(key)).cloned();
    keys.into_iter().map(|key| (value(&key), key)).map(|(value, key)| (key, value)).collect()
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "absent".into(), |v| quote::value(v, None, false).unwrap_or_else(|| "a tagged value".into()))
}

/// Why edits cannot be made again on another text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReplayed {
    /// A key was set by both sides.
    Conflict(Clash),
    /// The text cannot be read or patched; perhaps it is only half written.
    Unsafe(String),
}

/// The edits made again on another text, in this order, each a compare and swap by key.
pub fn replay<'e>(theirs: &[u8], edits: impl IntoIterator<Item = &'e Edit>) -> Result<Vec<u8>, NotReplayed> {
    let mut text = theirs.to_vec();
    if let Contents::Invalid(error) = Document::read(&text) {
        return Err(NotReplayed::Unsafe(error.message));
    }
    for edit in edits {
        if let Some(clash) = edit.clash(&text) {
            return Err(NotReplayed::Conflict(clash));
        }
        text = patch(&text, &edit.changes).map_err(|error| NotReplayed::Unsafe(error.to_string()))?;
    }
    Ok(text)
}

/// Whether a text can be read as a ticket: whoever writes it has perhaps come to the end of it.
pub fn is_whole(text: &[u8]) -> bool {
    matches!(Document::read(text), Contents::Document(_))
}

/// Whether every line of `part` is in `whole` too, as often: then nothing that somebody wrote there is missing here. Lines
/// of these keys are passed over: yoi has edited them.
pub fn holds_all_lines(whole: &[u8], part: &[u8], edited: &BTreeSet<String>) -> bool {
    let mut left: BTreeMap<&[u8], usize> = BTreeMap::new();
    for line in whole.split(|byte| *byte == b'\n') {
        *left.entry(line).or_default() += 1;
    }
    let key = |line: &[u8]| {
        line.split(|byte| *byte == b':').next().and_then(|key| str::from_utf8(key).ok()).map(str::to_owned)
    };
    part.split(|byte| *byte == b'\n').all(|line| {
        line.is_empty()
            || left.get_mut(line).is_some_and(|count| {
                let is_left = *count > 0;
                *count = count.saturating_sub(1);
                is_left
            })
            || key(line).is_some_and(|key| edited.contains(&key))
    })
}

#[cfg(test)]
mod tests;
