//! A claim that was won, and led to nothing.
//!
//! Must not know: git; why it led to nothing.

use super::desk::Desk;
use super::marks::forget;
use super::{TRIES, moved_all_the_time};
use crate::daemon::{Lending, VerbError};
use crate::domain::claim::{Hold, Outcome, Step, StepKind, Tip};
use crate::domain::engine::{ClaimNews, Event};
use crate::ports::Swapped;
use crate::ports::starts::Marked;

/// A claim that led to nothing is released; where even that fails its mark stays for whoever comes next, and that is said.
pub(super) fn give_back<L: Lending>(
    lending: &mut L,
    desk: &Desk,
    tip: &Tip,
    (why, marked): (VerbError, Box<dyn Marked>),
) -> VerbError {
    let released = end_again(desk, tip);
    let newest = released.as_ref().map_or(tip, |(tip, _)| tip);
    let news = ClaimNews::of(newest, &desk.machine(), desk.now());
    // The host may have ended: it reads all claims when it begins.
    let _ = lending.lend(move |host| host.tell(Event::ClaimsRead { news: vec![news], full: false }));
    match released {
        Err(error) => {
            drop(marked);
            let line = format!("the claim could not be given back; the next command for the ticket does that: {error}");
            why.and(line)
        }
        Ok((_, None)) => forget(marked, why),
        Ok((_, Some(line))) => forget(marked, why.and(line)),
    }
}

/// Releases a claim that was won just now. What somebody else has made of it meanwhile is said.
fn end_again(desk: &Desk, tip: &Tip) -> Result<(Tip, Option<String>), VerbError> {
    let Step { ticket: id, worker, generation, .. } = &tip.step;
    let mut tip = tip.clone();
    for _ in 0..TRIES {
        let step = desk.next_step(&tip, StepKind::Release { outcome: Outcome::Abandoned });
        let newest = match desk.claims.swap(id, Some(&tip.revision), Some(tip.base()), &[step])? {
            Swapped::Moved(tip) => return Ok((tip, None)),
            Swapped::Lost(newest) => newest,
        };
        let words = match Hold::of(newest.as_ref(), worker, *generation) {
            // A beat of it, from beside: it ends all the same.
            Hold::Own => None,
            Hold::Ended(words) | Hold::Lost(words) => Some(format!("nothing was left to give back: {words}")),
        };
        tip = newest.unwrap_or(tip);
        if words.is_some() {
            return Ok((tip, words));
        }
    }
    Err(moved_all_the_time(id))
}
