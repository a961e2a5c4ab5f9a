//! Claims: a worker's lease on a ticket, as a chain of steps (DESIGN.md 6.2). What each step says, when a claim holds,
//! and who may take the next step.
//!
//! Must not know: git, how a step is written down, the current time.

mod beside;
mod conflict;
mod ends;
pub mod name;
mod news;
mod offer;
mod reverted;
mod rules;
mod step;
#[cfg(test)]
mod tests;
mod upkeep;

pub use beside::Beside;
pub use conflict::conflict;
pub use ends::{Ending, back, claimable, label_off, label_on, open_pull_request, web_address};
pub use news::{ClaimNews, End, EndedClaim};
pub use offer::{HeldBack, Hindrance, Market, Offers, Seeker, held_words, hindrances, offerable, offers, renewed};
pub use reverted::{reverted, reverted_hint, reverted_words};
pub use rules::{Challenge, LEAST_TTL, MOST_TTL, Refused, Standing, Stands, fence, holds_already, may_claim};
pub use step::{Outcome, Revision, Step, StepKind, Tip};
pub use upkeep::{CALLED_OFF, Duty, Hold, Life, Upkeep, WINDING_UP};
