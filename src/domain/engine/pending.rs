//! How a kick reaches a session: handed over as the answer to a contact, or kept pending until the next one
//! (DESIGN.md 5.1). Never two at once.
//!
//! Must not know: hooks, connections.

use serde_json::json;

use super::session::{Pending, Shown, Way};
use super::{Effect, Engine, Kick, Orchestrator, Reach, RecordKind, Session, Turn, TurnOutcome};
use crate::domain::attention::Item;
use crate::domain::kick::{Boundary, Decision};
use crate::domain::ticket::Timestamp;

/// A contact whose answer can carry a list: which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// To a session's start: shown, and the next turn's.
    Start,
    /// To a prompt: the turn's.
    Prompt,
    /// To a turn's end: the session goes on with it.
    Stop,
}

impl Engine {
    /// Whether a kick can be delivered at this moment, if it is decided.
    fn door_is_open(&self) -> bool {
        match (&self.reach, &self.session) {
            (Reach::Session, Some(session)) => session.way == Way::Stream || self.contact.is_some(),
            _ => true,
        }
    }

    /// Row 7.
    pub(super) fn kick(&mut self, causes: Vec<Boundary>, items: &[Item], now: Timestamp) {
        if !self.door_is_open() {
            self.keep_pending(&causes, items, now);
            return;
        }
        // A silent turn is over when the next one begins.
        self.end_turn(&TurnOutcome::Interrupted, 0, now);
        self.prepare(causes, items);
    }

    fn keep_pending(&mut self, causes: &[Boundary], items: &[Item], now: Timestamp) {
        let Some(session) = &mut self.session else { return };
        if causes.contains(&Boundary::UserKick) {
            session.waking.failures = 0;
            session.waking.retry_at = None;
        }
        let pending = session.pending.get_or_insert_with(|| Pending { causes: Vec::new(), since: now });
        for cause in causes {
            if !pending.causes.contains(cause) {
                pending.causes.push(*cause);
            }
        }
        let ids: Vec<_> = items.iter().map(|item| &item.id).collect();
        let data = json!({"row": 7, "boundaries": causes, "items": ids, "session": session.id});
        self.record(RecordKind::KickPending, None, data, now);
        self.boundaries.note_pending(causes, items.len(), now);
    }

    /// At a contact that can carry an answer it is decided at once, on everything that waits for a decision.
    pub(super) fn decide_at_contact(&mut self, answer: Answer, now: Timestamp) {
        let mut causes = self.session.as_ref().and_then(|s| s.pending.clone()).map(|p| p.causes).unwrap_or_default();
        for cause in self.boundaries.take_pending() {
            if !causes.contains(&cause) {
                causes.push(cause);
            }
        }
        if causes.is_empty() {
            return self.answered_nothing(answer, now);
        }
        self.boundaries.decided(now);
        match self.decide(&causes, now) {
            Decision::Kick { items, .. } => self.prepare(causes, &items),
            Decision::Suppress(why) => {
                self.suppressed(&causes, &why, now);
                self.drop_pending();
                self.answered_nothing(answer, now);
            }
        }
    }

    /// The contact is over, and nothing was handed over.
    pub(super) fn answered_nothing(&mut self, answer: Answer, now: Timestamp) {
        self.contact = None;
        if answer == Answer::Prompt {
            self.begin_turn(now);
        }
    }

    pub(super) fn drop_pending(&mut self) {
        if let Some(session) = &mut self.session {
            session.pending = None;
        }
    }

    /// The caller does not wait any longer (git is in the middle of something): what was about to be handed over stays
    /// pending.
    pub(super) fn contact_closed(&mut self, now: Timestamp) {
        let Some(answer) = self.contact else { return };
        if let Orchestrator::Preparing { causes, .. } = &self.orchestrator {
            let causes = causes.clone();
            self.orchestrator = Orchestrator::Idle { since: now };
            self.contact = None;
            self.keep_pending(&causes, &[], now);
        }
        self.answered_nothing(answer, now);
    }

    /// Whether a contact waits for its answer.
    pub fn contact_is_open(&self) -> bool {
        self.contact.is_some()
    }

    /// What is being prepared is decided anew.
    pub(super) fn unprepare(&mut self, now: Timestamp) {
        if let Orchestrator::Preparing { causes, .. } = &self.orchestrator {
            let causes = causes.clone();
            self.orchestrator = Orchestrator::Idle { since: now };
            for cause in causes {
                self.reach_boundary(cause);
            }
        }
        self.contact = None;
    }

    /// Delivers a kick to the session: its data is fresh, its decision was made again.
    pub(super) fn hand_over(&mut self, kick: Kick, now: Timestamp) {
        let answer = self.contact.take();
        let Some(session) = &mut self.session else { return };
        if answer == Some(Answer::Start) {
            session.shown = Some(Shown { kick: kick.id.clone(), items: kick.items.clone() });
            // It has not been taken up before a turn begins: until then it may be woken for.
            let since = session.pending.as_ref().map_or(now, |pending| pending.since);
            session.pending = Some(Pending { causes: kick.causes.clone(), since });
        } else {
            session.turn_began();
            let turn = self.turn(Some(kick.id.clone()), kick.items.clone(), now);
            self.orchestrator = Orchestrator::Busy(Turn { by_stop: answer == Some(Answer::Stop), ..turn });
        }
        self.want(Effect::HandOver(kick));
    }

    /// At a prompt: exactly this list was shown already, at the session's start. It becomes the turn's, and is not said
    /// twice.
    pub(super) fn was_shown(&mut self, items: &[Item], now: Timestamp) -> bool {
        let shown = self.session.as_ref().and_then(|session| session.shown.as_ref());
        let same = self.contact == Some(Answer::Prompt) && shown.is_some_and(|shown| shown.items == items);
        if same {
            self.contact = None;
            self.begin_turn(now);
        }
        same
    }

    /// A turn begins without a list, or with the one that was shown.
    pub(super) fn begin_turn(&mut self, now: Timestamp) {
        let shown = self.session.as_mut().and_then(|session| {
            let shown = session.shown.take();
            let pending = session.pending.take().filter(|_| shown.is_none());
            session.turn_began();
            session.pending = pending;
            shown
        });
        let (kick, items) = shown.map(|shown| (shown.kick, shown.items)).unzip();
        self.orchestrator = Orchestrator::Busy(self.turn(kick, items.unwrap_or_default(), now));
    }

    /// A change may have settled what a pending kick was for.
    pub(super) fn review_pending(&mut self, now: Timestamp) {
        let Some(pending) = self.session.as_ref().and_then(|session| session.pending.clone()) else { return };
        if let Decision::Suppress(why) = self.decide(&pending.causes, now)
            && why.row() > 2
        {
            self.suppressed(&pending.causes, &why, now);
            self.drop_pending();
        }
    }
}

impl Session {
    fn turn_began(&mut self) {
        self.pending = None;
        self.shown = None;
        self.silent = false;
        self.background_until = None;
        self.waking = super::session::Waking { failed: self.waking.failed.take(), ..Default::default() };
    }
}
