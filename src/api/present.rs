//! Domain values as views.

use super::view::{
    AwaitedView, EventView, FaultView, FindingView, GateView, HeldTicketView, HeldView, HolderView, ItemView,
    ProblemView, TicketView, TimerView, VERSION, WaitingView,
};
use crate::daemon::Host;
use crate::domain::attention::{Held, Item};
use crate::domain::backlog::Fault;
use crate::domain::claim::reverted_words;
use crate::domain::classify::clock;
use crate::domain::engine::{Engine, Row};
use crate::domain::facts::Claim;
use crate::domain::remarks::without_ticket;
use crate::domain::ticket::{OrphanStatus, State, TicketId, Timestamp};
use crate::ports::Stored;

/// A ticket with all that is derived of it.
pub fn ticket(row: &Row<'_>) -> TicketView {
    let ticket = row.ticket;
    let stamps = &ticket.stamps;
    let ids = |ids: &[TicketId]| ids.iter().map(ToString::to_string).collect();
    TicketView {
        id: ticket.id.to_string(),
        path: ticket.path.display().to_string(),
        title: ticket.title.clone(),
        state: ticket.state.map(|s| s.to_string()),
        priority: ticket.priority.to_string(),
        labels: ticket.labels.clone(),
        class: row.class.as_ref().map(|c| c.class.to_string()),
        evidence: row.class.iter().flat_map(|c| &c.evidence).map(ToString::to_string).collect(),
        gates: row
            .holds
            .iter()
            .map(|hold| GateView { gate: hold.gate.to_string(), evidence: hold.evidence.clone() })
            .collect(),
        waiting: row
            .note
            .and_then(|n| n.waiting.as_ref())
            .map(|w| WaitingView { kind: w.kind.to_string(), detail: w.detail.clone() }),
        awaited: row
            .note
            .and_then(|n| n.awaited.as_ref())
            .map(|a| AwaitedView { step: a.step.clone(), due: clock(a.due) }),
        claim: row.claim.map(|(claim, fresh)| holder(claim, fresh)),
        reverted: row.reverted.map(|ended| reverted_words(ticket, ended)),
        order: row.note.and_then(|n| n.order),
        created_at: stamps.created_at.map(clock),
        updated_at: stamps.updated_at.map(clock),
        queued_at: stamps.queued_at.map(clock),
        queued_by: stamps.queued_by.clone(),
        accepted_at: stamps.accepted_at.map(clock),
        accepted_by: stamps.accepted_by.clone(),
        orphan_status: ticket.orphan_status.map(|s| match s {
            OrphanStatus::Orphan => "orphan".into(),
            OrphanStatus::NeedsHuman => "needs_human".into(),
        }),
        depends_on: ids(&ticket.depends_on),
        conflicts_with: ids(&ticket.conflicts_with),
        touches: ticket.touches.clone(),
        human_gate: ticket.human_gate.clone(),
        repo: ticket.repo.clone(),
        requires: ticket.requires.clone(),
        parent: ticket.parent.as_ref().map(ToString::to_string),
        children: ids(&ticket.children),
        github: ticket.github.clone(),
        pr: ticket.pr.clone(),
        problems: ticket
            .problems
            .iter()
            .map(|p| ProblemView { line: p.line, column: p.column, message: p.message.clone() })
            .collect(),
    }
}

/// Claims that no ticket's line shows.
pub fn lost_claims(host: &Host) -> impl Iterator<Item = FindingView> + use<> {
    let claims = host.read_claims().unwrap_or_default();
    let lost = without_ticket(host.engine().backlog(), &claims, host.now()).into_iter();
    lost.map(|(id, message)| FindingView::new("remark", format!("claim of `{id}`"), message))
}

/// How a claim stands.
pub fn holder(claim: &Claim, fresh: bool) -> HolderView {
    HolderView {
        worker: claim.worker.clone(),
        role: claim.role.clone(),
        beat: clock(claim.beat),
        own_end: clock(claim.own_end()),
        until: clock(claim.expires()),
        fresh,
    }
}

/// Every claim that nobody has ended, by ticket.
pub fn claims(engine: &Engine, now: Timestamp) -> Vec<HeldTicketView> {
    let claims = engine.facts().claims.iter();
    let view = |(id, claim): (&TicketId, &Claim)| HeldTicketView {
        id: id.to_string(),
        claim: holder(claim, claim.fresh_for_others(now)),
    };
    claims.map(view).collect()
}

/// A file that is listed as an error.
pub fn fault(fault: Fault) -> FaultView {
    FaultView {
        id: fault.id.to_string(),
        path: fault.path.display().to_string(),
        line: fault.error.line,
        column: fault.error.column,
        message: fault.error.message,
    }
}

/// An item of the attention list.
pub fn item(item: &Item) -> ItemView {
    ItemView {
        id: item.id.to_string(),
        title: item.title.clone(),
        class: item.class.to_string(),
        reason: item.reason.clone(),
        next_step: item.next_step.clone(),
        seen: item.seen,
    }
}

/// A ticket that is kept off it.
pub fn held(held: &Held) -> HeldView {
    HeldView { id: held.id.to_string(), kind: held.kind.map(|kind| kind.to_string()), reason: held.reason.clone() }
}

/// A line of history.
pub fn event(stored: Stored) -> EventView {
    EventView {
        version: VERSION,
        seq: stored.seq,
        kind: stored.record.kind.as_str().to_owned(),
        at: clock(stored.record.at),
        ticket: stored.record.ticket.map(|id| id.to_string()),
        data: stored.record.data,
    }
}

/// The place of a state in a list: what moves first.
pub fn rank(state: Option<State>) -> u8 {
    match state {
        Some(State::Inprogress) => 0,
        Some(State::Queued) => 1,
        Some(State::Ready) => 2,
        Some(State::Planning) => 3,
        None => 4,
        Some(State::Done) => 5,
        Some(State::Closed) => 6,
    }
}

/// A due time.
pub fn timer((what, at): (&'static str, Timestamp)) -> TimerView {
    TimerView { what: what.to_owned(), at: clock(at) }
}
