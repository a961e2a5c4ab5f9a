//! Claims as they were read: a claim that is won is a delegated step, one that ends is a finished delegate (DESIGN.md 3, 5.2).
//!
//! Must not know: git; who may move a claim (that is `domain::claim`).

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;
use serde_json::json;

use super::{Effect, Engine, RecordKind};
use crate::domain::claim::{ClaimNews, End, EndedClaim, reverted, reverted_hint, reverted_words};
use crate::domain::classify::ORCHESTRATOR;
use crate::domain::facts::Claim;
use crate::domain::ledger::{Attempt, Reached};
use crate::domain::policy::Mode;
use crate::domain::ticket::{State, Ticket, TicketId, Timestamp};

/// After how long it is tried again to bring a ticket back to the queue.
const AGAIN: TimeDelta = TimeDelta::minutes(5);

/// What is known of claims beside the facts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ClaimBook {
    /// Which claim of each ticket is known.
    generations: BTreeMap<TicketId, u64>,
    /// Tickets that are to be brought back to the queue, and when that was last asked for.
    asked_back: BTreeMap<TicketId, Timestamp>,
    /// Tickets whose text is older than what their last claim brought about. Kept, so that a decision need not look at
    /// every claim that has ever ended.
    reverted: BTreeSet<TicketId>,
}

impl ClaimBook {
    /// When it is asked for again.
    pub(super) fn again(&self) -> Option<Timestamp> {
        self.asked_back.values().min().map(|at| *at + AGAIN)
    }

    pub(super) fn shift(&mut self, back: TimeDelta) {
        self.asked_back.values_mut().for_each(|at| *at -= back);
    }
}

impl Engine {
    /// What a daemon finds at its start is known, and is no news.
    pub(super) fn find_claims(&mut self, news: Vec<ClaimNews>) {
        for found in news {
            self.know_claim(found);
        }
    }

    /// What is reverted when a daemon starts is shown, for nobody knows since when it is.
    pub(super) fn find_reverted(&mut self, now: Timestamp) {
        for id in self.facts.ended_claims.keys().cloned().collect::<Vec<_>>() {
            self.judge_reverted(&id, now);
        }
    }

    /// A ticket, or its newest claim, is not what it was. Shown once, until a person, or a newer record, resolves it.
    pub(super) fn judge_reverted(&mut self, id: &TicketId, now: Timestamp) {
        let ticket = self.backlog.get(id);
        let found = ticket.and_then(|ticket| Some((ticket, self.reverted(ticket)?)));
        let Some((ticket, ended)) = found else {
            // On the list again, if it is one to be decided about.
            self.stirred |= self.claim_book.reverted.remove(id);
            return;
        };
        if self.claim_book.reverted.contains(id) {
            return;
        }
        let data = json!({"what": reverted_words(ticket, ended), "do": reverted_hint(ticket), "reverted": true});
        self.claim_book.reverted.insert(id.clone());
        self.record(RecordKind::Inbox, Some(id), data, now);
    }

    /// The end of its last claim, where the ticket's file says otherwise.
    pub fn reverted(&self, ticket: &Ticket) -> Option<&EndedClaim> {
        reverted(ticket, self.facts.ended_claims.get(&ticket.id))
    }

    /// Whether a ticket of this id is reverted.
    pub fn is_reverted(&self, id: &TicketId) -> bool {
        self.backlog.get(id).is_some_and(|ticket| self.reverted(ticket).is_some())
    }

    pub(super) fn reverted_tickets(&self) -> &BTreeSet<TicketId> {
        &self.claim_book.reverted
    }

    /// Whether a queued ticket came back as it was, and has not entered the queue.
    pub(super) fn is_old_text(&self, ticket: &Ticket) -> bool {
        ticket.state == Some(State::Queued) && self.reverted(ticket).is_some()
    }

    /// `full`: there are no others.
    pub(super) fn claims_read(&mut self, news: Vec<ClaimNews>, full: bool, now: Timestamp) {
        if full {
            let there: Vec<_> = news.iter().map(|news| &news.ticket).collect();
            self.facts.claims.retain(|id, _| there.contains(&id));
            self.facts.ended_claims.retain(|id, _| there.contains(&id));
            self.claim_book.generations.retain(|id, _| there.contains(&id));
            let gone = self.claim_book.reverted.iter().filter(|id| !self.facts.ended_claims.contains_key(*id));
            for id in gone.cloned().collect::<Vec<_>>() {
                self.judge_reverted(&id, now);
            }
        }
        for news in news {
            // What a verb says of its own step may come later than a look that has seen the next one.
            if full || !self.is_overtaken(&news) {
                self.claim_read(news, now);
            }
        }
    }

    fn is_overtaken(&self, news: &ClaimNews) -> bool {
        match self.claim_book.generations.get(&news.ticket) {
            Some(known) if known == &news.generation => {
                news.stands.is_ok() && self.facts.ended_claims.contains_key(&news.ticket)
            }
            Some(known) => known > &news.generation,
            None => false,
        }
    }

    fn claim_read(&mut self, news: ClaimNews, now: Timestamp) {
        let id = news.ticket.clone();
        let (held_before, ended_before) =
            (self.facts.claims.get(&id).cloned(), self.facts.ended_claims.get(&id).cloned());
        let stands = news.stands.clone();
        let worker = |claim: &Claim| claim.worker.clone();
        // Two that were claimed apart from one another, each beside a remote that could not be asked, count alike.
        let other = self.claim_book.generations.get(&id) != Some(&news.generation)
            || held_before
                .as_ref()
                .map(worker)
                .is_some_and(|before| stands.as_ref().is_ok_and(|now| now.worker != before));
        self.know_claim(news);
        self.judge_reverted(&id, now);
        match (stands, held_before) {
            (Ok(claim), before) if other || before.is_none() => self.claim_taken(&id, &claim, before.as_ref(), now),
            (Err(ended), before) if before.is_some() || ended_before.as_ref() != Some(&ended) => {
                self.claim_ended(&id, &ended, now);
            }
            _ => {}
        }
    }

    fn know_claim(&mut self, news: ClaimNews) {
        let ClaimNews { ticket: id, generation, stands } = news;
        self.claim_book.generations.insert(id.clone(), generation);
        match stands {
            Ok(claim) => {
                self.facts.ended_claims.remove(&id);
                self.facts.claims.insert(id, claim);
            }
            Err(ended) => {
                self.facts.claims.remove(&id);
                self.facts.ended_claims.insert(id, ended);
            }
        }
    }

    fn claim_taken(&mut self, id: &TicketId, claim: &Claim, before: Option<&Claim>, now: Timestamp) {
        if let Some(before) = before {
            let data = json!({"worker": before.worker, "how": "broken", "by": claim.worker});
            self.record(RecordKind::ClaimEnded, Some(id), data, now);
        }
        let data = json!({"worker": claim.worker, "role": claim.role});
        self.record(RecordKind::IssueAssigned, Some(id), data, now);
        self.look_at_trees(now);
        if claim.role == ORCHESTRATOR {
            return;
        }
        self.facts.ended_pods.remove(id);
        self.no_longer_seen(id);
        self.got(id, Reached::Started);
        self.attempted(id, Attempt::Delegated);
    }

    /// That a delegated step is over is seen by its sign, which is gone (`judge_active`).
    fn claim_ended(&mut self, id: &TicketId, ended: &EndedClaim, now: Timestamp) {
        let how = match ended.end {
            End::Broken => "broken",
            End::Released(outcome) => outcome.as_str(),
        };
        self.record(RecordKind::ClaimEnded, Some(id), json!({"worker": ended.worker, "how": how}), now);
        if ended.end.is_without_result() {
            self.record(RecordKind::IssueUnassigned, Some(id), json!({"worker": ended.worker, "how": how}), now);
        }
        self.timers.worker_ended(id, now);
        self.look_at_trees(now);
    }

    /// In pull mode nobody looks after a ticket whose worker is gone: it enters the queue again.
    pub(super) fn bring_back(&mut self, now: Timestamp) {
        if self.policy.mode != Mode::Pull {
            self.claim_book.asked_back.clear();
            return;
        }
        let lost: Vec<TicketId> =
            self.backlog.inprogress().iter().filter(|id| self.is_lost(id, now)).cloned().collect();
        self.claim_book.asked_back.retain(|id, _| lost.contains(id));
        for id in lost {
            let asked = self.claim_book.asked_back.get(&id);
            if asked.is_none_or(|at| *at + AGAIN <= now) {
                self.claim_book.asked_back.insert(id.clone(), now);
                self.want(Effect::BringBack(id));
            }
        }
    }

    /// Its claim is stale, or has ended without a result since the ticket was accepted; and no process of its goes on.
    fn is_lost(&self, id: &TicketId, now: Timestamp) -> bool {
        let Some(ticket) = self.backlog.get(id).filter(|ticket| ticket.state == Some(State::Inprogress)) else {
            return false;
        };
        // One that works in its worktree is a Pod of its, too.
        let is_worked_in = self.facts.worktrees.get(id).is_some_and(|tree| tree.live_process.is_some());
        if is_worked_in || self.facts.pods_on(id).next().is_some() {
            return false;
        }
        match (self.facts.claims.get(id), self.facts.ended_claims.get(id)) {
            (Some(claim), _) => !claim.fresh_for_others(now),
            (None, Some(ended)) => ended.end.is_without_result() && is_since_acceptance(ticket, ended.at),
            (None, None) => false,
        }
    }
}

/// Both are in whole seconds, so that the same second counts.
fn is_since_acceptance(ticket: &Ticket, at: Timestamp) -> bool {
    ticket.acceptance_recorded() && ticket.stamps.accepted_at.is_some_and(|accepted| at >= accepted)
}
