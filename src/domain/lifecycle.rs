//! The lifecycle: which moves are allowed, and what a move or an entry into the queue changes in the file.
//!
//! Must not know: gates, claims' mechanics, files. DESIGN.md 2.4.

use super::classify::clock;
use super::edit::Change;
use super::policy::Mode;
use super::refusal::Refusal;
use super::ticket::{State, Ticket, Timestamp};

/// Which moves `yoi move` makes without `--force`.
pub fn allowed(from: State, to: State) -> bool {
    use State::{Closed, Done, Inprogress, Planning, Queued, Ready};
    matches!(
        (from, to),
        (Planning, Ready)
            | (Ready, Queued | Planning)
            | (Queued, Inprogress | Ready | Planning)
            | (Inprogress, Done | Queued | Planning)
            | (Done, Closed | Inprogress)
            | (Closed, Planning)
    )
}

/// What a move changes in the ticket. `force` passes the rules and records nothing but the state and the queue's
/// stamps. A move to `inprogress` without `force` is `accept`, and is not decided here.
pub fn plan_move(ticket: &Ticket, to: State, by: &str, now: Timestamp, force: bool) -> Result<Vec<Change>, Refusal> {
    if !force {
        refuse_move(ticket, to)?;
    }
    let mut changes = vec![Change::text("state", to.as_str())];
    if to == State::Queued {
        changes.extend(entry_stamps(ticket, by, now));
    }
    if matches!(to, State::Planning | State::Ready | State::Queued) {
        changes.extend(without_acceptance(ticket));
    }
    changes.extend(updated(ticket, now));
    Ok(changes)
}

fn refuse_move(ticket: &Ticket, to: State) -> Result<(), Refusal> {
    let refuse = |message: String, hint: String| Err(Refusal::new(message).hint(hint));
    let id = &ticket.id;
    let Some(from) = ticket.state else {
        return refuse(
            format!("`{id}` has no state that can be read"),
            format!("write one of the six states into {}, or add --force --reason TEXT", ticket.path.display()),
        );
    };
    if to == State::Closed {
        return refuse(
            format!("`{id}` cannot be closed by a move: closing takes evidence and is `yoi close`"),
            format!("`yoi close {id} --help` says what it takes; or add --force --reason TEXT"),
        );
    }
    if to == State::Inprogress && allowed(from, to) {
        return refuse(
            format!("`{id}` is {from}: it becomes inprogress by an acceptance, behind every gate"),
            "yoi accept ID".into(),
        );
    }
    if from == State::Queued && to == State::Queued && needs_reset(ticket) {
        return Ok(());
    }
    if from == to {
        return refuse(format!("`{id}` is {from} already"), "nothing is to be done".into());
    }
    if !allowed(from, to) {
        let ways: Vec<_> = State::ALL.into_iter().filter(|s| allowed(from, *s)).map(State::as_str).collect();
        return refuse(
            format!("`{id}` is {from}: a move to {to} is not part of the lifecycle"),
            format!("from {from} it goes to {}; or add --force --reason TEXT", ways.join(" or ")),
        );
    }
    Ok(())
}

/// Whether the orphan policy has left marks that an entry into the queue takes off.
pub fn needs_reset(ticket: &Ticket) -> bool {
    ticket.orphan_status.is_some() || ticket.has_label("orphan") || ticket.has_label("needs-human")
}

/// The stamps of an entry into `queued`: who and when, and the orphan policy's marks taken off.
pub fn entry_stamps(ticket: &Ticket, by: &str, now: Timestamp) -> Vec<Change> {
    let mut changes = vec![Change::text("queued_by", by), Change::text("queued_at", clock(now))];
    changes.extend(without_marks(ticket));
    changes
}

/// The orphan policy's marks taken off.
fn without_marks(ticket: &Ticket) -> Vec<Change> {
    let mut changes = Vec::new();
    if ticket.orphan_status.is_some() {
        changes.push(Change::Unset("orphan_status".into()));
    }
    for label in ["orphan", "needs-human"] {
        if ticket.has_label(label) {
            changes.push(Change::Remove("labels".into(), label.into()));
        }
    }
    changes
}

/// The stamp of an entry into the queue that nobody stamped, decided on the file as it is now: none where it has left
/// the queue again, or was stamped meanwhile (unless `always`).
pub fn queue_stamp(ticket: &Ticket, by: &str, since: Timestamp, always: bool, now: Timestamp) -> Vec<Change> {
    if ticket.state != Some(State::Queued) {
        return Vec::new();
    }
    if !(always || entry_unstamped(ticket, since, now)) {
        // Whoever stamped the entry by hand may have left the marks of the last one.
        return without_marks(ticket);
    }
    let mut changes = entry_stamps(ticket, by, now);
    changes.extend(without_acceptance(ticket));
    changes
}

/// A former acceptance says nothing about the next one.
pub fn without_acceptance(ticket: &Ticket) -> Vec<Change> {
    let by = ticket.stamps.accepted_by.as_ref().map(|_| Change::Unset("accepted_by".into()));
    let at = ticket.stamps.accepted_at.map(|_| Change::Unset("accepted_at".into()));
    by.into_iter().chain(at).collect()
}

/// What recording an acceptance changes: `queued -> inprogress` with who and when.
pub fn acceptance(ticket: &Ticket, by: &str, now: Timestamp) -> Vec<Change> {
    let mut changes = Vec::new();
    if ticket.state != Some(State::Inprogress) {
        changes.push(Change::text("state", State::Inprogress.as_str()));
    }
    changes.push(Change::text("accepted_by", by));
    changes.push(Change::text("accepted_at", clock(now)));
    changes.extend(updated(ticket, now));
    changes
}

/// `updated_at` is kept true where the file has it, and not introduced where it has not.
pub fn updated(ticket: &Ticket, now: Timestamp) -> Option<Change> {
    ticket.stamps.updated_at.map(|_| Change::text("updated_at", clock(now)))
}

/// Whether a ticket seen in `queued` entered it without being stamped. `since` is the earliest moment at which the
/// entry can have happened: a stamp from then on belongs to this entry (the mover stamped it); an older one, or one
/// from the future, does not.
pub fn entry_unstamped(ticket: &Ticket, since: Timestamp, now: Timestamp) -> bool {
    // Whole seconds are written, and clocks of machines that share a folder drift a little.
    let slack = chrono::TimeDelta::minutes(2);
    !ticket.stamps.queued_at.is_some_and(|at| at + chrono::TimeDelta::seconds(1) >= since && at <= now + slack)
}

/// Whether `set` may change a key: the state, whatever its key in the files is, goes by moves; an acceptance is recorded
/// by `accept` alone.
pub fn settable(key: &str, state_key: &str) -> Result<(), Refusal> {
    match key {
        _ if key == "state" || key == state_key => {
            Err(Refusal::new("the state is changed by `yoi move`, not by a bare edit").hint("yoi move ID STATE"))
        }
        "accepted_by" | "accepted_at" => {
            Err(Refusal::new(format!("`{key}` is recorded by an acceptance alone")).hint("yoi accept ID"))
        }
        _ => Ok(()),
    }
}

/// Whether a new ticket may begin in a state: all else comes by way of the lifecycle.
pub fn may_begin(state: State) -> Result<(), Refusal> {
    if matches!(state, State::Planning | State::Ready | State::Queued) {
        return Ok(());
    }
    Err(Refusal::new(format!("a new ticket is planning, ready or queued, not {state}"))
        .hint("write it first; the lifecycle takes it further"))
}

/// What happens to a ticket when one of the worker's or Orchestrator's verbs is through with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is a row of the table in DESIGN.md 2.4")]
pub enum Verb {
    Accept,
    Claim,
    ReleaseAbandoned,
    ClaimStale,
    ReleasePrOpened,
    ReleaseDone,
    Block,
    Decompose,
    Close,
    StartFailed,
}

/// The state after a verb, or None where the verb is refused in this state and mode.
pub fn state_after(verb: Verb, from: State, mode: Mode) -> Option<State> {
    use State::{Closed, Done, Inprogress, Planning, Queued};
    match (verb, mode) {
        // A person may accept in pull mode too; an `inprogress` without a record is put on record by it.
        (Verb::Accept, _) => matches!(from, Queued | Inprogress).then_some(Inprogress),
        (Verb::Claim, Mode::Orchestrated) => (from == Inprogress).then_some(Inprogress),
        (Verb::Claim, Mode::Pull) => matches!(from, Queued | Inprogress).then_some(Inprogress),
        (Verb::ReleaseAbandoned | Verb::ClaimStale, Mode::Pull) if from == Inprogress => Some(Queued),
        (Verb::ReleaseAbandoned | Verb::ClaimStale | Verb::ReleasePrOpened | Verb::StartFailed, _) => Some(from),
        (Verb::ReleaseDone, _) => Some(Done),
        (Verb::Block, _) => Some(Queued),
        (Verb::Decompose, _) => Some(Planning),
        (Verb::Close, _) => Some(Closed),
    }
}

#[cfg(test)]
#[path = "lifecycle_tests.rs"]
mod tests;
