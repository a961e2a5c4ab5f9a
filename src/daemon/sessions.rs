//! The host's side of an Orchestrator that registers itself: contacts and their answers, streams, waking (DESIGN.md 5.1).
//!
//! Must not know: hooks, HTTP; any rule of the engine's.

use std::collections::VecDeque;

use chrono::TimeDelta;

use super::{Host, Message};
use crate::domain::engine::{
    Admission, Contact, Event, Kick, Orchestrator, SavedSession, SessionReport, SessionState, TurnOutcome, Way,
};
use crate::domain::facts::ProcessIdentity;
use crate::domain::refusal::Refusal;
use crate::domain::worklist;

/// How long a hook may take to print the list that was its answer: longer than it lives.
const PRINTING: TimeDelta = TimeDelta::seconds(6);

/// Takes one line for the reader of a stream; false where nobody reads any more.
pub type Line = Box<dyn Fn(String) -> bool + Send>;

impl Host {
    /// Takes a session's contact; returns the list that is its answer, if one is.
    pub fn contact(&mut self, report: SessionReport, mut contact: Contact) -> Option<Kick> {
        if let Contact::Failed { jitter, .. } = &mut contact {
            *jitter = super::launch::jitter();
        }
        self.handed_over = None;
        self.tell(Event::SessionReported { report, contact });
        if self.engine.contact_is_open() {
            // Git is in the middle of something: the caller is not kept waiting, and the kick stays pending.
            self.tell(Event::ContactClosed);
        }
        self.handed_over.take()
    }

    /// A list is on its way: whoever asked says when it is printed.
    pub fn await_print(&mut self, kick: &Kick) {
        self.unprinted = Some((kick.id.clone(), self.now() + PRINTING));
    }

    /// It is printed.
    pub fn printed(&mut self, kick: &str) {
        self.unprinted.take_if(|(id, _)| id.0 == kick);
    }

    /// A list that was not printed in time was not handed over: the turn that was to begin with it has not.
    pub(super) fn miss_print(&mut self) {
        let now = self.now();
        let Some((kick, _)) = self.unprinted.take_if(|(_, until)| *until <= now) else { return };
        let busy = self.engine.summary(now).orchestrator;
        if !matches!(busy, Orchestrator::Busy(turn) if turn.kick.as_ref() == Some(&kick)) {
            return;
        }
        self.failed_deliveries += 1;
        let outcome = TurnOutcome::NotDelivered("the hook ended before it had printed the list".into());
        self.tell(Event::TurnEnded { kick, outcome, jitter: super::launch::jitter() });
    }

    /// The Orchestrator's session begins anew.
    pub fn reset_session(&mut self) {
        let id = (self.sessions)();
        self.tell(Event::SessionReset(id));
    }

    /// Registers a session that reads lines.
    pub fn open_stream(&mut self, report: SessionReport, line: Line) -> Result<(), Refusal> {
        match self.engine.admit(&report) {
            // A second reader would take lines that the first one waits for.
            Admission::Known => {
                let message = format!("session `{}` is registered already", report.id);
                let hint = format!("one reader a session; `yoi hook gone --session {}` ends it", report.id);
                return Err(Refusal::new(message).hint(hint));
            }
            Admission::Refused(refusal) | Admission::Unwatched(refusal) | Admission::Elsewhere(refusal) => {
                return Err(refusal);
            }
            Admission::New | Admission::Stranger => {}
        }
        self.stream = Some((report.id.clone(), line));
        self.tell(Event::SessionReported { report, contact: Contact::Started { resumed: false, takes: false } });
        Ok(())
    }

    /// The reader is gone, and the session with it.
    pub fn close_stream(&mut self, report: SessionReport) {
        if self.stream.take_if(|(id, _)| *id == report.id).is_some() {
            self.tell(Event::SessionReported { report, contact: Contact::Ended });
        }
    }

    pub(super) fn hand_over(&mut self, kick: Kick, events: &mut VecDeque<Event>) {
        let Some((_, line)) = self.stream.as_ref().filter(|(id, _)| *id == kick.session) else {
            self.handed_over = Some(kick);
            return;
        };
        if !line(worklist::json(&kick).to_string()) {
            self.failed_deliveries += 1;
            let outcome = TurnOutcome::NotDelivered("nobody reads the stream any more".into());
            events.push_back(Event::TurnEnded { kick: kick.id, outcome, jitter: 0 });
        }
    }

    pub(super) fn wake(&mut self, number: u64) {
        let mail = self.mail.clone();
        let Some(wake) = self.settings.wake.clone() else {
            let _ = mail.send(Message::WakeEnded(number, Some("no `wake` commands are in effect".into())));
            return;
        };
        let ended = Box::new(move |failed| {
            let _ = mail.send(Message::WakeEnded(number, failed));
        });
        self.ports.waker.wake(wake, ended);
    }

    pub(super) fn watch_session(&mut self, process: ProcessIdentity) {
        let mail = self.mail.clone();
        let watched = process.clone();
        self.ports.processes.when_ended(
            &watched,
            Box::new(move || {
                let _ = mail.send(Message::SessionEnded(process));
            }),
        );
    }

    pub(super) fn keep_session(&mut self, session: Option<&SavedSession>) {
        // Whoever reads for a session that is gone reads nothing more.
        let live = session.filter(|session| session.state != SessionState::Gone).map(|session| &session.id);
        self.stream.take_if(|(id, _)| live != Some(id));
        self.keep_registered(session.cloned());
    }

    /// Looks for the session of a former daemon.
    pub(super) fn find_session(&mut self) {
        let found = match self.ports.state.session() {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "the record of the Orchestrator's session cannot be read; it registers anew");
                return;
            }
        };
        let alive = found.process.as_ref().is_none_or(|process| self.ports.processes.is_alive(process));
        // A stream's connection ends with the daemon that held it.
        let state = if alive && found.way == Way::Attached { found.state } else { SessionState::Gone };
        self.tell(Event::SessionFound(SavedSession { state, ..found }));
    }
}
