//! Claims: a worker's lease on a ticket, as a chain of steps (DESIGN.md 6.2). What each step says, when a claim holds,
//! and who may take the next step.
//!
//! Must not know: git, how a step is written down, the current time.

pub mod name;
mod rules;
mod step;
#[cfg(test)]
mod tests;

pub use rules::{Challenge, Refused, Standing, Stands, fence, may_claim};
pub use step::{Outcome, Revision, Step, StepKind, Tip};
