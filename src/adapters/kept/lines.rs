//! The lines of a journal.
//!
//! Must not know: where they lie.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Entry, Look};
use crate::domain::ticket::{Digest, Timestamp};
use crate::text::lineage::Made;
use crate::text::merge::Edit;

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    /// An exchange is about to be made.
    Made { made: Written, file: AnyPath, beside: AnyPath },
    /// It was made, and this came out.
    Out { name: String, digest: u64, size: u64, written: i64, settled: bool },
    /// It was not made.
    Void { name: String },
    /// Nothing more is to be done about the text that it displaced, as long as it reads like this.
    DealtWith { name: String, digest: u64 },
    /// The edit was said to be done, although something else came out: that held it already.
    Acknowledged { name: String, edits: String },
    /// These were found to be saved over; a report of it is `owed` until it is on record.
    Told {
        names: Vec<String>,
        at: Timestamp,
        keys: Vec<String>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        owed: bool,
    },
    /// They were not, after all. These reports go by the first of their names.
    Withdrawn { name: String },
    /// The report is on record.
    OnRecord { name: String },
}

/// A path, whatever its bytes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum AnyPath {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&Path> for AnyPath {
    fn from(path: &Path) -> Self {
        let bytes = path.as_os_str().as_bytes();
        path.to_str().map_or_else(|| AnyPath::Bytes(bytes.to_vec()), |text| AnyPath::Text(text.to_owned()))
    }
}

impl From<AnyPath> for PathBuf {
    fn from(path: AnyPath) -> Self {
        match path {
            AnyPath::Text(text) => text.into(),
            AnyPath::Bytes(bytes) => OsString::from_vec(bytes).into(),
        }
    }
}

/// An exchange; its edits are YAML, because their values are.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Written {
    name: String,
    at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    follows: Option<String>,
    base: u64,
    expected: u64,
    placed: u64,
    edits: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    own: bool,
}

impl From<Written> for Made {
    fn from(written: Written) -> Self {
        Made {
            name: written.name,
            at: written.at,
            follows: written.follows,
            base: Digest(written.base),
            expected: Digest(written.expected),
            placed: Digest(written.placed),
            edits: read_edits(&written.edits),
            own: written.own,
            dealt_with: None,
            settled: false,
            acknowledged: false,
            told: false,
        }
    }
}

impl Line {
    pub(super) fn made(made: &Made, file: &Path, beside: &Path) -> io::Result<Self> {
        let written = Written {
            name: made.name.clone(),
            at: made.at,
            follows: made.follows.clone(),
            base: made.base.0,
            expected: made.expected.0,
            placed: made.placed.0,
            edits: serde_yaml::to_string(&made.edits).map_err(io::Error::other)?,
            own: made.own,
        };
        Ok(Line::Made { made: written, file: file.into(), beside: beside.into() })
    }

    pub(super) fn acknowledged(made: &Made) -> io::Result<Self> {
        let edits = serde_yaml::to_string(&made.edits).map_err(io::Error::other)?;
        Ok(Line::Acknowledged { name: made.name.clone(), edits })
    }

    pub(super) fn out(name: &str, look: Look, settled: bool) -> Self {
        let written = i64::try_from(look.written).unwrap_or_default();
        Line::Out { name: name.to_owned(), digest: look.digest.0, size: look.size, written, settled }
    }

    /// All that there is to say of one exchange.
    pub(super) fn of(entry: &Entry, file: &Path) -> io::Result<Vec<Self>> {
        let name = &entry.made.name;
        let mut lines = vec![Self::made(&entry.made, file, &entry.beside)?];
        lines.extend(entry.out.map(|look| Self::out(name, look, entry.made.settled)));
        let dealt_with = entry.made.dealt_with;
        lines.extend(dealt_with.map(|digest| Line::DealtWith { name: name.clone(), digest: digest.0 }));
        if entry.made.acknowledged {
            lines.push(Self::acknowledged(&entry.made)?);
        }
        Ok(lines)
    }
}

/// Edits that cannot be read are none: what they changed is then nobody's to repeat.
pub(super) fn read_edits(edits: &str) -> Vec<Edit> {
    serde_yaml::from_str(edits).unwrap_or_default()
}
