//! Whether the ticket folder that the settings name is one to begin with.
//!
//! Must not know: how a folder is read.

use std::io;
use std::path::PathBuf;

use super::App;
use crate::adapters::files::named;
use crate::api::failure::Failure;
use crate::config::{self, Source};
use crate::daemon::Settings;

impl App {
    /// These settings, to take the place of others that are in force: where that needs a fresh start, it has to be possible.
    pub(super) fn following(self, in_force: &Settings) -> Result<Self, Failure> {
        if self.settings().foundations() == in_force.foundations() { Ok(self) } else { self.able_to_begin() }
    }

    /// Where it would be.
    pub(super) fn ticket_folder(&self) -> PathBuf {
        self.workspace.root.join(&self.config.tickets_root)
    }

    /// These settings, if a daemon can begin with them.
    pub fn able_to_begin(self) -> Result<Self, Failure> {
        let Err(error) = self.tickets().readable() else { return Ok(self) };
        let root = self.config.settings.iter().find(|setting| setting.key == "tickets.root");
        let line = match root.map(|setting| setting.source) {
            Some(Source::File { line }) => format!(":{line}"),
            _ => String::new(),
        };
        let file = self.workspace.root.join(config::FILE);
        let place = format!("{}{line}", file.display());
        Err(Failure::failed(format!(
            "{place}: the ticket folder cannot be read: {error}; name one that is there, or make it: it is taken then"
        )))
    }

    pub(super) fn unreadable(&self, error: &io::Error) -> Failure {
        let folder = self.ticket_folder();
        if error.kind() == io::ErrorKind::NotFound {
            return Failure::failed(format!("{}: there is no ticket folder", folder.display())).hint(
                "was it moved? then move it back; or is [tickets] root in .yoi/config.toml another folder? In a new \
                 workspace `yoi new TITLE` makes it, and where git took it with its last ticket",
            );
        }
        Failure::failed(named(&folder, error).to_string())
            .hint("is [tickets] root in .yoi/config.toml the right folder?")
    }
}
