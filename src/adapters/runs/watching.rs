//! Watches one run: who it is, once that is known; then its end, which is its lock becoming free.
//!
//! Must not know: who is told.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::files::{RunFiles, WatchedLock};
use super::whose;
use crate::adapters::processes::SystemProcesses;
use crate::ports::runs::{End, How, OnSign, PodRun, Sign, Whose};

/// How often the record of the start is looked for, at first and at last, and for how long.
const SOONEST: Duration = Duration::from_millis(2);
const LATEST: Duration = Duration::from_millis(200);
const LOOKING: Duration = Duration::from_secs(10);
/// How long a supervisor may take from its program's end to its own: a full disk is waited for, a group is ended.
pub(super) const SETTLING: Duration = Duration::from_secs(20);
/// How long the kernel may take to end a program whose supervisor was killed.
const ENDING: Duration = Duration::from_secs(1);
/// How long such a program's group has between SIGTERM and SIGKILL, if the kernel did not end it.
const GRACE: Duration = Duration::from_secs(5);

pub(super) struct Watching {
    pub(super) files: RunFiles,
    /// Opened before anybody could delete it; None where there is none.
    pub(super) lock: Option<Arc<WatchedLock>>,
    pub(super) processes: SystemProcesses,
    pub(super) call: Arc<Mutex<OnSign>>,
    /// [`SETTLING`]; another value is a test's.
    pub(super) settling: Duration,
}

impl Watching {
    /// Tells the signs; returns after the last.
    pub(super) fn watch(self) {
        self.wait_for_start();
        self.see_to_supervisor();
        if let Some(lock) = &self.lock {
            lock.wait_until_free();
        }
        see_gone(&self.files, &self.processes);
        self.tell(Sign::Ended(end_of(&self.files)));
    }

    fn tell(&self, sign: Sign) {
        (self.call.lock().unwrap_or_else(PoisonError::into_inner))(sign);
    }

    /// A supervisor that somebody stopped, or that hangs, must not keep the turn for ever: once its program is gone, or
    /// ought to be, it is told to go on; then it is ended, and its program with it.
    fn see_to_supervisor(&self) {
        let (Some(lock), Some(started)) = (self.lock.clone(), self.files.started()) else { return };
        if !whose::is_own(&self.files, &started, true) {
            return;
        }
        let limit = self.files.order().ok().flatten().map(|order| order.launch.timeout.saturating_add(self.settling));
        let (processes, settling, call) = (self.processes.clone(), self.settling, Arc::downgrade(&self.call));
        let see = move || {
            if let Some(program) = processes.hold(&started.program) {
                program.wait(limit);
            }
            for (signal, done) in [(Signal::CONT, "it is told to go on"), (Signal::KILL, "it is killed")] {
                if !lock.is_held_after(settling) {
                    return;
                }
                // Whoever has its number by now is somebody else, and is let be.
                if let (Some(supervisor), Some(call)) = (processes.hold(&started.supervisor), call.upgrade()) {
                    let pid = started.supervisor.pid;
                    tracing::warn!(pid, ?signal, "a supervisor has not let its turn go");
                    let what = format!("its supervisor (pid {pid}) does not let it go after its end; {done}");
                    (call.lock().unwrap_or_else(PoisonError::into_inner))(Sign::Hangs(what));
                    supervisor.signal(signal);
                }
            }
        };
        if let Err(error) = thread::Builder::new().name("yoi sees".into()).spawn(see) {
            tracing::warn!(%error, "a supervisor that hangs will not be noticed");
        }
    }

    fn wait_for_start(&self) {
        let (began, mut pause) = (Instant::now(), SOONEST);
        loop {
            // In this order: what ended has written before it let its lock go.
            let held = self.lock.as_ref().is_some_and(|lock| lock.is_held());
            if let Some(started) = self.files.started() {
                return self.tell(Sign::Started(started.program));
            }
            if !held || began.elapsed() > LOOKING {
                return;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LATEST);
        }
    }
}

/// The end of a run whose lock is free: as its supervisor recorded it, else that it was killed.
pub(super) fn end_of(files: &RunFiles) -> End {
    files.end().unwrap_or_else(|| {
        let how = match files.started() {
            Some(_) => How::SupervisorLost,
            None => How::NotStarted("its supervisor ended before it had started it".into()),
        };
        End { how, at: chrono::Utc::now(), rate_limited: None }
    })
}

/// Waits until the program of a killed supervisor is gone: the kernel lets a process's locks go a moment before it ends
/// its children. Ends it, if the kernel did not: no second one may begin beside it. What is not certainly this workspace's
/// is let be.
pub(super) fn see_gone(files: &RunFiles, processes: &SystemProcesses) {
    if files.end().is_some() {
        return;
    }
    let Some(started) = files.started() else {
        // Whoever was begun and not recorded cannot be waited for by name, only for a moment.
        return thread::sleep(SOONEST * 10);
    };
    if !whose::is_own(files, &started, false) {
        return;
    }
    let gone = processes.hold(&started.program).is_none_or(|handle| handle.wait(Some(ENDING)));
    if !gone {
        processes.end_group(&started.program, GRACE);
    }
    // What a Pod's program had started works on a ticket that is nobody's now.
    if let Some(Whose::Pod(pod)) = files.order().ok().flatten().map(|order| order.whose) {
        processes.end_marked(&started.program, &format!("{}={}", PodRun::VARIABLE, pod.id), GRACE);
    }
}
