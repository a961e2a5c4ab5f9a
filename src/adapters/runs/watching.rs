//! Watches one run: who it is, once that is known; then its end, which is its lock becoming free.
//!
//! Must not know: who is told.

use std::thread;
use std::time::{Duration, Instant};

use super::files::RunFiles;
use crate::adapters::processes::SystemProcesses;
use crate::ports::Processes;
use crate::ports::runs::{End, How, OnSign, Sign};

/// How often the record of the start is looked for, at first and at last, and for how long.
const SOONEST: Duration = Duration::from_millis(2);
const LATEST: Duration = Duration::from_millis(200);
const LOOKING: Duration = Duration::from_secs(10);
/// How long the kernel may take to end a program whose supervisor was killed.
const ENDING: Duration = Duration::from_secs(1);
/// How long such a program's group has between SIGTERM and SIGKILL, if the kernel did not end it.
const GRACE: Duration = Duration::from_secs(5);

pub(super) struct Watching {
    pub(super) files: RunFiles,
    pub(super) processes: SystemProcesses,
    pub(super) call: OnSign,
}

impl Watching {
    /// Tells the signs; returns after the last.
    pub(super) fn watch(mut self) {
        self.wait_for_start();
        self.files.wait_until_free();
        (self.call)(Sign::Ended(end_of(&self.files, &self.processes)));
    }

    fn wait_for_start(&mut self) {
        let (began, mut pause) = (Instant::now(), SOONEST);
        loop {
            // In this order: what ended has written before it let its lock go.
            let held = self.files.is_held();
            if let Some(started) = self.files.started() {
                return (self.call)(Sign::Started(started.program));
            }
            if !held || began.elapsed() > LOOKING {
                return;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LATEST);
        }
    }
}

/// The end of a run whose lock is free: as its supervisor recorded it, else that it was killed. Then its program is
/// gone, or on its way: the kernel lets a process's locks go a moment before it ends its children. It is waited for, so
/// that no second one begins beside it; and ended, if the kernel did not.
pub(super) fn end_of(files: &RunFiles, processes: &SystemProcesses) -> End {
    if let Some(end) = files.end() {
        return end;
    }
    match files.started() {
        Some(started) => {
            let gone = processes.hold(&started.program).is_none_or(|handle| handle.wait(Some(ENDING)));
            if !gone && processes.is_alive(&started.program) {
                processes.end_group(&started.program, GRACE);
            }
        }
        // Whoever was begun and not recorded cannot be waited for by name, only for a moment.
        None => thread::sleep(SOONEST * 10),
    }
    let how = match files.started() {
        Some(_) => How::SupervisorLost,
        None => How::NotStarted("its supervisor ended before it had started it".into()),
    };
    End { how, at: chrono::Utc::now(), rate_limited: None }
}
