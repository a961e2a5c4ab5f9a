//! What must hold of a state at rest, judged by what was done and told, not by what the engine remembers of it.

use super::super::super::{Reach, Record, RecordKind};
use super::super::host::Host;
use super::acts::{Act, NAMES};
use super::{attached, workers};
use crate::domain::kick::{Boundary, Decision, PATIENCE, Suppression};
use crate::domain::sample::id;
use crate::domain::ticket::State;

/// What an observer knows who writes down what was done and what people were told.
#[derive(Clone, Debug, Default)]
pub(super) struct Ghost {
    /// Something happened to the ticket since a turn that was handed it ended quietly.
    fresh: [bool; 3],
    /// Something happened to it since the last kick.
    touched: [bool; 3],
    /// Each ticket was named in an alert as not moving.
    unmoved: [bool; 3],
    /// That automatic kicks have ended: by failures, as ignored, by the brake; that the session cannot be woken.
    told: [bool; 4],
    paused: bool,
}

impl Ghost {
    pub(super) fn new() -> Self {
        Self { fresh: [true; 3], ..Self::default() }
    }

    pub(super) fn write(&self, key: &mut Vec<u8>) {
        key.extend(self.told.map(u8::from));
    }

    pub(super) fn write_of(&self, n: usize, key: &mut Vec<u8>) {
        key.push(u8::from(self.fresh[n]) | u8::from(self.touched[n]) << 1 | u8::from(self.unmoved[n]) << 2);
    }

    fn stir(&mut self, n: usize) {
        (self.fresh[n], self.touched[n]) = (true, true);
    }

    /// Before an act: what it changes, and what its end of a turn has shown.
    pub(super) fn before(&mut self, host: &Host, act: Act) {
        if let Some(n) = act.touches() {
            let known = host.engine.work_set.get(&id(NAMES[n])).is_some();
            if !(matches!(act, Act::Plan(_)) && known) {
                self.stir(n);
            }
        }
        self.paused = (self.paused || act == Act::Pause) && act != Act::Resume;
        if act == Act::Restart || act == Act::Starts {
            // A new session knows nothing.
            (self.fresh, self.unmoved) = ([true; 3], [false; 3]);
        }
        let leaves = |n: usize| host.ticket(NAMES[n]).state == Some(State::Inprogress);
        let over = match act {
            Act::PodEnds(_) | Act::WorkerCloses(_) => true,
            Act::WorkerGivesUp(n) => workers::is_held(host, n) && leaves(n),
            Act::Requeue(n) | Act::Done(n) | Act::PersonQueues(n) | Act::PersonFinishes(n) | Act::WorkerIsDone(n) => {
                leaves(n)
            }
            Act::ADayPasses
                if (0..NAMES.len()).any(|n| host.has(NAMES[n]) && workers::is_held(host, n) && leaves(n)) =>
            {
                true
            }
            Act::AnHourPasses | Act::ADayPasses => host.engine.work_set.iter().any(|(_, note)| {
                note.awaited.as_ref().is_some_and(|awaited| awaited.due > host.now && act == Act::ADayPasses)
            }),
            _ => false,
        };
        if over {
            (self.fresh, self.touched) = ([true; 3], [true; 3]);
        }
        if act.ends_quietly()
            && let Some(kick) = &host.turn
        {
            for (n, name) in NAMES.iter().enumerate() {
                if kick.items.iter().any(|item| item.id == id(name)) && !self.touched[n] {
                    self.fresh[n] = false;
                }
            }
        }
        if act == Act::Prompt {
            // What the turn was shown before it began, it looks at now.
            self.touched = [false; 3];
        }
    }

    /// After an act: what was told.
    pub(super) fn after(&mut self, host: &Host) -> Result<(), String> {
        if !host.kicks.is_empty() {
            self.touched = [false; 3];
        }
        let standing = host.engine.summary(host.now).standing;
        let alerts = |text: &str| host.records.iter().filter(|record| says(record, text)).count();
        let bounds = [
            ("turns in a row", standing.failures >= PATIENCE),
            ("three kicks in a row led to nothing", standing.fruitless >= PATIENCE),
            ("fruitless kicks within an hour", standing.brake_until.is_some()),
            (
                "session cannot be woken",
                host.engine.session.as_ref().is_some_and(|session| session.waking.failures >= PATIENCE),
            ),
        ];
        for (told, (text, holds)) in self.told.iter_mut().zip(bounds) {
            let now = alerts(text);
            if now + usize::from(*told) > 1 && holds && *told {
                return Err(format!("told again: {text}"));
            }
            *told = (*told || now > 0) && holds;
            if holds && !*told {
                return Err(format!("nobody was told: {text}"));
            }
        }
        let named = |record: &Record, n: usize| {
            record.data["items"].as_array().is_some_and(|items| items.iter().any(|item| item == NAMES[n]))
        };
        for (n, name) in NAMES.iter().enumerate() {
            let alerted = host.records.iter().any(|r| says(r, "not moved for 60 minutes") && named(r, n));
            self.unmoved[n] = (self.unmoved[n] || alerted) && host.engine.ledger.seen.contains(&id(name));
        }
        Ok(())
    }

    /// What must hold now that nothing is due within a minute. `long`: for hours, too.
    pub(super) fn at_rest(&self, host: &Host, long: bool) -> Result<(), String> {
        if host.saved != host.engine.ledger.saved {
            return Err(format!("kept is {:?}, known is {:?}", host.saved, host.engine.ledger.saved));
        }
        attached::at_rest(host)?;
        if host.turn.is_some() {
            return Ok(());
        }
        let list = host.engine.attention(false, host.now).items;
        for item in &list {
            let n = NAMES.iter().position(|name| id(name) == item.id).unwrap_or_default();
            if item.seen && self.fresh[n] {
                return Err(format!("{} counts as seen, and something happened to it since", item.id));
            }
            if item.seen && long && !self.unmoved[n] {
                return Err(format!("{} lies seen and unmoved, and nobody was told", item.id));
            }
        }
        let due = host.engine.next_wake();
        match host.engine.decide(&[Boundary::OrchestratorIdle], host.now) {
            // It has its own way (`attached::at_rest`).
            Decision::Kick { .. } if host.engine.session.is_some() => Ok(()),
            Decision::Suppress(Suppression::NoOrchestrator(_))
                if host.engine.reach == Reach::Session && host.engine.session.is_none() =>
            {
                Ok(())
            }
            Decision::Kick { items, .. } => {
                Err(format!("unseen at rest: {:?}", items.iter().map(|i| i.id.as_str()).collect::<Vec<_>>()))
            }
            Decision::Suppress(Suppression::BackingOff(Some(until)) | Suppression::Brake(until))
                if due.is_none_or(|due| due > until) =>
            {
                Err(format!("waits until {until}, and nobody wakes it: {due:?}"))
            }
            Decision::Suppress(Suppression::AlreadyPresented) if list.iter().any(|item| !item.seen) => {
                Err("an unseen item behind seen ones".into())
            }
            Decision::Suppress(Suppression::Paused(_)) if self.paused => Ok(()),
            Decision::Suppress(Suppression::NoOrchestrator(_) | Suppression::Paused(_) | Suppression::Busy) => {
                Err("nobody paused it, and it is idle".into())
            }
            Decision::Suppress(_) => Ok(()),
        }
    }
}

fn says(record: &Record, text: &str) -> bool {
    record.kind == RecordKind::Alert && record.data["what"].as_str().is_some_and(|what| what.contains(text))
}
