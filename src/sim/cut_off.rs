//! Workers whose command, or whose daemon, is killed before they were told what came of it; and who gives back what they had.

use super::workers::{Claimer, Fate, Stage};
use super::world::World;
use crate::domain::claim::{Outcome, StepKind, Tip};
use crate::domain::ticket::TicketId;

impl World {
    pub(super) fn is_killed(&mut self, number: u64) -> bool {
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
        for number in cut {
            self.cut_off(number);
        }
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
        for id in marked {
            self.mend_claim(&id);
        }
    }

    /// A claim that was cut off, and that nobody has renewed since, is given back in its worker's name.
    pub(super) fn mend_claim(&mut self, id: &TicketId) {
        let Some((worker, generation)) = self.claims.marks.remove(id) else { return };
        let is_it = |tip: &Tip| tip.step.kind == StepKind::Claim && tip.step.generation == generation;
        if !self.tip(id).is_some_and(is_it) {
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
}
