//! Where the demo plays: a fresh repository in a temporary folder, the real daemon in it, an editor's way of saving.
//!
//! Must not know: the story.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::example;
use crate::adapters::trust;
use crate::adapters::workspace;
use crate::api::failure::Failure;
use crate::app::App;
use crate::cli::context::Context;
use crate::config;

/// The stage.
pub struct Stage {
    /// The folder of everything.
    pub folder: PathBuf,
    /// The repository in it.
    pub repository: PathBuf,
    context: Context,
    program: PathBuf,
}

/// What may not leak in from the user's own shell.
const NOT_OURS: [&str; 7] =
    ["YOI_SESSION", "YOI_ROLE", "YOI_BY", "YOI_WORKSPACE", "YOI_SOCKET", "YOI_KICK_FILE", "GIT_DIR"];

fn failed(what: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::failed(format!("{}: {error}", what.display()))
}

impl Stage {
    /// Sets it up: copies the example, makes it a repository, trusts the command that we wrote ourselves.
    pub fn set(context: &Context) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new()
            .prefix("yoi-demo-")
            .tempdir()
            .map_err(|error| failed(&std::env::temp_dir(), error))?
            .keep();
        let folder = fs::canonicalize(&folder).map_err(|error| failed(&folder, error))?;
        let repository = folder.join("project");
        example::write(&repository).map_err(|error| failed(&repository, error))?;
        let program = std::env::current_exe().map_err(|error| Failure::failed(format!("this program: {error}")))?;
        let mut environment = context.environment.clone();
        environment.workspace = None;
        // The demo's trust and sockets are its own: nothing is written into the user's home.
        environment.state_home = Some(folder.join("state"));
        environment.runtime = Some(folder.join("runtime"));
        let context = Context { environment, directory: Some(repository.clone()) };
        let stage = Self { folder, repository, context, program };
        stage.git(&["init", "--quiet", "--initial-branch=main"])?;
        stage.git(&["config", "user.name", "Ana"])?;
        stage.git(&["add", "--all"])?;
        stage.git(&["commit", "--quiet", "--message", "The example"])?;
        stage.trust()?;
        Ok(stage)
    }

    fn trust(&self) -> Result<(), Failure> {
        let environment = &self.context.environment;
        let root =
            workspace::find(environment, Some(&self.repository)).map_err(|error| failed(&self.repository, error))?.root;
        let config = config::load(&root).map_err(|error| failed(&root, error))?;
        trust::record(environment, &root, &trust::commands_of(&config), chrono::Utc::now())
            .map(drop)
            .map_err(|error| failed(&self.folder, error))
    }

    /// The workspace as this process sees it.
    pub fn app(&self) -> Result<App, Failure> {
        self.context.open()
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.repository).stdin(Stdio::null());
        for name in NOT_OURS {
            command.env_remove(name);
        }
        // The scripts find this very program as `yoi`.
        let mut path = OsString::from(self.bin());
        if let Some(rest) = std::env::var_os("PATH") {
            path.push(":");
            path.push(rest);
        }
        command
            .env("PATH", path)
            .env("XDG_STATE_HOME", self.folder.join("state"))
            .env("XDG_RUNTIME_DIR", self.folder.join("runtime"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for (role, name) in [("AUTHOR", "Ana"), ("COMMITTER", "Ana")] {
            command.env(format!("GIT_{role}_NAME"), name).env(format!("GIT_{role}_EMAIL"), "ana@example.org");
        }
        command
    }

    /// The folder in which this very program is called `yoi`.
    pub fn bin(&self) -> PathBuf {
        self.folder.join("bin")
    }

    /// Runs git in the repository.
    pub fn git(&self, arguments: &[&str]) -> Result<(), Failure> {
        self.run(Path::new("git"), arguments)
    }

    /// Runs yoi in the repository, as a person would.
    pub fn yoi(&self, arguments: &[&str]) -> Result<(), Failure> {
        let bin = self.bin();
        if !bin.exists() {
            fs::create_dir_all(&bin).map_err(|error| failed(&bin, error))?;
            std::os::unix::fs::symlink(&self.program, bin.join("yoi")).map_err(|error| failed(&bin, error))?;
        }
        self.run(&bin.join("yoi"), arguments)
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Result<(), Failure> {
        let output = self.command(program).args(arguments).output().map_err(|error| failed(program, error))?;
        if output.status.success() {
            return Ok(());
        }
        let lines = String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect::<Vec<_>>();
        Err(Failure::failed(format!("`{} {}` failed ({})", program.display(), arguments.join(" "), output.status))
            .evidence(lines))
    }

    /// Changes a file the way many editors save: a new file, renamed over the old one.
    pub fn save(&self, path: &str, change: impl FnOnce(String) -> String) -> Result<(), Failure> {
        let path = self.repository.join(path);
        let text = fs::read_to_string(&path).map_err(|error| failed(&path, error))?;
        let staged = path.with_extension("md~new");
        fs::write(&staged, change(text)).map_err(|error| failed(&staged, error))?;
        fs::rename(&staged, &path).map_err(|error| failed(&path, error))
    }
}
