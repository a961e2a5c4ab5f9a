//! Starting a program in a group of its own, and seeing it through to its end within its limits.
//!
//! Must not know: what the program is for.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use super::group::{self, Reaping};
use super::handle::Handle;
use super::output::Output;
use super::proc_files::Stat;
use crate::adapters::files::{self, Text};
use crate::ports::{Launch, Launched};

/// How long a group has between SIGTERM and SIGKILL when its leader ran into a limit.
const GRACE: Duration = Duration::from_secs(5);

/// Starts it; `call` is called once on a thread of its own. Returns pid and start time.
pub(super) fn launch(
    launch: Launch,
    reaping: Arc<Reaping>,
    call: Box<dyn FnOnce(Launched) + Send>,
) -> io::Result<(u32, Stat)> {
    // The thread first: a child that nobody waits for would be worse than a thread that has nothing to do.
    let (hand_over, handed_over) = channel::<Running>();
    thread::Builder::new().name("yoi launched".into()).spawn(move || {
        if let Ok(running) = handed_over.recv() {
            call(running.see_through(&reaping));
        }
    })?;
    let mut child = spawn(&launch)?;
    feed(&mut child, launch.input)?;
    let pid = child.id();
    // It may have ended already, but nobody has reaped it yet: its line is still there.
    let stat = Stat::of(pid)?;
    let limits = Limits { timeout: launch.timeout, stall: launch.stall };
    let running = Running { child, stat, limits, log: Output::of(&launch.log)? };
    hand_over.send(running).map_err(|_| io::Error::other("the thread that should wait for it is gone"))?;
    Ok((pid, stat))
}

fn spawn(launch: &Launch) -> io::Result<Child> {
    let Some((program, arguments)) = launch.command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "an empty command cannot be started"));
    };
    if !launch.folder.is_dir() {
        let message = format!("{}: no such folder to start `{program}` in", launch.folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    let log = open_log(&launch.log).map_err(|error| named(&launch.log.display().to_string(), &error))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&launch.folder).process_group(0);
    for name in &launch.unset {
        command.env_remove(name);
    }
    command.envs(launch.set.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log);
    command.spawn().map_err(|error| named(&format!("`{program}` cannot be started"), &error))
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
/// end, without having read is its business.
fn feed(child: &mut Child, input: String) -> io::Result<()> {
    let Some(mut pipe) = child.stdin.take() else { return Ok(()) };
    let fed = thread::Builder::new().name("yoi input".into()).spawn(move || drop(pipe.write_all(input.as_bytes())));
    if fed.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    fed.map(drop)
}

struct Limits {
    timeout: Duration,
    stall: Option<Duration>,
}

struct Running {
    child: Child,
    stat: Stat,
    limits: Limits,
    log: Output,
}

impl Running {
    /// Waits for the end, or for a limit and then ends the group. What outlives the leader after an exit of its own is
    /// left alone.
    fn see_through(mut self, reaping: &Reaping) -> Launched {
        let broken = self.wait_within_limits();
        if broken.is_some() {
            group::end(self.child.id(), self.stat.started, GRACE, reaping);
        }
        let status = {
            // By now it has ended, so that this does not take long; where a kill could not end it, it waits unheld.
            let pid = self.child.id();
            let ended = Handle::open(pid, self.stat.started).is_none_or(|handle| handle.wait(None));
            let _held = ended.then(|| reaping.hold());
            self.child.wait()
        };
        self.log.bound();
        broken.unwrap_or_else(|| status.map_or(LOST, how))
    }

    /// None where it ended by itself.
    fn wait_within_limits(&mut self) -> Option<Launched> {
        let handle = Handle::open(self.child.id(), self.stat.started)?;
        let began = Instant::now();
        loop {
            let left = self.limits.timeout.saturating_sub(began.elapsed());
            // A quarter: so a stall is seen at most a quarter late, and a log that grows costs four looks a stall.
            let look = self.limits.stall.map_or(left, |stall| left.min(stall / 4)).min(self.log.look_again());
            if handle.wait(Some(look)) {
                return None;
            }
            self.log.bound();
            if began.elapsed() >= self.limits.timeout {
                return Some(Launched::TimedOut);
            }
            if self.limits.stall.is_some_and(|stall| self.log.quiet_for() >= stall) {
                return Some(Launched::Stalled);
            }
        }
    }
}

/// Somebody else in this process reaped it, and how it ended is lost.
const LOST: Launched = Launched::Exited(-1);

fn how(status: ExitStatus) -> Launched {
    match (status.code(), status.signal()) {
        (Some(code), _) => Launched::Exited(code),
        (None, Some(signal)) => Launched::Signalled(signal),
        (None, None) => LOST,
    }
}
