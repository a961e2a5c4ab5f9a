//! What a person does to a running daemon: pausing, resuming, other settings, another session (DESIGN.md 4, 5, 8).

use serde_json::json;

use super::{Engine, Orchestrator, Reach, RecordKind, Reload, TurnOutcome};
use crate::domain::kick::Boundary;
use crate::domain::ledger::Paused;
use crate::domain::ticket::Timestamp;

impl Engine {
    /// Holds all kicks. A running turn goes on; a kick in preparation is decided again, and not sent.
    pub(super) fn pause(&mut self, by: String, reason: Option<String>, now: Timestamp) {
        self.record(RecordKind::Paused, None, json!({"by": by, "reason": reason}), now);
        self.ledger.saved.paused = Some(Paused { at: now, by, reason });
        self.save_ledger();
    }

    /// Whatever was held back meanwhile is decided on now, like a gate that somebody opened.
    pub(super) fn resume(&mut self, by: &str, now: Timestamp) {
        if self.ledger.saved.paused.take().is_some() {
            self.record(RecordKind::Resumed, None, json!({"by": by}), now);
            self.save_ledger();
            self.reach_boundary(Boundary::GateCleared);
        }
    }

    pub(super) fn pause_in_words(&self) -> String {
        self.ledger.saved.paused.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// Other settings take effect. A gate that they open is a boundary; so is a new way to the Orchestrator, which is
    /// a new session, as soon as no turn of the former one is running.
    pub(super) fn reload(&mut self, reload: Reload, now: Timestamp) {
        self.record(RecordKind::ConfigReloaded, None, json!({"changed": reload.changed}), now);
        self.policy = reload.policy;
        if self.reach == Reach::Session && reload.reach != Reach::Session {
            self.leave(&TurnOutcome::Interrupted, now);
        }
        self.reach = reload.reach;
        self.whom = reload.whom;
        self.gates.judge_all();
        self.probe_wanted();
        match (reload.session, &self.orchestrator) {
            (None, _) => {}
            (Some(session), Orchestrator::Busy(_)) => self.next_session = Some(session),
            (Some(session), _) => self.begin_session(session, now),
        }
    }

    /// A new session begins empty: every queued ticket is new to it.
    pub(super) fn begin_session(&mut self, session: String, now: Timestamp) {
        // A session that registers itself brings its own id, and is a boundary of its own.
        self.fresh_session(if self.reach == Reach::Session { String::new() } else { session });
        self.orchestrator = Orchestrator::Idle { since: now };
        self.ledger.another_orchestrator(now);
        self.ledger.belongs_to(self.whom);
        self.save_ledger();
        if self.reach == Reach::Exec {
            self.reach_boundary(Boundary::OrchestratorSpawn);
        }
    }
}
