//! The claims of the world, as git keeps them: the newest step of each ticket, moved by compare and swap. Who may move one is
//! the product's to say (`domain::claim`).

use std::collections::BTreeMap;

use chrono::{SubsecRound, TimeDelta};

use super::messages::Message;
use super::wishes::Wish;
use super::world::{Happening, World};
use crate::domain::claim::{ClaimNews, Revision, Standing, Step, StepKind, Tip};
use crate::domain::engine::{Actor, Event};
use crate::domain::facts::{ProcessIdentity, TimeDeltaSeconds};
use crate::domain::ticket::TicketId;

/// For so long a beat holds.
pub(super) const TTL: i64 = 90 * 60_000;
const BOOT: &str = "b";

/// All claims.
#[derive(Clone, Debug, Default)]
pub(super) struct Claims {
    tips: BTreeMap<TicketId, Tip>,
    pub(super) changed_at: i64,
    /// Claims that were cut off before they were said to be won: of which worker and generation.
    pub(super) marks: BTreeMap<TicketId, (String, u64)>,
}

impl World {
    /// This machine: its clock is set by people, how long it has been awake is not.
    pub(super) fn machine(&self) -> Standing {
        Standing { boot_id: BOOT.into(), awake: TimeDelta::milliseconds(self.clock) }
    }

    pub(super) fn tip(&self, id: &TicketId) -> Option<&Tip> {
        self.claims.tips.get(id)
    }

    pub(super) fn claim_news(&self, tip: &Tip) -> ClaimNews {
        ClaimNews::of(tip, &self.machine(), self.now())
    }

    pub(super) fn all_claim_news(&self) -> Vec<ClaimNews> {
        self.claims.tips.values().map(|tip| self.claim_news(tip)).collect()
    }

    /// Compare and swap: these steps after what is there, if that is the expected one still.
    pub(super) fn swap(
        &mut self,
        id: &TicketId,
        expected: Option<&Revision>,
        steps: impl IntoIterator<Item = (StepKind, String)>,
    ) -> bool {
        if self.tip(id).map(|tip| &tip.revision) != expected {
            return false;
        }
        for (kind, worker) in steps {
            let before = self.tip(id).cloned();
            let generation = before.as_ref().map_or(0, |tip| tip.step.generation) + u64::from(kind == StepKind::Claim);
            let parent = before.as_ref().map(|tip| tip.base().clone());
            self.count += 1;
            self.say(|| format!("  claim of {id}: {kind:?} by {worker}, generation {generation}"));
            let tip = Tip {
                revision: Revision(self.count.to_string()),
                parent,
                step: self.made(id, kind, worker, generation),
            };
            self.claims.tips.insert(id.clone(), tip);
        }
        self.claims.changed_at = self.clock;
        self.refs_moved();
        true
    }

    fn made(&self, id: &TicketId, kind: StepKind, worker: String, generation: u64) -> Step {
        let process = ProcessIdentity { host: "h".into(), boot_id: BOOT.into(), pid: 1, started: 1 };
        Step {
            ticket: id.clone(),
            kind,
            worker,
            role: "coder".into(),
            at: self.now().trunc_subsecs(0),
            ttl: TimeDeltaSeconds(TTL / 1000),
            generation,
            nonce: self.count.to_string(),
            process,
            session: None,
            awake: Some(TimeDeltaSeconds(self.clock / 1000)),
        }
    }

    /// The watcher tells of it some time later. What it cannot tell it says so of, and everything is read.
    fn refs_moved(&mut self) {
        if self.daemon.is_some() {
            let lag = if self.faults { self.dice.of(&[0, 0, 5, 200, 1_500]) } else { 1 };
            self.at(lag, Happening::Notice(self.generation, Message::Git));
        }
    }

    /// As the daemon does it: the claim is broken first, if it is stale; then the file is written, unless somebody holds it.
    pub(super) fn bring_back(&mut self, id: &TicketId) {
        let Some(tip) = self.tip(id).cloned() else { return };
        if let Some(prior) = self.stale(&tip) {
            self.swap(id, Some(&tip.revision), [(StepKind::StaleBreak { prior }, "yoi".to_owned())]);
        }
        let Some(tip) = self.tip(id).cloned() else { return };
        let (news, now) = (self.claim_news(&tip), self.now());
        let Some(daemon) = &self.daemon else { return };
        let other = daemon.engine.facts().claims.get(id).is_some_and(|claim| claim.fresh_for_others(now));
        let gone = !other && news.stands.as_ref().is_err_and(|ended| ended.end.is_without_result());
        self.answer(Event::ClaimsRead { news: vec![news], full: false });
        if let Some(path) = self.path_of(id).filter(|_| gone) {
            self.write_for(path, Wish::Back, Actor::Daemon);
        }
    }

    /// Whose claim it is, if that is stale.
    pub(super) fn stale(&self, tip: &Tip) -> Option<String> {
        let stale = self.claim_news(tip).stands.ok().filter(|claim| !claim.fresh_for_others(self.now()));
        stale.map(|claim| claim.worker)
    }

    /// Whenever all notices have come, the daemon knows of every claim what is true.
    pub(super) fn judge_claims(&self) {
        let Some(daemon) = &self.daemon else { return };
        let facts = daemon.engine.facts();
        for news in self.all_claim_news() {
            let known = (facts.claims.get(&news.ticket), facts.ended_claims.get(&news.ticket));
            match &news.stands {
                Ok(claim) => assert!(
                    known.0.is_some_and(|known| known.worker == claim.worker) && known.1.is_none(),
                    "{}: {known:?} is known, {claim:?} is true",
                    news.ticket
                ),
                Err(ended) => assert_eq!(known, (None, Some(ended)), "{}", news.ticket),
            }
        }
    }
}
