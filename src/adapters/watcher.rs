//! Sees that something changed in the ticket folder or in git, and says so: hints to look again, never truth.
//!
//! Must not know: what a ticket is, when to act on a hint (the debounce is a due time of the engine's). DESIGN.md 5
//! (last point), 8 (Self-proof); FAULTS kinds 4, 14 and 23.

mod arming;
mod canary;
mod mounts;
mod narrowing;
mod pacing;
mod polling;
mod sorting;
#[cfg(test)]
mod tests;
mod worker;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::ports::{Lag, Notices, Noticing};
use canary::Canary;
use mounts::Mounts;
pub(super) use polling::shared_with_others;
use sorting::{Pile, Places};
use worker::{Manner, Worker};

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
        Self::start_with(places, Manner { every: POLL_EVERY, unsupported: Box::new(polling::unsupported) }, notices)
    }

    fn start_with(places: Places, manner: Manner, notices: impl Fn(Notice) + Send + 'static) -> Watching {
        let shared = Arc::new(Shared::default());
        let watching = Watching {
            _mounts: Mounts::look_out(places.clone(), &shared),
            shared: Arc::clone(&shared),
            tickets: places.tickets.clone(),
            workspace: places.workspace.clone(),
        };
        let worker = Worker::new(places, Arc::clone(&shared), manner, Box::new(notices));
        let started = thread::Builder::new().name("yoi watcher".into()).spawn(move || worker.run());
        if let Err(error) = started {
            let why = format!("nothing is noticed, no thread could be started: {error}");
            shared.set(Backend::Polling(why), 0);
        }
        watching
    }
}

/// A running watcher; stops when dropped.
#[derive(Debug)]
pub struct Watching {
    _mounts: Option<Mounts>,
    shared: Arc<Shared>,
    tickets: PathBuf,
    workspace: PathBuf,
}

impl Watching {
    /// How changes are noticed just now.
    pub fn backend(&self) -> Backend {
        lock(&self.shared.backend).clone()
    }

    /// Measures how long a notice takes, and waits for it, at most 2 s. `not_now` says why this is not the time to make
    /// a file, if it is not.
    pub fn measure(&self, not_now: Option<String>) {
        let why = match self.backend() {
            Backend::Polling(_) => Some(format!("changes are looked for every {} s", POLL_EVERY.as_secs())),
            Backend::Inotify => not_now,
        };
        match why {
            Some(why) => self.shared.canary.keep(Lag::NotMeasured(why)),
            None => self.shared.canary.measure(&self.tickets, &self.workspace),
        }
    }
}

impl Notices for Watching {
    fn noticing(&self) -> Noticing {
        let polling = match self.backend() {
            Backend::Inotify => None,
            Backend::Polling(why) => Some(why),
        };
        Noticing { polling, folders: self.shared.folders.load(Ordering::Relaxed), lag: self.shared.canary.last() }
    }

    fn doubt(&self, why: &str) {
        self.shared.add(|pile| pile.lose(why.to_owned()));
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
    folders: AtomicUsize,
    canary: Canary,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            pile: Mutex::default(),
            something: Condvar::new(),
            stop: AtomicBool::new(false),
            backend: Mutex::new(Backend::Inotify),
            folders: AtomicUsize::new(0),
            canary: Canary::default(),
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

    fn set(&self, backend: Backend, folders: usize) {
        *lock(&self.backend) = backend;
        self.folders.store(folders, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that holds these locks can leave them half-changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
