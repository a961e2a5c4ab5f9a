//! Floor 6: the only place that wires adapters to the host: one workspace opened for one run of the program.
//!
//! Must not know: arguments, how anything is printed; any rule.

mod asking;
mod folder;
pub mod keeping;
mod meant;
mod programs;
mod repairs;
mod resident;
mod service;
mod surroundings;
#[cfg(test)]
mod tests;
mod trees;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::adapters::claims::GitClaims;
use crate::adapters::claims::remote::RemoteClaims;
use crate::adapters::environment::Environment;
use crate::adapters::git::GitWorktree;
use crate::adapters::processes::SystemProcesses;
use crate::adapters::runs::{self, RunFolder};
use crate::adapters::sqlite::LastingStore;
use crate::adapters::starts::StartFolder;
use crate::adapters::state_folder::StateFolder;
use crate::adapters::ticket_folder::TicketFolder;
use crate::adapters::trust::{self, Trust};
use crate::adapters::wake::SystemWaker;
use crate::adapters::workspace::Workspace;
use crate::api;
use crate::api::failure::Failure;
use crate::api::request::Request;
use crate::config::{self, Config, ConfigError};
use crate::daemon::{About, Found, History, Host, Ports};
use crate::domain::policy::{Policy, RolePolicy, SessionPolicy};
use crate::domain::refusal::no_ticket;
use crate::domain::ticket::{State, TicketId, Timestamp};
use crate::ports::runs::Whose;
use crate::ports::{Claims, Entry, MainWorktree, Tickets};
use crate::text::keys::KeyMap;

/// One workspace, opened.
pub struct App {
    environment: Environment,
    workspace: Workspace,
    config: Config,
    /// As it was read.
    config_text: Vec<u8>,
    trust: Trust,
    socket: PathBuf,
    state: StateFolder,
    /// Why the configuration cannot be used; only a running daemon, with the last good one, is of use then.
    bad_config: Option<Failure>,
}

impl App {
    /// Opens a workspace with its configuration as it is now. Makes nothing.
    pub fn open(environment: Environment, workspace: Workspace) -> Result<Self, Failure> {
        let text = config::text(&workspace.root).map_err(|error| bad_config(&error))?;
        Self::open_with(environment, workspace, text)
    }

    /// The same for whoever asks: the running daemon goes on with the last good settings, and so does whoever asks it.
    pub fn open_or_ask(environment: Environment, workspace: Workspace) -> Result<Self, Failure> {
        match Self::open(environment.clone(), workspace.clone()) {
            Err(bad) => {
                let app = Self::unset(environment, workspace)?;
                if app.daemon_is_running() { Ok(app.with_bad_config(bad)) } else { Err(bad) }
            }
            opened => opened,
        }
    }

    /// The same without its settings.
    pub fn unset(environment: Environment, workspace: Workspace) -> Result<Self, Failure> {
        Self::new(environment, workspace, Config::default(), Trust::NothingToRun)
    }

    /// The same with this text for its configuration.
    pub fn open_with(environment: Environment, workspace: Workspace, text: Vec<u8>) -> Result<Self, Failure> {
        let config = config::of_text(&workspace.root, &text).map_err(|error| bad_config(&error))?;
        // Where trust cannot be read nothing is trusted, and everything else works (DESIGN.md 9); `yoi trust` says why.
        let trust = trust::status(&environment, &workspace.root, &trust::commands_of(&config));
        let app = Self::new(environment, workspace, config, trust.unwrap_or(Trust::NeverTrusted))?;
        Ok(Self { config_text: text, ..app })
    }

    /// Opens a workspace whose configuration is read. Makes nothing.
    pub fn new(environment: Environment, workspace: Workspace, config: Config, trust: Trust) -> Result<Self, Failure> {
        let socket = workspace
            .socket_path(&environment)
            .map_err(|error| Failure::failed(format!("a place for the socket: {error}")))?;
        let state = StateFolder::new(&workspace.state_dir);
        Ok(Self { environment, workspace, config, config_text: Vec::new(), trust, socket, state, bad_config: None })
    }

    /// The same, for asking the running daemon alone: the configuration as it is written now cannot be used.
    #[must_use]
    pub fn with_bad_config(self, failure: Failure) -> Self {
        Self { bad_config: Some(failure), ..self }
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        chrono::Utc::now()
    }

    /// 32 bits of chance.
    pub fn random() -> u32 {
        u32::try_from(ulid::Ulid::generate().random() & u128::from(u32::MAX)).unwrap_or_default()
    }

    /// The names that files use.
    pub fn keys(&self) -> KeyMap {
        KeyMap { state_key: self.config.state_key.clone(), states: self.config.states.clone() }
    }

    /// Git's `user.name`, else the login name.
    pub fn user_name(&self) -> String {
        let login = || self.environment.login.clone();
        self.worktree().user_name().or_else(login).unwrap_or_else(|| "somebody".into())
    }

    /// Carries out a request in this process, by the same rules.
    pub fn once(&self, request: &Request) -> Result<Value, Failure> {
        let mut host = self.host(request)?;
        host.set_about(self.about());
        let answer = api::carry_out(request.clone(), &mut host);
        host.look_once_more();
        answer
    }

    fn host(&self, request: &Request) -> Result<Host, Failure> {
        if let Some(failure) = &self.bad_config {
            return Err(failure.clone());
        }
        let mut settings = self.settings();
        if matches!(request, Request::Status) {
            settings.obstacles.extend(self.what_goes_on()?);
        }
        Host::once(settings, self.ports()?, self.history(), self.found(request))
            .map_err(|error| self.unreadable(&error))
    }

    /// In words: runs whose daemon is gone.
    fn what_goes_on(&self) -> Result<Vec<String>, Failure> {
        let line = |run: &Whose| {
            let process = match run {
                Whose::Turn(turn) => &turn.process,
                Whose::Pod(pod) => &pod.process,
            };
            let process = process.as_ref().map(|process| format!(" (pid {})", process.pid)).unwrap_or_default();
            format!("{}{process} goes on; the next daemon takes it over", service::words(run))
        };
        Ok(self.runs_that_go_on()?.iter().map(line).collect())
    }

    /// What a request needs to know: all tickets, or that one of which it speaks.
    fn found(&self, request: &Request) -> Found {
        // A new ticket is about no other, and may be the first in a folder that is not there yet.
        // Worktrees are git's, and there also where the ticket folder is not.
        if matches!(request, Request::New { .. }) || request.is_about_worktrees() {
            return Found::Only(Vec::new());
        }
        let (Request::Show { id, .. } | Request::Set { id, .. } | Request::Why { id }) = request else {
            return Found::All;
        };
        let tickets = self.tickets();
        let read = tickets.guesses(&TicketId::new(id)).into_iter().map(|path| (path.clone(), tickets.read(&path)));
        let found: Vec<_> = read.filter(|(_, e)| !matches!(e, Entry::Absent | Entry::NotATicket)).collect();
        let queued = |entry: &Entry| matches!(entry, Entry::Ticket(ticket) if ticket.state == Some(State::Queued));
        // Gates rest on the other tickets.
        let gates = matches!(request, Request::Why { .. } | Request::Show { brief: false, .. });
        let needs_others = gates && found.iter().any(|(_, entry)| queued(entry));
        match request {
            _ if found.is_empty() || needs_others => Found::All,
            Request::Set { .. } => Found::Only(found),
            _ => Found::Shown(found),
        }
    }

    fn policy(&self) -> Policy {
        Policy {
            mode: self.config.mode,
            kick: self.config.kick,
            capacity: self.config.capacity,
            dirty_workspace: self.config.dirty_workspace,
            writes: self.config.writes,
            verify_every: self.config.verify_every,
            claims: self.config.claims.clone(),
            roles: self.config.roles.iter().map(|(name, role)| (name.clone(), RolePolicy { max: role.max })).collect(),
            session: SessionPolicy {
                busy_max: self.config.session.busy_max,
                can_wake: self.trust.holds() && !self.config.session.wake.is_empty(),
                ..SessionPolicy::default()
            },
        }
    }

    fn tickets(&self) -> TicketFolder {
        TicketFolder::new(&self.workspace.root, &self.config.tickets_root, self.state.ticket_locks(), self.keys())
    }

    fn worktree(&self) -> GitWorktree {
        let folder = self.workspace.root.join(&self.config.tickets_root);
        GitWorktree::new(&self.workspace.root, self.workspace.git_common_dir.as_deref(), &folder)
    }

    fn processes() -> Result<SystemProcesses, Failure> {
        SystemProcesses::new().map_err(|error| Failure::failed(format!("this machine's processes: {error}")))
    }

    fn claims(&self) -> Arc<dyn Claims> {
        let (root, git) = (&self.workspace.root, self.workspace.git_common_dir.as_deref());
        match &self.config.claims.remote {
            Some(remote) => Arc::new(RemoteClaims::new(root, git, remote)),
            None => Arc::new(GitClaims::new(root, git)),
        }
    }

    fn runs(&self) -> Result<RunFolder, Failure> {
        Ok(RunFolder::new(self.state.runs(), runs::own_program(), Self::processes()?))
    }

    fn ports(&self) -> Result<Ports, Failure> {
        Ok(Ports {
            waker: Arc::new(SystemWaker),
            tickets: Arc::new(self.tickets()),
            claims: self.claims(),
            starts: Arc::new(StartFolder::new(self.state.starts())),
            processes: Arc::new(Self::processes()?),
            runs: Arc::new(self.runs()?),
            worktree: Arc::new(self.worktree()),
            state: Arc::new(self.state.clone()),
            clock: Arc::new(chrono::Utc::now),
            nonce: Arc::new(|| ulid::Ulid::generate().to_string().to_lowercase()),
        })
    }

    /// The store, which nobody has opened yet: a command that has nothing to do with it does not pay for it.
    fn store(&self) -> LastingStore {
        LastingStore::new(&self.state.store())
    }

    fn history(&self) -> History {
        History::new(Box::new(self.store()))
    }

    fn about(&self) -> About {
        About {
            workspace: self.workspace.root.clone(),
            state_folder: self.workspace.state_dir.clone(),
            socket: self.socket.clone(),
            ..About::default()
        }
    }

    /// The file of a ticket, readable or not.
    pub fn path_of(&self, id: &str) -> Result<PathBuf, Failure> {
        let id = TicketId::new(id);
        let entries = self.tickets().scan().map_err(|error| self.unreadable(&error))?;
        let mut paths = entries.into_iter().filter(|(_, entry)| match entry {
            Entry::Ticket(ticket) => ticket.id == id,
            Entry::Unreadable { id: other, .. } => *other == id,
            Entry::NotATicket | Entry::Absent => false,
        });
        match (paths.next(), paths.next()) {
            (Some((path, _)), None) => Ok(self.workspace.root.join(path)),
            (Some((one, _)), Some((two, _))) => Err(Failure::failed(format!("the id `{id}` is that of two files"))
                .evidence([one.display().to_string(), two.display().to_string()])
                .hint("rename one of them")),
            _ => Err(self
                .meant(Failure::failed(no_ticket(id.as_str())).hint("`yoi list --all` shows every id"), id.as_str())),
        }
    }
}

/// The failure of reading the configuration: every problem, one a line.
pub fn bad_config(error: &ConfigError) -> Failure {
    let lines = error.lines();
    match lines.as_slice() {
        [only] => Failure::failed(only.clone()),
        _ => Failure::failed(format!("{} has {} problems", error.path().display(), lines.len())).evidence(lines),
    }
}
