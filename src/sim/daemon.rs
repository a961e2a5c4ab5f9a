//! The daemon's process: one thing after another, like the host; it dies at any effect, and what it wrote survives it.

use std::collections::{BTreeMap, VecDeque};

use super::messages::Message;
use super::world::{Happening, World};
use super::writes::Writer;
use crate::domain::backlog::Entry;
use crate::domain::engine::{Actor, Effect, EndedTurn, Engine, Event, LastSeen, Reach, Record, RunningTurn, Start};
use crate::domain::facts::Pod;
use crate::domain::ledger::SavedLedger;
use crate::domain::policy::Mode;
use crate::domain::ticket::{State, Ticket, TicketId, Timestamp};

/// What outlives the daemon.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    pub(super) ledger: SavedLedger,
    pub(super) seen: BTreeMap<TicketId, LastSeen>,
    pub(super) at: Option<Timestamp>,
    pub(super) pods: Vec<Pod>,
    pub(super) running: Option<RunningTurn>,
    /// Turns that ended while no daemon ran, as their supervisors recorded it.
    pub(super) ended: Vec<EndedTurn>,
    pub(super) history: Vec<Record>,
}

/// A living daemon.
#[derive(Clone, Debug)]
pub(super) struct Daemon {
    pub(super) engine: Engine,
    pub(super) inbox: VecDeque<Message>,
    pub(super) events: VecDeque<Event>,
    pub(super) effects: VecDeque<Effect>,
    /// It waits for a write of its own.
    pub(super) writing: bool,
    /// By its own, steady clock.
    pub(super) wakes_at: Option<i64>,
    pub(super) started_at: i64,
    pub(super) steps_at_once: u32,
    pub(super) stepped_at: i64,
    /// What the kick in preparation rests on, as read.
    pub(super) fresh: Vec<(std::path::PathBuf, Entry)>,
}

/// How many steps may follow each other without any time passing.
const STEPS_AT_ONCE: u32 = 600;

impl World {
    /// A daemon starts. While one runs, a second one is refused by the lock, and touches nothing.
    pub(super) fn start_daemon(&mut self) {
        if self.daemon.is_some() {
            return self.say(|| "a second daemon is refused".into());
        }
        self.generation += 1;
        (self.in_flight, self.lost) = (0, false);
        let now = self.now();
        let alive = |world: &Self, pod: &Pod| world.pods.contains_key(&pod.id);
        let (pods, ended_pods) = self.store.pods.clone().into_iter().partition(|pod| alive(self, pod));
        let adopted = self.store.running.clone().filter(|_| self.turn.is_some());
        if adopted.is_none() {
            self.store.running = None;
        }
        let start = Start {
            policy: self.policy.clone(),
            reach: if self.policy.mode == Mode::Pull { Reach::No("pull mode".into()) } else { Reach::Exec },
            whom: None,
            session: format!("s{}", self.generation),
            files: self.entries(),
            recorded: self.store.at.map(|_| self.store.seen.clone()),
            recorded_at: self.store.at,
            ledger: self.store.ledger.clone(),
            adopted,
            ended_turns: std::mem::take(&mut self.store.ended),
            pods,
            ended_pods,
            claims: self.all_claim_news(),
            worktrees: Vec::new(),
            dirty: self.dirty.clone(),
            editor_name: "ed".into(),
        };
        for (_, entry) in &start.files {
            if let Entry::Ticket(ticket) = entry {
                self.note_unstamped(ticket);
            }
        }
        self.say(|| format!("daemon {} starts, adopting {:?}", self.generation, start.adopted));
        self.store.at = Some(now);
        self.daemon = Some(Daemon {
            engine: Engine::new(now),
            inbox: VecDeque::new(),
            events: VecDeque::from([Event::Started(Box::new(start))]),
            effects: VecDeque::new(),
            writing: false,
            wakes_at: None,
            started_at: self.clock,
            steps_at_once: 0,
            stepped_at: self.clock,
            fresh: Vec::new(),
        });
        self.look_at_all();
        self.mend_claims();
        self.run_daemon();
    }

    fn note_unstamped(&mut self, ticket: &Ticket) {
        let was_queued = self.store.seen.get(&ticket.id).is_some_and(|seen| seen.state == Some(State::Queued));
        let first = self.store.at.is_none();
        if ticket.state == Some(State::Queued) && ticket.stamps.queued_at.is_none() && (was_queued || first) {
            self.unstamped.insert(ticket.id.clone());
        }
    }

    /// The daemon's process is gone, and with it all that it had in memory, and its writes where they stood.
    pub(super) fn kill_daemon(&mut self, why: &str) {
        if self.daemon.take().is_some() {
            self.say(|| format!("the daemon is killed {why}"));
            self.nobody_has_told();
            self.cut_off_those_of(self.generation);
            self.generation += 1;
            let (commands, cut_off) =
                std::mem::take(&mut self.writes).into_iter().partition(|w| w.by == Writer::Command);
            self.writes = commands;
            for write in cut_off {
                self.unsaid(&write.path, &write.unsaid());
            }
            let after = self.dice.span();
            self.at(after, Happening::StartDaemon);
        }
    }

    pub(super) fn tell(&mut self, message: Message) {
        if let Some(daemon) = &mut self.daemon {
            daemon.inbox.push_back(message);
            self.run_daemon();
        }
    }

    /// Does what there is to do, until it sleeps, waits for a write, or is dead.
    pub(super) fn run_daemon(&mut self) {
        while let Some(daemon) = &mut self.daemon {
            if daemon.writing {
                return;
            }
            if let Some(effect) = daemon.effects.pop_front() {
                // One that has something to tell dies more often than others.
                if self.dies_once_in(if self.owes_a_report() { 12 } else { 90 }) {
                    return self.kill_daemon(&format!("before {effect:?}"));
                }
                self.perform(effect);
            } else if let Some(event) = daemon.events.pop_front() {
                self.step(event);
            } else if let Some(message) = daemon.inbox.pop_front() {
                self.reports_are_on_record();
                self.take(message);
            } else if daemon.wakes_at.take_if(|at| *at <= self.clock).is_some() {
                self.step(Event::Ticked);
            } else {
                self.reports_are_on_record();
                return self.sleep();
            }
        }
    }

    /// Whether it dies here, by chance.
    pub(super) fn dies_once_in(&mut self, times: usize) -> bool {
        let dies = self.faults && self.crashes > 0 && self.daemon.is_some() && self.dice.once_in(times);
        self.crashes -= u32::from(dies);
        dies
    }

    fn step(&mut self, event: Event) {
        let now = self.now();
        let Some(daemon) = &mut self.daemon else { return };
        daemon.steps_at_once = if daemon.stepped_at == self.clock { daemon.steps_at_once + 1 } else { 0 };
        daemon.stepped_at = self.clock;
        assert!(daemon.steps_at_once < STEPS_AT_ONCE, "livelock: {event:?}");
        let effects = daemon.engine.step(event, now);
        daemon.effects.extend(effects);
    }

    /// Sleeps until what is due next, by a clock that nobody sets.
    fn sleep(&mut self) {
        let now = self.now();
        let Some(daemon) = &mut self.daemon else { return };
        let wakes_at = daemon.engine.next_wake().map(|due| self.clock + (due - now).num_milliseconds().max(0));
        if wakes_at != daemon.wakes_at {
            daemon.wakes_at = wakes_at;
            if let Some(at) = wakes_at {
                self.at(at - self.clock, Happening::Wake(self.generation));
            }
        }
    }

    fn take(&mut self, message: Message) {
        let now = self.now();
        let event = match message {
            Message::Paths(paths) => Event::PathsNoticed(paths),
            Message::Overflow => Event::EverythingNoticed(Some("overflow".into())),
            Message::Git => Event::GitNoticed,
            Message::Boundary(boundary) => Event::BoundaryReached(boundary),
            Message::Pause => Event::Paused { by: "al".into(), reason: None },
            Message::Resume => Event::Resumed { by: "al".into() },
            Message::Request { path, wish, by } => return self.write_for(path, wish, by),
            Message::Order { session, id, orders } => {
                let Some(daemon) = &mut self.daemon else { return };
                let said = format!("{orders:?} of {id}");
                match daemon.engine.order(&session, &id, orders, now) {
                    Ok(effects) => daemon.effects.extend(effects),
                    Err(why) => self.say(|| format!("refused: {said}: {why}")),
                }
                return;
            }
            Message::Pod(pod, state) => Event::PodReported { pod, state },
            Message::PodEnded(id) => Event::PodEnded(id),
            Message::TurnEnded(kick, outcome) => {
                self.store.running = None;
                let jitter = u16::try_from(self.dice.roll(1001)).unwrap();
                Event::TurnEnded { kick, outcome, jitter }
            }
            Message::RateLimited(ms) => Event::RateLimited(now + chrono::TimeDelta::milliseconds(ms)),
        };
        self.step(event);
    }

    /// The daemon writes for somebody, and does nothing else meanwhile.
    pub(super) fn write_for(&mut self, path: std::path::PathBuf, wish: super::wishes::Wish, by: Actor) {
        if let Some(daemon) = &mut self.daemon {
            daemon.writing = true;
            self.begin_write(path, wish, Writer::Daemon(by));
        }
    }

    pub(super) fn daemon_goes_on(&mut self, event: Option<Event>) {
        if let Some(daemon) = &mut self.daemon {
            daemon.writing = false;
            daemon.events.extend(event);
            self.run_daemon();
        }
    }
}
