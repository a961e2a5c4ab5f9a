//! Runs the daemon of a workspace in this process.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use super::{App, service};
use crate::adapters::config_file::{self, ConfigWatch};
use crate::adapters::daemon_lock::{DaemonLock, NotAcquired};
use crate::adapters::own_files::OwnFiles;
use crate::adapters::patient::PatientWorktree;
use crate::adapters::rotating_log::RotatingLog;
use crate::adapters::runs::own_program;
use crate::adapters::watcher::{Notice, Watcher, Watching};
use crate::api::failure::Failure;
use crate::config;
use crate::daemon::{About, Beginning, Host, Message, Ports, Stop};
use crate::http::door::Door;
use crate::http::server;
use crate::ports::MainWorktree;

/// How long the daemon waits for a lock that another process holds. Whoever asked waits longer, outside.
const LOCK_PATIENCE: Duration = Duration::from_millis(500);
/// How long a daemon that ends waits for its last answers to be written.
const LAST_ANSWERS: Duration = Duration::from_millis(300);

impl App {
    /// Runs the daemon until it is told to stop. One that starts anew holds its lock already.
    pub fn run_daemon(&self, detached: bool, lock: Option<DaemonLock>) -> Result<(), Failure> {
        let failed = |what: &str, error: io::Error| Failure::failed(format!("{what}: {error}"));
        service::inherit_no_more();
        if detached {
            // A failure means that there is no session to leave.
            let _ = rustix::process::setsid();
        }
        self.workspace.create_state_dir().map_err(|error| Failure::failed(error.to_string()))?;
        let lock = Arc::new(lock.map_or_else(|| self.take_lock(), Ok)?);
        start_log(detached.then(|| self.state.log()).as_deref());
        let (mail, inbox) = mpsc::channel();
        let watcher = Arc::new(self.watch_tickets(mail.clone()));
        let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let door = Arc::new(Door::new(self.socket.clone(), descriptors));
        let answers = Arc::clone(&door);
        let about = About {
            watcher: Some(Arc::<Watching>::clone(&watcher)),
            door: Some(Arc::<Door>::clone(&door)),
            ..self.about()
        };
        let ports = self.resident_ports(mail.clone(), &lock)?;
        let runs = Arc::clone(&ports.runs);
        let last_good = Arc::new(Mutex::new(self.config_text.clone()));
        let settings = self.watch_settings(mail.clone());
        let mut host = Host::daemon(
            self.beginning(&last_good, settings, mail.clone()),
            ports,
            self.history(),
            (mail.clone(), inbox),
            about,
        )
        .map_err(|error| self.unreadable(&error))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| failed("the runtime", error))?;
        let own = Own {
            lock: Arc::clone(&lock),
            files: Arc::default(),
            look: Arc::default(),
            mail: mail.clone(),
            measure: self.measure(&watcher),
            door,
        };
        runtime.spawn(own.clone().listen(self.socket.clone()));
        runtime.spawn(signals(mail.clone()));
        self.mend_worktrees(mail.clone(), runs);
        // What was saved between the first look and the watch is not told by anybody.
        let _ = mail.send(Message::Reload);
        let path = self.state.daemon_lock();
        std::thread::Builder::new()
            .name("yoi own files".into())
            .spawn(move || own.guard(&path))
            .map_err(|error| failed("a thread", error))?;
        tracing::info!(workspace = %self.workspace.root.display(), pid = std::process::id(), "the daemon runs");
        let why = host.run();
        if why != Stop::LockLost && lock.still_ours() {
            let _ = fs::remove_file(&self.socket);
        }
        tracing::info!(?why, "the daemon ends");
        // Whoever still waits for an answer is told so, and whoever was answered is to hear it.
        drop(host);
        answers.answering().settle(LAST_ANSWERS);
        runtime.shutdown_background();
        drop(watcher);
        if why == Stop::Reopen { self.run_anew(detached, &lock, &taken(&last_good)) } else { Ok(()) }
    }

    fn watch_tickets(&self, mail: mpsc::Sender<Message>) -> Watching {
        let git = self.workspace.git_common_dir.as_deref();
        Watcher::start(&self.workspace.root, &self.config.tickets_root, git, move |notice| {
            let _ = mail.send(match notice {
                Notice::Paths(paths) => Message::Paths(paths),
                Notice::Everything(why) => Message::Everything(Some(why)),
                Notice::Look => Message::Everything(None),
                Notice::Git => Message::Git,
            });
        })
    }

    /// The text of the last good settings is kept: they stay in force over a fresh start, too. A ticket folder that is not
    /// there is waited for.
    fn beginning(
        &self,
        last_good: &Arc<Mutex<Vec<u8>>>,
        settings: Option<Arc<ConfigWatch>>,
        mail: mpsc::Sender<Message>,
    ) -> Beginning {
        let (environment, workspace) = (self.environment.clone(), self.workspace.clone());
        let last_good = Arc::clone(last_good);
        let in_force = self.settings();
        let await_folder = move |folder: Option<&Path>| {
            if settings.as_ref().is_some_and(|settings| settings.await_folder(folder)) {
                let _ = mail.send(Message::Reload);
            }
        };
        let opened = move || {
            let app = App::open(environment.clone(), workspace.clone()).inspect_err(|_| await_folder(None))?;
            let folder = app.ticket_folder();
            let followed = app.following(&in_force);
            await_folder(followed.is_err().then_some(folder.as_path()));
            followed
        };
        let reread = move || match opened() {
            Ok(app) => {
                last_good.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&app.config_text);
                Ok(app.settings())
            }
            Err(failure) if failure.evidence.is_empty() => Err(vec![failure.message]),
            Err(failure) => Err(failure.evidence),
        };
        Beginning {
            settings: self.settings(),
            reread: Box::new(reread),
            sessions: Box::new(|| format!("s-{}", ulid::Ulid::generate().to_string().to_lowercase())),
        }
    }

    fn resident_ports(&self, mail: mpsc::Sender<Message>, lock: &Arc<DaemonLock>) -> Result<Ports, Failure> {
        let late = move |dirty| drop(mail.send(Message::Probed(dirty)));
        let worktree = PatientWorktree::new(Arc::new(self.worktree()), late);
        // One loop does everything: what another process holds is not waited for long, but refused, and tried again.
        let tickets = Arc::new(self.tickets().comparing().patience(LOCK_PATIENCE));
        let state = Arc::new(self.state.clone().patience(LOCK_PATIENCE).held_by(Arc::clone(lock)));
        Ok(Ports { tickets, state, worktree: Arc::new(worktree), ..self.ports()? })
    }

    fn watch_settings(&self, mail: mpsc::Sender<Message>) -> Option<Arc<ConfigWatch>> {
        config_file::watch(&self.workspace.root.join(config::FILE), move || mail.send(Message::Reload).is_ok())
            .inspect_err(|error| tracing::warn!(%error, "changes of the configuration are taken on SIGHUP only"))
            .ok()
    }

    /// This program again in this very process, on everything anew. It holds its lock all the while, and nobody who asks
    /// meanwhile finds that no daemon runs. The last good settings go along, for whatever stands in the file by then.
    fn run_anew(&self, detached: bool, lock: &DaemonLock, last_good: &[u8]) -> Result<(), Failure> {
        let program = own_program();
        let failed = |error: io::Error| {
            let message = format!("{}: this program could not be started anew: {error}", program.display());
            Failure::failed(message).hint("start the daemon with `yoi up`")
        };
        let mut command = std::process::Command::new(&program);
        command.arg0("yoi").args(["daemon", "--anew"]).args(detached.then_some("--detached"));
        command.arg(&self.workspace.root).stdin(lock.to_hand_over(last_good).map_err(failed)?);
        Err(failed(command.exec()))
    }

    /// How the watcher's lag is measured whenever somebody asks for the status.
    fn measure(&self, watcher: &Arc<Watching>) -> server::Measure {
        let (watcher, worktree) = (Arc::clone(watcher), self.worktree());
        Arc::new(move || watcher.measure(worktree.obstacle().map(|obstacle| obstacle.what)))
    }

    fn take_lock(&self) -> Result<DaemonLock, Failure> {
        let path = self.state.daemon_lock();
        DaemonLock::acquire(&path).map_err(|error| match error {
            NotAcquired::Held { .. } => Failure::refused(format!("{}: {error}", self.workspace.root.display()))
                .hint("`yoi status` shows it, `yoi down` ends it"),
            NotAcquired::Io(_) => Failure::failed(error.to_string()),
        })
    }
}

fn taken(text: &Mutex<Vec<u8>>) -> Vec<u8> {
    text.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Into the log file, which is kept within bounds; in the foreground to standard error.
fn start_log(file: Option<&Path>) {
    let filter = tracing_subscriber::EnvFilter::try_from_env("YOI_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false);
    // Already started: this process has run a daemon before (a test).
    let _ = match file {
        Some(file) => log.with_writer(Arc::new(RotatingLog::new(file))).try_init(),
        None => log.with_writer(io::stderr).try_init(),
    };
}

/// What a daemon's being reachable, and being the only one, rests on.
#[derive(Clone)]
struct Own {
    lock: Arc<DaemonLock>,
    files: Arc<OwnFiles>,
    /// Told when the socket should be looked at.
    look: Arc<Notify>,
    mail: mpsc::Sender<Message>,
    measure: server::Measure,
    door: Arc<Door>,
}

impl Own {
    /// Serves on the socket, and makes it anew when somebody removed it: nobody could end this daemon otherwise.
    async fn listen(self, socket: std::path::PathBuf) {
        let bound = || self.files.watch(&socket);
        let means = (self.measure, self.door);
        if let Err(error) = server::serve(&socket, self.mail.clone(), means, &self.look, bound).await {
            tracing::error!(%error, socket = %socket.display(), "nobody could reach this daemon; it ends");
            let _ = self.mail.send(Message::Stop(Stop::Asked));
        }
    }

    /// A daemon whose lock file was replaced is not the workspace's any more, and ends.
    fn guard(self, path: &std::path::Path) {
        self.files.watch(path);
        while self.lock.still_ours() {
            self.look.notify_one();
            self.files.wait();
        }
        let gone = match (path.exists(), path.parent().is_some_and(std::path::Path::exists)) {
            (true, _) => "another one lies there",
            (false, true) => "it was removed",
            (false, false) => "its folder is not there: the workspace was moved, or removed",
        };
        tracing::error!(path = %path.display(), %gone, "the lock file was replaced; this daemon ends");
        let _ = self.mail.send(Message::Stop(Stop::LockLost));
    }
}

async fn signals(mail: mpsc::Sender<Message>) {
    let streams = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()), signal(SignalKind::hangup()));
    let (Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)) = streams else {
        tracing::error!("signals cannot be received");
        return;
    };
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => drop(mail.send(Message::Reload)),
        }
    }
    let _ = mail.send(Message::Stop(Stop::Asked));
}
