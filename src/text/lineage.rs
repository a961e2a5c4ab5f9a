//! What yoi did to one file lately, and what follows from it: what becomes of a text that was displaced and then written
//! to by somebody slow, and which acknowledged changes an old text has taken back. DESIGN.md 2.3.
//!
//! Must not know: files, where texts are kept.

use std::collections::{BTreeMap, BTreeSet};

use serde_yaml::Value;

use super::document::{Contents, Document};
use super::merge::{Edit, NotReplayed, holds_all_lines, replay, values};
use crate::domain::ticket::{Digest, Timestamp};

/// One exchange that was made.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is said of an exchange by a line of its own in the journal")]
pub struct Made {
    /// Its name, unique; what it displaced goes by it.
    pub name: String,
    /// When.
    pub at: Timestamp,
    /// It was made on what came out of this earlier one (or on what was written into that text later).
    pub follows: Option<String>,
    /// The text that the edits were made on.
    pub base: Digest,
    /// The text that was to come out.
    pub expected: Digest,
    /// The text that was put in place.
    pub placed: Digest,
    /// In this order; none where somebody's text was put in place.
    pub edits: Vec<Edit>,
    /// A stamp or label of yoi's own, and nobody's request.
    pub own: bool,
    /// What the displaced text was when it was last dealt with, where that is another than the expected one.
    pub dealt_with: Option<Digest>,
    /// What came out was the expected text: the edit was acknowledged.
    pub settled: bool,
    /// It was acknowledged although something else came out, because what somebody had saved since held it already.
    pub acknowledged: bool,
    /// It was reported as saved over.
    pub told: bool,
}

impl Made {
    /// The content of the displaced text that nothing more is to be done about.
    pub fn known(&self) -> Digest {
        self.dealt_with.unwrap_or(self.expected)
    }

    /// It was said to be done without another exchange: this text is what it has led to.
    pub fn acknowledge(&mut self, text: &[u8]) {
        self.acknowledged = true;
        for edit in &mut self.edits {
            edit.after = values(text, edit.before.keys().cloned());
        }
    }
}

/// What becomes of a displaced text that has changed since.
#[derive(Clone, Debug, PartialEq)]
pub enum Later {
    /// All of it is in the file.
    AlreadyThere,
    /// This text belongs into the file: theirs, with these edits made again.
    Merge(Vec<u8>, Vec<Edit>),
    /// It cannot be brought together with what is in the file; why.
    Conflict(String),
    /// It is no whole ticket (yet); why.
    Unfinished(String),
}

/// Says what becomes of the text that the exchange called `name` displaced, and that reads `displaced` now. `made` are
/// the exchanges of that file, oldest first; `current` is what the file holds.
pub fn judge(made: &[Made], name: &str, displaced: &[u8], current: &[u8]) -> Later {
    let anchor = anchor(made, name);
    if let Some(edits) = anchor.and_then(|at| edits_since(&made[at..], Digest::of(current))) {
        return match replay(displaced, &edits) {
            Ok(text) if text == current => Later::AlreadyThere,
            Ok(text) => Later::Merge(text, edits),
            Err(NotReplayed::Conflict(clash)) => Later::Conflict(format!(
                "`{}` was set by both: it is {} there, and {} in the ticket",
                clash.key, clash.theirs, clash.ours
            )),
            Err(NotReplayed::Unsafe(why)) => Later::Unfinished(why),
        };
    }
    let edits = anchor.map_or(&[][..], |at| made[at].edits.as_slice());
    match replay(displaced, edits) {
        Ok(text) if holds_all_lines(current, &text, &edited_keys(made)) => Later::AlreadyThere,
        Err(NotReplayed::Unsafe(why)) => Later::Unfinished(why),
        _ => Later::Conflict("the ticket's file was changed by somebody else since".into()),
    }
}

/// The keys that yoi has edited.
pub fn edited_keys(made: &[Made]) -> BTreeSet<String> {
    let changes = made.iter().flat_map(|m| &m.edits).flat_map(|edit| &edit.changes);
    changes.map(|change| change.key().to_owned()).collect()
}

/// The exchange whose placed text was made of the displaced one by edits of keys alone.
fn anchor(made: &[Made], name: &str) -> Option<usize> {
    let follower = made.iter().rposition(|m| m.follows.as_deref() == Some(name));
    follower.or_else(|| made.iter().position(|m| m.name == name && m.base == m.expected))
}

/// All edits from the first of these exchanges to the current text; None where something else happened in between.
fn edits_since(made: &[Made], current: Digest) -> Option<Vec<Edit>> {
    let (first, rest) = made.split_first()?;
    let mut at = first.placed;
    let mut edits = first.edits.clone();
    for next in rest {
        if at == current {
            break;
        }
        if next.expected == at {
            if next.base != next.expected {
                return None;
            }
            at = next.placed;
            edits.extend(next.edits.iter().cloned());
        }
    }
    (at == current).then_some(edits)
}

/// Acknowledged changes that a text has taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedOver {
    /// The exchanges that made them.
    pub names: Vec<String>,
    /// When the first of them was made.
    pub at: Timestamp,
    /// The keys that are back at what they were, to the letter.
    pub keys: BTreeSet<String>,
    /// All of it was yoi's own, and nobody's request.
    pub own: bool,
}

/// What of the acknowledged changes is lost in this text: whoever wrote it had read the file before they were made. The
/// text that yoi placed last has lost nothing; nor has one in which a later change still stands.
pub fn saved_over(made: &[Made], current: &[u8]) -> Option<SavedOver> {
    let digest = Digest::of(current);
    let Contents::Document(document) = Document::read(current) else { return None };
    if made.last().is_none_or(|m| m.placed == digest) {
        return None;
    }
    let now = |key: &str| document.map.get(key).cloned();
    // What was made again on a text that came to light later counts once.
    let acknowledged = |m: &&Made| (m.settled || m.acknowledged) && !m.edits.is_empty();
    let again: BTreeSet<&str> = made.iter().filter(acknowledged).filter_map(|m| m.follows.as_deref()).collect();
    let mut last: BTreeMap<&str, Option<Value>> = BTreeMap::new();
    let mut found: Option<SavedOver> = None;
    let mut read_after: Option<usize> = None;
    for (at, m) in made.iter().enumerate().rev() {
        if !acknowledged(&m) || m.told || again.contains(m.name.as_str()) {
            continue;
        }
        if read_after.is_some_and(|read| at <= read) {
            break;
        }
        let effects: Vec<_> = m.edits.iter().rev().flat_map(Edit::effects).collect();
        let stands = |(key, before, after): &(&str, &Option<Value>, &Option<Value>)| {
            before != after && !last.contains_key(key) && now(key) == **after
        };
        // Whoever has a value has read the file after the exchange that brought it there first.
        let brought = effects
            .iter()
            .filter(|effect| stands(effect))
            .map(|(key, _, after)| first_with(made, at, key, after.as_ref()))
            .max();
        if brought == Some(at) {
            break;
        }
        read_after = read_after.max(brought);
        let mut back = BTreeSet::new();
        for (key, before, after) in effects {
            let newest = last.entry(key).or_insert_with(|| after.clone());
            if now(key) == *before && newest != before {
                back.insert(key.to_owned());
            }
        }
        if !back.is_empty() || found.is_some() {
            let taken = found.get_or_insert(SavedOver { names: vec![], at: m.at, keys: [].into(), own: true });
            taken.names.push(m.name.clone());
            taken.at = if back.is_empty() { taken.at } else { m.at };
            taken.keys.extend(back);
            taken.own &= m.own;
        }
    }
    found
}

/// The first exchange with this value, from the one on that this one was made again from.
fn first_with(made: &[Made], at: usize, key: &str, value: Option<&Value>) -> usize {
    let followed = made[at].follows.as_ref().and_then(|name| made[..at].iter().position(|m| m.name == *name));
    let has =
        |m: &Made| m.edits.iter().flat_map(Edit::effects).any(|(k, _, after)| k == key && after.as_ref() == value);
    (followed.unwrap_or(at)..at).find(|n| has(&made[*n])).unwrap_or(at)
}

#[cfg(test)]
mod tests;
