//! Workers that claim what they are offered, in orchestrated mode (DESIGN.md 5.2, 6.2): their claims as acts of a walk, kept
//! as git would keep them.

use super::super::super::{Actor, ClaimNews, Engine, Event};
use super::super::host::Host;
use super::acts::{Act, NAMES};
use crate::domain::claim::{End, EndedClaim, Market, Outcome, Seeker, offers, renewed};
use crate::domain::facts::{Claim, TimeDeltaSeconds};
use crate::domain::sample::id;
use crate::domain::ticket::{State, TicketId, Timestamp};

const TTL: TimeDeltaSeconds = TimeDeltaSeconds(90 * 60);

fn newest(host: &Host, n: usize) -> Option<&ClaimNews> {
    host.claims.iter().find(|news| news.ticket == id(NAMES[n]))
}

fn held(host: &Host, n: usize) -> Option<&Claim> {
    newest(host, n)?.stands.as_ref().ok()
}

/// Whether others have to respect a claim of it.
pub(super) fn is_held(host: &Host, n: usize) -> bool {
    held(host, n).is_some_and(|claim| claim.fresh_for_others(host.now))
}

fn is_offered(engine: &Engine, ticket: &TicketId, now: Timestamp) -> bool {
    let market = Market { ground: engine.ground(), work_set: &engine.work_set, now };
    offers(market, &Seeker::default()).offered.contains(ticket)
}

/// Whether a worker can do it now, as far as that can be said without doing it.
pub(super) fn is_possible(host: &Host, act: Act) -> bool {
    let state = |n: usize| host.ticket(NAMES[n]).state;
    match act {
        Act::WorkerClaims(n) => is_offered(&host.engine, &id(NAMES[n]), host.now),
        Act::WorkerBeats(n) | Act::WorkerGivesUp(n) | Act::WorkerIsDone(n) => held(host, n).is_some(),
        Act::Offer(n) => {
            let claimed = newest(host, n).is_some() && !is_held(host, n);
            claimed && state(n) == Some(State::Inprogress) && !is_offered(&host.engine, &id(NAMES[n]), host.now)
        }
        Act::OldTextComesBack(n) => {
            let ended = newest(host, n).and_then(|news| news.stands.as_ref().err());
            let done = ended.is_some_and(|ended| ended.end == End::Released(Outcome::Done));
            done && state(n) == Some(State::Done)
        }
        _ => true,
    }
}

/// Does it.
pub(super) fn act(host: &mut Host, act: Act) {
    match act {
        Act::WorkerClaims(n) => {
            assert!(!is_held(host, n), "offered, and held by somebody");
            let generation = newest(host, n).map_or(0, |news| news.generation) + 1;
            moves(host, n, generation, |now| Ok(claim(now)));
        }
        Act::WorkerBeats(n) => again(host, n, |now| Ok(claim(now))),
        Act::WorkerGivesUp(n) => again(host, n, |now| Err(ended(Outcome::Abandoned, now))),
        Act::WorkerIsDone(n) => {
            // As the verb does it: the file first.
            if host.ticket(NAMES[n]).state == Some(State::Inprogress) {
                host.write(NAMES[n], Actor::Somebody("w".into()), |t| t.state = Some(State::Done));
            }
            again(host, n, |now| Err(ended(Outcome::Done, now)));
        }
        Act::Offer(n) => {
            if held(host, n).is_some() {
                again(host, n, |now| Err(EndedClaim { worker: "w".into(), end: End::Broken, at: now }));
            }
            let at = newest(host, n).and_then(|news| news.stands.as_ref().err()).map(|ended| ended.at);
            let (now, before) = (host.now, host.ticket(NAMES[n]));
            assert!(!renewed(&before, at, "orchestrator", now).is_empty(), "there is something to renew");
            let renewed = at.map(|at| now.max(at + chrono::TimeDelta::seconds(1)));
            host.write(NAMES[n], Actor::Orchestrator, |t| t.stamps.accepted_at = renewed);
        }
        Act::OldTextComesBack(n) => host.edit(NAMES[n], |t| t.state = Some(State::Inprogress)),
        _ => {}
    }
}

fn claim(now: Timestamp) -> Claim {
    Claim { worker: "w".into(), role: "coder".into(), beat: now, ttl: TTL }
}

fn ended(outcome: Outcome, now: Timestamp) -> EndedClaim {
    EndedClaim { worker: "w".into(), end: End::Released(outcome), at: now }
}

fn again(host: &mut Host, n: usize, stands: impl FnOnce(Timestamp) -> Result<Claim, EndedClaim>) {
    let generation = newest(host, n).map_or(0, |news| news.generation);
    moves(host, n, generation, stands);
}

fn moves(host: &mut Host, n: usize, generation: u64, stands: impl FnOnce(Timestamp) -> Result<Claim, EndedClaim>) {
    let news = ClaimNews { ticket: id(NAMES[n]), generation, stands: stands(host.now) };
    host.claims.retain(|other| other.ticket != news.ticket);
    host.claims.push(news.clone());
    host.tell(Event::ClaimsRead { news: vec![news], full: false });
}

/// A fresh claim is as fresh as it can be, a stale one has long been so. Only where nothing less than a day tells them apart.
pub(super) fn settle_times(host: &mut Host) {
    let now = host.now;
    let settle = |claim: &mut Claim| {
        claim.beat = if claim.fresh_for_others(now) { now } else { now - chrono::TimeDelta::days(1) };
    };
    host.claims.iter_mut().filter_map(|news| news.stands.as_mut().ok()).for_each(settle);
    host.engine.facts.claims.values_mut().for_each(settle);
}

/// How a ticket's claim stands: all that a rule tells apart.
pub(super) fn key(host: &Host, n: usize) -> [u8; 2] {
    let ticket = host.ticket(NAMES[n]);
    let stands = match newest(host, n).map(|news| &news.stands) {
        None => 0,
        Some(Ok(claim)) => 1 + u8::from(claim.fresh_for_others(host.now)),
        Some(Err(ended)) if ended.end.is_without_result() => 3,
        Some(Err(_)) => 4,
    };
    let at = match newest(host, n).map(|news| &news.stands) {
        None => return [0, 0],
        Some(Ok(claim)) => claim.beat,
        Some(Err(ended)) => ended.at,
    };
    let later = |stamp: Option<Timestamp>| stamp.is_some_and(|stamp| stamp >= at);
    [stands, u8::from(later(ticket.stamps.queued_at)) | u8::from(later(ticket.stamps.accepted_at)) << 1]
}
