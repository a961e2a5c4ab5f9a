//! The lossless edit: only the lines of the key being set change, and that is proven before anything is returned.
//!
//! For each change: work out the intended values, find one or more ways to write them (`places`), and take the first
//! that the `oracle` lets pass. If none does, the file is refused, never rewritten. DESIGN.md 2.3.
//!
//! Must not know: files, tickets, which keys mean what.

mod intent;
mod lines;
mod lists;
mod oracle;
mod places;

use std::cell::OnceCell;

use serde_yaml::{Mapping, Value};

use super::crosscheck::reads_as_map;
use super::document::{Contents, Document};
use super::outline::{Kind, Node};
use crate::domain::edit::Change;
use crate::domain::ticket::Diagnostic;

/// Why an edit is not made. The bytes stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// The file has no frontmatter to edit.
    #[error("{0}")]
    NoFrontmatter(String),
    /// The frontmatter cannot be read.
    #[error("line {}, column {}: {}", .0.line, .0.column, .0.message)]
    Unreadable(Diagnostic),
    /// No way was found to write this key without touching anything else.
    #[error("`{key}` (line {line}): {why}; nothing was written")]
    Refused {
        /// The key.
        key: String,
        /// Its line in the file, 1 where it is not there.
        line: usize,
        /// What stood in the way.
        why: String,
    },
}

/// So many changes follow each other before the text they have led to is read anew: it bounds how many texts are held.
const AT_ONCE: usize = 8;

/// The bytes after these changes, in this order. Bytes are identical where nothing changes.
pub fn patch(bytes: &[u8], changes: &[Change]) -> Result<Vec<u8>, PatchError> {
    let mut now = bytes.to_vec();
    for some in changes.chunks(AT_ONCE) {
        if let Some(next) = following(&Read::of(editable(&now)?, &now), some)? {
            now = next;
        }
    }
    Ok(now)
}

/// A text with what was read in it. Each text is read once: what the oracle has read to judge a change is what the next
/// change is made on.
pub(crate) struct Read<'b> {
    bytes: &'b [u8],
    pub(crate) document: Document<'b>,
    by_other: OnceCell<Option<bool>>,
}

impl<'b> Read<'b> {
    fn of(document: Document<'b>, bytes: &'b [u8]) -> Self {
        Self { bytes, document, by_other: OnceCell::new() }
    }

    /// The other reader's opinion, asked for where it matters.
    fn reads_as_map(&self) -> Option<bool> {
        *self.by_other.get_or_init(|| reads_as_map(&self.document))
    }
}

/// One change after the other; None if the text already says so.
fn following(read: &Read, changes: &[Change]) -> Result<Option<Vec<u8>>, PatchError> {
    let Some((change, rest)) = changes.split_first() else { return Ok(None) };
    let document = &read.document;
    let edit = Edit::new(document, change)?;
    let Some(intended) = intent::intended(document, change).map_err(|why| edit.refused(why))? else {
        return following(read, rest);
    };
    let ways = edit.ways(&intended).map_err(|why| edit.refused(why))?;
    let mut reason = "there is no way to write it here".to_owned();
    for splices in ways {
        let after = lines::apply(&document.slice, document.yaml, read.bytes, splices);
        match oracle::judge(read, &edit, &after, &intended) {
            Ok(new) => {
                let further = following(&new, rest)?;
                return Ok(Some(further.unwrap_or(after)));
            }
            Err(why) => reason = why,
        }
    }
    Err(edit.refused(edit.anchored().unwrap_or(reason)))
}

fn editable(bytes: &[u8]) -> Result<Document<'_>, PatchError> {
    match Document::read(bytes) {
        Contents::Document(document) => Ok(document),
        Contents::NoFrontmatter(remark) => Err(PatchError::NoFrontmatter(format!(
            "the file has no frontmatter{}",
            remark.map(|r| format!(" ({r})")).unwrap_or_default()
        ))),
        Contents::Unsupported(what) => Err(PatchError::NoFrontmatter(what)),
        Contents::Invalid(error) => Err(PatchError::Unreadable(error)),
    }
}

/// One change to one document whose outline is known to be right.
pub(crate) struct Edit<'d> {
    pub(crate) document: &'d Document<'d>,
    pub(crate) root: &'d Node,
    pub(crate) change: &'d Change,
    /// The entry of the key, where there is one.
    pub(crate) entry: Option<&'d super::outline::Entry>,
}

impl<'d> Edit<'d> {
    fn new(document: &'d Document<'d>, change: &'d Change) -> Result<Self, PatchError> {
        let lost = |byte: usize| PatchError::Refused {
            key: change.key().to_owned(),
            line: document.at(byte, "").line,
            why: "this place is written in a way that yoi cannot follow safely".into(),
        };
        let root = document.outline.as_ref().map_err(|l| lost(l.at))?;
        let entries = root.entries();
        let agrees = |(key, entry): (&Value, &super::outline::Entry)| match key {
            Value::String(name) => entry.key.text(document.yaml).as_deref() == Some(name),
            _ => true,
        };
        let whole = matches!(root.kind, Kind::Empty | Kind::BlockMap(_) | Kind::FlowMap(_));
        if !whole || entries.len() != document.map.len() || !document.map.keys().zip(entries).all(agrees) {
            return Err(lost(root.start()));
        }
        let at = document.map.keys().position(|key| key.as_str() == Some(change.key()));
        Ok(Edit { document, root, change, entry: at.map(|n| &entries[n]) })
    }

    pub(crate) fn in_flow(&self) -> bool {
        self.root.is_flow()
    }

    fn refused(&self, why: String) -> PatchError {
        let line = self.entry.map_or(1, |e| self.document.at(e.start, "").line);
        PatchError::Refused { key: self.change.key().to_owned(), line, why }
    }

    /// The sentence for a value that is used elsewhere through its anchor.
    fn anchored(&self) -> Option<String> {
        let mut anchors = Vec::new();
        self.entry?.value.walk(&mut |node| anchors.extend(node.anchor.clone()));
        let mut used = None;
        self.root.walk(&mut |node| match &node.kind {
            Kind::Alias(name) if anchors.contains(name) => used = Some(name.clone()),
            _ => {}
        });
        used.map(|name| format!("its value is used elsewhere as `*{name}`, which would change too; edit it by hand"))
    }

    fn ways(&self, intended: &Mapping) -> Result<Vec<lines::Splices>, String> {
        let wanted = intended.get(self.change.key());
        match (self.entry, wanted) {
            (Some(entry), Some(value)) => places::replace(self, entry, value),
            (None, Some(value)) => places::insert(self, value),
            (Some(entry), None) => Ok(places::remove(self, entry)),
            (None, None) => Ok(Vec::new()),
        }
    }
}

#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;
