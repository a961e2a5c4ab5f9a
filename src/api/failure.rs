//! How a request fails: a kind, a message, a hint; the one table from kinds to exit codes and HTTP statuses.

use std::fmt;
use std::io::ErrorKind;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::daemon::VerbError;
use crate::domain::refusal::Refusal;
use crate::ports::EditError;

/// What to do about a ticket file that is not where it was read.
pub const MOVED: &str = "was it, or the ticket folder, moved? then move it back; `yoi status` says what is in the way";

/// What to do where an answer got lost.
pub const NOT_KNOWN: &str = "whether it was carried out is not known: look (`yoi show`, `yoi events`) first";

/// Why a request was not carried out. Exit codes and HTTP statuses follow from it (DESIGN.md 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The world outside failed, or input could not be read. Exit 1.
    Failed,
    /// The request itself makes no sense. Exit 2.
    Usage,
    /// A rule refuses; the reason is named. Exit 3.
    Refused,
    /// The daemon is needed and not running. Exit 4.
    DaemonNeeded,
}

impl FailureKind {
    /// The process exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            FailureKind::Failed => 1,
            FailureKind::Usage => 2,
            FailureKind::Refused => 3,
            FailureKind::DaemonNeeded => 4,
        }
    }

    /// The HTTP status.
    pub fn http_status(self) -> u16 {
        match self {
            FailureKind::Failed => 500,
            FailureKind::Usage => 400,
            FailureKind::Refused => 409,
            FailureKind::DaemonNeeded => 503,
        }
    }
}

/// A failed request: what (and where), and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// Which kind.
    pub kind: FailureKind,
    /// One sentence: what, and where (path, line, column) if it is about a file.
    pub message: String,
    /// Each reason or piece of evidence, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// It will pass by itself within moments: trying again is sensible.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub passing: bool,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let Refusal { message, evidence, hint, passing } = refusal;
        Self { kind: FailureKind::Refused, message, evidence, hint, passing }
    }
}

impl From<VerbError> for Failure {
    fn from(error: VerbError) -> Self {
        match error {
            VerbError::Refused(refusal) => refusal.into(),
            VerbError::Failed(message) => Failure::failed(message),
            VerbError::Unchanged { message, kind } => unchanged(&message, kind),
            VerbError::Edit(error) => error.into(),
            // What was not begun may be asked for again: of the next daemon, or of the files themselves.
            VerbError::DaemonEnded { begun: false } => Failure { passing: true, ..Failure::failed(error.to_string()) },
            VerbError::DaemonEnded { begun: true } => Failure::failed(error.to_string()).hint(NOT_KNOWN),
        }
    }
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Refused(refusal) => refusal.into(),
            EditError::Conflict { .. } | EditError::Outside(_) => Failure::refused(error.to_string()),
            EditError::Absent(_) => Failure::failed(error.to_string()).hint(MOVED),
            EditError::Unsafe { .. } => Failure::failed(error.to_string()),
            EditError::Io { error: ref why, .. } => unchanged(&error.to_string(), why.kind()),
        }
    }
}

/// Of a write that was not made. These come before anything is written; after others it is not so plain.
fn unchanged(what: &str, kind: ErrorKind) -> Failure {
    let to_do = match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room on the disk, and try again",
        ErrorKind::ReadOnlyFilesystem => "it is mounted read-only: mount it writable, and try again",
        ErrorKind::PermissionDenied => "whoever runs yoi has to be able to write the file and its folder",
        _ => return Failure::failed(what),
    };
    Failure::failed(format!("{what}; nothing was changed")).hint(to_do)
}

impl Failure {
    /// The world outside failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Failed, message: message.into(), evidence: Vec::new(), hint: None, passing: false }
    }

    /// The request makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Usage, ..Self::failed(message) }
    }

    /// A rule refuses.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Refused, ..Self::failed(message) }
    }

    /// The daemon is needed.
    pub fn daemon_needed(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::DaemonNeeded, hint: Some("start it with `yoi up`".into()), ..Self::failed(message) }
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds reasons, one line each.
    #[must_use]
    pub fn evidence(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(lines);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for line in &self.evidence {
            write!(f, "\n  - {line}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}
