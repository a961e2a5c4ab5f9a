//! What a verb looks at that does without a claim of its own: whether somebody else has one.
//!
//! Must not know: git; what the verb is.

use crate::daemon::{Lending, VerbError};
use crate::domain::claim::{Stands, Tip};
use crate::domain::ticket::TicketId;
use crate::ports::ClaimsError;

/// The newest step of a ticket's claim, by whoever arbitrates, and how it stands now. Without git nobody holds anything.
pub fn stands<L: Lending>(lending: &mut L, id: &TicketId) -> Result<(Option<Tip>, Stands), VerbError> {
    let alone = lending.is_alone();
    let desk = lending.lend(move |host| host.desk(alone))?;
    let tip = match desk.claims.read(id) {
        Err(ClaimsError::NoGit(_)) => None,
        read => read?,
    };
    let stands = Stands::of(tip.as_ref(), &desk.machine(), desk.now());
    Ok((tip, stands))
}
