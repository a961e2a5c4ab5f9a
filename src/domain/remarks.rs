//! What is odd about a ticket and no fault of its file: for `yoi doctor`. A person's edit is accepted as it is; this may
//! be remarked on it (DESIGN.md 2.4).
//!
//! Must not know: how it is shown.

use chrono::TimeDelta;

use super::backlog::Backlog;
use super::classify::clock;
use super::gates::cycle;
use super::harmless::quoted;
use super::ticket::{State, Ticket, Timestamp};

/// Clocks of machines that share a folder drift a little.
const DRIFT: TimeDelta = TimeDelta::minutes(2);

/// The remarks on one ticket, a sentence each.
pub fn remarks(ticket: &Ticket, backlog: &Backlog, now: Timestamp) -> Vec<String> {
    let mut found = from_the_future(ticket, now);
    match ticket.state {
        Some(State::Inprogress) if !ticket.acceptance_recorded() => {
            found.push("it is inprogress without a recorded acceptance: `yoi accept` it, or move it back".into());
        }
        Some(State::Queued) if ticket.stamps.queued_at.is_none() => {
            found.push("it is queued without queued_at: its age is not known; re-queue it, or write queued_at".into());
        }
        Some(State::Done | State::Closed) => return found,
        _ => {}
    }
    let unknown = ticket.depends_on.iter().filter(|id| backlog.paths_of(id).next().is_none());
    found.extend(unknown.map(|id| format!("depends on {}, which is no ticket here", quoted(id.as_str()))));
    if let Some(circle) = cycle(ticket, backlog) {
        found.push(format!("the dependencies go in a circle: {}", circle.join(" -> ")));
    }
    found
}

fn from_the_future(ticket: &Ticket, now: Timestamp) -> Vec<String> {
    let stamps = &ticket.stamps;
    let times = [
        ("created_at", stamps.created_at),
        ("updated_at", stamps.updated_at),
        ("queued_at", stamps.queued_at),
        ("accepted_at", stamps.accepted_at),
    ];
    let future = times.into_iter().filter_map(|(key, at)| Some((key, at.filter(|at| *at > now + DRIFT)?)));
    future
        .map(|(key, at)| format!("its {key} lies in the future ({}): correct it, or look at the clock", clock(at)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sample::{at, backlog, queued, with};

    #[test]
    fn times_in_the_future_are_remarked_on_and_small_drifts_are_not() {
        for (ahead, count) in [(-60, 0), (119, 0), (121, 1), (86_400 * 365, 1)] {
            let ticket = with(queued("a"), |t| t.stamps.queued_at = Some(at(ahead)));
            let found = remarks(&ticket, &backlog([ticket.clone()]), at(0));
            assert_eq!(found.len(), count, "{ahead}: {found:?}");
        }
    }
}
