//! A session that is idle with no turn coming is woken; one that is busy without a sign of life is shown as silent
//! (DESIGN.md 5.1).
//!
//! Must not know: what the `wake` commands are.

use chrono::TimeDelta;
use serde_json::json;

use super::session::{Outstanding, Way};
use super::{Effect, Engine, Orchestrator, RecordKind, Session};
use crate::domain::concern;
use crate::domain::kick::{Boundary, Decision, PATIENCE, Presence};
use crate::domain::ticket::Timestamp;

/// An agent that has just been answered is left alone for a moment: it may still be ending its turn.
const AFTER_CONTACT: TimeDelta = TimeDelta::seconds(2);
/// How long the commands may take in all; each has a limit of its own besides.
const RUN_WITHIN: TimeDelta = TimeDelta::minutes(5);
/// How long after the commands a prompt may take.
const PROMPT_WITHIN: TimeDelta = TimeDelta::minutes(2);

impl Engine {
    /// When the session next needs a look.
    pub(super) fn session_due(&self) -> Option<Timestamp> {
        let session = self.session.as_ref()?;
        let busy = matches!(self.orchestrator, Orchestrator::Busy(_)) && !session.silent;
        let silence = busy.then(|| session.heard + self.policy.session.busy_max);
        let answer = session.waking.outstanding.map(|mut outstanding| *outstanding.until());
        [silence, answer, session.doubt, self.wake_due(session)].into_iter().flatten().min()
    }

    /// When a wake is due, if one is.
    fn wake_due(&self, session: &Session) -> Option<Timestamp> {
        let waking = &session.waking;
        let wanted = self.policy.session.can_wake
            && session.way == Way::Attached
            && session.pending.is_some()
            && session.doubt.is_none()
            && self.presence() == Presence::Idle
            && !matches!(self.orchestrator, Orchestrator::Preparing { .. });
        if !wanted || waking.outstanding.is_some() || waking.failures >= PATIENCE {
            return None;
        }
        let after = session.heard + AFTER_CONTACT;
        [Some(after), waking.retry_at, session.background_until].into_iter().flatten().max()
    }

    pub(super) fn watch_session(&mut self, now: Timestamp) {
        self.end_doubt(now);
        self.watch_silence(now);
        let Some(session) = &mut self.session else { return };
        match session.waking.outstanding {
            Some(Outstanding::Sent(until)) if until <= now => {
                self.wake_failed("no prompt followed within 2 minutes", now);
            }
            Some(Outstanding::Running(_, until)) if until <= now => {
                self.wake_failed("the commands have not ended", now);
            }
            _ => {}
        }
    }

    fn watch_silence(&mut self, now: Timestamp) {
        let busy = matches!(self.orchestrator, Orchestrator::Busy(_));
        let Some(session) = self.session.as_mut().filter(|session| busy && !session.silent) else { return };
        if now - session.heard < self.policy.session.busy_max {
            return;
        }
        session.silent = true;
        let minutes = self.policy.session.busy_max.num_minutes();
        let what = format!("the Orchestrator's session is busy, and silent for {minutes} minutes: was it interrupted?");
        let data = json!({"what": what, "session": session.id, "about": concern::SILENCE});
        self.record(RecordKind::Alert, None, data, now);
        self.reach_boundary(Boundary::OrchestratorIdle);
    }

    /// Runs the `wake` commands where a kick is pending and nothing else will bring the session to a contact.
    pub(super) fn wake_if_due(&mut self, now: Timestamp) {
        let Some(session) = &self.session else { return };
        if self.wake_due(session).is_none_or(|due| due > now) {
            return;
        }
        let causes = session.pending.as_ref().map(|pending| pending.causes.clone()).unwrap_or_default();
        match self.decide(&causes, now) {
            Decision::Kick { .. } => {
                self.wakes += 1;
                let number = self.wakes;
                if let Some(session) = &mut self.session {
                    session.waking.outstanding = Some(Outstanding::Running(number, now + RUN_WITHIN));
                }
                self.want(Effect::Wake(number));
            }
            Decision::Suppress(why) => {
                self.suppressed(&causes, &why, now);
                self.drop_pending();
            }
        }
    }

    pub(super) fn wake_ended(&mut self, number: u64, failed: Option<&str>, now: Timestamp) {
        let Some(session) = &mut self.session else { return };
        if !matches!(session.waking.outstanding, Some(Outstanding::Running(running, _)) if running == number) {
            return;
        }
        if let Some(why) = failed {
            return self.wake_failed(why, now);
        }
        session.waking.outstanding = Some(Outstanding::Sent(now + PROMPT_WITHIN));
        let data = json!({"session": session.id, "failed": null});
        self.record(RecordKind::WakeEnded, None, data, now);
    }

    /// A failed delivery: again after 10 s, then after 60 s; after the third only a contact of the session's own or an
    /// explicit kick goes on.
    fn wake_failed(&mut self, why: &str, now: Timestamp) {
        let Some(session) = &mut self.session else { return };
        let waking = &mut session.waking;
        waking.outstanding = None;
        waking.failures = waking.failures.saturating_add(1);
        let wait = if waking.failures == 1 { TimeDelta::seconds(10) } else { TimeDelta::seconds(60) };
        waking.retry_at = Some(now + wait).filter(|_| waking.failures < PATIENCE);
        waking.failed = Some((why.to_owned(), now));
        let (failures, id) = (waking.failures, session.id.clone());
        self.undelivered += 1;
        let data = json!({"session": id, "failed": why, "failures": failures});
        self.record(RecordKind::WakeEnded, None, data, now);
        if failures == PATIENCE {
            let what =
                format!("the Orchestrator's session cannot be woken: {why} (three times); the kick stays pending");
            let data = json!({"what": what, "session": id, "about": concern::WAKING});
            self.record(RecordKind::Alert, None, data, now);
        }
    }

    pub(super) fn shift_session(&mut self, by: TimeDelta) {
        if let Some(at) = &mut self.registered_kick_at {
            *at -= by;
        }
        let Some(session) = &mut self.session else { return };
        let sent = session.waking.outstanding.as_mut().map(Outstanding::until);
        let pending = session.pending.as_mut().map(|pending| &mut pending.since);
        let moments = [
            session.waking.retry_at.as_mut(),
            session.background_until.as_mut(),
            session.doubt.as_mut(),
            sent,
            pending,
        ];
        session.heard -= by;
        for at in moments.into_iter().flatten() {
            *at -= by;
        }
    }
}
