//! What every command starts from: the environment, the workspace, its configuration.
//!
//! Must not know: any command.

use std::io;
use std::path::PathBuf;

use crate::adapters::daemon_lock::DaemonLock;
use crate::adapters::environment::Environment;
use crate::adapters::state_folder::StateFolder;
use crate::adapters::trust::{self, Trust};
use crate::adapters::workspace::{self, Workspace, WorkspaceError};
use crate::api::failure::Failure;
use crate::api::settings::TrustStatus;
use crate::app::{App, bad_config};
use crate::config::{self, Config};

/// The environment of one run of the program.
pub struct Context {
    /// As the process has it.
    pub environment: Environment,
    /// `-C DIR`.
    pub directory: Option<PathBuf>,
}

impl Context {
    /// Reads the environment.
    pub fn new(directory: Option<PathBuf>) -> Result<Self, Failure> {
        let environment = Environment::read().map_err(|error| {
            Failure::failed(format!("the current folder: {error}")).hint("go to a folder that is there, or use -C DIR")
        })?;
        Ok(Self { environment, directory })
    }

    /// The workspace that this run is about.
    pub fn workspace(&self) -> Result<Workspace, Failure> {
        workspace::find(&self.environment, self.directory.as_deref()).map_err(|error| no_workspace(&error))
    }

    /// The same with its settings.
    pub fn settings(&self) -> Result<(Workspace, Config), Failure> {
        let workspace = self.workspace()?;
        let config = config::load(&workspace.root).map_err(|error| bad_config(&error))?;
        Ok((workspace, config))
    }

    /// The workspace, opened.
    pub fn open(&self) -> Result<App, Failure> {
        App::open_or_ask(self.environment.clone(), self.workspace()?)
    }

    /// The same for whoever looks what is wrong: settings that cannot be used are a part of that.
    pub fn open_to_look(&self) -> Result<App, Failure> {
        match App::open(self.environment.clone(), self.workspace()?) {
            Err(bad) => Ok(self.open_as_it_is()?.with_bad_config(bad)),
            opened => opened,
        }
    }

    /// The same for a daemon that starts anew, with the lock that it holds: where the settings cannot be used, the last
    /// good ones, which come along, stay in force.
    pub fn open_anew(&self) -> Result<(App, Option<DaemonLock>), Failure> {
        let workspace = self.workspace()?;
        let lock = StateFolder::new(&workspace.state_dir).daemon_lock();
        let (lock, last_good) = DaemonLock::handed_over(&lock).unzip();
        // What was saved since this start was decided on may not be able to begin.
        let opened = App::open(self.environment.clone(), workspace.clone()).and_then(App::able_to_begin);
        let app = match (opened, last_good) {
            (Err(bad), Some(good)) => App::open_with(self.environment.clone(), workspace, good).map_err(|_| bad),
            (opened, _) => opened,
        }?;
        Ok((app, lock))
    }

    /// The same without its settings: for what needs none, and must be possible where they cannot be read.
    pub fn open_as_it_is(&self) -> Result<App, Failure> {
        App::unset(self.environment.clone(), self.workspace()?)
    }

    /// Whether the commands of a configuration take effect.
    pub fn trust(&self, workspace: &Workspace, config: &Config) -> Result<TrustStatus, Failure> {
        let trust = trust::status(&self.environment, &workspace.root, &trust::commands_of(config));
        trust.map(trust_status).map_err(|error| trust_failed(&error))
    }
}

/// The failure of a search for the workspace.
pub fn no_workspace(error: &WorkspaceError) -> Failure {
    let failure = Failure::failed(error.to_string()).evidence(error.evidence());
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The failure of keeping or reading trust.
pub fn trust_failed(error: &io::Error) -> Failure {
    Failure::failed(format!("which commands are trusted cannot be told: {error}"))
}

/// The same on the wire.
pub fn trust_status(trust: Trust) -> TrustStatus {
    match trust {
        Trust::NothingToRun => TrustStatus::NothingToRun,
        Trust::Trusted => TrustStatus::Trusted,
        Trust::NeverTrusted => TrustStatus::NeverTrusted,
        Trust::Changed => TrustStatus::Changed,
    }
}
