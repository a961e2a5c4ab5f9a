//! Which session is the Orchestrator's, and by which process (DESIGN.md 5.1).
//!
//! A hook says which process it comes from: the nearest one above it that is no shell. Where that is something else which
//! only runs the hook, and ends with it, the next report of the same session shows it: what both come from is the agent.
//!
//! Must not know: how a report came in; what follows from it (`contacts`).

use chrono::TimeDelta;
use serde_json::json;

use super::session::{Contact, Registers, Session, SessionReport, Way};
use super::{Effect, Engine, Orchestrator, Reach, RecordKind, TurnOutcome};
use crate::domain::concern;
use crate::domain::facts::ProcessIdentity;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::Timestamp;

/// What a session was found to live in, and has ended this soon after it reported, may have been only what its hook was
/// run by.
const WITH_ITS_HOOK: TimeDelta = TimeDelta::seconds(5);
/// How long another report is waited for then.
pub(super) const DOUBT: TimeDelta = TimeDelta::minutes(1);

/// What a report is taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The registered session's.
    Known,
    /// A session that registers now.
    New,
    /// A session that is not, and may not become, the Orchestrator.
    Refused(Refusal),
    /// In the name of a session that is not registered, and that nobody would notice the end of.
    Unwatched(Refusal),
    /// In the name of the registered session, by a process that has nothing to do with it.
    Elsewhere(Refusal),
    /// Somebody else's: nobody said that it is the Orchestrator.
    Stranger,
}

/// Where a session came from that is gone, perhaps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Whereabouts {
    pub(super) id: String,
    pub(super) above: Vec<ProcessIdentity>,
}

fn unwatched(id: &str) -> Refusal {
    let message =
        format!("session `{id}` is not registered, and nothing would tell when it ends, so nothing was noted");
    Refusal::new(message).hint(format!(
        "`yoi orchestrator watch --session {id}` registers it, `yoi orchestrator attach` does in an agent; or give --pid N, its \
         process"
    ))
}

/// No moment of the session's own: it may come from anywhere near it, a second terminal of the same window for one.
fn is_mere_sign(contact: &Contact) -> bool {
    matches!(contact, Contact::Active { own: false })
}

fn is_start(contact: &Contact) -> bool {
    matches!(contact, Contact::Started { .. })
}

/// The nearest process that two reports come from; `second` lives.
fn nearest_common<'r>(first: &[ProcessIdentity], second: &'r [ProcessIdentity]) -> Option<&'r ProcessIdentity> {
    second.iter().find(|process| first.contains(process))
}

impl Engine {
    /// What a report is taken for.
    pub fn admit(&self, report: &SessionReport) -> Admission {
        match &self.reach {
            Reach::Exec => {
                let message = "it is run by [orchestrator] command (exec), so its state comes from its process alone";
                Admission::Refused(Refusal::new(format!("a session cannot report for the Orchestrator: {message}")))
            }
            Reach::No(why) => Admission::Refused(Refusal::new(format!("no Orchestrator can register: {why}"))),
            Reach::Session => self.admit_session(report),
        }
    }

    fn admit_session(&self, report: &SessionReport) -> Admission {
        let Some(live) = &self.session else {
            if matches!(self.orchestrator, Orchestrator::Busy(_)) {
                let message = "a turn of the former [orchestrator] command is still running";
                return Admission::Refused(Refusal::new(message).hint("register when it has ended"));
            }
            return match (report.registers, &report.process) {
                _ if self.returns(report).is_some() => Admission::New,
                (Registers::Never, _) => Admission::Stranger,
                (Registers::IfWatched, None) => Admission::Unwatched(unwatched(&report.id)),
                _ => Admission::New,
            };
        };
        if live.is_process(report.process.as_ref()) {
            // The same process under another id is the same agent with a new conversation.
            return if live.id == report.id { Admission::Known } else { Admission::New };
        }
        if live.id == report.id {
            return Self::admit_by_name(live, report);
        }
        if report.registers == Registers::Never {
            return Admission::Stranger;
        }
        let refusal = Refusal::new(format!("there is an Orchestrator already: session {}", live.named()));
        Admission::Refused(
            refusal.hint(format!("end that one first ({}), or give this one another role", live.way_out())),
        )
    }

    /// A report under the registered session's own name that does not come straight from its process.
    fn admit_by_name(live: &Session, report: &SessionReport) -> Admission {
        let Some((own, process)) = live.process.as_ref().zip(report.process.as_ref()) else {
            // Nobody can tell whether a session without a process still lives: its reader takes its place.
            let unwatched = live.process.is_none() && live.way == Way::Attached;
            return if unwatched && report.way == Way::Stream { Admission::New } else { Admission::Known };
        };
        if report.above.contains(own) || live.doubt.is_some() || live.comes_from(process) {
            return Admission::Known;
        }
        let name = report.program.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        let message = format!(
            "a report of session `{}` came from another process, pid {}{name}, and was ignored: the session lives in process {}",
            live.id, process.pid, own.pid
        );
        let hint = format!("report from that process, or from one below it; {} ends the session", live.way_out());
        Admission::Elsewhere(Refusal::new(message).hint(hint))
    }

    pub(super) fn session_reported(&mut self, report: SessionReport, contact: Contact, now: Timestamp) {
        match self.admit(&report) {
            Admission::Known => self.known_by(report, &contact, now),
            // An end, or a mere sign of life, makes nobody the Orchestrator: it may be of something beside the session.
            Admission::New if contact == Contact::Ended || is_mere_sign(&contact) => return,
            Admission::New if self.session.is_none() && report.registers == Registers::Never && is_start(&contact) => {
                // Another process under the id of one that was attached: nobody said so of this one.
                self.left_in_doubt = None;
                return;
            }
            Admission::New => {
                let report = self.located(report, &contact);
                self.register(report, &contact, now);
            }
            Admission::Refused(refusal) => return self.second_refused(&report, &refusal, now),
            Admission::Elsewhere(refusal) => return self.ignored(&refusal, now),
            Admission::Unwatched(_) | Admission::Stranger => return,
        }
        if let Some(session) = &mut self.session {
            session.heard = now;
        }
        self.contacted(contact, now);
    }

    /// The same session's, from somewhere else than before: it says where it lives. One without a process has one as soon
    /// as it names one. Where what was taken for its process has ended, or descends from the one that reports, that was
    /// only what its hook was run by.
    fn known_by(&mut self, report: SessionReport, contact: &Contact, now: Timestamp) {
        let Some(session) = &mut self.session else { return };
        // It lives, wherever that is.
        if report.process.is_none() && session.doubt.is_some() {
            session.doubt = Some(now + DOUBT);
            return;
        }
        let common = || nearest_common(&session.above, &report.above).cloned();
        let process = match (&session.process, session.doubt) {
            (None, _) => report.process.clone(),
            // A start is told by an agent that has just begun: what it has in common with the former one is a terminal.
            (Some(_), Some(_)) if is_start(contact) => report.process.clone(),
            (Some(_), Some(_)) => common().or_else(|| report.process.clone()),
            (Some(_), None) => {
                report.process.clone().filter(|process| !is_mere_sign(contact) && session.comes_from(process))
            }
        };
        let Some(process) = process.filter(|process| !session.is_process(Some(process))) else { return };
        // Where both come from is the agent, or what it runs all its hooks by.
        session.guessed = report.guessed && report.process.as_ref() == Some(&process);
        session.process = Some(process.clone());
        session.above = report.above;
        session.doubt = None;
        self.want(Effect::WatchSession(process));
    }

    /// A report of the session that left when what its hook was run by had ended, from below something that it came from
    /// then: that.
    fn returns<'r>(&self, report: &'r SessionReport) -> Option<&'r ProcessIdentity> {
        let left = self.left_in_doubt.as_ref().filter(|left| left.id == report.id)?;
        nearest_common(&left.above, &report.above)
    }

    /// One that returns lives in what it comes from each time; one that starts, in a process of its own.
    fn located(&self, report: SessionReport, contact: &Contact) -> SessionReport {
        let started = is_start(contact) && report.process.is_some();
        match self.returns(&report).filter(|_| !started).cloned() {
            Some(process) => SessionReport { process: Some(process), guessed: false, ..report },
            None => report,
        }
    }

    /// Nobody has reported for the session since what was taken for its process has ended: it was its process.
    pub(super) fn end_doubt(&mut self, now: Timestamp) {
        if self.session.as_ref().and_then(|session| session.doubt).is_some_and(|until| until <= now) {
            self.leave(&TurnOutcome::Interrupted, now);
        }
    }

    /// Said once of each: its hooks say nothing to anybody. What the Orchestrator started itself, a worker that was
    /// handed down its environment, is no rival.
    fn second_refused(&mut self, report: &SessionReport, refusal: &Refusal, now: Timestamp) {
        let Some(live) = &mut self.session else { return };
        let is_its_own = live.process.as_ref().is_some_and(|process| report.above.contains(process));
        if !is_its_own && live.refused.as_ref() != Some(&report.id) {
            live.refused = Some(report.id.clone());
            let what = format!("session `{}` was refused as the Orchestrator: {}", report.id, refusal.message);
            self.record(RecordKind::Inbox, None, json!({"what": what, "about": concern::REFUSED}), now);
        }
    }

    /// Said once of a session; the last one is shown where a kick is pending.
    fn ignored(&mut self, refusal: &Refusal, now: Timestamp) {
        let Some(session) = &mut self.session else { return };
        let first = session.ignored.is_none();
        session.ignored = Some((refusal.message.clone(), now));
        if first {
            let data = json!({"what": refusal.message, "do": refusal.hint, "about": concern::IGNORED});
            self.record(RecordKind::Inbox, None, data, now);
        }
    }
}

impl Session {
    /// Whether what was found to be its process comes from this one, which reports for it.
    fn comes_from(&self, process: &ProcessIdentity) -> bool {
        self.guessed && self.above.contains(process)
    }

    /// Whether the end of its process may be only that of what its hook was run by.
    pub(super) fn is_in_doubt(&self, now: Timestamp) -> bool {
        self.guessed && now - self.heard <= WITH_ITS_HOOK
    }
}
