//! What is to change in a ticket's frontmatter, and what may come of trying: data only.
//!
//! Must not know: bytes, files, how a line is patched (that is `text`). DESIGN.md 2.3.

use serde::{Deserialize, Serialize};
use serde_yaml::Value;

/// One key's change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Change {
    /// The key has this value afterwards; it is inserted where it is missing.
    Set(String, Value),
    /// As `Set`, with the YAML text to write for the value (`1.10` stays `1.10`); the text must read as the value.
    Written(String, Value, String),
    /// The key is gone afterwards; a missing key is no change.
    Unset(String),
    /// The list under the key contains this item afterwards; a missing key becomes a list of one.
    Add(String, Value),
    /// The list under the key does not contain this item afterwards.
    Remove(String, Value),
}

impl Change {
    /// The key that the change is about.
    pub fn key(&self) -> &str {
        match self {
            Change::Set(key, _)
            | Change::Written(key, ..)
            | Change::Unset(key)
            | Change::Add(key, _)
            | Change::Remove(key, _) => key,
        }
    }

    /// Sets a key to a plain text value.
    pub fn text(key: &str, value: impl Into<String>) -> Self {
        Change::Set(key.to_owned(), Value::String(value.into()))
    }
}
