//! The program of a run: started in a group of its own, waited for within its limits.
//!
//! Must not know: what the program is for; who wants to know how it ended.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::guard::Guard;
use super::output::Output;
use crate::adapters::files::{self, Text};
use crate::adapters::processes::group;
use crate::adapters::processes::handle::{Handle, Woken};
use crate::adapters::processes::proc_files::Stat;
use crate::adapters::runs::files::RunFiles;
use crate::ports::Launch;
use crate::ports::runs::How;

/// How long a group has between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(5);

/// A started program.
pub(super) struct Agent {
    child: Child,
    stat: Stat,
    log: Output,
}

impl Agent {
    /// Starts it; an error says in words why it cannot be. On the thread that lives as long as the supervisor does: the
    /// kernel takes that thread's end for the supervisor's.
    pub(super) fn start(launch: &Launch, files: &RunFiles, shim: Option<&Path>) -> Result<Self, String> {
        let mut child = spawn(launch, files, shim).map_err(|error| error.to_string())?;
        feed(&mut child, launch.input.clone());
        // It may have ended already, but nobody has reaped it yet: its line is still there.
        match Stat::of(child.id()).and_then(|stat| Ok((stat, Output::of(&launch.log)?))) {
            Ok((stat, log)) => Ok(Self { child, stat, log }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error.to_string())
            }
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn stat(&self) -> Stat {
        self.stat
    }

    /// Waits for the end, or for a limit, a wish or a lost claim, and then ends the group. What outlives the leader of a turn
    /// after an exit of its own is left alone: it may be a worker. Of what works under a claim nothing goes on without it.
    pub(super) fn see_through(
        mut self,
        launch: &Launch,
        asked: BorrowedFd<'_>,
        guard: Option<&mut Guard>,
    ) -> (How, Output) {
        let under_claim = guard.is_some();
        let broken = self.wait_within_limits(launch, asked, guard);
        if broken.is_some() {
            group::end(self.child.id(), self.stat.started, GRACE);
        }
        if under_claim {
            group::end_left(self.child.id(), self.stat.started, GRACE);
        }
        let status = self.child.wait();
        self.log.bound();
        (broken.unwrap_or_else(|| status.map_or(LOST, how)), self.log)
    }

    /// None where it ended by itself.
    fn wait_within_limits(
        &mut self,
        launch: &Launch,
        asked: BorrowedFd<'_>,
        mut guard: Option<&mut Guard>,
    ) -> Option<How> {
        let handle = Handle::open(self.child.id(), self.stat.started)?;
        let began = Instant::now();
        loop {
            let mut look = launch.timeout.saturating_sub(began.elapsed()).min(self.log.look_again());
            if let Some(guard) = &mut guard {
                match guard.look(self.log.quiet_for(), Instant::now()) {
                    Ok(soon) => look = look.min(soon),
                    Err(how) => return Some(how),
                }
            }
            // A quarter: so a stall is seen at most a quarter late, and a log that grows costs four looks a stall.
            let look = launch.stall.map_or(look, |stall| look.min(stall / 4));
            match handle.wait_or(asked, look) {
                Woken::Ended => return None,
                Woken::Told => return Some(How::Asked),
                Woken::Late => {}
            }
            self.log.bound();
            if began.elapsed() >= launch.timeout {
                return Some(How::TimedOut);
            }
            if launch.stall.is_some_and(|stall| self.log.quiet_for() >= stall) {
                return Some(How::Stalled);
            }
        }
    }
}

fn spawn(launch: &Launch, files: &RunFiles, shim: Option<&Path>) -> io::Result<Child> {
    let Some(program) = launch.command.first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "an empty command cannot be started"));
    };
    if !launch.folder.is_dir() {
        let message = format!("{}: no such folder to start `{program}` in", launch.folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    let log = open_log(&launch.log).map_err(|error| files::named(&launch.log, &error))?;
    let mut command = command(&launch.command, files, shim);
    command.current_dir(&launch.folder).process_group(0);
    for name in &launch.unset {
        command.env_remove(name);
    }
    command.envs(launch.set.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log);
    command.spawn().map_err(|error| named(&format!("`{program}` cannot be started"), &error))
}

/// The program itself, or the one that becomes it.
fn command(words: &[String], files: &RunFiles, shim: Option<&Path>) -> Command {
    let Some(shim) = shim else {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        return command;
    };
    let mut command = Command::new(shim);
    command.arg0("yoi").args(["run", "--become"]).arg(std::process::id().to_string()).arg(files.failed_path());
    command.arg("--").args(words);
    command
}

fn named(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

fn open_log(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        files::own_folder(folder)?;
    }
    files::open_own(path, Text::Extended)
}

/// On a thread of its own: a program that does not read would hold up everything else. That it may close its end, or
/// end, without having read is its business; so is what it makes of an input that ends at once, where there is no thread.
fn feed(child: &mut Child, input: String) {
    if let Some(mut pipe) = child.stdin.take() {
        let _ = thread::Builder::new().name("yoi input".into()).spawn(move || drop(pipe.write_all(input.as_bytes())));
    }
}

/// Somebody else in this process reaped it, and how it ended is lost.
const LOST: How = How::Exited(-1);

fn how(status: ExitStatus) -> How {
    match (status.code(), status.signal()) {
        (Some(code), _) => How::Exited(code),
        (None, Some(signal)) => How::Signalled(signal),
        (None, None) => LOST,
    }
}
