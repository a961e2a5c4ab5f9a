//! A claim and a file that contradict one another: somebody holds the ticket, and its state says that nobody works on it. That
//! ends nothing (DESIGN.md 6.5): it is shown, and a person decides.
//!
//! Must not know: where it is shown.

use crate::domain::facts::Claim;
use crate::domain::ticket::{State, Ticket};

/// What contradicts what, and what to do, in words; None where a fresh claim fits the state.
pub fn conflict(ticket: &Ticket, fresh: &Claim) -> Option<(String, String)> {
    let state = match ticket.state {
        Some(State::Inprogress) => return None,
        Some(state) => state.as_str(),
        None => "no state that can be read",
    };
    let (id, worker) = (&ticket.id, &fresh.worker);
    let what = format!("{state}, although {worker} ({}) works on it under a claim", fresh.role);
    let hint = format!(
        "`state: inprogress` in its file lets {worker} go on, `yoi release {id} --worker {worker} --outcome abandoned` ends it"
    );
    Some((what, hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sample::{claim, ticket};

    #[test]
    fn only_what_is_in_progress_fits_a_claim() {
        for state in State::ALL {
            let said = conflict(&ticket("a", state), &claim("coder", 0));
            assert_eq!(said.is_none(), state == State::Inprogress, "{state}");
        }
        let (what, hint) = conflict(&ticket("a", State::Closed), &claim("coder", 0)).unwrap();
        insta::assert_snapshot!(format!("{what}\n{hint}"), @r"
        closed, although lane-3 (coder) works on it under a claim
        `state: inprogress` in its file lets lane-3 go on, `yoi release a --worker lane-3 --outcome abandoned` ends it
        ");
    }
}
