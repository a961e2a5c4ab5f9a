//! Claims that only this machine knows, because somebody went on beside a remote that could not be asked (`--local`). Each is a
//! chain in a ref of its own, and beside it lies what it rests on: the remote's newest step when that was last heard of. The
//! remote hears of it when it answers again, if it is at that step still; else the race was lost, and what was done beside it
//! is kept in a ref of its own, for people to read.
//!
//! Must not know: who may take which step.

use std::thread;
use std::time::Instant;

use super::super::refs::{Known, Refs};
use super::super::{check_wish, refs};
use super::{PATIENCE, PAUSE, RemoteClaims, settings};
use crate::domain::claim::{Beside, Revision, Step, StepKind, Tip};
use crate::domain::ticket::TicketId;
use crate::ports::{AllClaims, Claims, ClaimsError, Swapped};

/// How often the remote is told of a chain that its holder moves on meanwhile.
const SETTLED: u32 = 3;
/// So many steps of one are looked at, at most: who went on beside the remote took few.
const LONGEST: usize = 100;

/// A chain that the remote does not know yet.
#[derive(Debug)]
pub(super) struct Alone {
    pub(super) tip: Tip,
    /// The newest step that the remote has, or had.
    rests_on: Option<Revision>,
}

/// The claims of a remote, moved for this machine alone. It is not asked for anything.
pub(super) struct AloneClaims(pub(super) RemoteClaims);

impl RemoteClaims {
    fn alone_prefix(&self) -> String {
        format!("refs/yoi/remotes/{}/alone/", self.remote)
    }

    fn rests_prefix(&self) -> String {
        format!("refs/yoi/remotes/{}/rests/", self.remote)
    }

    fn lost_prefix(&self) -> String {
        format!("refs/yoi/remotes/{}/lost/", self.remote)
    }

    /// The ref that shows this machine the newest step of a ticket.
    pub(super) fn shown(&self, id: &TicketId) -> String {
        let alone = refs::of(&self.alone_prefix(), id);
        let is_there = self.here.common_dir.as_ref().is_some_and(|common| common.join(&alone).exists());
        if is_there { alone } else { refs::of(&self.seen(), id) }
    }

    /// The chain of this ticket that the remote does not know.
    pub(super) fn alone(&self, refs: &dyn Refs, id: &TicketId) -> Result<Option<Alone>, ClaimsError> {
        settings::check_name(&self.remote)?;
        let Some(tip) = refs::read(refs, &self.alone_prefix(), id)? else { return Ok(None) };
        let rests_on = refs.find(&refs::of(&self.rests_prefix(), id))?;
        let rests_on = rests_on.and_then(|target| target.oid().map(|oid| Revision(oid.to_owned())));
        Ok(Some(Alone { tip, rests_on }))
    }

    /// All of them.
    pub(super) fn all_alone(&self) -> Result<AllClaims, ClaimsError> {
        settings::check_name(&self.remote)?;
        // They are few, and soon gone.
        refs::all(&*self.here.refs()?, &self.alone_prefix(), &mut Known::new())
    }

    /// Takes steps that the remote is not asked about.
    pub(super) fn move_alone(
        &self,
        id: &TicketId,
        expected: Option<&Revision>,
        on: Option<&Revision>,
        steps: &[Step],
    ) -> Result<Swapped, ClaimsError> {
        let refs = &*self.here.refs()?;
        let mut made: Option<Tip> = None;
        let due = Instant::now() + PATIENCE;
        loop {
            let alone = self.alone(refs, id)?;
            let seen = refs::read(refs, &self.seen(), id)?;
            let newest = alone.as_ref().map(|alone| &alone.tip).or(seen.as_ref());
            if newest.map(|tip| &tip.revision) != expected {
                return Ok(if newest == made.as_ref() { moved(newest) } else { Swapped::Lost(newest.cloned()) });
            }
            check_wish(id, newest, on, steps)?;
            let tip = match &made {
                Some(tip) => tip.clone(),
                None => made.insert(refs::write(refs, on, steps)?).clone(),
            };
            if self.update(&self.steps_to(id, alone.as_ref(), seen.as_ref(), &tip)) {
                return Ok(Swapped::Moved(tip));
            }
            if Instant::now() >= due {
                return Err(ClaimsError::Failed(format!(
                    "git did not move the claim of `{id}` here, which nobody else moved"
                )));
            }
            // Somebody was faster, or has a lock just now.
            thread::sleep(PAUSE);
        }
    }

    /// What is to be done to the refs, all or nothing.
    fn steps_to(&self, id: &TicketId, alone: Option<&Alone>, seen: Option<&Tip>, new: &Tip) -> String {
        let (name, rests) = (refs::of(&self.alone_prefix(), id), refs::of(&self.rests_prefix(), id));
        let new = &new.revision;
        match (alone, seen) {
            (Some(alone), _) => format!("update {name} {new} {}\n", alone.tip.revision),
            (None, Some(seen)) => format!("create {name} {new}\nupdate {rests} {}\n", seen.revision),
            (None, None) => format!("create {name} {new}\n"),
        }
    }

    /// Tells the remote of a chain that it does not know. Returns its newest step then; that is another's where the race was lost.
    pub(super) fn settle(&self, refs: &dyn Refs, id: &TicketId, alone: &Alone) -> Result<Option<Tip>, ClaimsError> {
        let mut known = self.settle_once(refs, id, alone)?;
        for _ in 1..SETTLED {
            // Its holder may have gone on meanwhile.
            let Some(alone) = self.alone(refs, id)? else { break };
            known = self.settle_once(refs, id, &alone)?;
        }
        Ok(known)
    }

    fn settle_once(&self, refs: &dyn Refs, id: &TicketId, alone: &Alone) -> Result<Option<Tip>, ClaimsError> {
        let mut lease = alone.rests_on.clone();
        for _ in 0..SETTLED {
            let newest = match self.push_until_known(refs, id, lease.as_ref(), &alone.tip)? {
                Swapped::Moved(tip) => {
                    self.forget_known(id, alone, &tip.revision);
                    return Ok(Some(tip));
                }
                Swapped::Lost(newest) => newest,
            };
            let chain = chain(refs, alone);
            match newest.as_ref().map_or(Beside::Lost, |newest| Beside::of(&chain, newest)) {
                // It was pushed, and nobody could note that any more.
                Beside::GoesOn => lease = newest.map(|tip| tip.revision),
                Beside::Ahead => {
                    self.forget(id, alone, alone.rests_on.as_ref(), false);
                    return Ok(newest);
                }
                Beside::Lost => {
                    tracing::warn!(ticket = %id, worker = alone.tip.step.worker, "somebody else was first at the remote");
                    self.forget(id, alone, alone.rests_on.as_ref(), true);
                    return Ok(newest);
                }
            }
        }
        Err(ClaimsError::Failed(format!("the claim of `{id}` is being moved by others all the time")))
    }

    /// The remote has it. Noted first is what the chain rests on now: whoever has moved it on meanwhile goes on from there.
    fn forget_known(&self, id: &TicketId, alone: &Alone, pushed: &Revision) {
        let rests = refs::of(&self.rests_prefix(), id);
        let step = match &alone.rests_on {
            Some(before) => format!("update {rests} {pushed} {before}\n"),
            None => format!("create {rests} {pushed}\n"),
        };
        let is_noted = alone.rests_on.as_ref() == Some(pushed) || self.update(&step);
        self.forget(id, alone, if is_noted { Some(pushed) } else { alone.rests_on.as_ref() }, false);
    }

    /// All or nothing: one that was moved on meanwhile stays, and the remote hears of that next.
    fn forget(&self, id: &TicketId, alone: &Alone, rests_on: Option<&Revision>, is_lost: bool) {
        let (name, rests) = (refs::of(&self.alone_prefix(), id), refs::of(&self.rests_prefix(), id));
        let tip = &alone.tip.revision;
        let mut steps = format!("delete {name} {tip}\n");
        if let Some(rests_on) = rests_on {
            steps.extend(["delete ", &rests, " ", &rests_on.0, "\n"]);
        }
        if is_lost {
            steps.extend(["update ", &refs::of(&self.lost_prefix(), id), " ", &tip.0, "\n"]);
        }
        self.update(&steps);
    }

    /// Tells the remote of all of them. What it does not take waits; whether anything is another than it was.
    pub(super) fn settle_all(&self) -> Result<bool, ClaimsError> {
        let refs = &*self.here.refs()?;
        let mut any = false;
        for tip in self.all_alone()?.tips {
            let id = &tip.step.ticket;
            let Some(alone) = self.alone(refs, id)? else { continue };
            match self.settle(refs, id, &alone) {
                Ok(_) => any = true,
                Err(error @ ClaimsError::Unreachable(_)) => return Err(error),
                Err(error) => tracing::warn!(ticket = %id, %error, "a claim stays with this machine alone"),
            }
        }
        Ok(any)
    }

    /// Steps of a ticket that has a chain of its own here. Its holder goes on as it began; anybody else waits for the remote.
    pub(super) fn swap_beside(
        &self,
        refs: &dyn Refs,
        alone: &Alone,
        (expected, on): (Option<&Revision>, Option<&Revision>),
        steps: &[Step],
    ) -> Result<Swapped, ClaimsError> {
        let is_holders = |step: &Step| matches!(step.kind, StepKind::Heartbeat | StepKind::Release { .. });
        let id = &alone.tip.step.ticket;
        if steps.iter().all(is_holders) {
            return self.move_alone(id, expected, on, steps);
        }
        self.settle(refs, id, alone).map(Swapped::Lost)
    }
}

/// Its steps that the remote was not known to have, the newest first.
fn chain(refs: &dyn Refs, alone: &Alone) -> Vec<Tip> {
    let mut chain = vec![alone.tip.clone()];
    while chain.len() < LONGEST
        && let Some(parent) = chain.last().and_then(|tip| tip.parent.clone())
        && alone.rests_on.as_ref() != Some(&parent)
        && let Ok(tip) = refs::read_step(refs, &parent)
    {
        chain.push(tip);
    }
    chain
}

fn moved(newest: Option<&Tip>) -> Swapped {
    newest.cloned().map_or(Swapped::Lost(None), Swapped::Moved)
}

impl Claims for AloneClaims {
    fn all(&self) -> Result<AllClaims, ClaimsError> {
        self.0.all()
    }

    fn read(&self, id: &TicketId) -> Result<Option<Tip>, ClaimsError> {
        let refs = &*self.0.here.refs()?;
        match self.0.alone(refs, id)? {
            Some(alone) => Ok(Some(alone.tip)),
            None => refs::read(refs, &self.0.seen(), id),
        }
    }

    fn swap(
        &self,
        id: &TicketId,
        expected: Option<&Revision>,
        on: Option<&Revision>,
        steps: &[Step],
    ) -> Result<Swapped, ClaimsError> {
        self.0.move_alone(id, expected, on, steps)
    }
}
