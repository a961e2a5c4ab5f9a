//! The next ticket for a worker, claimed for it if it wants that; and the offer of one that was claimed before.
//!
//! Must not know: which tickets are offered, and in which order (`domain::claim` decides); git.

use std::collections::BTreeMap;

use super::mending::{mend, mend_all};
use super::remote::look_at_remote;
use super::taking::{ClaimRequest, Claimed, claim};
use super::unheld::unheld;
use crate::daemon::{Host, Lending, Moved, VerbError};
use crate::domain::claim::{ClaimNews, Market, Offers, Seeker, Tip, label_off, offerable, offers, renewed};
use crate::domain::classify::clock;
use crate::domain::engine::{Actor, Event};
use crate::domain::gates::Ground;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{Ticket, TicketId};
use crate::ports::{ClaimsError, EditError};

/// How many tickets are tried, one after the other, that others were faster with or that turned out not to be free.
const TRIED: usize = 20;

/// A worker that looks for work.
#[derive(Clone, Debug)]
pub struct Seeking {
    /// What it says of itself.
    pub seeker: Seeker,
    /// How it claims what it finds, whichever ticket that is; None: it only looks.
    pub claims: Option<ClaimRequest>,
}

/// What it finds.
#[derive(Clone, Debug)]
pub enum Next {
    /// This one, which is nobody's yet.
    Free(Ticket),
    /// This one is its own now; and what was passed over for it, with the reason.
    Won(Box<Claimed>, Vec<String>),
    /// None. Why each open one is not for it, and of those that were tried what came in between.
    Idle(Offers, BTreeMap<TicketId, String>),
}

/// Looks for the next ticket. A race that is lost, or a ticket that cannot be claimed after all, leads to the next one; what
/// fails outside ends it and is never taken for idleness.
pub fn next<L: Lending>(lending: &mut L, seeking: &Seeking) -> Result<Next, VerbError> {
    mend_all(lending)?;
    match look_at_remote(lending) {
        Err(error) if seeking.claims.is_some() => return Err(error),
        // What is known of it is shown to whoever only looks.
        _ => see_that_claims_are_read(lending)?,
    }
    see_who_works(lending)?;
    let mut passed = BTreeMap::new();
    loop {
        let seeker = seeking.seeker.clone();
        let offers = lending.lend(move |host| host.offers(&seeker))?;
        let Some(id) = offers.offered.iter().find(|id| !passed.contains_key(*id)).cloned() else {
            return Ok(Next::Idle(offers, passed));
        };
        let Some(claims) = &seeking.claims else {
            let missing = id.clone();
            let ticket = lending.lend(move |host| host.engine.backlog().get(&id).cloned())?;
            return ticket.map(Next::Free).ok_or_else(|| Refusal::new(format!("`{missing}` has just vanished")).into());
        };
        if passed.len() >= TRIED {
            return Err(never_first(&passed));
        }
        match claim(lending, &ClaimRequest { id: id.clone(), ..claims.clone() }) {
            Ok(claimed) => {
                let passed = passed.into_iter().map(|(id, why)| format!("`{id}` was passed over: {why}"));
                return Ok(Next::Won(Box::new(claimed), passed.collect()));
            }
            Err(error) => drop(passed.insert(id, only_this_one(error)?)),
        }
    }
}

/// Whoever works in a ticket's worktree keeps it from being offered, and nobody tells when that one has ended: what is queued is
/// not looked at by the clock. On the asker's own thread, as it goes through every process of the machine.
fn see_who_works<L: Lending>(lending: &mut L) -> Result<(), VerbError> {
    let standing = lending.lend(|host| host.worktrees())?.standing();
    lending.lend(move |host| host.worktrees_found(standing))
}

/// Why this ticket cannot be had; whatever would keep every other one away too is an error still.
fn only_this_one(error: VerbError) -> Result<String, VerbError> {
    match error {
        VerbError::Refused(refusal) if refusal.evidence.is_empty() => Ok(refusal.message),
        VerbError::Refused(refusal) => Ok(format!("{}: {}", refusal.message, refusal.evidence.join("; "))),
        VerbError::Edit(error @ (EditError::Refused(_) | EditError::Conflict { .. } | EditError::Absent(_))) => {
            Ok(error.to_string())
        }
        other => Err(other),
    }
}

fn never_first(passed: &BTreeMap<TicketId, String>) -> VerbError {
    let lines = passed.iter().map(|(id, why)| format!("`{id}`: {why}"));
    let message = format!("{} tickets in a row could not be had", passed.len());
    Refusal { passing: true, ..Refusal::new(message).evidence(lines).hint("try again") }.into()
}

/// Where nothing is known of any claim, that is because there are none: what is read in vain must not make everything free.
fn see_that_claims_are_read<L: Lending>(lending: &mut L) -> Result<(), VerbError> {
    let alone = lending.is_alone();
    let unknown = lending.lend(move |host| {
        let facts = host.engine.facts();
        (facts.claims.is_empty() && facts.ended_claims.is_empty()).then(|| host.desk(alone))
    })?;
    let Some(desk) = unknown else { return Ok(()) };
    match desk.claims.all() {
        Err(ClaimsError::NoGit(_)) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(all) => {
            let (machine, now) = (desk.machine(), desk.now());
            let news: Vec<_> = all.tips.iter().map(|tip| ClaimNews::of(tip, &machine, now)).collect();
            if !news.is_empty() {
                lending.lend(move |host| host.tell(Event::ClaimsRead { news, full: false }))?;
            }
            Ok(())
        }
    }
}

impl Host {
    fn offers(&self, seeker: &Seeker) -> Offers {
        let engine = &self.engine;
        let ground = Ground { backlog: engine.backlog(), facts: engine.facts(), policy: engine.policy() };
        offers(Market { ground, work_set: engine.work_set(), now: self.now() }, seeker)
    }

    fn refuse_no_offer(&mut self, id: &TicketId) -> Result<(), VerbError> {
        let path = self.writable(id)?;
        self.look_at(&path);
        let ticket = self.known(id, &path)?;
        Ok(offerable(&ticket, self.engine.policy().mode)?)
    }

    /// The acceptance is renewed: what was claimed before it does not count any more.
    fn write_offer(
        &mut self,
        id: &TicketId,
        tip: Option<&Tip>,
        (by, actor): (&str, Actor),
    ) -> Result<Moved, VerbError> {
        let path = self.writable(id)?;
        let now = self.now();
        let mode = self.engine.policy().mode;
        let label = self.engine.policy().claims.label.clone();
        let ended = tip.map(|tip| tip.step.at);
        let lock = self.accept_lock()?;
        let (before, after) = self.ports.tickets.edit(&path, &mut |fresh| {
            offerable(fresh, mode)?;
            let mut changes = renewed(fresh, ended, by, now);
            changes.extend(label_off(fresh, label.as_deref()));
            Ok(changes)
        })?;
        drop(lock);
        let remarks = if before.stamps == after.stamps {
            vec!["it is offered to workers already: nobody has claimed it since it was accepted".to_owned()]
        } else {
            self.noted(&path, &format!("{} OFFER by {by}: offered to workers again", clock(now)))
        };
        if let Some(tip) = tip {
            let news = ClaimNews::of(tip, &self.ports.processes.machine(), now);
            self.tell(Event::ClaimsRead { news: vec![news], full: false });
        }
        self.written(after.clone(), actor);
        Ok(Moved { before, after, remarks })
    }
}

/// Offers a ticket to workers again that was accepted, and claimed since. A stale claim of it is broken, so that nobody comes
/// back to it.
pub fn offer<L: Lending>(lending: &mut L, id: &TicketId, by: &str, actor: Actor) -> Result<Moved, VerbError> {
    mend(lending, id)?;
    let asked = id.clone();
    let desk = lending.lend(move |host| host.refuse_no_offer(&asked).map(|()| host.desk(false)))??;
    let tip = desk.claims.read(id)?;
    let tip = tip.map(|tip| unheld(&desk, id, tip)).transpose()?;
    let (id, by) = (id.clone(), by.to_owned());
    lending.lend(move |host| host.write_offer(&id, tip.as_ref(), (&by, actor)))?
}
