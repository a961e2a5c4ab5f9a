//! What a scripted Orchestrator does with a kick.

use chrono::TimeDelta;

use super::super::{Kick, Orders, TurnOutcome};
use super::host::Host;
use crate::domain::classify::Class;
use crate::domain::sample::queued;
use crate::domain::ticket::TicketId;
use crate::domain::workset::WaitKind;

/// How many delegated steps a ticket of the diligent Orchestrator takes.
pub(super) const STEPS: u32 = 4;

fn ok(seconds: i64) -> (TimeDelta, TurnOutcome) {
    (TimeDelta::seconds(seconds), TurnOutcome::Succeeded)
}

/// Takes the kick, and does nothing.
pub(super) fn lazy(_: &mut Host, _: &Kick) -> (TimeDelta, TurnOutcome) {
    ok(2)
}

/// Exits with 1 each time.
pub(super) fn failing(_: &mut Host, _: &Kick) -> (TimeDelta, TurnOutcome) {
    (TimeDelta::seconds(1), TurnOutcome::Failed("exit 1".into()))
}

/// Does the next step of every item it was handed.
pub(super) fn diligent(host: &mut Host, kick: &Kick) -> (TimeDelta, TurnOutcome) {
    for item in &kick.items {
        next_step(host, &item.id, item.class);
    }
    ok(3)
}

/// Does the next step of the first item alone.
pub(super) fn one_step(host: &mut Host, kick: &Kick) -> (TimeDelta, TurnOutcome) {
    next_step(host, &kick.items[0].id, kick.items[0].class);
    ok(3)
}

/// Takes note of everything, and lets it wait for reasons of its own.
pub(super) fn shelving(host: &mut Host, kick: &Kick) -> (TimeDelta, TurnOutcome) {
    for item in &kick.items {
        let wait = Orders::Wait { kind: WaitKind::Other, detail: "later".into() };
        // What is inprogress cannot wait; it is left alone.
        host.order(item.id.as_str(), wait).ok();
    }
    ok(2)
}

/// Makes itself a new ticket, and plans it.
pub(super) fn making(host: &mut Host, _: &Kick) -> (TimeDelta, TurnOutcome) {
    let name = format!("made{}", host.kicks.len());
    host.add(queued(&name));
    host.plan(&name);
    ok(2)
}

fn next_step(host: &mut Host, id: &TicketId, class: Class) {
    match class {
        Class::NewQueued => host.plan(id.as_str()),
        Class::PlannedQueued => drop(host.accept(id.as_str())),
        _ => {
            let steps = host.memo.entry(id.clone()).or_default();
            *steps += 1;
            if *steps > STEPS {
                host.done(id.as_str());
            } else {
                host.delegate(id.as_str(), "coder", 60);
            }
        }
    }
}
