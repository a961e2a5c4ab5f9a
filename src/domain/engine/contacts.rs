//! What follows from each contact of the Orchestrator's session (DESIGN.md section 4, 5.1).
//!
//! Must not know: how a contact came in, whose it is (`admission`). Whether a list is handed over is decided in `pending`.

use chrono::TimeDelta;
use serde_json::json;

use super::admission::{DOUBT, Whereabouts};
use super::pending::Answer;
use super::session::{Contact, SavedSession, Session, SessionReport, SessionState, Way};
use super::{Actor, Effect, Engine, Orchestrator, Reach, RecordKind, Turn, TurnOutcome, may_kick};
use crate::domain::classify::ORCHESTRATOR;
use crate::domain::facts::ProcessIdentity;
use crate::domain::kick::Boundary;
use crate::domain::rate_limit::RateLimit;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::Timestamp;
use crate::domain::workset::WorkSet;

/// A first stop this soon after a list was handed over by one is the same stop, told twice.
const SAME_STOP: TimeDelta = TimeDelta::seconds(2);
/// How long a session's own background tasks are waited for.
const BACKGROUND: TimeDelta = TimeDelta::minutes(30);
/// A session that registers again within this time after a kick that led to nothing is no news.
const REGISTERED_LATELY: TimeDelta = TimeDelta::hours(1);

/// What is said where no session is registered.
const NOBODY: &str = "no Orchestrator session is registered: start your agent with YOI_ROLE=orchestrator and yoi's hooks, \
                      or run `yoi orchestrator attach` in it";

impl Engine {
    /// Why nobody can be kicked, if so.
    pub fn absence(&self) -> Option<&str> {
        match &self.reach {
            Reach::No(why) => Some(why),
            Reach::Session if self.session.is_none() => Some(NOBODY),
            Reach::Session | Reach::Exec => None,
        }
    }

    pub(super) fn register(&mut self, report: SessionReport, contact: &Contact, now: Timestamp) {
        if self.session.is_some() {
            self.leave(&TurnOutcome::Interrupted, now);
        }
        let started = matches!(contact, Contact::Started { .. });
        self.left_in_doubt = None;
        if report.id != self.work_set.session {
            self.fresh_session(report.id.clone());
        }
        let session = Session::new(report, now);
        let pid = session.process.as_ref().map(|p| p.pid);
        let data = json!({"role": ORCHESTRATOR, "session": session.id, "way": session.way.as_str(), "pid": pid,
            "agent": session.agent});
        self.record(RecordKind::AgentStarted, None, data, now);
        if let Some(process) = &session.process {
            self.want(Effect::WatchSession(process.clone()));
        }
        self.session = Some(session);
        self.orchestrator = Orchestrator::Idle { since: now };
        if !started {
            // It is found in the middle of its life: the daemon was not there when it began.
            self.registered(Boundary::OrchestratorRestore, now);
        }
    }

    /// A session that registers again and again must not buy itself kicks: unless something came of the last one that a
    /// registration led to, the next is no explicit boundary.
    fn registered(&mut self, boundary: Boundary, now: Timestamp) {
        let lately = self.registered_kick_at.is_some_and(|at| now - at < REGISTERED_LATELY);
        self.reach_boundary(if lately { Boundary::OrchestratorIdle } else { boundary });
    }

    pub(super) fn contacted(&mut self, contact: Contact, now: Timestamp) {
        match contact {
            Contact::Started { resumed, takes } => self.started(resumed, takes, now),
            Contact::Compacted => {}
            Contact::Prompted { takes } => self.prompted(takes, now),
            Contact::Stopped { takes, first, background } => self.stopped(takes, first, background, now),
            Contact::Failed { why, jitter } => {
                self.unprepare(now);
                self.begin_unannounced(now);
                self.end_turn(&TurnOutcome::Failed(why), jitter, now);
            }
            Contact::Limited { why, wait } => {
                self.unprepare(now);
                self.begin_unannounced(now);
                let first = self.policy.session.rate_limit_wait.to_std().unwrap_or_default();
                let limit = RateLimit { wait: wait.unwrap_or(first), named: wait.is_some() };
                self.end_turn(&TurnOutcome::Limited { why, limit }, 0, now);
            }
            Contact::Interrupted => self.end_turn(&TurnOutcome::Interrupted, 0, now),
            Contact::Active { own } => {
                if let Some(session) = &mut self.session {
                    session.silent = false;
                }
                if own && matches!(self.orchestrator, Orchestrator::Idle { .. }) {
                    self.begin_turn(now);
                }
            }
            Contact::Ended => self.leave(&TurnOutcome::Interrupted, now),
        }
    }

    fn started(&mut self, resumed: bool, takes: bool, now: Timestamp) {
        self.unprepare(now);
        self.end_turn(&TurnOutcome::Interrupted, 0, now);
        if let Some(session) = self.session.as_mut().filter(|_| !resumed) {
            (session.pending, session.shown) = (None, None);
            let id = session.id.clone();
            self.fresh_session(id);
        }
        self.registered(if resumed { Boundary::OrchestratorRestore } else { Boundary::OrchestratorSpawn }, now);
        self.contact = takes.then_some(Answer::Start);
    }

    fn prompted(&mut self, takes: bool, now: Timestamp) {
        self.unprepare(now);
        if self.session.as_ref().is_some_and(|session| session.silent) {
            self.end_turn(&TurnOutcome::Interrupted, 0, now);
        }
        if matches!(self.orchestrator, Orchestrator::Busy(_)) {
            // A word put in while the turn goes on, or a prompt after an interruption that nobody told us of.
            return;
        }
        if takes {
            self.contact = Some(Answer::Prompt);
        } else {
            self.begin_turn(now);
        }
    }

    fn stopped(&mut self, takes: bool, first: bool, background: bool, now: Timestamp) {
        let told_twice = |turn: &Turn| turn.by_stop && first && now - turn.since < SAME_STOP;
        if matches!(&self.orchestrator, Orchestrator::Busy(turn) if told_twice(turn)) {
            return;
        }
        self.unprepare(now);
        self.begin_unannounced(now);
        self.end_turn(&TurnOutcome::Succeeded, 0, now);
        if let Some(session) = &mut self.session {
            session.background_until = background.then(|| now + BACKGROUND);
        }
        self.contact = (takes && !background).then_some(Answer::Stop);
    }

    /// A turn that ends has begun, whether anybody said so or not.
    fn begin_unannounced(&mut self, now: Timestamp) {
        if matches!(self.orchestrator, Orchestrator::Idle { .. }) {
            self.begin_turn(now);
            // Nobody knows when: perhaps before a rate limit.
            self.no_proof();
        }
    }

    /// The session is gone; its notes are kept for a resume under the same id.
    pub(super) fn leave(&mut self, outcome: &TurnOutcome, now: Timestamp) {
        self.unprepare(now);
        // Without a session, what runs is a command's turn: it has ended when its process has.
        if self.session.is_none() {
            return;
        }
        self.end_turn(outcome, 0, now);
        let Some(session) = self.session.take() else { return };
        let pid = session.process.as_ref().map(|p| p.pid);
        let data = json!({"role": ORCHESTRATOR, "session": session.id, "way": session.way.as_str(), "pid": pid,
            "agent": session.agent});
        self.record(RecordKind::AgentEnded, None, data, now);
        self.orchestrator = Orchestrator::Idle { since: now };
        let saved = self.saved(&session, SessionState::Gone);
        self.left_in_doubt = session.doubt.is_some().then_some(Whereabouts { id: session.id, above: session.above });
        self.former = Some(saved);
    }

    pub(super) fn session_process_ended(&mut self, process: &ProcessIdentity, now: Timestamp) {
        let Some(session) = self.session.as_mut().filter(|session| session.is_process(Some(process))) else { return };
        if session.is_in_doubt(now) {
            session.doubt = Some(now + DOUBT);
        } else {
            self.leave(&TurnOutcome::Failed("its process ended in the middle of the turn".into()), now);
        }
    }

    /// A former daemon's session; `Gone` where its process, or its connection, has not outlived that daemon.
    pub(super) fn session_found(&mut self, found: SavedSession, now: Timestamp) {
        if self.reach != Reach::Session || self.session.is_some() {
            return;
        }
        self.fresh_session(found.id.clone());
        self.kicks = found.kicks;
        // While a command's turn runs no session takes its place: it registers when that has ended.
        let taken = matches!(self.orchestrator, Orchestrator::Busy(_));
        if taken || found.state == SessionState::Gone || found.way == Way::Stream {
            self.former = Some(SavedSession { state: SessionState::Gone, ..found });
            return;
        }
        let SavedSession { id, way, agent, process, since, state, kicks: _ } = found;
        if let Some(process) = &process {
            self.want(Effect::WatchSession(process.clone()));
        }
        let report = SessionReport::of_known(id, way, agent, process);
        self.session = Some(Session { since, ..Session::new(report, now) });
        if state == SessionState::Busy {
            self.orchestrator = Orchestrator::Busy(Turn { adopted: true, ..Turn::new(None, Vec::new(), now) });
            self.reach_boundary(Boundary::OrchestratorIdle);
        } else {
            self.registered(Boundary::OrchestratorRestore, now);
        }
    }

    /// A new session begins: nothing is noted, nothing was seen.
    pub(super) fn fresh_session(&mut self, id: String) {
        if id != self.work_set.session {
            self.kicks = 0;
        }
        self.work_set = WorkSet::new(id);
        self.ledger.new_session();
        self.all_unseen();
    }

    /// Whether the session may be begun anew now, and by whom.
    pub fn may_reset(&self, by: &Actor) -> Result<(), Refusal> {
        may_kick(by)?;
        if let Reach::No(why) = &self.reach {
            return Err(Refusal::new(format!("there is no Orchestrator whose session this could be: {why}")));
        }
        let silent = self.session.as_ref().is_some_and(|session| session.silent);
        match &self.orchestrator {
            Orchestrator::Busy(_) if !silent => {
                Err(Refusal::new("the Orchestrator is at work, and its notes with it: it is reset between two turns")
                    .hint("`yoi status` says since when; end its turn first"))
            }
            _ => Ok(()),
        }
    }

    /// A person begins a new session: in `exec` under this id, else under the one that is registered.
    pub(super) fn session_reset(&mut self, id: String, now: Timestamp) {
        self.unprepare(now);
        self.end_turn(&TurnOutcome::Interrupted, 0, now);
        match &mut self.session {
            Some(session) => {
                *session = Session { since: session.since, ..Session::new(session.report(), now) };
                let id = session.id.clone();
                self.fresh_session(id);
            }
            None if self.reach == Reach::Exec => return self.begin_session(id, now),
            // Nobody is registered: whoever comes next, also under the old id, begins with nothing.
            None => self.fresh_session(String::new()),
        }
        self.reach_boundary(Boundary::OrchestratorSpawn);
    }

    pub(super) fn keep_session(&mut self) {
        let state = match self.orchestrator {
            Orchestrator::Busy(_) => SessionState::Busy,
            _ => SessionState::Idle,
        };
        let saved = self.session.as_ref().map(|session| self.saved(session, state)).or_else(|| self.former.clone());
        if saved != self.kept_session {
            self.kept_session.clone_from(&saved);
            self.want(Effect::SaveSession(saved));
        }
    }

    fn saved(&self, session: &Session, state: SessionState) -> SavedSession {
        SavedSession {
            id: session.id.clone(),
            way: session.way,
            agent: session.agent.clone(),
            process: session.process.clone(),
            since: session.since,
            state,
            kicks: self.kicks,
        }
    }
}

impl Session {
    fn report(&self) -> SessionReport {
        let Session { id, way, agent, process, guessed, above, .. } = self.clone();
        SessionReport { above, guessed, ..SessionReport::of_known(id, way, agent, process) }
    }
}
