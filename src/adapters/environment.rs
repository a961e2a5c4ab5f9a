//! The process environment, read in this one place and passed on as a value, so that tests can say what holds.
//!
//! Must not know: what is done with it.

use std::env;
use std::io;
use std::path::PathBuf;

/// What yoi takes from the environment of its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The current folder.
    pub current: PathBuf,
    /// `YOI_WORKSPACE`, where to look for the workspace.
    pub workspace: Option<PathBuf>,
    /// `HOME`.
    pub home: Option<PathBuf>,
    /// `XDG_STATE_HOME`, if absolute.
    pub state_home: Option<PathBuf>,
    /// `XDG_RUNTIME_DIR`, if absolute.
    pub runtime: Option<PathBuf>,
    /// The login name: `USER`, else `LOGNAME`.
    pub login: Option<String>,
    /// `VISUAL`, else `EDITOR`: a program and plain arguments.
    pub editor: Option<String>,
    /// The user that the process acts as.
    pub user: u32,
}

impl Environment {
    /// Reads it. Fails where the current folder is gone.
    pub fn read() -> io::Result<Self> {
        let path = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let text = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        // The XDG specification: a relative path is to be ignored.
        let absolute = |name: &str| path(name).filter(|path| path.is_absolute());
        Ok(Self {
            current: env::current_dir()?,
            workspace: path("YOI_WORKSPACE"),
            home: absolute("HOME"),
            state_home: absolute("XDG_STATE_HOME"),
            runtime: absolute("XDG_RUNTIME_DIR"),
            login: text("USER").or_else(|| text("LOGNAME")),
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            user: rustix::process::geteuid().as_raw(),
        })
    }

    /// The user's folder for yoi's own state: `$XDG_STATE_HOME/yoi`, else `~/.local/state/yoi`.
    pub fn user_state(&self) -> Option<PathBuf> {
        let home = || self.home.as_ref().map(|home| home.join(".local/state"));
        self.state_home.clone().or_else(home).map(|folder| folder.join("yoi"))
    }
}
