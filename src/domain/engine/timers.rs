//! Due times: each is one moment, never repeated without a new cause (DESIGN.md section 5).

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;
use serde_json::json;

use super::{Effect, Engine, Orchestrator, RecordKind};
use crate::domain::classify::{Evidence, classify};
use crate::domain::facts::Claim;
use crate::domain::glance::watched_over;
use crate::domain::kick::Boundary;
use crate::domain::ticket::{TicketId, Timestamp};

/// Seen work that has not moved for this long while the Orchestrator is idle is shown to a person.
const UNMOVED: TimeDelta = TimeDelta::minutes(60);

/// How long after a turn, or a Pod, its last edit of a file may still be noticed: debounce and a watcher's lag.
const LATE_NOTICE: TimeDelta = TimeDelta::seconds(2);

/// Whether what ended then may have left an edit that is noticed only now.
fn just_before(ended: Timestamp, now: Timestamp) -> bool {
    (TimeDelta::zero()..LATE_NOTICE).contains(&(now - ended))
}

/// Since when a seen item lies where it is, and what was made of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lying {
    pub(super) since: Timestamp,
    pub(super) alerted: bool,
    pub(super) reoffered: bool,
}

/// Due times that are nobody else's. Each seen item has its own: what happens to others must not put it off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Timers {
    pub(super) turn_ended_at: Option<Timestamp>,
    /// When a Pod on the ticket ended, if just now.
    pub(super) worked_until: BTreeMap<TicketId, Timestamp>,
    pub(super) lying: BTreeMap<TicketId, Lying>,
    pub(super) probe_at: Option<Timestamp>,
    pub(super) brake_until: Option<Timestamp>,
}

impl Timers {
    pub(super) fn turn_ended(&mut self, now: Timestamp) {
        self.turn_ended_at = Some(now);
    }

    /// Whether a change noticed now may still be the doing of the turn that has ended.
    pub(super) fn turn_just_ended(&self, now: Timestamp) -> bool {
        self.turn_ended_at.is_some_and(|at| just_before(at, now))
    }

    pub(super) fn worker_ended(&mut self, id: &TicketId, now: Timestamp) {
        self.worked_until.retain(|_, at| just_before(*at, now));
        self.worked_until.insert(id.clone(), now);
    }

    /// The same of the work delegated on a ticket.
    pub(super) fn worker_just_ended(&self, id: &TicketId, now: Timestamp) -> bool {
        self.worked_until.get(id).is_some_and(|at| just_before(*at, now))
    }

    pub(super) fn lies_since(&mut self, ids: &[TicketId], now: Timestamp) {
        let lying = Lying { since: now, alerted: false, reoffered: false };
        self.lying.extend(ids.iter().map(|id| (id.clone(), lying.clone())));
    }

    /// An item that was off the list for a while is on it again, seen as it was.
    pub(super) fn lies_anew(&mut self, id: &TicketId, now: Timestamp) {
        if let Some(lying) = self.lying.get_mut(id) {
            *lying = Lying { since: now, alerted: false, reoffered: false };
        }
    }

    pub(super) fn moved(&mut self, id: &TicketId) {
        self.lying.remove(id);
    }

    pub(super) fn all_moved(&mut self) {
        self.lying.clear();
    }
}

/// What shows that a delegated step is under way; a step awaited anew is the same sign.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    Claim(String),
    Process(u32),
    /// Somebody works in the ticket's worktree.
    Worktree,
    Awaited,
}

fn sign(evidence: Evidence) -> Option<Sign> {
    match evidence {
        Evidence::FreshClaim { worker, .. } => Some(Sign::Claim(worker)),
        Evidence::LivePod { pid, .. } => Some(Sign::Process(pid)),
        Evidence::ProcessInWorktree { .. } => Some(Sign::Worktree),
        Evidence::Awaited { .. } => Some(Sign::Awaited),
        _ => None,
    }
}

impl Engine {
    /// When the engine wants to be stepped next, if nothing happens before.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.due_times().into_iter().filter_map(|(_, at)| at).min()
    }

    /// All that is waited for, the soonest first, in words.
    pub fn timers(&self) -> Vec<(&'static str, Timestamp)> {
        let mut timers: Vec<_> = self.due_times().into_iter().filter_map(|(what, at)| Some((what, at?))).collect();
        timers.sort_by_key(|(_, at)| *at);
        timers
    }

    fn due_times(&self) -> [(&'static str, Option<Timestamp>); 17] {
        let saved = &self.ledger.saved;
        let deciding = !matches!(self.orchestrator, Orchestrator::Preparing { .. });
        let lying = || self.timers.lying.values().filter(|_| self.is_idle());
        let unmoved = lying().filter(|l| !l.alerted).map(|l| l.since + UNMOVED).min();
        let reoffer = self.policy.kick.reoffer_idle;
        let reoffered = reoffer.and_then(|after| lying().filter(|l| !l.reoffered).map(|l| l.since + after).min());
        [
            ("files that changed are read", self.files.next()),
            ("all files are compared with what was last read", self.verify.next(self.policy.verify_every)),
            ("boundaries are decided on", deciding.then(|| self.decision_due()).flatten()),
            ("it is looked who works in the tickets' worktrees", self.next_look()),
            ("a rate limit is over", saved.rate_limited_until),
            ("the wait after a failed turn is over", saved.backing_off_until),
            ("the brake on fruitless kicks is over", self.timers.brake_until),
            ("the main worktree is looked at again", self.timers.probe_at),
            ("edits of what was seen are decided on", self.news_at.filter(|_| self.takes_news())),
            ("a stamp that waits for an editor is tried again", self.polite_again()),
            ("a stamp that could not be written is tried again", self.unstamped_again()),
            ("seen work that has not moved is shown", unmoved),
            ("seen work that has not moved is offered again", reoffered),
            ("an awaited step is overdue, or a claim goes stale", self.active_until()),
            ("it is tried again to bring a lost ticket back to the queue", self.claim_book.again()),
            ("the remote is asked which claims there are", self.remote_due()),
            ("the Orchestrator's session is looked at", self.session_due()),
        ]
    }

    /// A decision that waits for a look is due when that has lasted too long.
    fn decision_due(&self) -> Option<Timestamp> {
        let due = self.boundaries.due(self.last_now)?;
        Some(self.look_awaited_until().map_or(due, |until| due.max(until)))
    }

    fn is_idle(&self) -> bool {
        matches!(self.orchestrator, Orchestrator::Idle { .. })
    }

    /// The next moment at which a claim goes stale or an awaited step is overdue.
    fn active_until(&self) -> Option<Timestamp> {
        let awaited =
            self.under_way.iter().filter_map(|(id, _)| self.work_set.get(id)?.awaited.as_ref().map(|a| a.due));
        let claims = self.under_way.iter().filter_map(|(id, _)| self.facts.claims.get(id).map(Claim::expires));
        awaited.chain(claims).filter(|at| *at > self.last_now).min()
    }

    pub(super) fn fire_timers(&mut self, now: Timestamp) {
        let due = self.files.due(now);
        if !due.is_empty() {
            self.want(Effect::Read(due));
        }
        self.verify_if_due(now);
        self.ask_remote_if_due(now);
        self.be_polite(now);
        self.stamp_what_failed(now);
        self.look_at_trees_if_due(now);
        self.end_waits(now);
        if self.timers.probe_at.is_some_and(|at| at <= now) {
            self.timers.probe_at = None;
            // If the gate still holds a ticket alone afterwards, judging it sets the next probe.
            self.gates.judge_all();
            self.want(Effect::Probe);
        }
        self.watch_quiet(now);
    }

    /// The end of a wait is a boundary, once.
    fn end_waits(&mut self, now: Timestamp) {
        let over = |at: &mut Option<Timestamp>| at.take_if(|until| *until <= now).is_some();
        let saved = &mut self.ledger.saved;
        let ended = [over(&mut saved.backing_off_until), over(&mut saved.rate_limited_until)];
        if ended.contains(&true) {
            self.save_ledger();
            self.reach_boundary(Boundary::OrchestratorIdle);
        }
        if over(&mut self.timers.brake_until) {
            self.reach_boundary(Boundary::OrchestratorIdle);
        }
        self.timers.brake_until = self.ledger.brake_until(self.policy.kick.max_per_hour, now).filter(|at| *at > now);
    }

    /// Nothing is ever both idle and silent.
    fn watch_quiet(&mut self, now: Timestamp) {
        if !self.is_idle() {
            return;
        }
        let mut reoffer = false;
        let mut unmoved = BTreeSet::new();
        for (id, lying) in &mut self.timers.lying {
            if now - lying.since >= UNMOVED
                && !lying.alerted
                && self.backlog.get(id).is_some_and(|ticket| self.files.doubts(&ticket.path))
            {
                // Whether it is there at all is known within moments.
                lying.since += TimeDelta::seconds(1);
            }
            let lain = now - lying.since;
            if !lying.reoffered && self.policy.kick.reoffer_idle.is_some_and(|after| lain >= after) {
                lying.reoffered = true;
                reoffer = true;
            }
            if !lying.alerted && lain >= UNMOVED {
                lying.alerted = true;
                unmoved.insert(id.clone());
            }
        }
        if reoffer {
            self.reach_boundary(Boundary::ReofferIdle);
        }
        if !unmoved.is_empty() {
            self.show_unmoved(&unmoved, now);
        }
    }

    fn show_unmoved(&mut self, unmoved: &BTreeSet<TicketId>, now: Timestamp) {
        let list = self.attention(false, now).items;
        let ids: Vec<_> = list.iter().map(|item| &item.id).filter(|id| unmoved.contains(*id)).collect();
        if !ids.is_empty() {
            let what = "seen by the Orchestrator and not moved for 60 minutes, while it is idle";
            let data = json!({"what": what, "items": ids});
            self.record(RecordKind::Inbox, None, data.clone(), now);
            self.record(RecordKind::Alert, None, data, now);
        }
    }

    /// A sign of delegated work that is gone is a finished delegate: claim released or stale, Pod gone, step overdue,
    /// state changed; also where another sign keeps the ticket active.
    pub(super) fn judge_active(&mut self, now: Timestamp) {
        let mut under_way = BTreeSet::new();
        let watched = watched_over(&self.backlog, &self.work_set, &self.facts);
        for ticket in watched.into_iter().filter_map(|id| self.backlog.get(id)) {
            let evidence = classify(ticket, &self.work_set, &self.facts, now).map(|c| c.evidence);
            let signs = evidence.into_iter().flatten().filter_map(sign);
            under_way.extend(signs.map(|sign| (ticket.id.clone(), sign)));
        }
        if self.under_way.difference(&under_way).any(|gone| self.is_an_end(gone)) {
            self.see_all_anew();
            self.reach_boundary(Boundary::DelegateFinished);
        }
        self.under_way = under_way;
    }

    /// That nobody works in a worktree any more is an end only of a ticket that left `inprogress` with it (see `trees`).
    fn is_an_end(&self, (id, sign): &(TicketId, Sign)) -> bool {
        *sign != Sign::Worktree || !self.backlog.inprogress().contains(id)
    }

    /// A clock that jumped back must not put off what is due: every due time moves back with it.
    pub(super) fn mend_clock(&mut self, now: Timestamp) {
        let back = self.last_now - now;
        self.last_now = now;
        if back <= TimeDelta::zero() {
            return;
        }
        self.files.shift(back);
        self.verify.shift(back);
        self.claim_book.shift(back);
        self.trees.shift(back);
        self.remote.shift(back);
        self.boundaries.shift(back);
        self.ledger.shift(back);
        self.work_set.shift(back);
        self.shift_session(back);
        self.shift_polite(back);
        self.shift_unstamped(back);
        let timers = &mut self.timers;
        let lying = timers.lying.values_mut().map(|lying| &mut lying.since).chain(timers.worked_until.values_mut());
        let moments = [&mut timers.turn_ended_at, &mut timers.probe_at, &mut timers.brake_until, &mut self.news_at];
        for at in moments.into_iter().flatten().chain(lying) {
            *at -= back;
        }
    }
}
