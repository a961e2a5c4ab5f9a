//! What few tickets say: kept apart, so that the others do not take room for it.
//!
//! Must not know: where the bytes came from. DESIGN.md 2.1.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::ticket::{Diagnostic, OrphanStatus, TicketId};

/// Fields that most tickets leave empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seldom {
    /// `orphan_status`.
    pub orphan_status: Option<OrphanStatus>,
    /// Ids that must not be active at the same time.
    pub conflicts_with: Vec<TicketId>,
    /// Files or folders relative to the workspace, `/`-separated, as written.
    pub touches: Vec<String>,
    /// The text of `human_gate`, `"true"` for a bare true; None for false, empty, null or absent.
    pub human_gate: Option<String>,
    /// Capabilities a worker must have.
    pub requires: Vec<String>,
    /// Set on children by decompose.
    pub parent: Option<TicketId>,
    /// Set on a decomposed parent.
    pub children: Vec<TicketId>,
    /// `owner/repo#n`, the mirror target for labels.
    pub github: Option<String>,
    /// The open pull request.
    pub pr: Option<String>,
    /// The ticket's own faults (missing title, unknown state, odd timestamp, comment that cuts a value).
    pub problems: Vec<Diagnostic>,
}

static NOTHING: Seldom = Seldom {
    orphan_status: None,
    conflicts_with: Vec::new(),
    touches: Vec::new(),
    human_gate: None,
    requires: Vec::new(),
    parent: None,
    children: Vec::new(),
    github: None,
    pr: None,
    problems: Vec::new(),
};

/// Them, in the room of a pointer where there is nothing to keep.
#[derive(Clone, Default)]
pub struct Apart(Option<Box<Seldom>>);

impl From<Seldom> for Apart {
    fn from(said: Seldom) -> Self {
        Self((said != NOTHING).then(|| Box::new(said)))
    }
}

impl Deref for Apart {
    type Target = Seldom;

    fn deref(&self) -> &Seldom {
        self.0.as_deref().unwrap_or(&NOTHING)
    }
}

impl DerefMut for Apart {
    fn deref_mut(&mut self) -> &mut Seldom {
        self.0.get_or_insert_default()
    }
}

/// By what is said, however it is kept.
impl PartialEq for Apart {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Apart {}

impl fmt::Debug for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_takes_no_room_and_is_equal_to_nothing_said() {
        let nothing = Apart::from(Seldom::default());
        assert!(nothing.0.is_none());
        let mut said = nothing.clone();
        said.pr = Some("1".into());
        assert_ne!(said, nothing);
        said.pr = None;
        assert!(said.0.is_some());
        assert_eq!(said, nothing);
        assert_eq!(format!("{said:?}"), format!("{nothing:?}"));
        assert_eq!(*Apart::from(Seldom { pr: Some("2".into()), ..Seldom::default() }).pr.as_ref().unwrap(), "2");
    }
}
