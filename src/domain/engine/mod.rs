//! The engine: `step(event, now) -> effects` on the state it owns, and `next_wake()`. All of DESIGN.md 3 to 5 that has
//! a memory is decided here, on values alone, so that weeks run in a test in seconds.
//!
//! Must not know: files, git, processes, the clock, threads. Every room below adds methods to [`Engine`].

mod admission;
mod board;
mod boundaries;
mod changes;
mod claims;
mod contacts;
mod effect;
mod event;
mod files;
mod judging;
mod operation;
mod orders;
mod pending;
mod pods;
mod polite;
mod progress;
mod remote;
mod saved_over;
mod session;
mod stamps;
mod start;
mod timers;
mod trees;
mod turns;
mod verify;
mod waking;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub use super::claim::ClaimNews;
pub use admission::Admission;
pub use board::{Row, Summary};
pub use boundaries::{LastDecision, may_kick, may_pause};
pub use effect::{Effect, Kick, Record, RecordKind};
pub use event::{Actor, EndedTurn, Event, KickId, LastSeen, Reach, Reload, RunningTurn, Start, TurnOutcome};
pub use orders::Orders;
pub use polite::Stamp;
pub use remote::RemoteSummary;
pub use session::{Contact, Pending, Registers, SavedSession, Session, SessionReport, SessionState, Waking, Way};
pub use turns::{Orchestrator, Turn};
pub use verify::WatchSummary;

use super::backlog::Backlog;
use super::facts::Facts;
use super::gates::Ground;
use super::ledger::Ledger;
use super::policy::Policy;
use super::ticket::{Digest, TicketId, Timestamp};
use super::workset::WorkSet;
use boundaries::Boundaries;
use changes::Known;
use files::Files;
use judging::Gates;
use pending::Answer;
use polite::Waiting;
use stamps::Unstamped;
use timers::{Sign, Timers};

/// The state of one workspace, and everything that is decided about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Engine {
    policy: Policy,
    reach: Reach,
    /// What stands for the way to it.
    whom: Option<Digest>,
    backlog: Backlog,
    facts: Facts,
    work_set: WorkSet,
    ledger: Ledger,
    orchestrator: Orchestrator,
    /// The registered session, where the Orchestrator is one.
    session: Option<Session>,
    /// A contact of its whose answer can carry a list, and which is not answered yet.
    contact: Option<Answer>,
    /// The one that is gone: it may be resumed.
    former: Option<SavedSession>,
    /// Where it came from, if it may live on.
    left_in_doubt: Option<admission::Whereabouts>,
    /// What was last kept of it.
    kept_session: Option<SavedSession>,
    /// When a registration last led to a kick that nothing came of yet.
    registered_kick_at: Option<Timestamp>,
    wakes: u64,
    /// Wakes that failed since the start.
    undelivered: u64,
    boundaries: Boundaries,
    files: Files,
    verify: verify::Verify,
    claim_book: claims::ClaimBook,
    trees: trees::TreeBook,
    remote: remote::Remote,
    /// What was known of tickets whose file is there and cannot be read (or whose id is doubled): they have left nothing.
    unreadable: BTreeMap<TicketId, Known>,
    timers: Timers,
    gates: Gates,
    /// What showed, after the last step, that delegated work is under way.
    under_way: BTreeSet<(TicketId, Sign)>,
    /// Entries into the queue whose stamp could not be written, and since when they can have happened.
    unstamped: BTreeMap<TicketId, Unstamped>,
    /// Stamps that wait for an editor.
    polite: BTreeMap<PathBuf, Waiting>,
    /// What requests wrote lately, and which of it an old text took back.
    written: BTreeMap<TicketId, Vec<saved_over::Written>>,
    saved_over: BTreeMap<TicketId, String>,
    /// When a ticket's state and stamps alone showed it.
    shown_by_marks: BTreeMap<TicketId, Timestamp>,
    /// What somebody wrote, and could not be merged: where it is kept.
    set_aside: BTreeMap<TicketId, String>,
    /// When a stamp that was saved over was last set again.
    restamped: BTreeMap<TicketId, Timestamp>,
    /// Something became new to the Orchestrator since the last decision.
    stirred: bool,
    /// Tickets whose change nobody is kicked for, which was said.
    unannounced: BTreeSet<TicketId>,
    /// When it is looked whether such a change left something unseen.
    news_at: Option<Timestamp>,
    /// The session that begins when the running turn has ended.
    next_session: Option<String>,
    kicks: u64,
    editor_name: String,
    last_now: Timestamp,
    out: Vec<Effect>,
}

impl Engine {
    /// An engine that has not been told anything; its first event is [`Event::Started`].
    pub fn new(now: Timestamp) -> Self {
        Self {
            policy: Policy::default(),
            reach: Reach::No("the daemon has not started yet".into()),
            whom: None,
            backlog: Backlog::default(),
            facts: Facts::default(),
            work_set: WorkSet::new(""),
            ledger: Ledger::default(),
            orchestrator: Orchestrator::Idle { since: now },
            session: None,
            contact: None,
            former: None,
            left_in_doubt: None,
            kept_session: None,
            registered_kick_at: None,
            wakes: 0,
            undelivered: 0,
            boundaries: Boundaries::default(),
            files: Files::default(),
            verify: verify::Verify::default(),
            claim_book: claims::ClaimBook::default(),
            trees: trees::TreeBook::default(),
            remote: remote::Remote::default(),
            unreadable: BTreeMap::new(),
            timers: Timers::default(),
            gates: Gates::default(),
            under_way: BTreeSet::new(),
            unstamped: BTreeMap::new(),
            polite: BTreeMap::new(),
            written: BTreeMap::new(),
            saved_over: BTreeMap::new(),
            shown_by_marks: BTreeMap::new(),
            set_aside: BTreeMap::new(),
            restamped: BTreeMap::new(),
            stirred: false,
            unannounced: BTreeSet::new(),
            news_at: None,
            next_session: None,
            kicks: 0,
            editor_name: String::new(),
            last_now: now,
            out: Vec::new(),
        }
    }

    /// Takes one event, and says what is to be done.
    pub fn step(&mut self, event: Event, now: Timestamp) -> Vec<Effect> {
        self.mend_clock(now);
        self.take(event, now);
        self.settle(now);
        std::mem::take(&mut self.out)
    }

    fn take(&mut self, event: Event, now: Timestamp) {
        match event {
            Event::Started(start) => self.start(*start, now),
            Event::PathsNoticed(paths) => self.paths_noticed(paths, now),
            Event::EverythingNoticed(why) => self.everything_noticed(why.as_deref(), now),
            Event::Compared(found) => self.compared(found, now),
            Event::FilesRead { entries, full } => self.files_read(entries, full, now),
            Event::TicketWritten { ticket, by } => self.ticket_written(ticket, &by, now),
            Event::StampFailed { id, why } => self.stamp_failed(&id, &why, now),
            Event::EditorSeen { stamp, mark } => self.editor_seen(stamp, mark, now),
            Event::Reviewed(findings) => self.reviewed(findings, now),
            Event::GitNoticed => {
                self.want(Effect::ReadClaims);
                self.look_at_trees(now);
                self.probe_wanted();
            }
            Event::Probed(dirty) => self.probed(dirty),
            Event::ClaimsRead { news, full } => self.claims_read(news, full, now),
            Event::WorktreesRead(standing) => self.worktrees_read(standing, now),
            Event::RemoteAsked { answer, jitter } => self.remote_asked(answer, jitter, now),
            Event::BoundaryReached(boundary) => self.asked(boundary, now),
            Event::PodReported { pod, state } => self.pod_reported(pod, state, now),
            Event::PodEnded(id) => self.pod_ended(&id, now),
            Event::RateLimited(until) => self.rate_limited(until, now),
            Event::Refreshed(kick) => self.refreshed(&kick, now),
            Event::TurnStarted { kick, process } => self.turn_started(&kick, process),
            Event::SessionFound(found) => self.session_found(found, now),
            Event::SessionReported { report, contact } => self.session_reported(report, contact, now),
            Event::ContactClosed => self.contact_closed(now),
            Event::SessionProcessEnded(process) => self.session_process_ended(&process, now),
            Event::SessionReset(id) => self.session_reset(id, now),
            Event::WakeEnded { number, failed } => self.wake_ended(number, failed.as_deref(), now),
            Event::TurnEnded { kick, outcome, jitter } => self.turn_ended(&kick, &outcome, jitter, now),
            Event::Paused { by, reason } => self.pause(by, reason, now),
            Event::Resumed { by } => self.resume(&by, now),
            Event::Reloaded(reload) => self.reload(*reload, now),
            Event::Ticked => {}
        }
    }

    /// What follows from any event: due times, class and gate transitions, then the decision if one is due.
    fn settle(&mut self, now: Timestamp) {
        self.fire_timers(now);
        self.watch_session(now);
        self.judge_active(now);
        self.bring_back(now);
        self.judge_gates(now);
        if self.stirred {
            self.review_pending(now);
        }
        self.notice_news(now);
        self.decide_if_due(now);
        self.wake_if_due(now);
        self.keep_session();
    }

    fn ground(&self) -> Ground<'_> {
        Ground { backlog: &self.backlog, facts: &self.facts, policy: &self.policy }
    }

    fn want(&mut self, effect: Effect) {
        self.out.push(effect);
    }

    fn record(&mut self, kind: RecordKind, ticket: Option<&TicketId>, data: serde_json::Value, now: Timestamp) {
        self.want(Effect::Record(Record { kind, at: now, ticket: ticket.cloned(), data }));
    }

    fn save_ledger(&mut self) {
        let saved = self.ledger.saved.clone();
        self.want(Effect::SaveLedger(saved));
    }
}

#[cfg(test)]
mod tests;
