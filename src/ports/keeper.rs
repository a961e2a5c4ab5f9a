//! The claim that a supervised program works under, as its supervisor deals with it (DESIGN.md 6.5).
//!
//! Must not know: when it is renewed or given up (`domain::claim::Upkeep` says so), git.

use crate::domain::claim::Hold;
use crate::domain::facts::ProcessIdentity;

/// The keeper of one claim.
pub trait Keeper {
    /// Whose the claim is, if that may have changed since the last look; None where it has not, or cannot be read just now.
    /// Cheap as long as nothing changes.
    fn look(&mut self) -> Option<Hold>;

    /// Renews it, as held by this process; an error is of the world outside, in words, and nothing is known then.
    fn renew(&mut self, process: &ProcessIdentity) -> Result<Hold, String>;

    /// Gives it up, as abandoned, with the reason for people. Fine where it is over already.
    fn release(&mut self, why: &str) -> Result<(), String>;
}
