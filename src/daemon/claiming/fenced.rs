//! Verbs of a claim's holder: the ref is moved by a HEARTBEAT first, which is the fence; then the file is written; then
//! the claim ends, if it is to. Who was replaced meanwhile is refused before anything is written.
//!
//! Must not know: git; what a verb writes.

use super::desk::Desk;
use super::{TRIES, moved_all_the_time};
use crate::daemon::{Host, Lending, VerbError};
use crate::domain::claim::{Ending, Outcome, StepKind, Tip, fence, label_off};
use crate::domain::classify::clock;
use crate::domain::engine::{Actor, ClaimNews, Event};
use crate::domain::facts::ProcessIdentity;
use crate::domain::ticket::{Ticket, TicketId, Timestamp};
use crate::ports::Swapped;

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
    /// The ticket as it was.
    pub before: Ticket,
    /// As it is now.
    pub ticket: Ticket,
    /// What did not go as it should, though the claim has ended.
    pub remarks: Vec<String>,
}

/// Carries out a verb of a claim's holder. `write` is called with the host when the fence stands, and may refuse; then the
/// claim goes on. With an outcome the claim ends after it. Returns what `write` returned, and remarks.
pub fn fenced<L: Lending, T: Send + 'static>(
    lending: &mut L,
    holder: &Holder,
    outcome: Option<Outcome>,
    write: impl FnOnce(&mut Host, &Fence) -> Result<T, VerbError> + Send + 'static,
) -> Result<(T, Vec<String>), VerbError> {
    fenced_after(lending, holder, outcome, |_| Ok(()), |host, fence, ()| write(host, fence))
}

/// The same with something in between that takes its time, and so is not done with the host: behind the fence, and before
/// anything is written. Where that fails nothing is written, and the claim goes on.
pub fn fenced_after<L: Lending, P: Send + 'static, T: Send + 'static>(
    lending: &mut L,
    holder: &Holder,
    outcome: Option<Outcome>,
    prepare: impl FnOnce(&mut L) -> Result<P, VerbError>,
    write: impl FnOnce(&mut Host, &Fence, P) -> Result<T, VerbError> + Send + 'static,
) -> Result<(T, Vec<String>), VerbError> {
    let alone = lending.is_alone();
    let desk = lending.lend(move |host| host.desk(alone))?;
    let fence = stand(&desk, holder, None)?;
    let standing = fence.clone();
    let written = match prepare(lending) {
        Ok(prepared) => lending.lend(move |host| write(host, &standing, prepared))?,
        Err(error) => Err(error),
    };
    let (last, result, remarks) = match (written, outcome) {
        (Ok(value), Some(outcome)) => {
            let (tip, remarks) = end(&desk, &fence.tip, outcome);
            (tip, Ok(value), remarks)
        }
        (other, _) => (fence.tip, other, Vec::new()),
    };
    let news = ClaimNews::of(&last, &desk.machine(), desk.now());
    // The host may have ended: it reads all claims when it begins.
    let _ = lending.lend(move |host| host.tell(Event::ClaimsRead { news: vec![news], full: false }));
    result.map(|value| (value, remarks))
}

/// Renews a claim for whoever has no host: as held by this process from now on. Nobody is told of it; a daemon sees the ref move.
pub fn renew(desk: &Desk, holder: &Holder, process: &ProcessIdentity) -> Result<Tip, VerbError> {
    stand(desk, holder, Some(process)).map(|fence| fence.tip)
}

/// Moves the ref by a HEARTBEAT, if the claim is the holder's still.
fn stand(desk: &Desk, holder: &Holder, process: Option<&ProcessIdentity>) -> Result<Fence, VerbError> {
    let Holder { id, worker, generation } = holder;
    let mut tip = desk.claims.read(id)?;
    for _ in 0..TRIES {
        let mine = fence(id, tip.as_ref(), worker, *generation, (&desk.machine(), desk.now()))?;
        let mut held = mine.clone();
        if let Some(process) = process {
            held.step.process = process.clone();
        }
        let beat = desk.next_step(&held, StepKind::Heartbeat);
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

/// A sign of life. Returns until when others respect the claim now.
pub fn heartbeat<L: Lending>(lending: &mut L, holder: &Holder) -> Result<(Tip, Timestamp), VerbError> {
    let (found, _) = fenced(lending, holder, None, |host, fence| {
        let news = ClaimNews::of(fence.tip(), &host.ports.processes.machine(), host.now());
        Ok((fence.tip().clone(), news.expires().unwrap_or_else(|| host.now())))
    })?;
    Ok(found)
}

/// Gives a claim up, with what became of it.
pub fn release<L: Lending>(
    lending: &mut L,
    holder: &Holder,
    (ending, why): (Ending, Option<String>),
    actor: Actor,
) -> Result<Released, VerbError> {
    ending.check()?;
    let outcome = ending.outcome;
    let id = holder.id.clone();
    let write = move |host: &mut Host, fence: &Fence| host.write_ending(&id, fence, &ending, why.as_deref(), actor);
    let (mut released, more) = fenced(lending, holder, Some(outcome), write)?;
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
        let path = self.writable(id)?;
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
        let remarks = self.noted(&path, &note);
        self.written(after.clone(), actor);
        Ok(Released { before, ticket: after, remarks })
    }

    /// The label taken off, as a part of what another verb writes.
    pub fn without_claim_label(&self, ticket: &Ticket) -> Vec<crate::domain::edit::Change> {
        label_off(ticket, self.engine.policy().claims.label.as_deref())
    }
}
