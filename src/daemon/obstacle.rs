//! Puts reading and stamping off while git is in the middle of something; what was put off is done when it is over.

use std::path::PathBuf;

use super::Host;
use crate::domain::engine::Event;
use crate::domain::obstruction::Obstruction;

impl Host {
    /// What git is in the middle of, seen now.
    pub(super) fn obstacle_now(&mut self) -> Option<String> {
        let now = self.now();
        if let Some(obstacle) = self.ports.worktree.obstacle() {
            let known = self.obstruction.take().filter(|known| known.what == obstacle.what);
            self.obstruction = known.or(Some(Obstruction { what: obstacle.what, last_change: now }));
        } else {
            self.obstruction = None;
        }
        self.obstruction.as_ref().map(|o| o.what.clone())
    }

    pub(super) fn reading_is_put_off(&mut self, paths: &[PathBuf]) -> bool {
        if self.obstacle_now().is_none() {
            return false;
        }
        let now = self.now();
        let Some(obstruction) = &mut self.obstruction else { return false };
        let new = paths.iter().any(|path| !self.put_off.contains(path));
        if new {
            obstruction.last_change = now;
        }
        if !obstruction.holds_reading(now) {
            return false;
        }
        self.put_off.extend(paths.iter().cloned());
        true
    }

    /// Whether something was put off.
    pub(super) fn has_put_off(&self) -> bool {
        self.obstruction.is_some() || !self.put_off.is_empty() || !self.put_off_stamps.is_empty()
    }

    /// Looks whether the obstacle is gone (or patience is over), and does what was put off.
    pub(super) fn resume_put_off(&mut self) {
        if !self.has_put_off() {
            return;
        }
        let obstacle = self.obstacle_now();
        let now = self.now();
        if self.obstruction.as_ref().is_some_and(|o| o.holds_reading(now)) {
            return;
        }
        if !self.put_off.is_empty() {
            self.put_off.clear();
            // A checkout, merge or rebase may have touched anything.
            self.tell(Event::EverythingNoticed("git was in the middle of something".into()));
        }
        if obstacle.is_none() {
            let stamps = std::mem::take(&mut self.put_off_stamps);
            let mut events = std::collections::VecDeque::new();
            self.perform_all(stamps, &mut events);
            while let Some(event) = events.pop_front() {
                self.tell(event);
            }
        }
    }
}
