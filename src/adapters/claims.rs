//! Claims as git refs, one a ticket: each step a commit on the one before it (DESIGN.md 6.2).
//!
//! Must not know: who may take which step (`domain::claim` decides), how a step is written down (`text::claim_record`).

#[cfg(test)]
pub mod contract;

use crate::domain::claim::{Revision, Step, StepKind, Tip};
use crate::domain::ticket::TicketId;
use crate::ports::ClaimsError;

/// Refuses what no caller may ask for, whatever the race: no step, another ticket's, or one on top of something else than
/// the newest, or than what a newest heartbeat stood on.
pub(super) fn check_wish(
    id: &TicketId,
    newest: Option<&Tip>,
    on: Option<&Revision>,
    steps: &[Step],
) -> Result<(), ClaimsError> {
    let refuse = |why: &str| Err(ClaimsError::Failed(format!("the claim of `{id}` was not moved: {why}")));
    if steps.is_empty() {
        return refuse("there is no step to take");
    }
    if steps.iter().any(|step| step.ticket != *id) {
        return refuse("a step is another ticket's");
    }
    let fits = match (newest, on) {
        (None, None) => true,
        (Some(newest), Some(on)) => {
            let stood_in = matches!(newest.step.kind, StepKind::Heartbeat) && newest.parent.as_ref() == Some(on);
            newest.revision == *on || stood_in
        }
        _ => false,
    };
    if fits { Ok(()) } else { refuse("the step does not follow the newest one") }
}
