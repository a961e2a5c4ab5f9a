//! Which tickets a worker is offered, in which order, and why each other one is not (DESIGN.md 5.2 and 6.4).
//!
//! Must not know: who asks; the swap that makes a claim true. What is offered here may be somebody else's a moment later.

use std::collections::BTreeMap;

use chrono::TimeDelta;

use super::ends::{claimable, open_pull_request};
use super::news::{End, EndedClaim};
use super::reverted::{reverted, reverted_words};
use crate::domain::classify::{Evidence, clock, under_way};
use crate::domain::edit::Change;
use crate::domain::facts::Claim;
use crate::domain::gates::{Ground, holds, human};
use crate::domain::harmless::quoted;
use crate::domain::lifecycle::acceptance;
use crate::domain::policy::Mode;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{OrphanStatus, State, Ticket, TicketId, Timestamp};
use crate::domain::workset::{WaitKind, WorkSet};

/// What a worker says of itself. What it does not say excludes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seeker {
    /// The repositories it works in; empty: any. A ticket without `repo` is anybody's.
    pub repos: Vec<String>,
    /// What it can do; empty: whatever a ticket requires.
    pub can: Vec<String>,
}

/// What the offers rest on.
#[derive(Clone, Copy)]
pub struct Market<'a> {
    /// Tickets, facts, policy.
    pub ground: Ground<'a>,
    /// The Orchestrator's notes: a step that it awaits is under way.
    pub work_set: &'a WorkSet,
    /// The current time.
    pub now: Timestamp,
}

/// What keeps a ticket from being offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hindrance {
    /// The file cannot be read, or is not the only one with its id.
    Fault,
    /// The text is older than what its last claim brought about.
    Reverted,
    /// Nobody has accepted it, in orchestrated mode; or it is in progress without a record of that.
    NotAccepted,
    /// A gate holds it.
    Gate(WaitKind),
    /// The orphan policy has left it to a person.
    NeedsHuman,
    /// Its pull request is open.
    PullRequest,
    /// Somebody holds it.
    Claimed,
    /// A Pod, a process or an awaited step is at work on it.
    UnderWay,
    /// It was claimed since its acceptance, and not offered again.
    ClaimedBefore,
    /// It belongs to another repository than the worker.
    Scope,
    /// The worker cannot do what it requires.
    Capability,
}

impl Hindrance {
    /// The name in output and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Hindrance::Fault => "fault",
            Hindrance::Reverted => "reverted",
            Hindrance::NotAccepted => "not_accepted",
            Hindrance::Gate(gate) => gate.as_str(),
            Hindrance::NeedsHuman => "needs_human",
            Hindrance::PullRequest => "pull_request",
            Hindrance::Claimed => "claimed",
            Hindrance::UnderWay => "under_way",
            Hindrance::ClaimedBefore => "claimed_before",
            Hindrance::Scope => "scope",
            Hindrance::Capability => "capability",
        }
    }
}

/// A ticket that is not offered, with every reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBack {
    /// Which.
    pub id: TicketId,
    /// Its title; empty where it cannot be read.
    pub title: String,
    /// Its state, where it can be read.
    pub state: Option<State>,
    /// At least one: of what kind, and in words.
    pub reasons: Vec<(Hindrance, String)>,
}

/// All queued tickets, and all in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// Offered, the first first.
    pub offered: Vec<TicketId>,
    /// Not offered, in the same order; what cannot be read comes last.
    pub held: Vec<HeldBack>,
}

impl Offers {
    /// How many tickets each kind of reason holds back; one with several reasons counts with each.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for held in &self.held {
            let mut kinds: Vec<_> = held.reasons.iter().map(|(kind, _)| kind.as_str()).collect();
            kinds.sort_unstable();
            kinds.dedup();
            for kind in kinds {
                *counts.entry(kind).or_default() += 1;
            }
        }
        counts
    }
}

/// Derives the offers.
pub fn offers(market: Market<'_>, seeker: &Seeker) -> Offers {
    let backlog = market.ground.backlog;
    let open = backlog.queued().iter().chain(backlog.inprogress());
    let mut open: Vec<_> = open.filter_map(|id| backlog.get(id)).collect();
    open.sort_by_cached_key(|ticket| order(ticket));
    let mut offers = Offers::default();
    for ticket in open {
        let reasons = reasons(ticket, market, seeker);
        if reasons.is_empty() {
            offers.offered.push(ticket.id.clone());
        } else {
            let (id, title, state) = (ticket.id.clone(), ticket.title.clone(), ticket.state);
            offers.held.push(HeldBack { id, title, state, reasons });
        }
    }
    let stateless = backlog.tickets().filter(|ticket| ticket.state.is_none()).map(|ticket| HeldBack {
        id: ticket.id.clone(),
        title: ticket.title.clone(),
        state: None,
        reasons: vec![(Hindrance::Fault, "its state cannot be read".to_owned())],
    });
    offers.held.extend(stateless);
    offers.held.extend(backlog.faults().into_iter().map(|fault| HeldBack {
        reasons: vec![(Hindrance::Fault, fault.to_string())],
        id: fault.id,
        title: String::new(),
        state: None,
    }));
    offers
}

/// The highest priority first, within it the oldest entry into the queue, then by id.
fn order(ticket: &Ticket) -> impl Ord + use<> {
    let stamps = &ticket.stamps;
    let since = stamps.queued_at.or(stamps.accepted_at).or(stamps.created_at);
    (ticket.priority, since.is_none(), since, ticket.id.clone())
}

/// Everything that keeps one ticket, queued or in progress, from being offered to anybody, in words.
pub fn hindrances(ticket: &Ticket, market: Market<'_>) -> Vec<String> {
    reasons(ticket, market, &Seeker::default()).into_iter().map(|(_, words)| words).collect()
}

/// Everything that keeps one ticket, queued or in progress, from being offered.
fn reasons(ticket: &Ticket, market: Market<'_>, seeker: &Seeker) -> Vec<(Hindrance, String)> {
    let mut found = Vec::new();
    if let Some(ended) = reverted(ticket, market.ground.facts.ended_claims.get(&ticket.id)) {
        found.push((Hindrance::Reverted, reverted_words(ticket, ended)));
    }
    of_acceptance(ticket, market, &mut found);
    of_people(ticket, &mut found);
    of_workers(ticket, market, &mut found);
    if let Some(repo) = ticket.repo.as_ref().filter(|repo| !seeker.repos.is_empty() && !seeker.repos.contains(repo)) {
        found.push((Hindrance::Scope, format!("it belongs to {}, the worker to {}", quoted(repo), all(&seeker.repos))));
    }
    let missing: Vec<_> = ticket.requires.iter().filter(|needed| !seeker.can.contains(needed)).cloned().collect();
    if !seeker.can.is_empty() && !missing.is_empty() {
        found.push((Hindrance::Capability, format!("it requires {}, which the worker cannot do", all(&missing))));
    }
    found
}

/// Gates hold what is queued: what was accepted has passed them, but for a person's.
fn of_acceptance(ticket: &Ticket, market: Market<'_>, found: &mut Vec<(Hindrance, String)>) {
    let mode = market.ground.policy.mode;
    let gates = if ticket.state == Some(State::Queued) {
        if mode == Mode::Orchestrated {
            found.push((Hindrance::NotAccepted, "queued: the Orchestrator has not accepted it".into()));
        }
        holds(ticket, market.ground)
    } else {
        if !ticket.acceptance_recorded() {
            let words = "inprogress without a recorded acceptance: `yoi accept` records it".into();
            found.push((Hindrance::NotAccepted, words));
        }
        human(ticket)
    };
    found.extend(gates.into_iter().map(|hold| (Hindrance::Gate(hold.gate), hold.evidence)));
}

fn of_people(ticket: &Ticket, found: &mut Vec<(Hindrance, String)>) {
    if ticket.orphan_status == Some(OrphanStatus::NeedsHuman) {
        found.push((Hindrance::NeedsHuman, "orphan_status: needs_human, a person decides".into()));
    }
    if let Some(pr) = open_pull_request(ticket) {
        found.push((Hindrance::PullRequest, format!("its pull request is open: {pr}")));
    }
}

/// Whoever holds it, works on it, or has worked on it.
fn of_workers(ticket: &Ticket, market: Market<'_>, found: &mut Vec<(Hindrance, String)>) {
    let Market { ground, work_set, now } = market;
    let claim = ground.facts.claims.get(&ticket.id);
    if let Some(claim) = claim.filter(|claim| claim.fresh_for_others(now)) {
        let until = clock(claim.expires());
        found.push((Hindrance::Claimed, format!("held by {} ({}) until {until}", claim.worker, claim.role)));
    }
    for evidence in under_way(&ticket.id, work_set.get(&ticket.id), ground.facts, now) {
        if !matches!(evidence, Evidence::FreshClaim { .. }) {
            found.push((Hindrance::UnderWay, evidence.to_string()));
        }
    }
    if ground.policy.mode == Mode::Orchestrated && ticket.state == Some(State::Inprogress) {
        let stale = claim.filter(|claim| !claim.fresh_for_others(now));
        let by_stale = stale.filter(|claim| !is_offered_since(ticket, claim.beat));
        let by_ended = ground.facts.ended_claims.get(&ticket.id);
        let by_ended = by_ended.filter(|ended| claim.is_none() && !is_offered_since(ticket, ended.at));
        let words = match (by_stale, by_ended) {
            (Some(claim), _) => {
                format!("the claim of {} is stale; `yoi offer {}` offers it again", claim.worker, ticket.id)
            }
            (_, Some(ended)) => format!("{}; `yoi offer {}` offers it again", how(ended), ticket.id),
            _ => return,
        };
        found.push((Hindrance::ClaimedBefore, words));
    }
}

fn how(ended: &EndedClaim) -> String {
    let (worker, at) = (&ended.worker, clock(ended.at));
    match ended.end {
        End::Released(outcome) => format!("claimed since its acceptance: {worker} released it as {outcome} at {at}"),
        End::Broken => {
            format!("claimed since its acceptance: {worker} was not heard of, and its claim was broken at {at}")
        }
    }
}

/// Whether the ticket was accepted, or offered again, after that moment of a claim of it. Both are in whole seconds; in the
/// same one the claim counts as the later.
fn is_offered_since(ticket: &Ticket, claimed: Timestamp) -> bool {
    ticket.stamps.accepted_at.is_some_and(|accepted| accepted > claimed)
}

fn all(names: &[String]) -> String {
    names.iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// Whether a ticket can be offered to workers again.
pub fn offerable(ticket: &Ticket, mode: Mode) -> Result<(), Refusal> {
    let id = &ticket.id;
    if mode == Mode::Pull {
        return Err(Refusal::new("in pull mode every ticket that nobody holds is offered to workers by itself")
            .hint(format!("`yoi why {id}` says what keeps it from that")));
    }
    if ticket.state == Some(State::Queued) {
        return Err(Refusal::new(format!("`{id}` is queued: workers are offered what is accepted"))
            .hint(format!("yoi accept {id}")));
    }
    claimable(ticket, mode)
}

/// What an offer changes in the file: its acceptance is renewed, and is later than whatever came of the last claim. Nothing
/// where it is that already.
pub fn renewed(ticket: &Ticket, ended: Option<Timestamp>, by: &str, now: Timestamp) -> Vec<Change> {
    let Some(ended) = ended.filter(|ended| !is_offered_since(ticket, *ended)) else { return Vec::new() };
    // Whole seconds are written.
    acceptance(ticket, by, now.max(ended + TimeDelta::seconds(1)))
}

/// Why a ticket that somebody holds is not offered.
pub fn held_words(id: &TicketId, claim: &Claim) -> Refusal {
    let until = clock(claim.expires());
    Refusal::new(format!("`{id}` is held by {} ({}) until {until}", claim.worker, claim.role))
        .hint("when the claim has ended, or was not renewed until then, it can be offered again")
}

#[cfg(test)]
#[path = "offer_tests.rs"]
mod tests;
