//! What no tree of git's holds: every folder, empty ones too, and every mode. It is saved as a file beside what git keeps for
//! the worktree.
//!
//! Must not know: how it is saved.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::paths::{bytes_of, path_of};
use super::printing::{Entry, Kind};
use super::trouble::failed;
use crate::domain::worktree::Tree;
use crate::ports::worktrees::WorktreesError;

/// Its name.
pub(super) const FILE: &str = "yoi-salvage.json";

/// Every version since.
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    version: u32,
    /// The ticket's name.
    pub name: String,
    /// Where it lay.
    pub path: String,
    /// The whole name of its branch.
    pub branch: Option<String>,
    /// The commit that it was on.
    pub head: Option<String>,
    entries: Vec<Row>,
}

/// Kind, mode, path with odd bytes as `%XX`.
#[derive(Debug, Serialize, Deserialize)]
struct Row(char, u32, String);

impl Manifest {
    pub(super) fn of(tree: &Tree, entries: &[Entry]) -> Self {
        let row = |entry: &Entry| Row(sign(entry.kind), entry.mode, encoded(bytes_of(&entry.path)));
        Self {
            version: VERSION,
            name: tree.name.clone(),
            path: tree.path.display().to_string(),
            branch: tree.branch.clone(),
            head: tree.head.clone(),
            entries: entries.iter().map(row).collect(),
        }
    }

    pub(super) fn json(&self) -> Result<Vec<u8>, WorktreesError> {
        serde_json::to_vec(self).map_err(|error| failed(error.to_string()))
    }

    pub(super) fn read(text: &[u8], of: &str) -> Result<Self, WorktreesError> {
        let read: Self = serde_json::from_slice(text).map_err(|error| failed(format!("{of}: {FILE}: {error}")))?;
        if read.version > VERSION {
            return Err(failed(format!("{of} was saved by a newer yoi")));
        }
        Ok(read)
    }

    /// The folders with their modes, outer ones first.
    pub(super) fn folders(&self) -> Vec<(PathBuf, u32)> {
        self.of_kind('d')
    }

    /// The files with their modes.
    pub(super) fn files(&self) -> Vec<(PathBuf, u32)> {
        self.of_kind('f')
    }

    fn of_kind(&self, wanted: char) -> Vec<(PathBuf, u32)> {
        let rows = self.entries.iter().filter(|Row(kind, ..)| *kind == wanted);
        rows.filter_map(|Row(_, mode, path)| Some((path_of(&decoded(path)?), *mode))).collect()
    }
}

fn sign(kind: Kind) -> char {
    match kind {
        Kind::Folder => 'd',
        Kind::Repository => 's',
        Kind::File => 'f',
        Kind::Link => 'l',
        Kind::Odd => 'o',
    }
}

fn encoded(path: &[u8]) -> String {
    let mut text = String::new();
    for byte in path {
        match byte {
            0x21..=0x24 | 0x26..=0x7e => text.push(char::from(*byte)),
            _ => drop(write!(text, "%{byte:02X}")),
        }
    }
    text
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((plain, after)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        bytes.push(u8::from_str_radix(after.get(..2)?, 16).ok()?);
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_comes_back() {
        for path in [&b"a b/c%41"[..], b"\xff\n\"\\", "\u{65e5}".as_bytes(), b"", b"%"] {
            assert_eq!(decoded(&encoded(path)).as_deref(), Some(path));
        }
        assert_eq!(decoded("%4"), None);
    }
}
