//! The supervisor of one run (`yoi run`, DESIGN.md 6.5): holds the run's lock, starts the program in a group of its own,
//! ends it at its limits, bounds its log, records its end, and lets the lock go. Small: it is a process beside every
//! agent.
//!
//! Must not know: what the program is for; the daemon, which may come and go.

mod agent;
mod guard;
mod holding;
mod lingering;
mod meter;
mod output;
pub mod shim;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::setsid;
use rustix::stdio::{dup2_stdin, stdin};

use self::agent::Agent;
use self::guard::Guard;
use self::holding::Holding;
use self::output::Output;
use super::fault;
use super::files::FileId;
use super::processes::SystemProcesses;
use super::runs::files::{RunFiles, Started};
use super::runs::own_program;
use crate::ports::Keeper;
use crate::ports::runs::{End, How, Order, PodRun, Whose};

/// How often the record of the end is tried to be written on a disk that is full, and how far apart.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(250);

/// Makes the keeper of a Pod's claim.
pub type Keeping<'a> = &'a dyn Fn(&PodRun) -> Result<Box<dyn Keeper>, String>;

/// Everything that the supervision of one run needs.
struct Supervisor<'a> {
    files: RunFiles,
    /// The same where they are found after a move, too: what is written down goes there.
    records: RunFiles,
    /// None in tests.
    holding: Option<Arc<Holding>>,
    order: Order,
    processes: SystemProcesses,
    /// The program that becomes the agent, so that the agent dies with the supervisor.
    shim: Option<PathBuf>,
    /// There is something to read from it when somebody wants the run's end.
    asked: BorrowedFd<'a>,
    keeping: Keeping<'a>,
}

/// Supervises the run with this order file; this process's standard input is its lock, held. Returns when the run has
/// ended, and nobody writes into its log any more.
pub fn run(order: &Path, keeping: Keeping<'_>) -> io::Result<()> {
    // A failure means that there is no session to leave.
    let _ = setsid();
    let files = RunFiles::of(order).ok_or_else(|| not_ours(order))?;
    let lock = take_lock(&files).ok_or_else(|| not_ours(order))?;
    fault::point("run", "begun");
    // From here on a wish for the end is not the supervisor's own end.
    let (asked, ask) = UnixStream::pair()?;
    signal_hook::low_level::pipe::register(15, ask)?;
    let order = files.order()?.ok_or_else(|| not_ours(order))?;
    let processes = SystemProcesses::new()?;
    let holding = Holding::new(&files, order.clone(), lock)?;
    holding.guard()?;
    let supervisor = Supervisor {
        records: files.as_seen_within(),
        files,
        holding: Some(Arc::clone(&holding)),
        order,
        processes,
        shim: Some(own_program()),
        asked: asked.as_fd(),
        keeping,
    };
    let log = supervisor.supervise();
    fault::point("run", "recorded");
    holding.release();
    if let Some(log) = log {
        lingering::linger(log);
    }
    Ok(())
}

/// Takes the lock from standard input to a descriptor that no child gets.
fn take_lock(files: &RunFiles) -> Option<File> {
    let lock = File::from(rustix::io::fcntl_dupfd_cloexec(stdin(), 3).ok()?);
    let nothing = File::open("/dev/null").ok()?;
    let (ours, there) = (lock.metadata().ok()?, files.open_lock().ok()?.metadata().ok()?);
    let same = ours.is_file() && FileId::of(&ours) == FileId::of(&there);
    // Whoever holds it already, by this very descriptor, gets it again; anybody else does not.
    (same && lock.try_lock().is_ok() && dup2_stdin(nothing).is_ok()).then_some(lock)
}

fn not_ours(order: &Path) -> io::Error {
    let message = format!("{}: no order with its lock on standard input: only the daemon runs this", order.display());
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

impl Supervisor<'_> {
    /// Sees the run through to the record of its end. Returns its log, if it came so far as to have one.
    fn supervise(&self) -> Option<Output> {
        let (how, log, guard) = self.see_through();
        fault::point("run", "ended");
        let code = if let How::Exited(code) = how { Some(code) } else { None };
        let started = !matches!(how, How::NotStarted(_));
        let at = chrono::Utc::now();
        let rate_limited = log.as_ref().filter(|_| started).and_then(|log| {
            let signs = &self.order.launch.rate_limit;
            signs.limit_of(code, &log.tail(), at)
        });
        let why = how.words();
        self.note_end(&End { how, at, rate_limited });
        fault::point("run", "noted");
        if let Some(guard) = guard {
            guard.give_up(&why);
        }
        log
    }

    fn see_through(&self) -> (How, Option<Output>, Option<Guard>) {
        let mut guard = match self.guard() {
            Ok(guard) => guard,
            Err(why) => return (How::NotStarted(why), None, None),
        };
        match Agent::start(&self.order.launch, &self.files, self.shim.as_deref()) {
            Err(why) => (How::NotStarted(why), None, guard),
            Ok(agent) => {
                fault::point("run", "spawned");
                self.note_start(&agent);
                if let Some(guard) = &mut guard {
                    guard.begin(self.processes.identity(agent.pid(), agent.stat()), Instant::now());
                }
                let (how, log) = agent.see_through(&self.order.launch, self.asked, guard.as_mut());
                // The program that was to become the agent says so there if it could not.
                let how = std::fs::read_to_string(self.files.failed_path()).map_or(how, How::NotStarted);
                (how, Some(log), guard)
            }
        }
    }

    /// A Pod's claim is seen to; a turn has none.
    fn guard(&self) -> Result<Option<Guard>, String> {
        let Whose::Pod(pod) = &self.order.whose else { return Ok(None) };
        let keeper = (self.keeping)(pod)?;
        Ok(Some(Guard::new(keeper, pod.upkeep, self.records.clone())))
    }

    /// Without this record a later daemon knows that somebody runs, and not who: nothing to give up for.
    fn note_start(&self, agent: &Agent) {
        let own = crate::ports::Processes::identify(&self.processes, std::process::id());
        let Ok(supervisor) = own else { return };
        let program = self.processes.identity(agent.pid(), agent.stat());
        let mut started = Started { supervisor, program, place: None };
        if let Some(holding) = &self.holding {
            holding.note(&mut started);
        }
        let _ = self.records.write_started(&started);
        fault::point("run", "started");
    }

    /// On a full disk it is tried for some seconds; without it the end counts as that of a killed supervisor.
    fn note_end(&self, end: &End) {
        for _ in 0..TRIES {
            if self.records.write_end(end).is_ok() {
                return;
            }
            thread::sleep(PAUSE);
        }
    }
}
