//! What `yoi config` and `yoi trust` answer.
//!
//! Must not know: the file's format, where trust is kept.

use schemars::JsonSchema;
use serde::Serialize;

/// The effective settings of a workspace.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConfigView {
    /// Of this format; 1.
    pub version: u32,
    /// The workspace's folder.
    pub workspace: String,
    /// What chose the workspace.
    pub workspace_source: SourceView,
    /// Where its locks, socket, store and logs lie.
    pub state_dir: String,
    /// Every setting.
    pub settings: Vec<SettingView>,
    /// Whether its commands take effect.
    pub trust: TrustStatus,
}

/// One setting.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SettingView {
    /// Section and key, with a dot between.
    pub key: String,
    /// The value in TOML, as it would be written.
    pub value: String,
    /// Where it came from.
    pub source: SourceView,
}

/// Where a value came from.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SourceView {
    /// Nothing is written.
    Default,
    /// Written in the configuration file.
    File {
        /// 1-based.
        line: usize,
    },
    /// Set by the environment.
    Environment {
        /// The variable.
        variable: String,
    },
    /// Given on the command line.
    Option {
        /// The option.
        option: String,
    },
    /// Found from the current folder.
    CurrentFolder,
}

/// Whether a configuration's commands take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrustStatus {
    /// It names none.
    NothingToRun,
    /// The user agreed to exactly these.
    Trusted,
    /// The user was never asked.
    NeverTrusted,
    /// The user agreed to others.
    Changed,
}

impl TrustStatus {
    /// For people.
    pub fn sentence(self) -> &'static str {
        match self {
            TrustStatus::NothingToRun => "the configuration names no command",
            TrustStatus::Trusted => "trusted",
            TrustStatus::NeverTrusted => "not trusted yet, so not run",
            TrustStatus::Changed => "changed since it was trusted, so not run",
        }
    }
}

/// What a configuration would run, and whether it may.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrustView {
    /// Of this format; 1.
    pub version: u32,
    /// The workspace's folder.
    pub workspace: String,
    /// What it would run.
    pub commands: Vec<CommandView>,
    /// Before this answer.
    pub before: TrustStatus,
    /// From this answer on.
    pub now: TrustStatus,
}

/// One command.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CommandView {
    /// The key it is written under.
    pub key: String,
    /// Program and arguments.
    pub arguments: Vec<String>,
}
