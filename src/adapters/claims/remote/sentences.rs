//! What is said where a remote gives no answer, or none that helps.
//!
//! Must not know: what is done about it.

use super::RemoteClaims;
use crate::domain::ticket::TicketId;
use crate::ports::ClaimsError;

impl RemoteClaims {
    pub(super) fn unreachable(&self, why: &str) -> ClaimsError {
        ClaimsError::Unreachable(format!(
            "the remote `{}`, which keeps the claims, cannot be asked, and nothing was changed: {why}",
            self.remote
        ))
    }

    pub(super) fn unknown(&self, id: &TicketId, why: &str, error: &ClaimsError) -> ClaimsError {
        ClaimsError::Unknown(format!(
            "whether the claim of `{id}` was moved is not known: the remote `{}` gave no answer ({why}), and then could not \
             be asked ({error})",
            self.remote
        ))
    }

    pub(super) fn unfinished(&self, id: &TicketId, why: &str) -> ClaimsError {
        ClaimsError::Unknown(format!(
            "whether the claim of `{id}` will be moved is not known: the remote `{}` has not done it, and may be at it \
             still ({why})",
            self.remote
        ))
    }
}
