//! Workers that claim tickets: each looks, races for the claim, has what comes of it written, works, and ends it, or dies, or
//! sleeps for longer than its claim holds. The rules are the product's (`domain::claim`).

use std::collections::BTreeMap;

use super::claims::TTL;
use super::messages::Message;
use super::wishes::Wish;
use super::world::{Happening, World};
use super::writes::Writer;
use crate::domain::claim::{Ending, Market, Outcome, Seeker, StepKind, Tip, claimable, fence, may_claim, offers};
use crate::domain::engine::{Actor, Event};
use crate::domain::gates::Ground;
use crate::domain::ticket::{State, TicketId};

/// How often a worker at work renews its claim.
const BEAT: i64 = 15 * 60_000;

/// What becomes of a worker in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Ends(Outcome),
    Dies,
    /// It is stopped, for hours perhaps, and then goes on.
    Sleeps,
}

#[derive(Clone, Debug)]
enum Stage {
    /// It has looked who holds the ticket, and whether it may be claimed. `accepts`: it was queued.
    Looked {
        seen: Option<Tip>,
        accepts: bool,
    },
    /// It has won, and waits until that is written: the acceptance, then the label.
    Won {
        labels: bool,
    },
    Working,
    /// Behind the fence it waits until what it brings is written.
    Ending(Outcome),
}

/// One run of a worker.
#[derive(Clone, Debug)]
pub(super) struct Claimer {
    worker: String,
    pub(super) ticket: TicketId,
    generation: u64,
    stage: Stage,
    fate: Fate,
    until: i64,
    /// Its last beat.
    beat_at: i64,
    /// The daemon that it waits for.
    asks: Option<u64>,
}

/// What was seen of workers, by an observer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) won: u32,
    pub(super) refused: u32,
    pub(super) overtaken: u32,
    pub(super) given_back: u32,
    pub(super) fenced: u32,
    pub(super) ended: u32,
    pub(super) broken: u32,
    pub(super) mended: u32,
}

impl Seen {
    pub(super) fn all(&self) -> [u32; 8] {
        let Self { won, refused, overtaken, given_back, fenced, ended, broken, mended } = *self;
        [won, refused, overtaken, given_back, fenced, ended, broken, mended]
    }

    pub(super) fn add(&mut self, more: Self) {
        self.won += more.won;
        self.refused += more.refused;
        self.overtaken += more.overtaken;
        self.given_back += more.given_back;
        self.fenced += more.fenced;
        self.ended += more.ended;
        self.broken += more.broken;
        self.mended += more.mended;
    }
}

impl World {
    /// Somebody looks for work: what it is offered, or whatever it fancies.
    pub(super) fn worker_comes(&mut self, fate: Fate) {
        let offered = self.offered();
        let id = match self.dice.roll(4) {
            0 if self.faults => Some(self.tickets[self.clock.unsigned_abs() as usize % self.tickets.len()].clone()),
            _ => offered.first().cloned(),
        };
        let Some(id) = id else { return };
        self.mend_claim(&id);
        let Some(ticket) = self.ticket(&id).filter(|ticket| claimable(ticket, self.policy.mode).is_ok()) else {
            return;
        };
        self.count += 1;
        let number = self.count;
        let seen = self.tip(&id).cloned();
        let stage = Stage::Looked { seen, accepts: ticket.state == Some(State::Queued) };
        let until = self.clock + if self.faults { self.dice.span() } else { 60_000 };
        let worker = format!("w{number}");
        let asks = self.daemon.as_ref().map(|_| self.generation);
        self.say(|| format!("{worker} looks at {id}, and {fate:?}"));
        self.claimers
            .insert(number, Claimer { worker, ticket: id, generation: 0, stage, fate, until, beat_at: 0, asks });
        let gap = if self.faults { self.dice.of(&[0, 0, 5, 300, 4_000]) } else { 0 };
        self.at(gap, Happening::Claimer(number));
    }

    fn offered(&self) -> Vec<TicketId> {
        let Some(daemon) = &self.daemon else { return self.tickets.clone() };
        let engine = &daemon.engine;
        let ground = Ground { backlog: engine.backlog(), facts: engine.facts(), policy: &self.policy };
        offers(Market { ground, work_set: engine.work_set(), now: self.now() }, &Seeker::default()).offered
    }

    /// The next step of one.
    pub(super) fn claimer_step(&mut self, number: u64) {
        let Some(claimer) = self.claimers.get(&number).cloned() else { return };
        match claimer.stage.clone() {
            Stage::Looked { seen, accepts } => self.race(number, &claimer, seen.as_ref(), accepts),
            Stage::Working => self.goes_on(number, &claimer),
            // It waits to be told.
            Stage::Won { .. } | Stage::Ending(_) => {}
        }
    }

    /// By what it has seen; what came in between shows in the swap.
    fn race(&mut self, number: u64, claimer: &Claimer, seen: Option<&Tip>, accepts: bool) {
        let (id, worker) = (&claimer.ticket, &claimer.worker);
        let kinds = match may_claim(id, seen, worker, &self.machine(), self.now()) {
            Ok(kinds) => kinds,
            Err(refused) => {
                self.say(|| format!("{worker} is refused: {}", refused.refusal));
                assert!(refused.holder.is_some(), "a loser is told who has it");
                self.observer.workers.refused += 1;
                self.claimers.remove(&number);
                return;
            }
        };
        self.observer.workers.broken += u32::from(kinds.len() > 1);
        let steps: Vec<_> = kinds.into_iter().map(|kind| (kind, worker.clone())).collect();
        if !self.swap(id, seen.map(|tip| &tip.revision), steps) {
            self.observer.workers.overtaken += 1;
            let seen = self.tip(id).cloned();
            self.change(number, |claimer| claimer.stage = Stage::Looked { seen, accepts });
            return self.at(1, Happening::Claimer(number));
        }
        self.observer.workers.won += 1;
        let (generation, now) = (self.tip(id).map_or(0, |tip| tip.step.generation), self.clock);
        self.change(number, |claimer| {
            (claimer.generation, claimer.beat_at) = (generation, now);
            claimer.stage = Stage::Won { labels: !accepts };
        });
        self.judge_holders();
        if self.is_killed(number) {
            return;
        }
        self.write_claimed(number, accepts);
    }

    fn write_claimed(&mut self, number: u64, accepts: bool) {
        let Some(claimer) = self.claimers.get(&number).cloned() else { return };
        self.ask_for(number, &claimer, Wish::Claimed { number, worker: claimer.worker.clone(), accepts });
    }

    /// Through the daemon that it asked, or directly. A daemon that is gone answers nobody.
    fn ask_for(&mut self, number: u64, claimer: &Claimer, wish: Wish) {
        let Some(path) = self.path_of(&claimer.ticket) else { return self.claim_written(number, false) };
        match claimer.asks {
            Some(_) => self.tell(Message::Request { path, wish, by: Actor::Somebody(claimer.worker.clone()) }),
            None => self.begin_write(path, wish, Writer::Command),
        }
    }

    /// What a worker wanted written is, or is not.
    pub(super) fn claim_written(&mut self, number: u64, done: bool) {
        let Some(claimer) = self.claimers.get(&number).cloned() else { return };
        match (claimer.stage, done) {
            (Stage::Won { labels: false }, true) => {
                self.change(number, |claimer| claimer.stage = Stage::Won { labels: true });
                if !self.is_killed(number) {
                    self.write_claimed(number, false);
                }
            }
            (Stage::Won { .. }, true) => {
                self.change(number, |claimer| claimer.stage = Stage::Working);
                self.tell_claim(&claimer.ticket, claimer.asks);
                self.at(self.next_beat(number), Happening::Claimer(number));
            }
            (Stage::Won { .. }, false) => {
                self.observer.workers.given_back += 1;
                self.end_claim(number, Outcome::Abandoned);
            }
            (Stage::Ending(outcome), true) => {
                self.observer.workers.ended += 1;
                self.end_claim(number, outcome);
            }
            // It gives up, and its claim goes stale.
            (_, _) => drop(self.claimers.remove(&number)),
        }
    }

    fn end_claim(&mut self, number: u64, outcome: Outcome) {
        let Some(Claimer { worker, ticket, generation, asks, .. }) = self.claimers.remove(&number) else { return };
        let Some(tip) = self.tip(&ticket).cloned() else { return };
        if tip.is_held() && (&tip.step.worker, tip.step.generation) == (&worker, generation) {
            self.swap(&ticket, Some(&tip.revision), [(StepKind::Release { outcome }, worker)]);
        }
        self.tell_claim(&ticket, asks);
    }

    /// The daemon that carries it out tells itself.
    fn tell_claim(&mut self, id: &TicketId, daemon: Option<u64>) {
        if daemon == Some(self.generation)
            && let Some(tip) = self.tip(id)
        {
            let news = vec![self.claim_news(tip)];
            self.answer(Event::ClaimsRead { news, full: false });
        }
    }

    fn next_beat(&self, number: u64) -> i64 {
        self.claimers.get(&number).map_or(0, |claimer| (claimer.until - self.clock).clamp(0, BEAT))
    }

    fn goes_on(&mut self, number: u64, claimer: &Claimer) {
        if self.clock < claimer.until {
            if self.stands(number, claimer) {
                self.at(self.next_beat(number), Happening::Claimer(number));
            }
            return;
        }
        match claimer.fate {
            Fate::Dies => {
                self.say(|| format!("{} is killed", claimer.worker));
                self.claimers.remove(&number);
            }
            Fate::Sleeps => {
                let sleeps = self.dice.between(60_000, 6 * TTL);
                self.say(|| format!("{} is stopped for {sleeps} ms", claimer.worker));
                self.change(number, |claimer| claimer.fate = Fate::Ends(Outcome::Done));
                self.at(sleeps, Happening::Claimer(number));
            }
            Fate::Ends(outcome) => self.ends(number, outcome),
        }
    }

    /// It brings something: the fence, then what is to be written.
    fn ends(&mut self, number: u64, outcome: Outcome) {
        let asks = self.daemon.as_ref().map(|_| self.generation);
        self.change(number, |claimer| claimer.asks = asks);
        let Some(claimer) = self.claimers.get(&number).cloned() else { return };
        if !self.stands(number, &claimer) {
            return;
        }
        self.change(number, |claimer| claimer.stage = Stage::Ending(outcome));
        let ending = Ending {
            outcome,
            pr: (outcome == Outcome::PrOpened).then(|| "https://example.org/pull/1".to_owned()),
            by: claimer.worker.clone(),
            mode: self.policy.mode,
            label: self.policy.claims.label.clone(),
        };
        self.ask_for(number, &claimer, Wish::Ended { number, ending });
    }

    /// A beat, which is the fence: false where somebody else has had the ticket since; the worker is gone then.
    fn stands(&mut self, number: u64, claimer: &Claimer) -> bool {
        let Claimer { worker, ticket, generation, .. } = claimer;
        let tip = self.tip(ticket).cloned();
        match fence(ticket, tip.as_ref(), worker, Some(*generation), (&self.machine(), self.now())) {
            Ok(tip) => {
                assert!(self.swap(ticket, Some(&tip.revision), [(StepKind::Heartbeat, worker.clone())]));
                let now = self.clock;
                self.change(number, |claimer| claimer.beat_at = now);
                self.judge_holders();
                true
            }
            Err(refused) => {
                self.say(|| format!("{worker} is refused: {}", refused.refusal));
                let held = |tip: &Tip| tip.is_held() && tip.step.generation == *generation;
                assert!(!tip.as_ref().is_some_and(held), "nobody has broken the claim of {worker}");
                self.observer.workers.fenced += 1;
                self.claimers.remove(&number);
                false
            }
        }
    }

    fn change(&mut self, number: u64, change: impl FnOnce(&mut Claimer)) {
        if let Some(claimer) = self.claimers.get_mut(&number) {
            change(claimer);
        }
    }

    fn is_killed(&mut self, number: u64) -> bool {
        let killed = self.faults && self.dice.once_in(15);
        if killed {
            self.cut_off(number);
        }
        killed
    }

    /// Whoever waits for this daemon is told nothing any more.
    pub(super) fn cut_off_those_of(&mut self, daemon: u64) {
        let waits = |claimer: &Claimer| claimer.asks == Some(daemon) && !matches!(claimer.stage, Stage::Working);
        let cut: Vec<_> =
            self.claimers.iter().filter(|(_, claimer)| waits(claimer)).map(|(number, _)| *number).collect();
        cut.into_iter().for_each(|number| self.cut_off(number));
    }

    /// A claim that was not said to be won has a mark: whoever comes next gives it back.
    fn cut_off(&mut self, number: u64) {
        let Some(claimer) = self.claimers.remove(&number) else { return };
        self.say(|| format!("{} is cut off", claimer.worker));
        if matches!(claimer.stage, Stage::Won { .. }) {
            self.claims.marks.insert(claimer.ticket, (claimer.worker, claimer.generation));
        }
    }

    pub(super) fn mend_claims(&mut self) {
        let marked: Vec<_> = self.claims.marks.keys().cloned().collect();
        marked.iter().for_each(|id| self.mend_claim(id));
    }

    /// A claim that was cut off, and that nobody has renewed since, is given back in its worker's name.
    fn mend_claim(&mut self, id: &TicketId) {
        let Some((worker, generation)) = self.claims.marks.remove(id) else { return };
        let is_it = |tip: &&Tip| tip.step.kind == StepKind::Claim && tip.step.generation == generation;
        if self.tip(id).filter(is_it).is_none() {
            return;
        }
        self.observer.workers.mended += 1;
        self.count += 1;
        let (number, fate) = (self.count, Fate::Ends(Outcome::Abandoned));
        let (ticket, until) = (id.clone(), self.clock);
        let stage = Stage::Working;
        self.claimers
            .insert(number, Claimer { worker, ticket, generation, stage, fate, until, beat_at: 0, asks: None });
        self.ends(number, Outcome::Abandoned);
    }

    /// Of those who may still act on their claim there is one for each ticket at most.
    fn judge_holders(&self) {
        let mut holders: BTreeMap<&TicketId, Vec<&str>> = BTreeMap::new();
        for claimer in self.claimers.values() {
            let holds = !matches!(claimer.stage, Stage::Looked { .. }) && self.clock - claimer.beat_at < TTL;
            if holds {
                holders.entry(&claimer.ticket).or_default().push(&claimer.worker);
            }
        }
        let twice = holders.iter().find(|(_, workers)| workers.len() > 1);
        assert!(twice.is_none(), "two hold the same ticket: {twice:?}");
    }
}
