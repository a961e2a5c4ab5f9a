//! The watcher: tells of changes late, twice, in another order, not at all, or that it cannot say.

use std::path::{Path, PathBuf};

use super::messages::Message;
use super::world::{Happening, World};

impl World {
    /// Something happened to this name. Whoever listens is told, more or less.
    pub(super) fn changed_on_disk(&mut self, path: &Path) {
        self.disk_changed_at = self.clock;
        self.to_judge.insert(path.to_owned());
        if self.daemon.is_none() {
            return;
        }
        let daemon = self.generation;
        let lag = if self.faults { self.dice.of(&[0, 0, 0, 1, 5, 30, 200, 900, 1_500]) } else { 1 };
        if self.faults && self.dice.once_in(self.loss) {
            if self.dice.once_in(3) {
                self.say(|| format!("the watcher overflows over {}", path.display()));
                self.at(lag, Happening::Notice(daemon, Message::Overflow));
            } else {
                self.say(|| format!("the notice of {} is lost", path.display()));
                self.lost = true;
            }
            return;
        }
        let notice = || Message::Paths(vec![path.to_owned()]);
        self.at(lag, Happening::Notice(daemon, notice()));
        self.in_flight += 1;
        if self.faults && self.dice.once_in(6) {
            let again = self.dice.between(0, 400);
            self.at(lag + again, Happening::Notice(daemon, notice()));
            self.in_flight += 1;
        }
    }

    /// A notice reaches the daemon that was alive when it was sent.
    pub(super) fn notice(&mut self, to: u64, message: Message) {
        if matches!(message, Message::Paths(_)) && to == self.generation {
            self.in_flight = self.in_flight.saturating_sub(1);
        }
        if to == self.generation {
            self.tell(message);
        }
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.disk.names.keys().cloned().collect()
    }
}
