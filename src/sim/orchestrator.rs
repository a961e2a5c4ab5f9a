//! The Orchestrator's process, and those that it delegates to: they outlive the daemon, and act through it, or without.

use chrono::TimeDelta;

use super::messages::Message;
use super::wishes::Wish;
use super::world::{Happening, World};
use super::writes::Writer;
use crate::domain::backlog::Entry;
use crate::domain::classify::Class;
use crate::domain::engine::{Actor, EndedTurn, Kick, Orders, TurnOutcome};
use crate::domain::facts::{Pod, PodId, PodState, ProcessIdentity};
use crate::domain::ticket::{State, TicketId};
use crate::domain::workset::WaitKind;

/// What an Orchestrator is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nature {
    Diligent,
    Lazy,
    Fickle,
}

/// A running turn.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) kick: Kick,
    acts_left: usize,
    next: usize,
}

/// A delegated step's process.
#[derive(Clone, Debug)]
pub(super) struct Worker {
    ticket: TicketId,
}

impl World {
    pub(super) fn begin_turn(&mut self, kick: Kick) {
        let acts_left = match self.nature {
            Nature::Lazy => 0,
            Nature::Diligent => kick.items.len(),
            Nature::Fickle => self.dice.roll(5),
        };
        self.turn = Some(Turn { kick, acts_left, next: 0 });
        self.next_act();
    }

    fn next_act(&mut self) {
        let gap = if self.faults { self.dice.span() / 20 } else { 500 };
        self.turns += 1;
        self.at(gap, Happening::Turn(self.turns));
    }

    /// The Orchestrator's next act, or its turn's end.
    pub(super) fn turn_step(&mut self, number: u64) {
        if number != self.turns {
            return;
        }
        let Some(mut turn) = self.turn.clone() else { return };
        if turn.acts_left == 0 {
            return self.end_turn(&turn);
        }
        turn.acts_left -= 1;
        turn.next += 1;
        let item = turn.kick.items[(turn.next - 1) % turn.kick.items.len()].clone();
        let session = turn.kick.session.clone();
        self.turn = Some(turn);
        if self.nature == Nature::Fickle && self.dice.once_in(2) {
            self.fickle(&session, &item.id);
        } else {
            self.diligent(&session, &item.id, item.class);
        }
        self.next_act();
    }

    fn diligent(&mut self, session: &str, id: &TicketId, class: Class) {
        match class {
            Class::NewQueued => {
                self.order(session, id, Orders::Plan { order: None });
                if self.dice.once_in(2) {
                    self.ask(id, Wish::Accept, Actor::Orchestrator);
                }
            }
            Class::PlannedQueued => self.ask(id, Wish::Accept, Actor::Orchestrator),
            _ => {
                let accepted = self.ticket(id).is_some_and(|ticket| ticket.acceptance_recorded());
                let steps = self.steps.entry(id.clone()).or_default();
                *steps += 1;
                let steps = *steps;
                if !accepted {
                    // Put there by hand: it is put on record, or, where a gate holds that, put back.
                    let back = Wish::Move(State::Queued, "orchestrator".into());
                    let wish = if self.dice.once_in(2) { Wish::Accept } else { back };
                    self.ask(id, wish, Actor::Orchestrator);
                } else if steps > 2 {
                    self.ask(id, Wish::Move(State::Done, "orchestrator".into()), Actor::Orchestrator);
                } else {
                    self.delegate(id);
                }
            }
        }
    }

    fn fickle(&mut self, session: &str, id: &TicketId) {
        let kind = self.dice.of(&WaitKind::ALL);
        match self.dice.roll(6) {
            0 => self.order(session, id, Orders::Plan { order: Some(1) }),
            1 => self.order(session, id, Orders::Wait { kind, detail: String::new() }),
            2 => {
                let span = TimeDelta::minutes(self.dice.between(1, 600));
                self.order(session, id, Orders::Await { step: "merge".into(), span });
            }
            3 => self.ask(id, Wish::Move(State::Queued, "orchestrator".into()), Actor::Orchestrator),
            4 => self.open_editor(id),
            _ => self.order("former", id, Orders::Plan { order: None }),
        }
    }

    fn end_turn(&mut self, turn: &Turn) {
        self.turn = None;
        self.turns += 1;
        let troubled = self.faults && self.dice.once_in(4);
        let outcome = if troubled { TurnOutcome::Failed("exit 1".into()) } else { TurnOutcome::Succeeded };
        self.say(|| format!("turn {} ends: {outcome:?}", turn.kick.id.0));
        if troubled && self.dice.once_in(3) {
            let wait = self.dice.between(1_000, 3_600_000);
            self.tell(Message::RateLimited(wait));
        }
        let at = self.now();
        match self.store.running.take_if(|_| self.daemon.is_none()) {
            Some(running) => self.store.ended.push(EndedTurn {
                kick: turn.kick.id.clone(),
                since: running.since,
                at,
                outcome,
                jitter: 0,
            }),
            None => self.tell(Message::TurnEnded(turn.kick.id.clone(), outcome)),
        }
    }

    fn order(&mut self, session: &str, id: &TicketId, orders: Orders) {
        self.tell(Message::Order { session: session.into(), id: id.clone(), orders });
    }

    /// Through the daemon where one runs, else directly.
    pub(super) fn ask(&mut self, id: &TicketId, wish: Wish, by: Actor) {
        let Some(path) = self.path_of(id) else { return };
        if self.daemon.is_some() {
            self.tell(Message::Request { path, wish, by });
        } else {
            self.begin_write(path, wish, Writer::Command);
        }
    }

    pub(super) fn ticket(&mut self, id: &TicketId) -> Option<crate::domain::ticket::Ticket> {
        let path = self.path_of(id)?;
        match self.entry(&path) {
            Entry::Ticket(ticket) => Some(ticket),
            _ => None,
        }
    }

    pub(super) fn path_of(&self, id: &TicketId) -> Option<std::path::PathBuf> {
        let name = format!("{}.md", id.as_str());
        self.disk.names.keys().find(|path| path.ends_with(&name)).cloned()
    }

    fn delegate(&mut self, id: &TicketId) {
        let working = self.pods.values().any(|worker| worker.ticket == *id);
        if working || self.ticket(id).is_none_or(|ticket| !ticket.acceptance_recorded()) {
            return;
        }
        self.count += 1;
        let pod_id = PodId(format!("p{}", self.count));
        let pid = u32::try_from(self.count).unwrap();
        let process = ProcessIdentity { host: "h".into(), boot_id: "b".into(), pid, started: 1 };
        let ticket = Some(id.clone());
        let since = self.now();
        let pod = Pod {
            id: pod_id.clone(),
            role: "coder".into(),
            ticket,
            agent: None,
            process,
            state: PodState::Busy,
            since,
            supervised: false,
        };
        self.say(|| format!("{} works on {id}", pod_id.0));
        self.pods.insert(pod_id.clone(), Worker { ticket: id.clone() });
        self.tell(Message::Pod(pod, PodState::Busy));
        let lasts = if self.faults { self.dice.span() } else { 60_000 };
        self.at(lasts, Happening::PodEnds(pod_id));
    }

    pub(super) fn pod_ends(&mut self, id: PodId) {
        let Some(worker) = self.pods.remove(&id) else { return };
        self.say(|| format!("{} ends", id.0));
        if self.faults && self.dice.once_in(3) {
            self.ask(&worker.ticket, Wish::Move(State::Done, "worker".into()), Actor::Somebody("worker".into()));
        }
        self.tell(Message::PodEnded(id));
    }
}
