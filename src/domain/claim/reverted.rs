//! A ticket whose file says less than its last claim brought about: a stash, a checkout or another clone brought old text
//! back (the end of DESIGN.md 2.4). It is nobody's to work on until a person, or a newer record, says what holds.
//!
//! Must not know: how claims are read; who shows it.

use super::news::{End, EndedClaim};
use super::step::Outcome;
use crate::domain::classify::clock;
use crate::domain::ticket::{State, Ticket};

/// The end of the last claim, where the ticket's file says otherwise. Only a queued ticket, or one in progress, can be:
/// opening a closed one again leads to `planning`, which is a person's own doing. And a queued one only where the record of
/// its acceptance is gone with the rest: whoever queues it in an editor leaves that in the file.
pub fn reverted<'c>(ticket: &Ticket, ended: Option<&'c EndedClaim>) -> Option<&'c EndedClaim> {
    let ended = ended?;
    let End::Released(outcome) = ended.end else { return None };
    let stamps = &ticket.stamps;
    let is_open = match ticket.state {
        Some(State::Queued) => stamps.accepted_by.is_none() && stamps.accepted_at.is_none(),
        state => state == Some(State::Inprogress),
    };
    let says_otherwise = match outcome {
        Outcome::Done => true,
        Outcome::PrOpened => ticket.pr.is_none(),
        Outcome::Decomposed => ticket.children.is_empty(),
        Outcome::Blocked | Outcome::Abandoned | Outcome::LostRace => false,
    };
    let is_newest = [stamps.queued_at, stamps.accepted_at].into_iter().flatten().all(|at| ended.at > at);
    (is_open && says_otherwise && is_newest).then_some(ended)
}

/// What is odd, in a sentence without its stop.
pub fn reverted_words(ticket: &Ticket, ended: &EndedClaim) -> String {
    let state = ticket.state.map_or("?", State::as_str);
    let outcome = match ended.end {
        End::Released(outcome) => outcome.as_str(),
        End::Broken => "broken",
    };
    let missing = match ended.end {
        End::Released(Outcome::PrOpened) => ", without its pull request",
        End::Released(Outcome::Decomposed) => ", without its children",
        _ => "",
    };
    format!(
        "reverted: {} released its claim as {outcome} at {}, and the file says {state}{missing}",
        ended.worker,
        clock(ended.at)
    )
}

/// What a person can do about it.
pub fn reverted_hint(ticket: &Ticket) -> String {
    let id = &ticket.id;
    let again = match ticket.state {
        Some(State::Inprogress) => format!("`yoi move {id} queued`"),
        _ => format!("`yoi move {id} ready`, then `yoi move {id} queued`"),
    };
    format!("bring the newer text back (git has it, or another clone), or if it is to be worked on again: {again}")
}
