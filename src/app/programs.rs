//! The programs that the settings name, as they are run.
//!
//! Must not know: when.

use std::collections::BTreeMap;
use std::time::Duration;

use super::App;
use crate::config::RoleSettings;
use crate::daemon::{Command, RoleCommand};
use crate::domain::rate_limit::RateLimitSigns;
use crate::ports::Wake;

/// What of yoi's own is not for the programs it runs.
const SECRETS: [&str; 2] = ["DISCORD_ADMIN_WEBHOOK_URL", "YOI_HTTP_TOKEN"];

impl App {
    pub(super) fn command(&self) -> Option<Command> {
        let orchestrator = self.config.orchestrator.as_ref()?;
        let span = |delta: chrono::TimeDelta| delta.to_std().unwrap_or(Duration::MAX);
        Some(Command {
            command: orchestrator.command.clone(),
            folder: self.workspace.root.clone(),
            set: self.told(),
            unset: secrets(),
            timeout: span(orchestrator.turn_timeout),
            stall: orchestrator.stall_timeout.map(span),
            rate_limit: orchestrator.rate_limit.clone(),
        })
    }

    /// The programs of roles that have one; the folder is the ticket's to say.
    pub(super) fn roles(&self) -> BTreeMap<String, RoleCommand> {
        let with_command = self.config.roles.iter().filter(|(_, role)| !role.command.is_empty());
        let of = |role: &RoleSettings| Command {
            command: role.command.clone(),
            folder: self.workspace.root.clone(),
            set: self.told(),
            unset: secrets(),
            timeout: role.timeout.to_std().unwrap_or(Duration::MAX),
            stall: None,
            rate_limit: RateLimitSigns::default(),
        };
        let command = |role: &RoleSettings| RoleCommand { command: of(role), trusted: self.trust.holds() };
        with_command.map(|(name, role)| (name.clone(), command(role))).collect()
    }

    /// What every program that yoi runs is told.
    fn told(&self) -> Vec<(String, std::ffi::OsString)> {
        vec![
            ("YOI_WORKSPACE".into(), self.workspace.root.clone().into()),
            ("YOI_SOCKET".into(), self.socket.clone().into()),
        ]
    }

    pub(super) fn wake(&self) -> Option<Wake> {
        self.policy().session.can_wake.then(|| Wake {
            commands: self.config.session.wake.clone(),
            folder: self.workspace.root.clone(),
            set: self.told(),
            unset: secrets(),
        })
    }
}

/// Variables that no program of the settings gets.
pub(super) fn secrets() -> Vec<String> {
    SECRETS.iter().map(|name| (*name).to_owned()).collect()
}
