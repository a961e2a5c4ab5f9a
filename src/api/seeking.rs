//! `next` and `offer`: what a worker is given to do.
//!
//! Must not know: which tickets are offered (`domain::claim` decides).

use std::collections::BTreeMap;

use serde_json::Value;

use super::caller::{actor, recorded_name};
use super::claiming::{challenge, just_claimed};
use super::failure::Failure;
use super::handle::move_view;
use super::present;
use super::request::{Caller, ClaimRequest, NextRequest};
use super::view::{HeldBackView, NextView, ReasonView, VERSION, value};
use crate::daemon::{self, Lending, Next, Seeking};
use crate::domain::claim::{HeldBack, Hindrance, Offers, Seeker};
use crate::domain::ticket::{Ticket, TicketId};

/// How many tickets that are held back are named.
const NAMED: usize = 20;

/// The next ticket.
pub(super) fn next<L: Lending>(request: NextRequest, lending: &mut L) -> Result<Value, Failure> {
    let NextRequest { claim, repos, can, worker, role, ttl, pid, session, local, agent, mut caller } = request;
    caller.name = caller.name.or(agent);
    let wanted = ClaimRequest { id: String::new(), worker, role, ttl, pid, session, local, own: Vec::new(), caller };
    let claims = if claim { Some(lending.lend(move |host| challenge(wanted, host))??) } else { None };
    let seeking = Seeking { seeker: Seeker { repos, can }, claims };
    let found = NextView { version: VERSION, ..NextView::default() };
    value(&match daemon::next(lending, &seeking)? {
        Next::Idle(offers, passed) => idle(&offers, &passed, found),
        Next::Free(ticket) => with_ticket(lending, ticket, found)?,
        Next::Won(done, remarks) => {
            let found = NextView { claim: Some(just_claimed(lending, &done)), remarks, ..found };
            with_ticket(lending, done.ticket, found)?
        }
    })
}

fn with_ticket<L: Lending>(lending: &mut L, ticket: Ticket, found: NextView) -> Result<NextView, Failure> {
    let view = lending.lend(move |host| present::ticket(&host.engine().row(&ticket, host.now())))?;
    Ok(NextView { ticket: Some(view), ..found })
}

fn idle(offers: &Offers, passed: &BTreeMap<TicketId, String>, found: NextView) -> NextView {
    let mut counts: BTreeMap<_, _> =
        offers.counts().into_iter().map(|(kind, count)| (kind.to_owned(), count)).collect();
    if !passed.is_empty() {
        counts.insert("refused".into(), passed.len());
    }
    let tried = passed.iter().map(|(id, why)| HeldBackView {
        id: id.to_string(),
        title: String::new(),
        state: None,
        reasons: vec![ReasonView { kind: "refused".into(), reason: why.clone() }],
    });
    let held_back = tried.chain(offers.held.iter().map(held_back)).take(NAMED).collect();
    NextView { idle: true, held_back, held_back_count: offers.held.len() + passed.len(), counts, ..found }
}

fn held_back(held: &HeldBack) -> HeldBackView {
    let reason =
        |(kind, words): &(Hindrance, String)| ReasonView { kind: kind.as_str().to_owned(), reason: words.clone() };
    HeldBackView {
        id: held.id.to_string(),
        title: held.title.clone(),
        state: held.state.map(|state| state.to_string()),
        reasons: held.reasons.iter().map(reason).collect(),
    }
}

/// Offers a ticket again.
pub(super) fn offer<L: Lending>(id: &str, caller: Caller, lending: &mut L) -> Result<Value, Failure> {
    let (by, actor) = lending.lend(move |host| (recorded_name(host, &caller), actor(host, &caller)))?;
    let done = daemon::offer(lending, &TicketId::new(id), &by, actor)?;
    value(&move_view(&done.before, &done.after, done.remarks))
}
