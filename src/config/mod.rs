//! Floor 2: `.yoi/config.toml` as written, resolved once into plain values, with the source of each.
//!
//! Must not know: what a setting does to a decision; a face. DESIGN.md section 9.

mod claims;
mod contradictions;
mod document;
mod keys;
pub mod reference;
mod resolve;
mod right;
mod roles;
pub mod starting;
mod takes;
#[cfg(test)]
mod tests;
mod values;
mod written;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use chrono::TimeDelta;

use crate::domain::policy::{Capacity, ClaimPolicy, DirtyGate, KickPolicy, Mode, WritePolicy};
use crate::domain::rate_limit::RateLimitSigns;
use crate::domain::ticket::{Diagnostic, State};
pub use crate::text::nearest::nearest;

/// Where the configuration lies, relative to the workspace.
pub const FILE: &str = ".yoi/config.toml";

/// The largest file that is read, in bytes.
pub const MOST_BYTES: u64 = 1 << 20;

/// Every setting of a workspace, with its default where nothing is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The ticket folder: relative to the workspace, without `..`; `.` where the workspace itself is it.
    pub tickets_root: PathBuf,
    /// The frontmatter key that holds the state.
    pub state_key: String,
    /// Names that stand for a state in the files; the first of several for one state is the one written. Complete:
    /// every state has a name, and the six states' own names are in it unless they stand for another state.
    pub states: Vec<(String, State)>,
    /// Who starts work.
    pub mode: Mode,
    /// How an Orchestrator is run; None: no command is configured. It takes effect only once trusted
    /// (`adapters::trust`).
    pub orchestrator: Option<OrchestratorCommand>,
    /// How an Orchestrator that registers itself is woken, and how long it may be silent.
    pub session: SessionSettings,
    /// The bounds of the kick decision.
    pub kick: KickPolicy,
    /// How much may be under way at once.
    pub capacity: Capacity,
    /// Where worktrees are made, and what is run in them.
    pub worktrees: WorktreeSettings,
    /// What uncommitted changes do to a start.
    pub dirty_workspace: DirtyGate,
    /// How yoi writes files of its own accord.
    pub writes: WritePolicy,
    /// How often the files are compared with what was read of them; None: never.
    pub verify_every: Option<TimeDelta>,
    /// How long a claim holds, what shows it, and who says whose it is.
    pub claims: ClaimPolicy,
    /// Roles that have a section, by name.
    pub roles: BTreeMap<String, RoleSettings>,
    /// The same as a list, in the order of the reference.
    pub settings: Vec<Setting>,
}

/// The Orchestrator as an outside program (DESIGN.md 5.1, `exec`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrchestratorCommand {
    /// Program and arguments; never empty, never a shell string.
    pub command: Vec<String>,
    /// How long a turn may run.
    pub turn_timeout: TimeDelta,
    /// How long a turn may be silent; None: as long as it likes.
    pub stall_timeout: Option<TimeDelta>,
    /// What says that a turn ended because of a rate limit.
    pub rate_limit: RateLimitSigns,
}

/// An Orchestrator that registers itself (DESIGN.md 5.1, `attached`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSettings {
    /// Commands that wake it, in order; empty: nothing does. They take effect only once trusted.
    pub wake: Vec<Vec<String>>,
    /// How long a turn may be without any sign of life.
    pub busy_max: TimeDelta,
}

/// The worktrees of tickets (DESIGN.md 6.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeSettings {
    /// The folder they are made in: relative to the workspace, without `..`; or absolute.
    pub root: PathBuf,
    /// Commands that run in a new one, in order. They take effect only once trusted.
    pub after_create: Vec<Vec<String>>,
    /// Commands that run in one that is to be removed. They take effect only once trusted.
    pub before_remove: Vec<Vec<String>>,
    /// How long each of them may run.
    pub hook_timeout: TimeDelta,
}

/// A role (DESIGN.md 6.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleSettings {
    /// Program and arguments; empty: whoever starts a ticket works on it. It takes effect only once trusted.
    pub command: Vec<String>,
    /// How many tickets may be with it at once; None: unlimited.
    pub max: Option<usize>,
    /// How long its program may run.
    pub timeout: TimeDelta,
}

/// One setting as `yoi config` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Section and key, with a dot between.
    pub key: String,
    /// The value, as it would be written in the file.
    pub value: String,
    /// Where it came from.
    pub source: Source,
}

/// Where a value came from. No key of this version can be set by the environment; the workspace itself can
/// (`YOI_WORKSPACE`, `adapters::workspace`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nothing is written.
    Default,
    /// Written in the file, on this line.
    File {
        /// 1-based.
        line: usize,
    },
}

/// Why a configuration cannot be used.
#[derive(Debug)]
pub enum ConfigError {
    /// The system will not hand over the file.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// What is written cannot be used; every problem that was found, in file order.
    Invalid {
        /// The file.
        path: PathBuf,
        /// At least one.
        problems: Vec<Diagnostic>,
    },
}

impl ConfigError {
    /// The file that cannot be used.
    pub fn path(&self) -> &Path {
        match self {
            ConfigError::Unreadable { path, .. } | ConfigError::Invalid { path, .. } => path,
        }
    }

    /// Each problem on a line of its own: path, line, column, sentence.
    pub fn lines(&self) -> Vec<String> {
        match self {
            ConfigError::Unreadable { path, error } => vec![format!("{}: {error}", path.display())],
            ConfigError::Invalid { path, problems } => {
                let line = |p: &Diagnostic| match p.line {
                    0 => format!("{}: {}", path.display(), p.message),
                    line => format!("{}:{line}:{}: {}", path.display(), p.column, p.message),
                };
                problems.iter().map(line).collect()
            }
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().join("\n"))
    }
}

impl std::error::Error for ConfigError {}

impl Default for Config {
    fn default() -> Self {
        resolve::defaults()
    }
}

/// Reads the configuration of the workspace at `root`; without a file every setting has its default.
pub fn load(root: &Path) -> Result<Config, ConfigError> {
    of_text(root, &text(root)?)
}

/// The text of the configuration as it is now, whatever it says; empty without a file.
pub fn text(root: &Path) -> Result<Vec<u8>, ConfigError> {
    let path = root.join(FILE);
    // A link that leads nowhere is no missing file: somebody meant to configure something.
    if path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(Vec::new());
    }
    read(&path).map_err(|error| ConfigError::Unreadable { path, error })
}

/// The configuration that a text is, taken for that of the workspace at `root`.
pub fn of_text(root: &Path, text: &[u8]) -> Result<Config, ConfigError> {
    parse_bytes(text).map_err(|problems| ConfigError::Invalid { path: root.join(FILE), problems })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn parse_bytes(bytes: &[u8]) -> Result<Config, Vec<Diagnostic>> {
    let whole = |message: &str| vec![Diagnostic { line: 0, column: 0, message: message.to_owned() }];
    if bytes.len() as u64 > MOST_BYTES {
        return Err(whole("is larger than 1 MiB; no configuration needs that"));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text),
        Err(error) => {
            let readable = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let (line, column) = document::place(&readable, readable.len());
            let message = "is not UTF-8 from here on; save it as UTF-8".to_owned();
            Err(vec![Diagnostic { line, column, message }])
        }
    }
}

/// Resolves a configuration's text; on failure, every problem found, in file order.
pub fn parse(text: &str) -> Result<Config, Vec<Diagnostic>> {
    resolve::resolve(text)
}
