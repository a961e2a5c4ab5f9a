//! Puts reading and stamping off while git is in the middle of something; what was put off is done when it is over.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Host;
use crate::domain::engine::Event;
use crate::domain::obstruction::Obstruction;

/// How soon the end of an obstacle is looked for while reading waits for it.
const SOON: Duration = Duration::from_millis(250);
/// And while only yoi's own stamps wait for it.
const LATER: Duration = Duration::from_secs(5);

impl Host {
    /// What git is in the middle of, seen now.
    pub fn obstacle_now(&mut self) -> Option<&Obstruction> {
        let now = self.now();
        if let Some(obstacle) = self.ports.worktree.obstacle() {
            let known = self.obstruction.take().filter(|known| known.what == obstacle.what);
            self.obstruction = known.or(Some(Obstruction::new(obstacle.what, obstacle.passing, now)));
        } else {
            self.obstruction = None;
        }
        self.obstruction.as_ref()
    }

    pub(super) fn reading_is_put_off(&mut self, paths: &[PathBuf]) -> bool {
        if self.obstacle_now().is_none() {
            return false;
        }
        let now = self.now();
        let Some(obstruction) = &mut self.obstruction else { return false };
        // Asked before the change is noted: the walk that makes up for what was put off must not put itself off.
        if !obstruction.holds_reading(now) {
            return false;
        }
        if paths.iter().any(|path| !self.put_off.contains(path)) {
            obstruction.changed(now);
        }
        self.put_off.extend(paths.iter().cloned());
        true
    }

    /// Whether nothing is to be concluded from ticket files just now: a kick that is being prepared waits too.
    pub(super) fn conclusions_are_put_off(&mut self) -> bool {
        let now = self.now();
        self.obstacle_now().is_some() && self.obstruction.as_mut().is_some_and(|o| o.holds_reading(now))
    }

    /// How soon the end of the obstacle is looked for by itself; git's own notices come besides.
    pub(super) fn look_again(&self) -> Option<Duration> {
        if !self.put_off.is_empty() || self.put_off_refresh.is_some() {
            Some(SOON)
        } else if self.put_off_stamps.is_empty() {
            None
        } else {
            Some(LATER)
        }
    }

    /// Looks whether the obstacle is gone (or patience is over), and does what was put off.
    pub(super) fn resume_put_off(&mut self) {
        if self.look_again().is_none() || self.conclusions_are_put_off() {
            return;
        }
        if !self.put_off.is_empty() {
            self.read_put_off();
        }
        if let Some((kick, paths)) = self.put_off_refresh.take() {
            let mut events = VecDeque::new();
            self.refresh(kick, paths, &mut events);
            self.tell_all(events);
        }
        let now = self.now();
        if self.obstruction.is_none() && self.stamps_at.is_none_or(|at| at <= now) {
            self.stamps_at = None;
            let stamps = std::mem::take(&mut self.put_off_stamps);
            let mut events = VecDeque::new();
            self.perform_all(stamps, &mut events);
            self.tell_all(events);
        }
    }

    /// A checkout, merge or rebase may have touched anything, and what it did last may not have been noticed yet: all of
    /// it is one look, at what differs, or at everything where that is most of it.
    fn read_put_off(&mut self) {
        let mut paths = std::mem::take(&mut self.put_off);
        // The empty path stands for everything.
        let found = if paths.contains(Path::new("")) { None } else { self.ports.tickets.differences().ok() };
        paths.extend(found.iter().flat_map(|found| found.paths(self.engine.backlog())));
        if found.is_none() || paths.len() * 2 > self.engine.backlog().known_paths().count() {
            let why = "git was in the middle of something".into();
            return self.tell(Event::EverythingNoticed(Some(why)));
        }
        let mut events = VecDeque::new();
        self.read(&paths.into_iter().collect::<Vec<_>>(), &mut events);
        self.tell_all(events);
    }

    fn tell_all(&mut self, events: VecDeque<Event>) {
        for event in events {
            self.tell(event);
        }
    }
}
