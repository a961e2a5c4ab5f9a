//! The canonical state: all that what happens next depends on, and nothing else. Times are made relative and put where
//! nothing tells them apart, numbers that only name things are left out, and tickets that play the same part are sorted.
//!
//! That this is all is itself checked: `search` compares what follows from two states of the same key.

use chrono::TimeDelta;

use super::super::super::session::Outstanding;
use super::super::super::{Engine, Orchestrator, Reach};
use super::super::host::Host;
use super::acts::NAMES;
use super::rest::Ghost;
use super::workers;
use crate::domain::facts::Dirty;
use crate::domain::kick::Boundary;
use crate::domain::ledger::Attempt;
use crate::domain::sample::id;
use crate::domain::ticket::{Ticket, TicketId, Timestamp};

/// The longest time for which the ledger looks back.
const HOUR: TimeDelta = TimeDelta::hours(1);
/// Notices this soon after a read are joined.
const MOMENT: TimeDelta = TimeDelta::milliseconds(150);

/// Moves every moment to where nothing tells it from any other of its kind. Only at rest: nothing is due within the
/// time that each act is given.
pub(super) fn settle_times(host: &mut Host) {
    workers::settle_times(host);
    let now = host.now;
    let engine = &mut host.engine;
    let later = |at: &mut Option<Timestamp>, to: TimeDelta| *at = at.filter(|at| *at > now).map(|_| now + to);
    let ids: Vec<_> = engine.work_set.iter().map(|(id, _)| id.clone()).collect();
    for id in ids {
        if let Some(awaited) = engine.work_set.get_mut(&id).and_then(|note| note.awaited.as_mut()) {
            awaited.due = if awaited.due > now { now + TimeDelta::hours(23) } else { now - HOUR };
        }
    }
    let ledger = &mut engine.ledger;
    ledger.panel_presented_at = ledger.panel_presented_at.filter(|at| now - *at < HOUR).map(|_| now);
    later(&mut ledger.saved.rate_limited_until, TimeDelta::minutes(30));
    let saved = &mut ledger.saved;
    // One more than the bound is as many as matter.
    saved.fruitless_at.retain(|at| now - *at < HOUR);
    let many = saved.fruitless_at.len().min(engine.policy.kick.max_per_hour as usize);
    saved.fruitless_at = vec![now; if engine.policy.kick.max_per_hour < 100 { many } else { 0 }];
    host.saved = saved.clone();
    engine.timers.brake_until = engine.ledger.brake_until(engine.policy.kick.max_per_hour, now);
    engine.timers.turn_ended_at = None;
    for lying in engine.timers.lying.values_mut() {
        lying.since = if lying.alerted { now - TimeDelta::days(1) } else { now };
    }
    engine.news_at = engine.news_at.map(|at| at.max(now));
    engine.boundaries.last_news = None;
    engine.boundaries.joined_until = None;
    // What is only told, and never decided upon.
    engine.boundaries.last = None;
    engine.written.clear();
    engine.saved_over.clear();
    engine.registered_kick_at = engine.registered_kick_at.filter(|at| now - *at < HOUR).map(|_| now);
    if let Some(session) = &mut engine.session {
        session.heard = now;
        let waking = &mut session.waking;
        waking.retry_at = waking.retry_at.filter(|at| *at > now);
        if let Some(Outstanding::Running(_, until)) = &mut waking.outstanding {
            // Commands that hang do so until more time passes than an act takes.
            *until = now + TimeDelta::minutes(30);
        }
    }
    match &mut engine.orchestrator {
        Orchestrator::Idle { since } => *since = now,
        // Long enough for its stop to be its own.
        Orchestrator::Busy(turn) => turn.since = now - TimeDelta::minutes(1),
        Orchestrator::Preparing { .. } => {}
    }
}

/// Bytes that are equal for equal states.
pub(super) struct Key(Vec<u8>);

impl Key {
    fn bits(&mut self, bits: impl IntoIterator<Item = bool>) {
        let mut byte = 0;
        for (n, bit) in bits.into_iter().enumerate() {
            byte |= u8::from(bit) << n;
        }
        self.0.push(byte);
    }

    fn number(&mut self, number: usize) {
        self.0.push(u8::try_from(number).unwrap_or(u8::MAX));
    }

    /// A moment, as far as it lies ahead.
    fn ahead(&mut self, at: Option<Timestamp>, now: Timestamp) {
        let ms = at.map_or(-1, |at| (at - now).num_milliseconds().max(0));
        self.0.extend(ms.to_le_bytes());
    }
}

/// The key of a state. `alike`: no rule tells the tickets apart by name or age, so that their order says nothing.
pub(super) fn key(host: &Host, ghost: &Ghost, hasty: u8, tickets: usize, alike: bool) -> Vec<u8> {
    let mut parts: Vec<_> = (0..tickets).map(|n| ticket(host, ghost, n, alike, hasty)).collect();
    if alike {
        parts.sort_unstable();
    }
    let mut key = Key(parts.concat());
    whole(&mut key, host, ghost, hasty);
    key.0
}

fn whole(key: &mut Key, host: &Host, ghost: &Ghost, hasty: u8) {
    let (engine, now) = (&host.engine, host.now);
    let saved = &engine.ledger.saved;
    key.0.push(hasty);
    // From the fourth on, one more is no other state.
    key.number(saved.failures.min(4) as usize);
    key.number(saved.rate_limits as usize);
    key.number(saved.fruitless.min(4) as usize);
    let braking = engine.policy.kick.max_per_hour < 100;
    key.number(if braking { saved.fruitless_at.len() } else { 0 });
    key.number(engine.ledger.self_made as usize);
    key.bits([
        engine.ledger.panel_presented_at.is_some(),
        engine.stirred,
        engine.gates.all_stale || !engine.gates.stale.is_empty(),
        matches!(engine.reach, Reach::Exec),
        matches!(engine.facts.dirty, Dirty::Clean),
        host.turn.is_some(),
        saved.paused.is_some(),
    ]);
    ghost.write(&mut key.0);
    match &engine.orchestrator {
        Orchestrator::Busy(turn) => {
            // Of a limit that is over nothing can be shown.
            let proof = turn.under_limit && saved.rate_limited_until.is_some();
            key.bits([true, turn.progress, turn.shaken, turn.made, turn.adopted, proof]);
        }
        Orchestrator::Idle { .. } => key.bits([false]),
        Orchestrator::Preparing { .. } => key.bits([false, true]),
    }
    session(key, host);
    for at in [saved.rate_limited_until, saved.backing_off_until, engine.timers.brake_until, engine.news_at] {
        key.ahead(at, now);
    }
    if hasty > 0 {
        let timers = &engine.timers;
        let recent = timers.turn_ended_at.filter(|at| now - *at < TimeDelta::seconds(2));
        key.ahead(recent.map(|at| at + TimeDelta::seconds(2)), now);
        key.ahead(engine.boundaries.joined_until, now);
        key.ahead(engine.boundaries.last_news.map(|at| at + TimeDelta::minutes(1)), now);
        let mut pending: Vec<_> = engine.boundaries.pending.iter().map(|boundary| *boundary as u8).collect();
        pending.sort_unstable();
        key.0.extend(pending);
    }
}

/// The Orchestrator's session, where it registers itself.
fn session(key: &mut Key, host: &Host) {
    let (engine, now) = (&host.engine, host.now);
    key.bits([engine.registered_kick_at.is_some(), engine.session.is_some(), engine.contact.is_some()]);
    let Some(session) = &engine.session else { return };
    let waking = &session.waking;
    let running = matches!(waking.outstanding, Some(Outstanding::Running(..)));
    key.bits([session.silent, session.pending.is_some(), session.shown.is_some(), running]);
    // Of its causes no more is asked than this.
    let caused = |by: &[Boundary]| session.pending.iter().flat_map(|p| &p.causes).any(|cause| by.contains(cause));
    key.bits([
        caused(&[Boundary::UserKick]),
        caused(&[Boundary::OrchestratorSpawn, Boundary::OrchestratorRestore]),
        caused(&[Boundary::PanelOpen]),
        caused(&[Boundary::ReofferIdle]),
    ]);
    key.number(waking.failures.min(4) as usize);
    let outstanding = waking.outstanding.map(|mut outstanding| *outstanding.until());
    for at in [outstanding, waking.retry_at, session.background_until] {
        key.ahead(at, now);
    }
    if let Orchestrator::Busy(turn) = &engine.orchestrator {
        key.bits([turn.kick.is_some(), turn.by_stop]);
    }
}

/// What the session was shown of it at its start, and where; whether that is still the list depends on the order too.
fn shown(key: &mut Key, host: &Host, it: &Ticket) {
    let session = host.engine.session.as_ref();
    let Some(shown) = session.and_then(|session| session.shown.as_ref()) else { return };
    key.number(older(host, it));
    let place = shown.items.iter().position(|item| item.id == it.id);
    key.number(place.unwrap_or(9));
    if let Some(item) = place.and_then(|place| shown.items.get(place)) {
        key.0.push(item.class as u8);
        key.bits([item.seen]);
        key.number(item.reason.len() % 256);
        key.number(item.next_step.len() % 256);
    }
}

/// What is still remembered of a file's last moments.
fn moments(key: &mut Key, host: &Host, it: &Ticket) {
    let now = host.now;
    let cooling = host.engine.files.cooling.get(&it.path).filter(|c| c.due.is_some() || now - c.read_at < MOMENT);
    key.ahead(cooling.map(|c| c.read_at + MOMENT), now);
    key.ahead(cooling.map(|c| now + c.join), now);
    key.ahead(cooling.and_then(|c| c.noticed_at).map(|at| at + TimeDelta::seconds(1)), now);
    key.ahead(cooling.and_then(|c| c.due), now);
    // The entry that a stamp belongs to can have been noticed up to a minute later.
    key.ahead(it.stamps.queued_at.map(|at| at + TimeDelta::seconds(62)), now);
}

fn ticket(host: &Host, ghost: &Ghost, n: usize, alike: bool, hasty: u8) -> Vec<u8> {
    let (engine, now) = (&host.engine, host.now);
    let id = id(NAMES[n]);
    let it = host.ticket(NAMES[n]);
    let mut key = Key(Vec::with_capacity(16));
    key.0.push(it.state.map_or(9, |state| state as u8));
    let known = engine.backlog.get(&id).is_some_and(|known| *known == it);
    key.bits([it.acceptance_recorded(), it.human_gate.is_some(), known]);
    if let Some(known) = engine.backlog.get(&id).filter(|_| !known) {
        key.0.push(known.state.map_or(9, |state| state as u8));
        key.bits([known.acceptance_recorded(), known.human_gate.is_some(), known.meaning == it.meaning]);
        key.ahead(known.stamps.queued_at.map(|at| at + TimeDelta::seconds(62)), now);
    }
    note(&mut key, engine, &id, now);
    let pods = engine.facts.pods_on(&id).count();
    key.number(pods + 16 * engine.under_way.iter().filter(|(of, _)| *of == id).count());
    key.0.extend(workers::key(host, n));
    let ledger = &engine.ledger;
    key.bits([
        ledger.seen.contains(&id),
        ledger.shown_gated.contains(&id),
        ledger.barren.contains(&id),
        engine.gates.held.contains(&id),
        engine.timers.lying.contains_key(&id),
        engine.timers.lying.get(&id).is_some_and(|lying| lying.alerted),
        engine.timers.lying.get(&id).is_some_and(|lying| lying.reoffered),
    ]);
    key.0.push(ledger.reached.get(&id).map_or(9, |reached| *reached as u8));
    for attempt in [Attempt::Accepted, Attempt::Delegated, Attempt::Awaited] {
        key.number(ledger.attempts.get(&(id.clone(), attempt)).map_or(0, |count| *count as usize));
    }
    key.number(ledger.rounds.get(&id).map_or(0, |count| *count as usize));
    if let Orchestrator::Busy(turn) = &engine.orchestrator {
        let handed = turn.handed.iter().find(|item| item.id == id);
        key.0.push(handed.map_or(9, |item| item.class as u8));
        key.bits([turn.changed.contains(&id)]);
    }
    shown(&mut key, host, &it);
    ghost.write_of(n, &mut key.0);
    if hasty > 0 {
        moments(&mut key, host, &it);
        let ended = engine.timers.worked_until.get(&id).map(|at| *at + TimeDelta::seconds(2));
        key.ahead(ended, now);
    }
    if !alike {
        key.number(older(host, &it));
    }
    key.0
}

fn note(key: &mut Key, engine: &Engine, id: &TicketId, now: Timestamp) {
    let note = engine.work_set.get(id);
    let awaited = note.and_then(|note| note.awaited.as_ref());
    key.bits([note.is_some(), awaited.is_some(), awaited.is_some_and(|awaited| awaited.due > now)]);
    key.0.push(note.and_then(|note| note.waiting.as_ref()).map_or(9, |waiting| waiting.kind as u8));
}

/// How many are handed over before it for their age.
fn older(host: &Host, it: &Ticket) -> usize {
    let age = |t: &Ticket| (t.stamps.queued_at.is_none(), t.stamps.queued_at);
    NAMES.iter().filter(|name| host.has(name) && age(&host.ticket(name)) < age(it)).count()
}
