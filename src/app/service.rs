//! Starts the daemon in the background, and ends it.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::App;
use crate::adapters::daemon_lock::DaemonLock;
use crate::adapters::files::{self, Text};
use crate::adapters::rotating_log::{self, RotatingLog};
use crate::api::failure::Failure;
use crate::api::view::{DownView, UpView, VERSION};
use crate::ports::runs::Standing;
use crate::ports::{Processes, Runs, StateFolder};

/// How long a daemon may take to answer for the first time: 100,000 tickets on a slow disk are read in it.
const STARTING: Duration = Duration::from_secs(30);
/// How long it may take to end.
const ENDING: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

impl App {
    /// Starts the daemon, unless it runs, and waits until it answers.
    pub fn up(&self) -> Result<UpView, Failure> {
        if self.daemon_is_running() {
            return self.started(None);
        }
        let mut child = self.spawn()?;
        let end = Instant::now() + STARTING;
        while Instant::now() < end {
            if crate::http::client::Client::connect(&self.socket).is_ok_and(|mut client| client.check().is_ok()) {
                let view = self.started(Some(child.id()))?;
                // Of several starts at once one wins. The other daemons are to be gone when their `up` is: one that still
                // waited for the lock would take it from the next `yoi down`.
                let end = Instant::now() + ENDING;
                while view.already && matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
                    thread::sleep(PAUSE);
                }
                return Ok(view);
            }
            if let Ok(Some(status)) = child.try_wait() {
                // Two starts at once: the other one won, and is as good.
                if self.daemon_is_running() {
                    return self.started(None);
                }
                return Err(Failure::failed(format!("the daemon ended at once ({status})"))
                    .evidence(last_lines(&self.state.log(), 5))
                    .hint("`yoi daemon` runs it in the foreground"));
            }
            thread::sleep(PAUSE);
        }
        let seconds = STARTING.as_secs();
        Err(Failure::failed(format!("the daemon did not answer within {seconds} s"))
            .evidence(last_lines(&self.state.log(), 5)))
    }

    /// What runs now. Of several starts at once only the one whose own daemon it is has started it.
    fn started(&self, ours: Option<u32>) -> Result<UpView, Failure> {
        let status = self.status()?;
        let already = ours.is_none() || status.pid != ours;
        Ok(UpView {
            version: VERSION,
            pid: status.pid.unwrap_or_default(),
            already,
            workspace: status.workspace,
            obstacles: status.obstacles,
        })
    }

    fn spawn(&self) -> Result<Child, Failure> {
        let failed = |what: &Path, error: std::io::Error| Failure::failed(format!("{}: {error}", what.display()));
        self.workspace.create_state_dir().map_err(|error| failed(&self.workspace.state_dir, error))?;
        let log = self.state.log();
        RotatingLog::set_aside(&log, rotating_log::LARGEST);
        let output = files::open_own(&log, Text::Extended).map_err(|error| failed(&log, error))?;
        let errors = output.try_clone().map_err(|error| failed(&log, error))?;
        let program = std::env::current_exe().map_err(|error| failed(Path::new("this program"), error))?;
        Command::new(&program)
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
            .map_err(|error| failed(&program, error))
    }

    /// Ends the daemon, and waits until it is gone; with `pods` also what it has started, afterwards, so that nobody
    /// starts the next.
    pub fn down(&self, pods: bool) -> Result<DownView, Failure> {
        let pid = self.end_daemon()?;
        let runs = self.runs()?;
        let found = runs.found().map_err(|error| Failure::failed(format!("running turns: {error}")))?;
        let running = found.into_iter().filter(|run| run.standing == Standing::Running);
        let (mut turns, mut ended_turns) = (Vec::new(), Vec::new());
        for turn in running.map(|run| run.turn) {
            if pods {
                runs.end(&turn.kick)
                    .map_err(|error| Failure::failed(format!("the turn of kick {}: {error}", turn.kick.0)))?;
                ended_turns.push(turn.kick.0);
            } else {
                turns.push(turn.kick.0);
            }
        }
        let processes = Self::processes()?;
        let pods = self.state.pods().unwrap_or_default();
        let pods = pods.iter().filter(|pod| processes.is_alive(&pod.process)).count();
        Ok(DownView { version: VERSION, pid, pods, turns, ended_turns })
    }

    /// Returns the pid of the daemon that ended; None where none was running.
    fn end_daemon(&self) -> Result<Option<u32>, Failure> {
        let Some(mut client) = self.client()? else { return Ok(None) };
        let lock = self.state.daemon_lock();
        let pid = DaemonLock::written_pid(&lock);
        // A daemon that ends at once may not come to answer: that it is gone is the answer.
        let asked = client.stop();
        let end = Instant::now() + ENDING;
        // Somebody may start the next one at the same time.
        while DaemonLock::is_held(&lock) && DaemonLock::written_pid(&lock) == pid {
            if Instant::now() >= end {
                asked?;
                return Err(Failure::failed("the daemon was told to stop, and has not stopped within 10 s")
                    .hint("`yoi logs` may say what keeps it"));
            }
            thread::sleep(PAUSE);
        }
        Ok(pid)
    }
}

fn last_lines(path: &Path, number: usize) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(number)..].iter().map(|line| (*line).to_owned()).collect()
}
