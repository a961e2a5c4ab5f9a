//! What `yoi inspect` says of one file.
//!
//! Must not know: how the file was read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InspectStatus {
    /// The frontmatter is a readable mapping, or empty.
    Ticket,
    /// There is no frontmatter.
    NoFrontmatter,
    /// TOML, JSON, another encoding; `problems` names it.
    Unsupported,
    /// The frontmatter, or the file, cannot be read; `error` says why.
    Invalid,
}

/// A place in the file and a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remark {
    /// 1-based; 0 where the file as a whole is meant.
    pub line: usize,
    /// 1-based, in characters; 0 where the line or file as a whole is meant.
    pub column: usize,
    /// One plain sentence.
    pub message: String,
}

/// One line of `yoi inspect --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inspection {
    /// 1.
    pub version: u32,
    /// As given.
    pub file: String,
    /// From the path: the file stem, or the folder's name for an `item.md`.
    pub id: String,
    /// What kind of file it is.
    pub status: InspectStatus,
    /// As written: the source text, not retyped.
    pub title: Option<String>,
    /// As written.
    pub state: Option<String>,
    /// As written; one string, or one with commas, counts as a list.
    pub labels: Vec<String>,
    /// As written.
    pub depends_on: Vec<String>,
    /// As written.
    pub created_at: Option<String>,
    /// As written.
    pub updated_at: Option<String>,
    /// As written.
    pub queued_at: Option<String>,
    /// Byte offset of the body: the first byte after the closing line, or of the whole file where there is no
    /// frontmatter; null where it is not known.
    pub body_start: Option<usize>,
    /// Whether the file starts with a byte order mark.
    pub bom: bool,
    /// `lf`, `crlf`, `mixed` or `none`.
    pub newline: String,
    /// The ticket's own faults, and remarks about a file that is no ticket.
    pub problems: Vec<Remark>,
    /// Why the file cannot be read.
    pub error: Option<Remark>,
}
