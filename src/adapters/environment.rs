//! The process environment, read in this one place and passed on as a value, so that tests can say what holds.
//!
//! Must not know: what is done with it.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

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

/// What an agent's own session variable says (docs/orchestrating.md): the agent's name, and the session's id.
pub fn agent_session() -> Option<(&'static str, String)> {
    let variables = [("claude-code", "CLAUDE_CODE_SESSION_ID"), ("codex", "CODEX_THREAD_ID")];
    variables.into_iter().find_map(|(agent, name)| {
        let id = env::var(name).ok().filter(|id| !id.trim().is_empty())?;
        Some((agent, id))
    })
}

/// Who this process reports as: `YOI_ROLE` and `YOI_POD`.
pub fn reports_as() -> (Option<String>, Option<String>) {
    let text = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    (text("YOI_ROLE"), text("YOI_POD"))
}

/// Which claim of this ticket the process works under, as its supervisor has told it (`YOI_GENERATION`): of `YOI_TICKET`, and of no
/// other one that it names.
pub fn generation_of(ticket: &str) -> Result<Option<u64>, String> {
    generation(ticket, env::var("YOI_TICKET").ok().as_deref(), env::var("YOI_GENERATION").ok().as_deref())
}

fn generation(ticket: &str, own: Option<&str>, generation: Option<&str>) -> Result<Option<u64>, String> {
    let Some(text) = generation.filter(|_| own == Some(ticket)) else { return Ok(None) };
    let number = text.trim().parse();
    number.map(Some).map_err(|_| format!("YOI_GENERATION={text:?} is no number: unset it, or say --generation N"))
}

/// Whether whatever is printed goes nowhere: to /dev/null, which also takes the place of a standard output that was closed.
pub fn discards_output() -> bool {
    let output = io::stdout().as_fd().try_clone_to_owned().map(File::from).and_then(|output| output.metadata());
    let null = fs::metadata("/dev/null");
    output.and_then(|output| Ok(output.rdev() == null?.rdev() && output.file_type().is_char_device())).unwrap_or(false)
}

/// Whether there is such a program: a name without `/` on `PATH`, a path as seen from this folder.
pub fn is_program(name: &str, folder: &Path) -> bool {
    let runs = |path: PathBuf| path.is_file() && rustix::fs::access(&path, rustix::fs::Access::EXEC_OK).is_ok();
    if name.contains('/') {
        return runs(folder.join(name));
    }
    let search = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&search).any(|place| runs(folder.join(place).join(name)))
}

/// Whether colours are wanted where there is a terminal: `NO_COLOR` is not set, or empty, and it is not a dumb one.
pub fn wants_colour() -> bool {
    colour(env::var_os("NO_COLOR").as_deref(), env::var_os("TERM").as_deref())
}

fn colour(no_color: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    no_color.is_none_or(OsStr::is_empty) && term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_color_is_obeyed() {
        let check = |no_color: Option<&str>, term: Option<&str>, expected| {
            let is = colour(no_color.map(OsStr::new), term.map(OsStr::new));
            assert_eq!(is, expected, "{no_color:?} {term:?}");
        };
        check(None, Some("xterm"), true);
        check(Some(""), Some("xterm"), true);
        check(Some("1"), Some("xterm"), false);
        check(Some("0"), Some("xterm"), false);
        check(None, Some("dumb"), false);
        check(None, None, false);
    }

    #[test]
    fn a_generation_is_of_the_ticket_that_was_given_with_it() {
        assert_eq!(generation("a", Some("a"), Some("2")), Ok(Some(2)));
        assert_eq!(generation("b", Some("a"), Some("2")), Ok(None));
        assert_eq!(generation("a", None, Some("2")), Ok(None));
        assert_eq!(generation("a", Some("a"), None), Ok(None));
        assert!(generation("a", Some("a"), Some("x")).is_err());
        assert_eq!(generation("b", Some("a"), Some("x")), Ok(None));
    }
}
