//! The registers that a restarted daemon reads: live Pods, the registered session. What the disk refuses is kept when it
//! takes it (FAULTS kind 15).
//!
//! Must not know: files.

use chrono::TimeDelta;

use super::Host;
use crate::domain::engine::SavedSession;
use crate::domain::facts::Pod;
use crate::domain::ticket::Timestamp;

/// How soon it is tried again.
const RETRY: TimeDelta = TimeDelta::seconds(5);

/// What could not be kept yet, in its newest version.
#[derive(Default)]
pub(super) struct Registers {
    pods: Option<Vec<Pod>>,
    #[expect(clippy::option_option, reason = "nothing to keep, or that there is none")]
    session: Option<Option<SavedSession>>,
    retry_at: Option<Timestamp>,
    /// What is lost by it, and what the system said.
    trouble: Option<String>,
}

impl Registers {
    pub(super) fn retry_at(&self) -> Option<Timestamp> {
        self.retry_at
    }
}

impl Host {
    pub(super) fn keep_pods(&mut self, pods: Vec<Pod>) {
        self.registers.pods = Some(pods);
        self.keep_registers();
    }

    pub(super) fn keep_registered(&mut self, session: Option<SavedSession>) {
        self.registers.session = Some(session);
        self.keep_registers();
    }

    /// Tries again, if it is time. A clock that was set back must not put it off.
    pub(super) fn keep_registers_if_due(&mut self) {
        let now = self.now();
        if self.registers.retry_at.is_some_and(|at| at <= now || at - now > RETRY) {
            self.keep_registers();
        }
    }

    /// Tries again at once, if anything waits.
    pub(super) fn insist_on_registers(&mut self) {
        if self.registers.retry_at.is_some() {
            self.keep_registers();
        }
    }

    /// Why a restart would not find Pods or the session.
    pub fn registers_trouble(&self) -> Option<&str> {
        self.registers.trouble.as_deref()
    }

    fn keep_registers(&mut self) {
        let state = &self.ports.state;
        let pods = self.registers.pods.as_ref().map_or(Ok(()), |pods| state.save_pods(pods));
        let session = self.registers.session.as_ref().map_or(Ok(()), |session| state.save_session(session.as_ref()));
        let mut trouble = None;
        match &pods {
            Ok(()) => self.registers.pods = None,
            Err(error) => trouble = Some(format!("a restart would not find the live Pods: {error}")),
        }
        match (session, pods) {
            (Ok(()), _) => self.registers.session = None,
            (Err(error), Ok(())) => {
                trouble = Some(format!("a restart would not find the Orchestrator's session: {error}"));
            }
            (Err(error), Err(_)) => {
                trouble =
                    Some(format!("a restart would not find the live Pods and the Orchestrator's session: {error}"));
            }
        }
        if let Some(trouble) = trouble.as_ref().filter(|trouble| self.registers.trouble.as_ref() != Some(trouble)) {
            tracing::warn!(%trouble, "a register could not be kept");
        }
        self.registers.retry_at = trouble.is_some().then(|| self.now() + RETRY);
        self.registers.trouble = trouble;
    }
}
