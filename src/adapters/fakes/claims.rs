//! Claims in memory: what git does with refs, and it refuses a chain that no verb may make.
//!
//! Must not know: git.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::adapters::claims::check_wish;
use crate::domain::claim::{Revision, Step, StepKind, Tip, name};
use crate::domain::ticket::TicketId;
use crate::ports::{AllClaims, Claims, ClaimsError, Swapped, Unreadable};
use crate::text::claim_record;

type Interference = Box<dyn FnOnce(&MemoryClaims) + Send>;

/// Claims in memory; clones share them. Stricter than git: a CLAIM must follow what nobody holds and count one generation
/// more, every other step must follow a held one, keep its generation, and be its holder's (but for a STALE-BREAK, which
/// names it); nonces are never used twice, and times have whole seconds.
#[derive(Clone, Default)]
pub struct MemoryClaims {
    inside: Arc<Mutex<Inside>>,
}

#[derive(Default)]
struct Inside {
    /// What leads to each newest step, oldest first.
    chains: BTreeMap<TicketId, Vec<Tip>>,
    unreadable: BTreeMap<TicketId, String>,
    made: u64,
    nonces: BTreeSet<String>,
    failure: Option<ClaimsError>,
    losing_answer: bool,
    before_swap: Option<Interference>,
}

impl MemoryClaims {
    /// Everything fails like this from now on; None: nothing does any more.
    pub fn fail(&self, failure: Option<ClaimsError>) {
        self.lock().failure = failure;
    }

    /// The next swap is taken, if it can be, and then nobody knows.
    pub fn lose_next_answer(&self) {
        self.lock().losing_answer = true;
    }

    /// Somebody else comes in between, once: after the next caller has read, before its swap is looked at.
    pub fn before_next_swap(&self, act: impl FnOnce(&MemoryClaims) + Send + 'static) {
        self.lock().before_swap = Some(Box::new(act));
    }

    /// The chain of this ticket cannot be read from now on.
    pub fn damage(&self, id: &TicketId, why: &str) {
        self.lock().unreadable.insert(id.clone(), why.into());
    }

    /// What leads to the newest step of a ticket, and that one, oldest first.
    pub fn steps(&self, id: &TicketId) -> Vec<Step> {
        let inside = self.lock();
        inside.chains.get(id).into_iter().flatten().map(|tip| tip.step.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    fn newest(&self, id: &TicketId) -> Result<Option<Tip>, ClaimsError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        match self.unreadable.get(id) {
            Some(why) => Err(ClaimsError::Failed(format!("{} cannot be read: {why}", ref_of(id)))),
            None => Ok(self.chains.get(id).and_then(|chain| chain.last()).cloned()),
        }
    }

    /// Refuses what `domain::claim` never decides.
    fn check_chain(&self, newest: Option<&Tip>, steps: &[Step]) -> Result<(), ClaimsError> {
        let mut before = newest.map(|tip| tip.step.clone());
        for step in steps {
            let held = before.as_ref().filter(|step| matches!(step.kind, StepKind::Claim | StepKind::Heartbeat));
            let generation = before.as_ref().map_or(0, |step| step.generation);
            let own = held.is_some_and(|held| held.worker == step.worker);
            let follows = match &step.kind {
                StepKind::Claim => held.is_none() && step.generation == generation + 1,
                StepKind::Heartbeat | StepKind::Release { .. } => own && step.generation == generation,
                StepKind::StaleBreak { prior } => {
                    held.is_some_and(|held| held.worker == *prior) && step.generation == generation
                }
            };
            let fresh = !step.nonce.is_empty() && !self.nonces.contains(&step.nonce);
            if !follows || !fresh || step.worker.is_empty() || step.at.timestamp_subsec_nanos() != 0 {
                let before = before.map(|step| step.kind);
                return Err(ClaimsError::Failed(format!("no verb may take this step after {before:?}: {step:?}")));
            }
            before = Some(step.clone());
        }
        let nonces: BTreeSet<&str> = steps.iter().map(|step| step.nonce.as_str()).collect();
        if nonces.len() == steps.len() { Ok(()) } else { Err(ClaimsError::Failed("a nonce was used twice".into())) }
    }

    fn push(&mut self, id: &TicketId, on: Option<&Revision>, step: &Step) -> Tip {
        self.made += 1;
        self.nonces.insert(step.nonce.clone());
        let revision = Revision(format!("{:040x}", self.made));
        let tip = Tip { revision, parent: on.cloned(), step: step.clone() };
        let chain = self.chains.entry(id.clone()).or_default();
        // A heartbeat is replaced.
        while chain.last().is_some_and(|last| Some(&last.revision) != on) {
            chain.pop();
        }
        chain.push(tip.clone());
        tip
    }
}

impl Claims for MemoryClaims {
    fn all(&self) -> Result<AllClaims, ClaimsError> {
        let inside = self.lock();
        if let Some(failure) = &inside.failure {
            return Err(failure.clone());
        }
        let readable = inside.chains.iter().filter(|(id, _)| !inside.unreadable.contains_key(id));
        let unreadable = inside.unreadable.iter();
        Ok(AllClaims {
            tips: readable.filter_map(|(_, chain)| chain.last().cloned()).collect(),
            unreadable: unreadable.map(|(id, why)| Unreadable { name: ref_of(id), why: why.clone() }).collect(),
        })
    }

    fn read(&self, id: &TicketId) -> Result<Option<Tip>, ClaimsError> {
        self.lock().newest(id)
    }

    fn swap(
        &self,
        id: &TicketId,
        expected: Option<&Revision>,
        on: Option<&Revision>,
        steps: &[Step],
    ) -> Result<Swapped, ClaimsError> {
        let interference = self.lock().before_swap.take();
        if let Some(act) = interference {
            act(self);
        }
        let mut inside = self.lock();
        let newest = inside.newest(id)?;
        if newest.as_ref().map(|tip| &tip.revision) != expected {
            return Ok(Swapped::Lost(newest));
        }
        check_wish(id, newest.as_ref(), on, steps)?;
        let steps = &as_written(steps)?;
        inside.check_chain(newest.as_ref(), steps)?;
        let mut on = on.cloned();
        let mut last = None;
        for step in steps {
            let tip = inside.push(id, on.as_ref(), step);
            on = Some(tip.revision.clone());
            last = Some(tip);
        }
        if std::mem::take(&mut inside.losing_answer) {
            return Err(ClaimsError::Unknown(format!("whether the claim of `{id}` was moved is not known")));
        }
        last.map(Swapped::Moved).ok_or_else(|| ClaimsError::Failed("there is no step to take".into()))
    }
}

/// As they come back from where they were written down, or why they cannot be.
fn as_written(steps: &[Step]) -> Result<Vec<Step>, ClaimsError> {
    let written = steps.iter().map(|step| claim_record::read(&claim_record::write(step)?));
    written.collect::<Result<_, _>>().map_err(|why| ClaimsError::Failed(format!("a step cannot be written: {why}")))
}

/// What stands for a chain in git.
fn ref_of(id: &TicketId) -> String {
    format!("refs/yoi/claims/{}", name::of(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::claims::contract;
    use crate::domain::sample::id;

    #[test]
    fn the_contract() {
        contract::holds(&MemoryClaims::default());
    }

    #[test]
    fn a_chain_that_no_verb_makes_is_refused() {
        let claims = MemoryClaims::default();
        let claim = |generation| contract::step("t", StepKind::Claim, "a", generation);
        assert!(claims.swap(&id("t"), None, None, &[claim(2)]).is_err(), "the first generation is 1");
        let once = claim(1);
        let moved = claims.swap(&id("t"), None, None, std::slice::from_ref(&once)).unwrap();
        let Swapped::Moved(tip) = moved else { panic!("{moved:?}") };
        let on = Some(&tip.revision);
        let table = [
            claim(2),
            contract::step("t", StepKind::Heartbeat, "b", 1),
            contract::step("t", StepKind::Heartbeat, "a", 2),
            contract::step("t", StepKind::StaleBreak { prior: "c".into() }, "b", 1),
            Step { nonce: once.nonce, ..contract::step("t", StepKind::Heartbeat, "a", 1) },
        ];
        for step in table {
            assert!(
                matches!(claims.swap(&id("t"), on, on, std::slice::from_ref(&step)), Err(ClaimsError::Failed(_))),
                "{step:?}"
            );
        }
        assert_eq!(claims.steps(&id("t")).len(), 1);
    }

    #[test]
    fn it_fails_is_interfered_with_and_loses_answers_where_a_test_wants_that() {
        let claims = MemoryClaims::default();
        let claim = |worker: &str| contract::step("t", StepKind::Claim, worker, 1);
        claims.before_next_swap(move |claims| {
            claims.swap(&id("t"), None, None, &[contract::step("t", StepKind::Claim, "other", 1)]).unwrap();
        });
        let lost = claims.swap(&id("t"), None, None, &[claim("me")]).unwrap();
        let Swapped::Lost(Some(tip)) = lost else { panic!("{lost:?}") };
        assert_eq!(tip.step.worker, "other");

        claims.lose_next_answer();
        let beat = contract::step("t", StepKind::Heartbeat, "other", 1);
        let unknown = claims.swap(&id("t"), Some(&tip.revision), Some(&tip.revision), &[beat]);
        assert!(matches!(unknown, Err(ClaimsError::Unknown(_))));
        assert_eq!(claims.steps(&id("t")).len(), 2, "it was taken all the same");

        claims.fail(Some(ClaimsError::Unreachable("no route".into())));
        assert_eq!(claims.read(&id("t")), Err(ClaimsError::Unreachable("no route".into())));
        claims.fail(None);
        claims.damage(&id("t"), "odd");
        assert!(claims.read(&id("t")).is_err() && claims.all().unwrap().unreadable.len() == 1);
    }
}
