//! The fence of a claim's holder: the ref is moved by a HEARTBEAT first; then the file is written; then the claim ends, if it is
//! to. Who was replaced meanwhile is refused before anything is written.
//!
//! Must not know: git; what a verb writes; claims that were cut off.

use super::desk::Desk;
use super::{TRIES, moved_all_the_time};
use crate::adapters::fault;
use crate::daemon::verbs::unchanged;
use crate::daemon::{Host, Lending, VerbError};
use crate::domain::claim::{Ending, Outcome, StepKind, Tip, fence, label_off};
use crate::domain::classify::clock;
use crate::domain::engine::{Actor, ClaimNews, Event};
use crate::domain::facts::ProcessIdentity;
use crate::domain::refusal::{Refusal, no_ticket};
use crate::domain::ticket::{Ticket, TicketId};
use crate::ports::{Entry, Swapped};

/// Who says that he holds a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Of which ticket.
    pub id: TicketId,
    /// The run's name.
    pub worker: String,
    /// Which claim of the ticket he means; None: whichever is his.
    pub generation: Option<u64>,
}

/// Proof that a claim was its worker's moments ago: only the swap that fences makes one.
#[derive(Clone, Debug)]
pub struct Fence {
    tip: Tip,
}

impl Fence {
    /// The step that fences.
    pub fn tip(&self) -> &Tip {
        &self.tip
    }
}

/// What a release did.
#[derive(Clone, Debug)]
pub struct Released {
    /// The ticket as it was, and as it is now; None where there is no such ticket any more.
    pub written: Option<[Ticket; 2]>,
    /// What did not go as it should, though the claim has ended.
    pub remarks: Vec<String>,
}

/// Without a look at what was cut off; with a nonce of the very claim that has it.
pub(super) fn behind_fence<L: Lending, P: Send + 'static, T: Send + 'static>(
    lending: &mut L,
    (holder, nonce): (&Holder, Option<&str>),
    outcome: Option<Outcome>,
    prepare: impl FnOnce(&mut L) -> Result<P, VerbError>,
    write: impl FnOnce(&mut Host, &Fence, P) -> Result<T, VerbError> + Send + 'static,
) -> Result<(T, Vec<String>), VerbError> {
    let alone = lending.is_alone();
    let desk = lending.lend(move |host| host.desk(alone))?;
    let fence = stand(&desk, holder, (None, nonce))?;
    fault::point("fenced", "stood");
    let standing = fence.clone();
    let written = match prepare(lending) {
        Ok(prepared) => lending.lend(move |host| write(host, &standing, prepared))?,
        Err(error) => Err(error),
    };
    fault::point("fenced", "written");
    let (last, result, remarks) = match (written, outcome) {
        (Ok(value), Some(outcome)) => {
            let (tip, remarks) = end(&desk, &fence.tip, outcome);
            (tip, Ok(value), remarks)
        }
        (other, _) => (fence.tip, other, Vec::new()),
    };
    fault::point("fenced", "ended");
    let news = ClaimNews::of(&last, &desk.machine(), desk.now());
    // The host may have ended: it reads all claims when it begins.
    let _ = lending.lend(move |host| host.tell(Event::ClaimsRead { news: vec![news], full: false }));
    result.map(|value| (value, remarks))
}

/// Renews a claim for whoever has no host: as held by this process from now on. Nobody is told of it; a daemon sees the ref move.
pub fn renew(desk: &Desk, holder: &Holder, process: &ProcessIdentity) -> Result<Tip, VerbError> {
    stand(desk, holder, (Some(process), None)).map(|fence| fence.tip)
}

/// Moves the ref by a HEARTBEAT, if the claim is the holder's still. With a nonce, if it is the claim that has it and nobody has
/// beaten since; the beat has it too, so that who is cut off in the middle of that can be followed by another one.
fn stand(
    desk: &Desk,
    holder: &Holder,
    (process, nonce): (Option<&ProcessIdentity>, Option<&str>),
) -> Result<Fence, VerbError> {
    let Holder { id, worker, generation } = holder;
    let mut tip = desk.claims.read(id)?;
    for _ in 0..TRIES {
        let mine = fence(id, tip.as_ref(), worker, *generation, (&desk.machine(), desk.now()))?;
        let mut held = mine.clone();
        if let Some(process) = process {
            held.step.process = process.clone();
        }
        if nonce.is_some_and(|nonce| nonce != mine.step.nonce) {
            return Err(Refusal::new(format!("`{id}` is held by a later claim")).into());
        }
        let mut beat = desk.next_step(&held, StepKind::Heartbeat);
        if let Some(nonce) = nonce {
            nonce.clone_into(&mut beat.nonce);
        }
        match desk.claims.swap(id, Some(&mine.revision), Some(mine.base()), &[beat])? {
            Swapped::Moved(tip) => return Ok(Fence { tip }),
            Swapped::Lost(now) => tip = now,
        }
    }
    Err(moved_all_the_time(id))
}

/// Ends the claim. What was written stands in any case: what cannot be moved any more is said.
fn end(desk: &Desk, fence: &Tip, outcome: Outcome) -> (Tip, Vec<String>) {
    let id = &fence.step.ticket;
    let mut tip = fence.clone();
    for _ in 0..TRIES {
        let step = desk.next_step(&tip, StepKind::Release { outcome });
        match desk.claims.swap(id, Some(&tip.revision), Some(tip.base()), &[step]) {
            Ok(Swapped::Moved(tip)) => return (tip, Vec::new()),
            // A beat of the same claim, from beside: it ends all the same.
            Ok(Swapped::Lost(Some(now))) if now.is_held() && now.step.generation == tip.step.generation => tip = now,
            Ok(Swapped::Lost(now)) => {
                let line = "the claim was broken by somebody else in this very moment; what was written stands";
                return (now.unwrap_or(tip), vec![line.to_owned()]);
            }
            Err(error) => {
                let line = format!(
                    "what was written stands, but the claim could not be ended and goes stale by itself: {error}"
                );
                return (tip, vec![line]);
            }
        }
    }
    (tip, vec!["the claim is being moved by others all the time, and goes stale by itself".to_owned()])
}

/// What an end comes to where the ticket is gone: it can only be given up, since nothing can be written of it.
fn ended_without(id: &TicketId, outcome: Outcome) -> Result<Released, Refusal> {
    let none = no_ticket(id.as_str());
    if outcome == Outcome::Abandoned {
        let remark = format!("{none} any more: nothing was written, and the claim has ended");
        return Ok(Released { written: None, remarks: vec![remark] });
    }
    Err(Refusal::new(format!("{none} any more, so nothing can be recorded of it as {outcome}"))
        .hint("was its file moved or renamed? `--outcome abandoned` ends the claim"))
}

/// Without a look at what was cut off; with a nonce of the very claim that has it.
pub(super) fn give_back_by<L: Lending>(
    lending: &mut L,
    (holder, nonce): (&Holder, Option<&str>),
    (ending, why): (Ending, Option<String>),
    actor: Actor,
) -> Result<Released, VerbError> {
    let outcome = ending.outcome;
    let id = holder.id.clone();
    let write = move |host: &mut Host, fence: &Fence, ()| host.write_ending(&id, fence, &ending, why.as_deref(), actor);
    let (mut released, more) = behind_fence(lending, (holder, nonce), Some(outcome), |_| Ok(()), write)?;
    released.remarks.extend(more);
    Ok(released)
}

impl Host {
    fn write_ending(
        &mut self,
        id: &TicketId,
        fence: &Fence,
        ending: &Ending,
        why: Option<&str>,
        actor: Actor,
    ) -> Result<Released, VerbError> {
        let path = match self.writable(id) {
            Err(_) if self.is_gone(id)? => return Ok(ended_without(id, ending.outcome)?),
            found => found?,
        };
        let now = self.now();
        let (before, after) = self.ports.tickets.edit(&path, &mut |fresh| Ok(ending.changes(fresh, now)))?;
        let worker = &fence.tip().step.worker;
        let moved = (before.state != after.state).then(|| {
            let state = |ticket: &Ticket| ticket.state.map_or("?", crate::domain::ticket::State::as_str);
            format!("; {} -> {}", state(&before), state(&after))
        });
        let mut note = format!("{} RELEASE by {worker}: {}", clock(now), ending.outcome);
        note.extend(ending.pr.as_deref().map(|url| format!(", {url}")));
        note.extend(moved);
        note.extend(why.map(|why| format!(": {why}")));
        let mut remarks = self.noted(&path, &note);
        remarks.extend(ending.remark(&after));
        self.written(after.clone(), actor);
        Ok(Released { written: Some([before, after]), remarks })
    }

    /// Whether no file has this id. The disk is asked: a daemon may not have seen yet what is there.
    fn is_gone(&mut self, id: &TicketId) -> Result<bool, VerbError> {
        self.refuse_while_obstructed()?;
        let entries = self.ports.tickets.scan();
        let entries = entries.map_err(|error| unchanged("the ticket folder cannot be read", &error))?;
        Ok(!entries.iter().any(|(_, entry)| match entry {
            Entry::Ticket(ticket) => ticket.id == *id,
            Entry::Unreadable { id: other, .. } => other == id,
            Entry::NotATicket | Entry::Absent => false,
        }))
    }

    /// The label taken off, as a part of what another verb writes.
    pub fn without_claim_label(&self, ticket: &Ticket) -> Vec<crate::domain::edit::Change> {
        label_off(ticket, self.engine.policy().claims.label.as_deref())
    }
}
