//! Runs by files and locks in the state folder: an order, a lock that the supervisor holds, its records (DESIGN.md 6.5).
//!
//! A run goes on exactly as long as its lock is held. The lock belongs to the open file that the supervisor is given at
//! its start, already locked: there is no moment at which a supervisor has begun and does not hold it, and none at which
//! it is held by nobody's.
//!
//! Must not know: what becomes of a run's end; how a supervisor does its work.

pub(super) mod files;
#[cfg(test)]
mod tests;
mod watching;
mod whose;

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use self::files::{RunFiles, WatchedLock, names};
use self::watching::Watching;
use super::fault;
use super::files::{FileId, is_own_folder, named, own_folder};
use super::processes::SystemProcesses;
use super::state_files::UNFINISHED;
use super::state_folder::plain;
use crate::domain::engine::{KickId, RunningTurn};
use crate::ports::runs::{Found, OnSign, Order, PodRun, RunId, Runs, Standing, Whose};

/// How long a run may take to end when it is told to: its group's grace, SIGKILL, and a record.
const ENDING: Duration = Duration::from_secs(15);
/// How long a supervisor that has begun may take to say who it is.
const BEGINNING: Duration = Duration::from_secs(3);
/// How long somebody else's look at a lock may take.
const GLANCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(10);

/// The runs whose files lie in one folder.
#[derive(Clone, Debug)]
pub struct RunFolder {
    folder: PathBuf,
    program: PathBuf,
    processes: SystemProcesses,
    settling: Duration,
}

impl RunFolder {
    /// `program` is this very program, which is its own supervisor.
    pub fn new(folder: impl Into<PathBuf>, program: impl Into<PathBuf>, processes: SystemProcesses) -> Self {
        Self { folder: folder.into(), program: program.into(), processes, settling: watching::SETTLING }
    }

    fn files(&self, run: &RunId) -> RunFiles {
        RunFiles::new(&self.folder, &plain(&run.0))
    }

    /// Its standard input is the lock: the one descriptor, beside two others, that a program is given safely.
    fn spawn(&self, files: &RunFiles, lock: File) -> io::Result<Child> {
        let mut command = Command::new(&self.program);
        command.arg0("yoi").arg("run").arg(files.order_path()).current_dir("/");
        command.stdin(lock).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map_err(|error| {
            io::Error::new(error.kind(), format!("its supervisor ({}): {error}", self.program.display()))
        })
    }

    /// None where nobody can say whom it is for.
    fn found_one(&self, name: &str) -> Option<Found> {
        let files = RunFiles::new(&self.folder, name);
        let order = files.order().unwrap_or_else(|error| {
            tracing::warn!(%error, "the order of a run cannot be read");
            None
        });
        // Whatever became of its order: while the lock is held somebody is at work, and must not be joined by another.
        let held = files.is_held();
        // One that began, and neither goes on nor has a record of its end, was killed together with its supervisor.
        let (started, ended) = (files.started(), files.end().is_some());
        let shared = matches!(order.as_ref().map(|order| &order.whose), Some(Whose::Pod(_)));
        let foreign = |started| !ended && whose::is_foreign(&files, started, (held, shared), &self.processes);
        let standing = match &order {
            _ if started.as_ref().is_some_and(foreign) => Standing::Foreign,
            _ if held => Standing::Running,
            Some(_) if started.is_some() || ended => Standing::Ended(watching::end_of(&files)),
            _ => Standing::NeverBegan,
        };
        let whose = order.map_or_else(|| by_name(name, &files), |order| Some(order.whose))?;
        let process = started.filter(|_| standing == Standing::Running).map(|started| started.program);
        Some(Found { whose: whose.with_process(process), standing })
    }
}

fn take_lock(files: &RunFiles) -> io::Result<File> {
    let lock = files.open_lock()?;
    let end = Instant::now() + GLANCE;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            // Whoever looks for runs holds each lock for a glance.
            Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(named(&files.lock_path(), &io::Error::other("a run of this name goes on")));
            }
            Err(TryLockError::Error(error)) => return Err(named(&files.lock_path(), &error)),
        }
    }
}

/// What the name of a run says by itself: a kick's is its session's with a number. Of a Pod it says nothing; whose supervisor
/// lives writes its order anew.
fn by_name(name: &str, files: &RunFiles) -> Option<Whose> {
    if name.starts_with(PodRun::PREFIX) {
        tracing::warn!(name, "a Pod's run has no order that can be read; its ticket is not known");
        return None;
    }
    Some(Whose::Turn(RunningTurn {
        kick: KickId(name.to_owned()),
        session: name.rsplit_once('-').map_or(name, |(session, _)| session).to_owned(),
        process: None,
        since: files.modified().map_or_else(chrono::Utc::now, Into::into),
    }))
}

impl Runs for RunFolder {
    fn start(&self, order: &Order, call: OnSign) -> io::Result<()> {
        let files = self.files(&order.whose.id());
        // The thread first: a supervisor whose end nobody notices would be worse than a thread that has nothing to do.
        let (hand_over, handed_over) = channel::<(Child, WatchedLock)>();
        let (watched, processes, settling) = (files.clone(), self.processes.clone(), self.settling);
        thread::Builder::new().name("yoi run".into()).spawn(move || {
            if let Ok((mut child, lock)) = handed_over.recv() {
                let call = Arc::new(Mutex::new(call));
                Watching { files: watched, lock: Some(Arc::new(lock)), processes, call, settling }.watch();
                // It may stay for as long as somebody writes into the log.
                let _ = child.wait();
            }
        })?;
        own_folder(&self.folder)?;
        let lock = take_lock(&files)?;
        let seen = files.lock_to_watch().ok_or_else(|| io::Error::other("its lock is gone already"))?;
        let child = files.write_order(order).and_then(|()| {
            fault::point("launch", "ordered");
            self.spawn(&files, lock)
        });
        let child = child.inspect_err(|_| drop(files.remove()))?;
        fault::point("launch", "spawned");
        hand_over.send((child, seen)).map_err(|_| io::Error::other("the thread that should watch it is gone"))
    }

    fn watch(&self, run: &RunId, call: OnSign) {
        let files = self.files(run);
        let watching = Watching {
            lock: files.lock_to_watch().map(Arc::new),
            files,
            processes: self.processes.clone(),
            call: Arc::new(Mutex::new(call)),
            settling: self.settling,
        };
        let started = thread::Builder::new().name("yoi run".into()).spawn(move || watching.watch());
        if let Err(error) = started {
            tracing::error!(run = %run.0, "the run's end will not be noticed, no thread could be started: {error}");
        }
    }

    fn found(&self) -> io::Result<Vec<Found>> {
        let mut found: Vec<_> = names(&self.folder).iter().filter_map(|name| self.found_one(name)).collect();
        found.sort_by_key(|run| run.whose.since());
        Ok(found)
    }

    fn forget(&self, run: &RunId) -> io::Result<()> {
        self.files(run).remove()
    }

    fn tidy(&self) {
        let runs: Vec<_> = names(&self.folder).iter().map(|name| RunFiles::new(&self.folder, name)).collect();
        let (held, free): (Vec<_>, Vec<_>) = runs.into_iter().partition(RunFiles::is_held);
        for files in free {
            watching::see_gone(&files, &self.processes);
        }
        if !held.is_empty() {
            // A supervisor may be writing just now.
            return;
        }
        let left = is_own_folder(&self.folder).then(|| std::fs::read_dir(&self.folder));
        for entry in left.into_iter().flatten().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(|name| name.starts_with(UNFINISHED)) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    fn call_off(&self, run: &RunId, why: &str) -> io::Result<()> {
        super::state_files::write_json(&self.files(run).off_path(), &why)
    }

    fn end(&self, run: &RunId) -> io::Result<()> {
        let files = self.files(run);
        let within = |limit: Duration, mut done: Box<dyn FnMut() -> bool + '_>| {
            let began = Instant::now();
            while !done() && began.elapsed() < limit {
                thread::sleep(PAUSE);
            }
        };
        let foreign = |started| whose::is_foreign(&files, &started, (true, false), &self.processes);
        if files.is_held() && files.started().is_some_and(foreign) {
            return Err(io::Error::other("it belongs to the workspace that this one was copied from"));
        }
        let own = || files.started().filter(|started| whose::is_own(&files, started, true));
        within(BEGINNING, Box::new(|| own().is_some() || !files.is_held()));
        let started = own().filter(|_| files.is_held());
        if let Some(supervisor) = started.and_then(|started| self.processes.hold(&started.supervisor)) {
            supervisor.signal(Signal::TERM);
            // Whoever was stopped takes no other signal.
            supervisor.signal(Signal::CONT);
        }
        within(ENDING, Box::new(|| !files.is_held()));
        if files.is_held() {
            let seconds = ENDING.as_secs();
            return Err(io::Error::other(format!("its supervisor has not ended it within {seconds} s")));
        }
        Ok(())
    }
}

/// This very program, also after its file was replaced by another version: then by the name that the kernel has for it.
pub fn own_program() -> PathBuf {
    let kernels = Path::new("/proc/self/exe");
    let same = |path: &Path| {
        let (Ok(there), Ok(own)) = (path.metadata(), kernels.metadata()) else { return false };
        FileId::of(&there) == FileId::of(&own)
    };
    std::env::current_exe().ok().filter(|path| same(path)).unwrap_or_else(|| kernels.to_owned())
}
