//! Claiming a ticket: the race is won first; then, in pull mode, the gates are judged and the acceptance is recorded.
//!
//! Must not know: git.

use std::path::Path;

use super::desk::Desk;
use super::marks::{Marks, begin, forget, forgotten};
use super::mending::mend;
use super::undone::give_back;
use super::{TRIES, moved_all_the_time};
use crate::adapters::fault;
use crate::daemon::{Host, Lending, VerbError};
use crate::domain::accept::Way;
use crate::domain::claim::{Challenge, StepKind, Tip, claimable, label_on, may_claim, name};
use crate::domain::classify::clock;
use crate::domain::engine::{Actor, ClaimNews, Event};
use crate::domain::gates::Ground;
use crate::domain::policy::Mode;
use crate::domain::ticket::{State, Ticket, TicketId, Timestamp};
use crate::domain::worktree::short_branch_of;
use crate::ports::starts::{Begun, Marked};
use crate::ports::{Acceptance, Swapped};

/// A claim that is wanted.
#[derive(Clone, Debug)]
pub struct ClaimRequest {
    /// Which ticket.
    pub id: TicketId,
    /// Whose.
    pub challenge: Challenge,
    /// The process that asks, and those that it descends from.
    pub own: Vec<u32>,
    /// Under whose name it is noted, and in pull mode accepted.
    pub by: String,
    /// Who asks.
    pub actor: Actor,
}

/// A claim that was won.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// Its newest step.
    pub tip: Tip,
    /// The ticket as it is now.
    pub ticket: Ticket,
    /// Whose claim was broken for it, as stale.
    pub broken: Option<String>,
    /// Until when its holder may act on it without a further beat.
    pub own_end: Timestamp,
    /// Until when others respect it without a further beat.
    pub until: Timestamp,
    /// What did not go as it should, though the claim stands.
    pub remarks: Vec<String>,
}

/// What a claim rests on.
enum Warrant {
    /// It is a role's, on an accepted ticket.
    Accepted(Acceptance),
    /// In pull mode a claim is a lock, behind which the acceptance is recorded.
    Lock,
}

/// Claims a ticket. Of any number of challengers one wins; the others are refused and told who holds it.
pub fn claim<L: Lending>(lending: &mut L, request: &ClaimRequest) -> Result<Claimed, VerbError> {
    mend(lending, &request.id)?;
    let marks = Marks::of(lending)?;
    let marked = begin(lending, &marks, request, Begun::Claim)?;
    fault::point("claim", "marked");
    let (claimed, marked) = claim_marked(lending, request, marked)?;
    forgotten(marked);
    Ok(claimed)
}

/// The same behind a mark, which is forgotten unless the claim stands or could not be given back.
pub(super) fn claim_marked<L: Lending>(
    lending: &mut L,
    request: &ClaimRequest,
    marked: Box<dyn Marked>,
) -> Result<(Claimed, Box<dyn Marked>), VerbError> {
    match race(lending, request, marked.mark().nonce.as_deref()) {
        Ok(race) => finish(lending, request, race, marked),
        Err(error @ VerbError::DaemonEnded { .. }) => Err(error),
        Err(error) => Err(forget(marked, error)),
    }
}

/// A race that was won.
struct Race {
    desk: Desk,
    tip: Tip,
    broken: Option<String>,
    accepts: bool,
}

fn race<L: Lending>(lending: &mut L, request: &ClaimRequest, nonce: Option<&str>) -> Result<Race, VerbError> {
    let (asked, alone) = (request.clone(), lending.is_alone());
    let (desk, warrant) =
        lending.lend(move |host| host.warrant(&asked).map(|warrant| (host.desk(alone), warrant)))??;
    let (tip, broken) = take(&desk, (request, nonce), &warrant)?;
    fault::point("claim", "taken");
    Ok(Race { desk, tip, broken, accepts: matches!(warrant, Warrant::Lock) })
}

fn finish<L: Lending>(
    lending: &mut L,
    request: &ClaimRequest,
    race: Race,
    marked: Box<dyn Marked>,
) -> Result<(Claimed, Box<dyn Marked>), VerbError> {
    let Race { desk, tip, broken, accepts } = race;
    let (asked, won, prior) = (request.clone(), tip.clone(), broken.clone());
    let noted = lending.lend(move |host| host.claim_won(&asked, &won, prior.as_deref(), accepts))?;
    match noted {
        Ok((ticket, remarks)) => {
            let news = ClaimNews::of(&tip, &desk.machine(), desk.now());
            let [own_end, until] = news.ends().unwrap_or([desk.now(); 2]);
            let mut remarks = remarks;
            remarks.extend(desk.remark());
            Ok((Claimed { tip, ticket, broken, own_end, until, remarks }, marked))
        }
        Err(error) => Err(give_back(lending, &desk, &tip, (error, marked))),
    }
}

/// The race itself. Whoever has the warrant of an acceptance claims for a role; who has none takes a lock.
fn take(
    desk: &Desk,
    (request, nonce): (&ClaimRequest, Option<&str>),
    warrant: &Warrant,
) -> Result<(Tip, Option<String>), VerbError> {
    let ClaimRequest { id, challenge, .. } = request;
    if let Warrant::Accepted(proof) = warrant
        && proof.ticket() != id
    {
        return Err(VerbError::Failed(format!("the acceptance of `{}` is none of `{id}`", proof.ticket())));
    }
    let mut tip = desk.claims.read(id)?;
    for _ in 0..TRIES {
        let kinds = may_claim(id, tip.as_ref(), &challenge.worker, &desk.machine(), desk.now())?;
        let broken = kinds.iter().find_map(|kind| match kind {
            StepKind::StaleBreak { prior } => Some(prior.clone()),
            _ => None,
        });
        let mut steps: Vec<_> =
            kinds.into_iter().map(|kind| desk.first_step(id, kind, challenge, tip.as_ref())).collect();
        if let (Some(claim), Some(nonce)) = (steps.last_mut(), nonce) {
            nonce.clone_into(&mut claim.nonce);
        }
        let (expected, on) = (tip.as_ref().map(|tip| tip.revision.clone()), tip.as_ref().map(|tip| tip.base().clone()));
        match desk.claims.swap(id, expected.as_ref(), on.as_ref(), &steps)? {
            Swapped::Moved(tip) => return Ok((tip, broken)),
            Swapped::Lost(now) => tip = now,
        }
    }
    Err(moved_all_the_time(id))
}

impl Host {
    /// What a claim of this ticket would rest on, by fresh data; refused where there is nothing to claim.
    fn warrant(&mut self, request: &ClaimRequest) -> Result<Warrant, VerbError> {
        let path = self.writable(&request.id)?;
        self.look_at(&path);
        let mode = self.engine.policy().mode;
        let ticket = self.known(&request.id, &path)?;
        claimable(&ticket, mode)?;
        if ticket.state == Some(State::Queued) {
            return Ok(Warrant::Lock);
        }
        let _lock = self.accept_lock()?;
        let now = self.now();
        let proof = Acceptance::record(self.ports.tickets.as_ref(), &path, &request.by, now, &mut |fresh| {
            claimable(fresh, mode)
        });
        Ok(Warrant::Accepted(proof?.0))
    }

    /// The ticket as it was read last.
    pub(in crate::daemon) fn known(&self, id: &TicketId, path: &Path) -> Result<Ticket, VerbError> {
        let missing = || VerbError::Edit(crate::ports::EditError::Absent(path.to_owned()));
        self.engine.backlog().get(id).cloned().ok_or_else(missing)
    }

    /// After the race: the acceptance where that is to come of it, the label, the note.
    fn claim_won(
        &mut self,
        request: &ClaimRequest,
        tip: &Tip,
        broken: Option<&str>,
        accepts: bool,
    ) -> Result<(Ticket, Vec<String>), VerbError> {
        let path = self.writable(&request.id)?;
        if accepts {
            self.accept_claimed(request, &path)?;
            fault::point("claim", "accepted");
        }
        let mode = self.engine.policy().mode;
        let label = self.engine.policy().claims.label.clone();
        let (_, ticket) = self.ports.tickets.edit(&path, &mut |fresh| {
            claimable(fresh, mode)?;
            Ok(label_on(fresh, label.as_deref()))
        })?;
        fault::point("claim", "labelled");
        let news = ClaimNews::of(tip, &self.ports.processes.machine(), self.now());
        let remarks = self.noted(&path, &self.claim_note(request, tip, broken, news.expires()));
        // The claim first: the ticket is then seen as what it is, active.
        self.tell(Event::ClaimsRead { news: vec![news], full: false });
        self.written(ticket.clone(), request.actor.clone());
        fault::point("claim", "noted");
        Ok((ticket, remarks))
    }

    /// Under the accept lock every gate is judged on fresh data, then the acceptance is recorded.
    fn accept_claimed(&mut self, request: &ClaimRequest, path: &Path) -> Result<(), VerbError> {
        let _lock = self.accept_lock()?;
        self.freshen(path)?;
        let ground =
            Ground { backlog: self.engine.backlog(), facts: self.engine.facts(), policy: self.engine.policy() };
        let mode = ground.policy.mode;
        let mut judge = |fresh: &Ticket| {
            // Accepted meanwhile by somebody else: the claim stands on that.
            if mode == Mode::Pull && fresh.state == Some(State::Queued) {
                crate::domain::accept::acceptable(fresh, ground, Way::Claim)
            } else {
                claimable(fresh, mode)
            }
        };
        let now = self.now();
        let by = &request.challenge.worker;
        let (_proof, ticket) = Acceptance::record(self.ports.tickets.as_ref(), path, by, now, &mut judge)?;
        let note =
            format!("{} STATE queued -> inprogress by {}: accepted with the claim of {by}", clock(now), request.by);
        let _ = self.noted(path, &note);
        self.written(ticket, request.actor.clone());
        Ok(())
    }

    /// For the ticket's thread.
    fn claim_note(&self, request: &ClaimRequest, tip: &Tip, broken: Option<&str>, until: Option<Timestamp>) -> String {
        let step = &tip.step;
        let named = name::of(&request.id);
        let place = self.worktrees().intended(&named);
        let stale = broken.map(|prior| format!("; the claim of {prior} was stale and is broken")).unwrap_or_default();
        let until = until.map(|until| format!(", respected until {} without a beat", clock(until))).unwrap_or_default();
        format!(
            "{} CLAIM by {} ({}, generation {}){until}{stale}; owner {}; branch {}, worktree {}; at the end the \
             worktree stays for whoever comes next, but `yoi block` removes it if nothing in it would be lost, and `yoi \
             close` asks what became of it",
            clock(step.at),
            step.worker,
            step.role,
            step.generation,
            request.by,
            short_branch_of(&named),
            place.display(),
        )
    }
}
