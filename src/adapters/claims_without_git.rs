//! Claims where there is no git: nothing can be claimed, and everything else works.
//!
//! Must not know: who wants to claim.

use crate::domain::claim::{Revision, Step, Tip};
use crate::domain::ticket::TicketId;
use crate::ports::{AllClaims, Claims, ClaimsError, Swapped};

/// No claims.
#[derive(Clone, Copy, Debug)]
pub struct WithoutGit;

fn no_git() -> ClaimsError {
    ClaimsError::NoGit(
        "claims are kept in git, and this workspace is in no git repository (`git init` makes one)".into(),
    )
}

impl Claims for WithoutGit {
    fn all(&self) -> Result<AllClaims, ClaimsError> {
        Err(no_git())
    }

    fn read(&self, _id: &TicketId) -> Result<Option<Tip>, ClaimsError> {
        Err(no_git())
    }

    fn swap(
        &self,
        _id: &TicketId,
        _expected: Option<&Revision>,
        _on: Option<&Revision>,
        _steps: &[Step],
    ) -> Result<Swapped, ClaimsError> {
        Err(no_git())
    }
}
