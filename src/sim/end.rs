//! After the faults: the daemon is there, notices come, people clear what they left, and everything comes to an end.

use super::messages::Message;
use super::orchestrator::Nature;
use super::story::with_line;
use super::wishes::Wish;
use super::workers::Fate;
use super::world::World;
use crate::domain::backlog::{Backlog, Entry};
use crate::domain::claim::Outcome;
use crate::domain::engine::Actor;
use crate::domain::facts::Dirty;
use crate::domain::kick::{Boundary, Decision, Suppression};
use crate::domain::policy::Mode;
use crate::domain::ticket::{State, Ticket};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

impl World {
    /// What is under way is finished, then the Orchestrator is diligent, or does nothing at all.
    pub(super) fn come_to_an_end(&mut self) {
        self.faults = false;
        let diligent = self.dice.once_in(2);
        self.nature = if diligent { Nature::Diligent } else { Nature::Lazy };
        self.pass(2 * DAY);
        if !self.away.is_empty() {
            self.folder_back();
        }
        self.say(|| "the faults are over".into());
        self.start_daemon();
        self.dirty = Dirty::Clean;
        self.tell(Message::Git);
        self.tell(Message::Resume);
        self.clear_gates();
        self.tell(Message::Overflow);
        self.pass(HOUR);
        self.settle_reverted();
        self.pass(HOUR);
        match (self.policy.mode, diligent) {
            (Mode::Orchestrated, true) => self.all_is_done(),
            (Mode::Orchestrated, false) => self.nothing_is_left_unseen(),
            (Mode::Pull, true) => self.workers_do_all(),
            (Mode::Pull, false) => self.nothing_is_left_to_nobody(),
        }
        self.judge_end();
    }

    /// So much time, with everything that happens in it.
    fn pass(&mut self, ms: i64) {
        let until = self.clock + ms;
        let mut happenings = 0;
        while self.happen(until) {
            happenings += 1;
            assert!(happenings < 50_000, "it goes on and on");
        }
        self.clock = until;
    }

    /// A person takes away what a person must take away.
    fn clear_gates(&mut self) {
        for path in self.paths() {
            let Some(text) = self.disk.read(&path).cloned() else { continue };
            let mut cleared = with_line(&text, "human_gate:", None).unwrap_or_else(|| text.clone());
            cleared = with_line(&cleared, "pr:", None).unwrap_or(cleared);
            if let Some(without) = with_line(&cleared, "labels:", Some("labels: [ui]"))
                && String::from_utf8_lossy(&text).contains("needs-human")
            {
                cleared = drop_items(&without);
            }
            if cleared != text {
                self.put_file(&path, &cleared);
            }
        }
    }

    /// A diligent Orchestrator finishes everything; where it was given up, a person asks.
    fn all_is_done(&mut self) {
        for _ in 0..60 {
            if self.open() == 0 && self.turn.is_none() {
                return;
            }
            self.pass(DAY);
            let idle = |world: &Self| {
                world.daemon.as_ref().map(|d| d.engine.decide(&[Boundary::OrchestratorIdle], world.now()))
            };
            if let Some(Decision::Suppress(
                Suppression::Ignored
                | Suppression::BackingOff(None)
                | Suppression::AlreadyPresented
                | Suppression::NothingStartable,
            )) = idle(self)
            {
                self.tell(Message::Boundary(Boundary::UserKick));
            }
        }
        let open: Vec<_> = self.entries().into_iter().filter(is_open).collect();
        let decided = self.daemon.as_ref().map(|d| d.engine.decide(&[Boundary::UserKick], self.now()));
        panic!("not finished: {open:#?}, {decided:?}");
    }

    /// A person says what holds where the text is older than what its last claim brought, or where an editor wrote what
    /// nobody has accepted.
    fn settle_reverted(&mut self) {
        for id in self.tickets.clone() {
            let reverted = self.daemon.as_ref().is_some_and(|daemon| daemon.engine.is_reverted(&id));
            let by_hand = |ticket: &Ticket| ticket.state == Some(State::Inprogress) && !ticket.acceptance_recorded();
            let by_hand = self.policy.mode == Mode::Pull && self.ticket(&id).is_some_and(|ticket| by_hand(&ticket));
            if reverted || by_hand {
                self.say(|| format!("a person looks at {id}"));
                if self.ticket(&id).is_some_and(|ticket| ticket.state == Some(State::Queued)) {
                    self.ask(&id, Wish::Move(State::Ready, "al".into()), Actor::Somebody("al".into()));
                }
                self.ask(&id, Wish::Move(State::Queued, "al".into()), Actor::Somebody("al".into()));
            }
        }
    }

    /// Where workers come and each ends what it takes, nothing is left in the queue.
    fn workers_do_all(&mut self) {
        for _ in 0..40 {
            if self.open() == 0 {
                return;
            }
            self.worker_comes(Fate::Ends(Outcome::Done));
            self.pass(HOUR);
        }
        let open: Vec<_> = self.entries().into_iter().filter(is_open).collect();
        panic!("not finished: {open:#?}, {:#?}", self.all_claim_news());
    }

    /// Where none comes any more, everything that a worker left is in the queue for the next one.
    fn nothing_is_left_to_nobody(&mut self) {
        self.pass(DAY);
        for news in self.all_claim_news() {
            let Some(ticket) = self.ticket(&news.ticket).filter(|t| t.state == Some(State::Inprogress)) else {
                continue;
            };
            let accepted = ticket.stamps.accepted_at.filter(|_| ticket.acceptance_recorded());
            let lost = match &news.stands {
                Ok(_) => true,
                Err(ended) => ended.end.is_without_result() && accepted.is_some_and(|at| ended.at >= at),
            };
            assert!(!lost, "{} is left to nobody: {ticket:#?}, {news:?}", news.ticket);
        }
    }

    fn open(&mut self) -> usize {
        self.entries().iter().filter(|entry| is_open(entry)).count()
    }

    /// One that does nothing is left alone, with nothing unseen but for the named reasons.
    fn nothing_is_left_unseen(&mut self) {
        self.pass(30 * DAY);
        let kicks = self.observer.kicks;
        self.pass(10 * DAY);
        assert_eq!(self.observer.kicks, kicks, "kicks go on although nothing happens");
        let Some(daemon) = &self.daemon else { panic!("the daemon is gone") };
        match daemon.engine.decide(&[Boundary::OrchestratorIdle], self.now()) {
            Decision::Kick { items, .. } => panic!("unseen at rest: {items:?}"),
            Decision::Suppress(Suppression::Ignored | Suppression::BackingOff(None)) => {
                assert!(self.observer.alerts > 0, "given up, and nobody was told");
            }
            Decision::Suppress(Suppression::AlreadyPresented) => {
                let items = daemon.engine.attention(false, self.now()).items;
                assert!(items.iter().all(|item| item.seen), "unseen behind seen ones: {items:?}");
                assert!(self.observer.alerts > 0, "seen and unmoved for weeks, and nobody was told");
            }
            Decision::Suppress(
                Suppression::NothingQueued | Suppression::NothingStartable | Suppression::ActiveInprogress(_),
            ) => {}
            other @ Decision::Suppress(_) => panic!("at rest: {other:?}"),
        }
    }

    fn judge_end(&mut self) {
        let fresh = Backlog::of(self.entries());
        let Some(daemon) = &self.daemon else { panic!("the daemon is gone") };
        assert_eq!(*daemon.engine.backlog(), fresh, "the board is not what a fresh start shows");
        for ticket in fresh.tickets().filter(|ticket| ticket.state == Some(State::Queued)) {
            assert!(
                ticket.stamps.queued_at.is_some() || self.unstamped.contains(&ticket.id),
                "{} was never stamped",
                ticket.id
            );
        }
        assert!(self.journal.keys().all(|path| !self.is_pending(path)), "what others wrote lies in displaced files");
        assert!(self.turn.is_none() && self.writes.is_empty() && self.editors.is_empty());
    }
}

fn is_open((_, entry): &(std::path::PathBuf, Entry)) -> bool {
    match entry {
        Entry::Ticket(ticket) => matches!(ticket.state, Some(State::Queued | State::Inprogress)),
        _ => false,
    }
}

/// Without the items of a list in lines of its own.
fn drop_items(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text).into_owned();
    text.split_inclusive('\n').filter(|line| !line.starts_with("  - ")).collect::<String>().into_bytes()
}
