//! The watcher's own thread: re-arms, turns piles into notices, and where the kernel reports nothing asks for looks
//! until it does again.
//!
//! Must not know: what the library reports; what a notice leads to.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::arming::{Armed, CannotWatch, Rearmed};
use super::pacing::Pace;
use super::polling::GitMarks;
use super::sorting::{Pile, Places};
use super::{Backend, Notice, Shared};

/// How many looks pass before arming is tried again where the system has no more watches to give: arming costs a walk
/// and, where it fails again, all watches that were set for it.
const LOOKS_A_TRY: u32 = 30;

/// The first file is told at once; what follows it this closely is told together. Otherwise every file of a checkout would
/// wake this thread and the daemon's.
const LULL: Duration = Duration::from_millis(2);

/// Says why places cannot be watched, if they cannot.
pub(super) type WhyNot = Box<dyn Fn(&Places) -> Option<String> + Send>;

/// How a watcher is to work; other values than the usual ones are a test's.
pub(super) struct Manner {
    /// How often a look is asked for where there are no reports.
    pub(super) every: Duration,
    /// Why places cannot be watched, if they cannot.
    pub(super) unsupported: WhyNot,
}

pub(super) struct Worker {
    places: Places,
    shared: Arc<Shared>,
    /// None while polling.
    armed: Option<Armed>,
    marks: GitMarks,
    manner: Manner,
    pace: Pace,
    /// When arming is tried again, while polling.
    retry_at: Instant,
    notices: Box<dyn Fn(Notice) + Send>,
}

impl Worker {
    /// Armed, or polling where that is not possible.
    pub(super) fn new(
        places: Places,
        shared: Arc<Shared>,
        manner: Manner,
        notices: Box<dyn Fn(Notice) + Send>,
    ) -> Self {
        let marks = GitMarks::of(&places);
        let (pace, retry_at) = (Pace::default(), Instant::now());
        let mut worker = Self { places, shared, armed: None, marks, manner, pace, retry_at, notices };
        if let Err(why) = worker.arm() {
            worker.poll_from_now_on(why);
        }
        worker
    }

    fn arm(&mut self) -> Result<(), CannotWatch> {
        if let Some(why) = (self.manner.unsupported)(&self.places) {
            return Err(CannotWatch(why));
        }
        let armed = Armed::start(self.places.clone(), &self.shared)?;
        self.shared.set(Backend::Inotify, armed.folders());
        self.armed = Some(armed);
        Ok(())
    }

    pub(super) fn run(mut self) {
        loop {
            let settled = self.armed.as_ref().is_some_and(Armed::complete);
            let owed = self.pace.due().map(|due| due.saturating_duration_since(Instant::now()));
            let mut pile = self.shared.take((!settled).then_some(self.manner.every).into_iter().chain(owed).min());
            if self.shared.stopped() {
                return;
            }
            if std::mem::take(&mut pile.overflowed) {
                self.pace.overflowed(Instant::now());
            }
            let looks_count = self.armed.as_ref().is_some_and(Armed::reports_reading);
            if self.pace.take(Instant::now(), looks_count) {
                pile.lose("the watcher's queue overflowed".into());
            }
            let canary = pile.canary;
            let mut files = false;
            for notice in self.notices_for(pile) {
                if self.shared.stopped() {
                    return;
                }
                files |= matches!(notice, Notice::Paths(_));
                (self.notices)(notice);
            }
            if canary {
                self.shared.canary.noticed();
            }
            if files {
                thread::sleep(LULL);
            }
        }
    }

    /// Re-arms what the pile asks for, then says what it amounts to. In this order: what changes after the watch is
    /// set is noticed, what changed before is there to be read.
    fn notices_for(&mut self, pile: Pile) -> Vec<Notice> {
        let mut git = pile.git;
        let files = if self.armed.is_some() {
            let mut paths = pile.paths.clone();
            match self.rearm(pile) {
                Ok(Rearmed { everything: Some(why), .. }) => Some(Notice::Everything(why)),
                Ok(Rearmed { paths: more, .. }) => {
                    paths.extend(more);
                    (!paths.is_empty()).then(|| Notice::Paths(paths.into_iter().collect()))
                }
                Err(why) => {
                    let because = format!("polling from now on, because {}", why.0);
                    self.poll_from_now_on(why);
                    Some(Notice::Everything(because))
                }
            }
        } else {
            if pile.root {
                // Another file system lies there now, which may report.
                self.retry_at = Instant::now();
            }
            let marks = GitMarks::of(&self.places);
            git |= marks != self.marks;
            self.marks = marks;
            let notice = self.look();
            // What changed in git between that look and the new watch is told by neither.
            git |= self.armed.is_some();
            Some(notice)
        };
        git.then_some(Notice::Git).into_iter().chain(files).collect()
    }

    fn rearm(&mut self, pile: Pile) -> Result<Rearmed, CannotWatch> {
        // What is there now may lie on another file system than what was there.
        let moved = pile.root || pile.lost.is_some();
        if let Some(why) = moved.then(|| (self.manner.unsupported)(&self.places)).flatten() {
            return Err(CannotWatch(why));
        }
        let Some(armed) = &mut self.armed else { return Ok(Rearmed { everything: None, paths: Vec::new() }) };
        let rearmed = armed.rearm(pile, &self.shared)?;
        self.shared.set(Backend::Inotify, armed.folders());
        Ok(rearmed)
    }

    fn look(&mut self) -> Notice {
        if Instant::now() < self.retry_at {
            return Notice::Look;
        }
        match self.arm() {
            Ok(()) => Notice::Everything("the system reports changes from now on, and polling ends".into()),
            Err(why) => {
                self.poll_from_now_on(why);
                Notice::Look
            }
        }
    }

    fn poll_from_now_on(&mut self, why: CannotWatch) {
        self.armed = None;
        self.retry_at = Instant::now() + self.manner.every * LOOKS_A_TRY;
        self.shared.set(Backend::Polling(why.0), 0);
    }
}
