//! Starts the daemon in the background, and ends it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::App;
use crate::adapters::daemon_lock::DaemonLock;
use crate::adapters::files::{self, Text, named};
use crate::adapters::rotating_log::{self, RotatingLog};
use crate::api::failure::{Failure, FailureKind};
use crate::api::request::Request;
use crate::api::view::{DownView, StatusView, UpView, VERSION};
use crate::domain::classify::clock;
use crate::http::client::Client;
use crate::ports::runs::{Standing, Whose};
use crate::ports::{Processes, Runs, StateFolder};

/// How long a daemon may take to answer for the first time: 100,000 tickets on a slow disk are read in it.
const STARTING: Duration = Duration::from_secs(30);
/// How long it may take to end.
const ENDING: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);
/// How often `up` starts a daemon that somebody else ends again.
const STARTS: u32 = 5;
/// When a daemon that has not ended is told again.
const AGAIN: Duration = Duration::from_secs(2);

impl App {
    /// Starts the daemon, unless it runs, and waits until it answers. Where somebody ends it before that, it is started
    /// again, a few times.
    pub fn up(&self) -> Result<UpView, Failure> {
        for _ in 0..STARTS {
            if let Some(view) = self.running(None)? {
                return Ok(view);
            }
            if let Some(view) = self.start_one()? {
                return Ok(view);
            }
        }
        let message = format!("the daemon was started {STARTS} times, and was told to end by somebody else each time");
        Err(Failure::failed(message).hint("who runs `yoi down`, or ends it by a signal? `yoi logs` says when"))
    }

    /// Starts one and waits until it, or another one, answers; None where it was told to end before that.
    fn start_one(&self) -> Result<Option<UpView>, Failure> {
        let (mut child, begun) = self.spawn()?;
        let end = Instant::now() + STARTING;
        while Instant::now() < end {
            if Client::connect(&self.socket).is_ok_and(|mut client| client.check().is_ok())
                && let Some(view) = self.running(Some(child.id()))?
            {
                // Of several starts at once one wins. The other daemons are to be gone when their `up` is: one that still
                // waited for the lock would take it from the next `yoi down`.
                let end = Instant::now() + ENDING;
                while view.already && matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
                    thread::sleep(PAUSE);
                }
                return Ok(Some(view));
            }
            if let Ok(Some(status)) = child.try_wait() {
                let refused = i32::from(FailureKind::Refused.exit_code());
                return match self.running(None)? {
                    // Two starts at once: the other one won, and is as good.
                    Some(view) => Ok(Some(view)),
                    // It was told to end, or gave way to one that was.
                    None if status.success() || status.code() == Some(refused) => Ok(None),
                    None => Err(Failure::failed(format!("the daemon ended at once ({status})"))
                        .evidence(last_lines(&self.state.log(), begun, 5))
                        .hint("`yoi daemon` runs it in the foreground")),
                };
            }
            thread::sleep(PAUSE);
        }
        let seconds = STARTING.as_secs();
        Err(Failure::failed(format!("the daemon did not answer within {seconds} s")).evidence(last_lines(
            &self.state.log(),
            begun,
            5,
        )))
    }

    /// What runs now; None where nothing does. Of several starts at once only the one whose own daemon it is has started
    /// it.
    fn running(&self, ours: Option<u32>) -> Result<Option<UpView>, Failure> {
        let status: Option<StatusView> = Self::patiently(|| {
            self.client_within(STARTING)?.map(|mut client| client.call_for(&Request::Status)).transpose()
        })?;
        Ok(status.map(|status| UpView {
            version: VERSION,
            pid: status.pid.unwrap_or_default(),
            already: ours.is_none() || status.pid != ours,
            workspace: status.workspace,
            obstacles: status.obstacles,
        }))
    }

    /// Returns from where on the log is its own, too.
    fn spawn(&self) -> Result<(Child, u64), Failure> {
        let failed = |what: &Path, error: std::io::Error| Failure::failed(named(what, &error).to_string());
        self.workspace.create_state_dir().map_err(|error| failed(&self.workspace.state_dir, error))?;
        let log = self.state.log();
        RotatingLog::set_aside(&log, rotating_log::LARGEST);
        let output = files::open_own(&log, Text::Extended).map_err(|error| failed(&log, error))?;
        // A full disk is told of here: the daemon would have no place to say it.
        writeln!(&output, "{}  INFO yoi up: a daemon is started", clock(self.now()))
            .map_err(|error| failed(&log, error))?;
        let begun = output.metadata().map_err(|error| failed(&log, error))?.len();
        let errors = output.try_clone().map_err(|error| failed(&log, error))?;
        let program = std::env::current_exe().map_err(|error| failed(Path::new("this program"), error))?;
        inherit_no_more();
        let child = Command::new(&program)
            .args(["daemon", "--detached"])
            .arg(&self.workspace.root)
            .current_dir("/")
            .env_remove("YOI_SESSION")
            .env_remove("YOI_ROLE")
            .env_remove("YOI_WORKSPACE")
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .map_err(|error| failed(&program, error))?;
        Ok((child, begun))
    }

    /// Ends the daemon, and waits until it is gone; with `pods` also what it has started, afterwards, so that nobody
    /// starts the next.
    pub fn down(&self, pods: bool) -> Result<DownView, Failure> {
        let (pid, unkept) = self.end_daemon()?;
        let (mut turns, mut ended_turns) = (Vec::new(), Vec::new());
        let (mut begun_pods, mut ended_pods) = (0, Vec::new());
        for run in self.runs_that_go_on()? {
            let (id, what) = (run.id(), words(&run));
            if pods {
                self.runs()?.end(&id).map_err(|error| Failure::failed(format!("{what}: {error}")))?;
            }
            match (&run, pods) {
                (Whose::Turn(_), true) => ended_turns.push(id.0),
                (Whose::Turn(_), false) => turns.push(id.0),
                (Whose::Pod(_), true) => ended_pods.push(id.0),
                (Whose::Pod(_), false) => begun_pods += 1,
            }
        }
        let processes = Self::processes()?;
        let pods = self.state.pods().unwrap_or_default();
        let others = pods.iter().filter(|pod| !pod.supervised && processes.is_alive(&pod.process)).count();
        let pods = begun_pods + others;
        Ok(DownView { version: VERSION, pid, pods, turns, ended_turns, ended_pods, unkept })
    }

    /// What goes on that yoi started, with or without a daemon.
    pub(super) fn runs_that_go_on(&self) -> Result<Vec<Whose>, Failure> {
        let found = self.runs()?.found().map_err(|error| Failure::failed(format!("running programs: {error}")))?;
        Ok(found.into_iter().filter(|run| run.standing == Standing::Running).map(|run| run.whose).collect())
    }

    /// Returns the pid of the daemon that ended, None where none was running; and what it could not keep.
    fn end_daemon(&self) -> Result<(Option<u32>, Vec<String>), Failure> {
        let end = Instant::now() + ENDING;
        let mut told: Option<u32> = None;
        let mut unkept = Vec::new();
        loop {
            let Some(mut client) = self.client_within(STARTING)? else { return Ok((told, unkept)) };
            match client.stop() {
                Ok(answer) => {
                    let pid = answer["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
                    if told.is_some() && told != pid {
                        // Who answers now is the next one, which somebody started meanwhile.
                        return Ok((told, unkept));
                    }
                    told = pid;
                    unkept = serde_json::from_value(answer["unkept"].clone()).unwrap_or_default();
                }
                // It ends in this very moment, or will have room for one more client soon.
                Err(failure) if failure.passing && Instant::now() < end => thread::sleep(PAUSE),
                Err(failure) => return Err(failure),
            }
            if told.is_some_and(|pid| self.has_ended(pid)) {
                return Ok((told, unkept));
            }
            if Instant::now() >= end {
                return Err(Failure::failed("the daemon was told to stop, and has not stopped within 10 s")
                    .hint("`yoi logs` may say what keeps it"));
            }
        }
    }

    /// Whether the daemon with this pid lets its lock go; it may just have started anew, and has to be told again then.
    fn has_ended(&self, pid: u32) -> bool {
        let (lock, end) = (self.state.daemon_lock(), Instant::now() + AGAIN);
        // Somebody may start the next one at the same time.
        while DaemonLock::is_held(&lock) && DaemonLock::written_pid(&lock) == Some(pid) {
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(PAUSE);
        }
        true
    }
}

/// What this process was given beside its three streams is given to no program that it starts: a lock or a pipe of whoever
/// called would be held for as long as a daemon lives, or an agent of it.
pub(super) fn inherit_no_more() {
    close_fds::set_fds_cloexec(3, &[]);
}

/// A run, in words.
pub(super) fn words(run: &Whose) -> String {
    match run {
        Whose::Turn(turn) => format!("the turn of kick {}", turn.kick.0),
        Whose::Pod(pod) => format!("{} ({}) on `{}`", pod.id, pod.role, pod.ticket),
    }
}

/// The last of what a log has from here on; of all of it where it has begun anew.
fn last_lines(path: &Path, from: u64, number: usize) -> Vec<String> {
    let bytes = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(usize::try_from(from).ok().and_then(|from| bytes.get(from..)).unwrap_or(&bytes));
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(number)..].iter().map(|line| (*line).to_owned()).collect()
}
