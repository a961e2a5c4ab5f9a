//! What a verb looks at that does without a claim of its own: whether somebody else has one.
//!
//! Must not know: git; what the verb is.

use std::collections::BTreeMap;

use super::YOI;
use super::desk::Desk;
use super::mending::mend;
use crate::daemon::{Lending, VerbError};
use crate::domain::claim::{ClaimNews, Stands, StepKind, Tip, held_words};
use crate::domain::engine::Event;
use crate::domain::ticket::TicketId;
use crate::ports::{ClaimsError, Swapped};

/// The newest step of a ticket's claim, by whoever arbitrates, and how it stands now. Without git nobody holds anything.
pub fn stands<L: Lending>(lending: &mut L, id: &TicketId) -> Result<(Option<Tip>, Stands), VerbError> {
    mend(lending, id)?;
    let alone = lending.is_alone();
    let desk = lending.lend(move |host| host.desk(alone))?;
    let tip = match desk.claims.read(id) {
        Err(ClaimsError::NoGit(_)) => None,
        read => read?,
    };
    let stands = Stands::of(tip.as_ref(), &desk.machine(), desk.now());
    Ok((tip, stands))
}

/// The newest step, after a stale claim has been broken: its worker is refused from then on.
pub(super) fn broken(desk: &Desk, id: &TicketId, tip: Tip) -> Result<Tip, VerbError> {
    let Stands::Stale(claim) = Stands::of(Some(&tip), &desk.machine(), desk.now()) else { return Ok(tip) };
    let mut step = desk.next_step(&tip, StepKind::StaleBreak { prior: claim.worker });
    step.worker = YOI.into();
    Ok(match desk.claims.swap(id, Some(&tip.revision), Some(tip.base()), &[step])? {
        Swapped::Moved(tip) => tip,
        Swapped::Lost(now) => now.unwrap_or(tip),
    })
}

/// The same. Refused where somebody holds the ticket.
pub(super) fn unheld(desk: &Desk, id: &TicketId, tip: Tip) -> Result<Tip, VerbError> {
    let tip = broken(desk, id, tip)?;
    match Stands::of(Some(&tip), &desk.machine(), desk.now()) {
        Stands::Free => Ok(tip),
        Stands::Held(claim) | Stands::Stale(claim) => Err(VerbError::from(held_words(id, &claim))),
    }
}

/// Breaks a stale claim of a ticket that is about to be ended without one: nobody is to come back to it. Refused where somebody
/// holds it after all.
pub fn end_stale<L: Lending>(lending: &mut L, id: &TicketId) -> Result<Option<Event>, VerbError> {
    let alone = lending.is_alone();
    let desk = lending.lend(move |host| host.desk(alone))?;
    let Some(tip) = desk.claims.read(id)? else { return Ok(None) };
    let tip = unheld(&desk, id, tip)?;
    let news = vec![ClaimNews::of(&tip, &desk.machine(), desk.now())];
    Ok(Some(Event::ClaimsRead { news, full: false }))
}

/// Who holds which ticket, as far as it is known here; None where that cannot be read just now.
pub fn held<L: Lending>(lending: &mut L) -> Result<Option<BTreeMap<TicketId, String>>, VerbError> {
    let alone = lending.is_alone();
    let desk = lending.lend(move |host| host.desk(alone))?;
    let all = match desk.claims.all() {
        Ok(all) => all,
        Err(ClaimsError::NoGit(_)) => return Ok(Some(BTreeMap::new())),
        Err(error) => {
            tracing::warn!(%error, "the claims cannot be read");
            return Ok(None);
        }
    };
    let holder = |tip: &Tip| match Stands::of(Some(tip), &desk.machine(), desk.now()) {
        Stands::Held(claim) => Some((tip.step.ticket.clone(), claim.worker)),
        Stands::Free | Stands::Stale(_) => None,
    };
    Ok(Some(all.tips.iter().filter_map(holder).collect()))
}
