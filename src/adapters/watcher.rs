//! Sees that something changed in the ticket folder or in git, and says so: hints to look again, never truth.
//!
//! Must not know: what a ticket is, when to act on a hint (the debounce is a due time of the engine's). DESIGN.md 5
//! (last point), 8 (Self-proof); FAULTS kinds 4, 14 and 23.

mod arming;
mod polling;
mod sorting;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use arming::{Armed, CannotWatch};
use polling::GitMarks;
use sorting::{Pile, Places};

/// How often a look is asked for where the system does not report changes, and how often a missing ticket folder is
/// looked for.
pub const POLL_EVERY: Duration = Duration::from_secs(2);

/// A hint that something changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// These ticket files (relative to the workspace, sorted): created, changed, renamed or gone.
    Paths(Vec<PathBuf>),
    /// What changed cannot be said by file; why, in words.
    Everything(String),
    /// Nothing reports changes here, and it is time for a look at everything.
    Look,
    /// The git directory: a commit, a checkout, the index, a claim, a linked worktree.
    Git,
}

/// How changes are noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The kernel reports them.
    Inotify,
    /// It does not, so a look is asked for every [`POLL_EVERY`]; why.
    Polling(String),
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Backend::Inotify => f.write_str("inotify"),
            Backend::Polling(why) => write!(f, "polling: {why}"),
        }
    }
}

/// Starts watching.
#[derive(Debug)]
pub struct Watcher;

impl Watcher {
    /// Watches the ticket folder (relative to the workspace, or absolute) at any depth, and what yoi rests on in git's
    /// common directory. When this returns, every later change will be noticed; what the folders hold now is for the
    /// caller to read. `notices` is called on a thread of the watcher's own, without any debounce, and should be quick.
    pub fn start(
        workspace: &Path,
        ticket_folder: &Path,
        git_dir: Option<&Path>,
        notices: impl Fn(Notice) + Send + 'static,
    ) -> Watching {
        let places = Places::new(workspace, ticket_folder, git_dir);
        let unsupported = polling::unsupported(&places);
        Self::start_with(places, unsupported, POLL_EVERY, notices)
    }

    fn start_with(
        places: Places,
        unsupported: Option<String>,
        every: Duration,
        notices: impl Fn(Notice) + Send + 'static,
    ) -> Watching {
        let shared = Arc::new(Shared::default());
        let armed = match unsupported {
            Some(why) => Err(CannotWatch(why)),
            None => Armed::start(places.clone(), &shared),
        };
        let marks = GitMarks::of(&places);
        let mut worker =
            Worker { places, shared: Arc::clone(&shared), armed: None, marks, every, notices: Box::new(notices) };
        match armed {
            Ok(armed) => worker.armed = Some(armed),
            Err(why) => worker.poll_from_now_on(why),
        }
        let watching = Watching { shared: Arc::clone(&shared) };
        let started = thread::Builder::new().name("yoi watcher".into()).spawn(move || worker.run());
        if let Err(error) = started {
            shared.set_backend(Backend::Polling(format!("nothing is noticed, no thread could be started: {error}")));
        }
        watching
    }
}

/// A running watcher; stops when dropped.
#[derive(Debug)]
pub struct Watching {
    shared: Arc<Shared>,
}

impl Watching {
    /// How changes are noticed just now.
    pub fn backend(&self) -> Backend {
        lock(&self.shared.backend).clone()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // Not joined: the thread may be inside a notice that waits for whoever drops this.
        let _pile = lock(&self.shared.pile);
        self.shared.stop.store(true, Ordering::Release);
        self.shared.something.notify_one();
    }
}

/// What the library's thread, the watcher's thread and the owner share.
#[derive(Debug)]
struct Shared {
    pile: Mutex<Pile>,
    something: Condvar,
    stop: AtomicBool,
    backend: Mutex<Backend>,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            pile: Mutex::default(),
            something: Condvar::new(),
            stop: AtomicBool::new(false),
            backend: Mutex::new(Backend::Inotify),
        }
    }
}

impl Shared {
    fn add(&self, put: impl FnOnce(&mut Pile)) {
        let mut pile = lock(&self.pile);
        put(&mut pile);
        if !pile.is_empty() {
            self.something.notify_one();
        }
    }

    /// Waits until there is something, at most `limit`; takes it all.
    fn take(&self, limit: Option<Duration>) -> Pile {
        let pile = lock(&self.pile);
        let nothing = |pile: &mut Pile| pile.is_empty() && !self.stopped();
        let mut pile = match limit {
            None => self.something.wait_while(pile, nothing).unwrap_or_else(PoisonError::into_inner),
            Some(limit) => {
                self.something.wait_timeout_while(pile, limit, nothing).unwrap_or_else(PoisonError::into_inner).0
            }
        };
        std::mem::take(&mut *pile)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn set_backend(&self, backend: Backend) {
        *lock(&self.backend) = backend;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that holds these locks can leave them half-changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The watcher's own thread: re-arms, and turns piles into notices.
struct Worker {
    places: Places,
    shared: Arc<Shared>,
    /// None while polling.
    armed: Option<Armed>,
    marks: GitMarks,
    every: Duration,
    notices: Box<dyn Fn(Notice) + Send>,
}

impl Worker {
    fn run(mut self) {
        loop {
            let settled = self.armed.as_ref().is_some_and(Armed::complete);
            let pile = self.shared.take((!settled).then_some(self.every));
            if self.shared.stopped() {
                return;
            }
            for notice in self.notices_for(pile) {
                if self.shared.stopped() {
                    return;
                }
                (self.notices)(notice);
            }
        }
    }

    /// Re-arms what the pile asks for, then says what it amounts to. In this order: what changes after the watch is
    /// set is noticed, what changed before is there to be read.
    fn notices_for(&mut self, pile: Pile) -> Vec<Notice> {
        let mut git = pile.git;
        let paths = pile.paths.iter().cloned().collect::<Vec<_>>();
        let rearmed = self.armed.as_mut().map(|armed| armed.rearm(pile));
        let files = match rearmed {
            Some(Ok(Some(why))) => Some(Notice::Everything(why)),
            Some(Ok(None)) => (!paths.is_empty()).then_some(Notice::Paths(paths)),
            Some(Err(CannotWatch(why))) => {
                let because = format!("polling from now on, because {why}");
                self.poll_from_now_on(CannotWatch(why));
                Some(Notice::Everything(because))
            }
            None => {
                let marks = GitMarks::of(&self.places);
                git |= marks != self.marks;
                self.marks = marks;
                Some(Notice::Look)
            }
        };
        git.then_some(Notice::Git).into_iter().chain(files).collect()
    }

    fn poll_from_now_on(&mut self, why: CannotWatch) {
        self.armed = None;
        self.shared.set_backend(Backend::Polling(why.0));
    }
}
