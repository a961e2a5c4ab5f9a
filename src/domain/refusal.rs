//! A rule's refusal: what a person reads, what it rests on, what to do. Exit code 3 everywhere.

use std::fmt;

/// Why a rule refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Which rule, in one sentence.
    pub message: String,
    /// Each reason with its evidence, a line each.
    pub evidence: Vec<String>,
    /// What to do instead.
    pub hint: Option<String>,
    /// It will pass by itself within moments: trying again is sensible.
    pub passing: bool,
}

impl Refusal {
    /// A refusal with nothing but its sentence.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), evidence: Vec::new(), hint: None, passing: false }
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds evidence.
    #[must_use]
    pub fn evidence(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(lines);
        self
    }
}

/// What is said where no ticket has this id.
pub fn no_ticket(id: &str) -> String {
    format!("there is no ticket `{id}`")
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
