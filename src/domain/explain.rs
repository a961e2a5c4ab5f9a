//! `yoi why`: the explanation of one ticket from recorded evidence, a sentence each.
//!
//! Must not know: how it is printed. Promise 3 of DESIGN.md.

use super::claim::{End, Market, conflict, hindrances, open_pull_request, reverted_hint, reverted_words};
use super::classify::{Class, Evidence, clock};
use super::engine::{Engine, LastDecision, Orchestrator, Row, Session};
use super::facts::Dirty;
use super::gates::{Ground, dirty_evidence};
use super::policy::{DirtyGate, Mode};
use super::ticket::{State, Timestamp};

/// Explains why the ticket of this row is where it is, and what happens next.
pub fn explain(engine: &Engine, row: &Row<'_>, now: Timestamp) -> Vec<String> {
    let mut lines = Vec::new();
    state(row, &mut lines);
    class(engine, row, &mut lines);
    pull_request(row, &mut lines);
    gates(engine, row, &mut lines);
    claim(engine, row, &mut lines);
    notes(row, &mut lines);
    let beware = [engine.saved_over(&row.ticket.id), engine.set_aside(&row.ticket.id)];
    lines.extend(beware.into_iter().flatten().map(|what| format!("Beware: {what}.")));
    lines.extend(engine.polite_wait(&row.ticket.id).map(|wait| format!("{wait}.")));
    next(engine, row, now, &mut lines);
    for problem in &row.ticket.problems {
        let place = if problem.line > 0 { format!("line {}: ", problem.line) } else { String::new() };
        lines.push(format!("The file has a fault: {place}{}.", problem.message.trim_end_matches('.')));
    }
    lines
}

fn state(row: &Row<'_>, lines: &mut Vec<String>) {
    let ticket = row.ticket;
    let stamps = &ticket.stamps;
    let Some(state) = ticket.state else {
        lines.push("It has no state that can be read, so nothing happens to it.".into());
        return;
    };
    let by = |name: &Option<String>| name.as_ref().map(|n| format!(" by {n}")).unwrap_or_default();
    let at = |time: Option<Timestamp>| time.map(|t| format!(" since {}", clock(t))).unwrap_or_default();
    lines.push(match state {
        State::Queued => {
            let missing = if stamps.queued_at.is_none() { "; queued_at is missing" } else { "" };
            format!("It is queued{}{}{missing}.", at(stamps.queued_at), by(&stamps.queued_by))
        }
        State::Inprogress if ticket.acceptance_recorded() => {
            format!("It is inprogress, accepted{}{}.", by(&stamps.accepted_by), at(stamps.accepted_at))
        }
        State::Planning => "It is in planning: a person makes it ready, then queues it.".into(),
        State::Ready => "It is ready: nobody has queued it.".into(),
        other => format!("It is {other}."),
    });
}

fn class(engine: &Engine, row: &Row<'_>, lines: &mut Vec<String>) {
    let Some(classified) = &row.class else { return };
    // In pull mode there is no Orchestrator, and no work set.
    let is_said = |found: &&Evidence| engine.policy().mode != Mode::Pull || **found != Evidence::NotInWorkSet;
    let evidence: Vec<_> = classified.evidence.iter().filter(is_said).map(ToString::to_string).collect();
    let colon = if evidence.is_empty() { "" } else { ": " };
    lines.push(format!("Its class is {}{colon}{}.", classified.class, evidence.join("; ")));
}

fn pull_request(row: &Row<'_>, lines: &mut Vec<String>) {
    if let Some(pr) = open_pull_request(row.ticket).filter(|_| row.class.is_some()) {
        let id = &row.ticket.id;
        lines.push(format!(
            "It waits for its pull request: {pr}. Nobody is offered it until it is closed (`yoi close {id}`), or `pr` is \
             taken out (`yoi set {id} --unset pr`)."
        ));
    }
}

fn claim(engine: &Engine, row: &Row<'_>, lines: &mut Vec<String>) {
    let ticket = row.ticket;
    if let Some((claim, fresh)) = row.claim {
        let (until, beat) = (clock(claim.expires()), clock(claim.beat));
        lines.push(if fresh {
            format!("{} ({}) holds it: last heard of at {beat}, respected until {until}.", claim.worker, claim.role)
        } else {
            format!(
                "The claim of {} ({}) is stale since {until} (last heard of at {beat}): whoever claims the ticket breaks it.",
                claim.worker, claim.role
            )
        });
        if let Some((what, hint)) = conflict(ticket, claim).filter(|_| fresh) {
            lines.push(format!("It is {what}. A person decides: {hint}."));
        }
    } else if let Some(ended) = engine.facts().ended_claims.get(&ticket.id)
        && matches!(ticket.state, Some(State::Queued | State::Inprogress))
    {
        lines.push(match ended.end {
            End::Released(outcome) => {
                format!("Its last claim: {} released it as {outcome} at {}.", ended.worker, clock(ended.at))
            }
            End::Broken => {
                format!("Its last claim: that of {}, stale and broken at {}.", ended.worker, clock(ended.at))
            }
        });
    }
    if let Some(label) = row.stale_label {
        lines.push(format!(
            "Its label `{label}` is stale: nobody holds a fresh claim. The next claim's end takes it off."
        ));
    }
    if let Some(ended) = row.reverted {
        lines.push(format!("It is {}.", reverted_words(ticket, ended)));
        lines.push(format!("So it is neither offered nor kicked for: {}.", reverted_hint(ticket)));
    }
}

fn gates(engine: &Engine, row: &Row<'_>, lines: &mut Vec<String>) {
    if row.ticket.state != Some(State::Queued) {
        return;
    }
    if row.holds.is_empty() && open_pull_request(row.ticket).is_none() {
        lines.push("No gate holds it.".into());
    }
    lines.extend(row.holds.iter().map(|hold| format!("The {} gate holds it: {}.", hold.gate, hold.evidence)));
    lines.extend(dirty_remark(engine));
}

/// What is to be said of the dirty-workspace gate where it holds nothing.
pub fn dirty_remark(engine: &Engine) -> Option<String> {
    match engine.policy().dirty_workspace {
        DirtyGate::Off => Some("The dirty_workspace gate is off: uncommitted changes are not looked at.".into()),
        DirtyGate::Warn => {
            dirty_evidence(&engine.facts().dirty).map(|e| format!("The dirty_workspace gate only warns: {e}."))
        }
        DirtyGate::Block if engine.facts().dirty == Dirty::NotProbed => {
            Some("There is no git here, so the dirty_workspace gate holds nothing.".into())
        }
        DirtyGate::Block => None,
    }
}

fn notes(row: &Row<'_>, lines: &mut Vec<String>) {
    let Some(note) = row.note else { return };
    if let Some(order) = note.order {
        lines.push(format!("The Orchestrator planned it as number {order}."));
    }
    if let Some(waiting) = &note.waiting {
        lines.push(format!(
            "The Orchestrator lets it wait ({}): {}.",
            waiting.kind,
            waiting.detail.trim_end_matches('.')
        ));
    }
    if let Some(awaited) = &note.awaited {
        lines.push(format!("The Orchestrator awaits its step `{}` until {}.", awaited.step, clock(awaited.due)));
    }
}

fn next(engine: &Engine, row: &Row<'_>, now: Timestamp, lines: &mut Vec<String>) {
    let Some(class) = row.class.as_ref().map(|c| c.class) else { return };
    if engine.policy().mode == Mode::Pull {
        lines.push(offered(engine, row, now));
        return;
    }
    let summary = engine.summary(now);
    if let Some(why) = summary.absence {
        lines.push(format!("Nobody is kicked for it: {why}."));
        return;
    }
    if class == Class::ActiveInprogress {
        lines.push("Nothing is to be decided about it until the delegated step ends.".into());
        return;
    }
    let list = engine.attention(false, now);
    if let Some(place) = list.items.iter().position(|item| item.id == row.ticket.id) {
        let seen = if list.items[place].seen {
            "; a turn has already ended without doing anything about it, so it is handed over again only with something new"
        } else {
            ""
        };
        lines.push(format!(
            "It is number {} of {} on the Orchestrator's attention list{seen}.",
            place + 1,
            list.items.len()
        ));
    } else if let Some(held) = list.held.iter().find(|held| held.id == row.ticket.id) {
        lines.push(format!("It is not on the Orchestrator's attention list: {}.", held.reason));
    }
    match summary.orchestrator {
        Orchestrator::Busy(turn) => {
            let kick = turn.kick.as_ref().map(|kick| format!(" (kick {})", kick.0)).unwrap_or_default();
            lines.push(format!("The Orchestrator is at work since {}{kick}.", clock(turn.since)));
        }
        Orchestrator::Preparing { .. } => lines.push("A kick is being prepared.".into()),
        Orchestrator::Idle { since } => lines.push(format!("The Orchestrator is idle since {}.", clock(*since))),
    }
    lines.extend(summary.live.into_iter().flat_map(|session| reached(session, engine.policy().session.can_wake)));
    lines.extend(summary.last_decision.map(last));
}

/// Whether workers may take it. In pull mode nobody else moves it.
fn offered(engine: &Engine, row: &Row<'_>, now: Timestamp) -> String {
    let ground = Ground { backlog: engine.backlog(), facts: engine.facts(), policy: engine.policy() };
    let hindrances = hindrances(row.ticket, Market { ground, work_set: engine.work_set(), now });
    if hindrances.is_empty() {
        return "Workers are offered it: `yoi next --claim` takes the first of what is offered.".to_owned();
    }
    format!("Workers are not offered it: {}.", hindrances.join("; "))
}

/// How an Orchestrator that registers itself is reached just now: a sentence for each thing that is in the way.
pub fn reached(session: &Session, can_wake: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if session.silent {
        lines.push(format!("Its session is busy, and silent since {}.", clock(session.heard)));
    }
    if let Some(until) = session.doubt {
        lines.push(format!(
            "What its last hook came from has ended: if it does not report again until {}, it is taken to be gone.",
            clock(until)
        ));
    }
    if let Some(pending) = &session.pending {
        let causes: Vec<_> = pending.causes.iter().map(|c| c.as_str()).collect();
        let how = if can_wake { "it is woken for it" } else { "no [orchestrator] wake is in effect" };
        lines.push(format!(
            "A kick is pending since {} ({}): it is handed over at the session's next prompt or stop; {how}.",
            clock(pending.since),
            causes.join(", ")
        ));
    }
    if let Some((why, at)) = session.waking.failed.as_ref().filter(|_| session.waking.failures > 0) {
        let times = session.waking.failures;
        lines.push(format!("Waking it failed at {}: {why} ({times} in a row).", clock(*at)));
    }
    lines.extend(session.ignored.iter().map(|(what, at)| format!("At {} {what}.", clock(*at))));
    lines
}

/// The last decision in a sentence.
pub fn last(decision: &LastDecision) -> String {
    let causes: Vec<_> = decision.causes.iter().map(|c| c.as_str()).collect();
    format!(
        "The last decision, at {} by {}, was row {}: {} ({}).",
        clock(decision.at),
        causes.join(", "),
        decision.row,
        decision.decision,
        decision.detail
    )
}
