//! Boundaries are joined into decisions: the first at once, those within 200 ms after it into one further decision
//! that keeps all their causes (DESIGN.md section 5).

use std::collections::BTreeSet;

use chrono::TimeDelta;
use serde_json::json;

use super::{Actor, Engine, Orchestrator, RecordKind};
use crate::domain::attention::{Attention, View, attention};
use crate::domain::backlog::Entry;
use crate::domain::glance::{Glance, glance};
use crate::domain::kick::{Boundary, Causes, Decision, Presence, Suppression, decide};
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{TicketId, Timestamp};
use crate::domain::workset::WaitKind;

/// How long after a decision further boundaries are joined.
const JOIN: TimeDelta = TimeDelta::milliseconds(200);

/// How often plain edits of seen tickets may lead to a decision.
const NEWS_EVERY: TimeDelta = TimeDelta::minutes(1);

/// What was last decided, for `status` and `why`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastDecision {
    /// When.
    pub at: Timestamp,
    /// By which boundaries.
    pub causes: Vec<Boundary>,
    /// By which row.
    pub row: u8,
    /// `kick`, or the name of the suppression.
    pub decision: &'static str,
    /// Details in words.
    pub detail: String,
}

/// `yoi kick` is for people and other programs: no bound holds it, so that an Orchestrator that asked (in a process that
/// outlives its turn) would be kicked for ever.
pub fn may_kick(by: &Actor) -> Result<(), Refusal> {
    if *by != Actor::Orchestrator {
        return Ok(());
    }
    let refusal = Refusal::new("the Orchestrator does not kick itself: the end of its turn is its next boundary");
    Err(refusal.hint("say what is to happen with `yoi plan`, `accept` or `await`; `yoi kick --dry-run` only looks"))
}

/// Pausing and resuming are a person's: an Orchestrator that could let itself go on would not be held by anything.
pub fn may_pause(by: &Actor) -> Result<(), Refusal> {
    if *by != Actor::Orchestrator {
        return Ok(());
    }
    Err(Refusal::new("pausing and resuming are for people; the Orchestrator's own session may not"))
}

/// Boundaries not yet decided on, and the decision before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Boundaries {
    pub(super) pending: Vec<Boundary>,
    pub(super) joined_until: Option<Timestamp>,
    pub(super) last: Option<LastDecision>,
    pub(super) last_boundary: Option<(Boundary, Timestamp)>,
    /// When a plain edit last led to a decision.
    pub(super) last_news: Option<Timestamp>,
    pub(super) kicks_sent: u64,
    pub(super) kicks_saved: u64,
}

impl Boundaries {
    pub(super) fn take_pending(&mut self) -> Vec<Boundary> {
        std::mem::take(&mut self.pending)
    }

    /// When the next decision is due, if one is.
    pub(super) fn due(&self, now: Timestamp) -> Option<Timestamp> {
        (!self.pending.is_empty()).then(|| self.joined_until.map_or(now, |until| until.max(now)))
    }

    pub(super) fn note_kick(&mut self, causes: &[Boundary], items: usize, left_out: usize, now: Timestamp) {
        self.kicks_sent += 1;
        let detail = format!("{items} handed over, {left_out} left out");
        self.last = Some(LastDecision { at: now, causes: causes.to_vec(), row: 7, decision: "kick", detail });
    }

    pub(super) fn note_pending(&mut self, causes: &[Boundary], items: usize, now: Timestamp) {
        let detail = format!("{items} to hand over, at the session's next contact");
        self.last = Some(LastDecision { at: now, causes: causes.to_vec(), row: 7, decision: "pending", detail });
    }

    /// A decision was made just now: boundaries that follow are joined.
    pub(super) fn decided(&mut self, now: Timestamp) {
        self.joined_until = Some(now + JOIN);
    }

    pub(super) fn shift(&mut self, by: TimeDelta) {
        for at in [&mut self.joined_until, &mut self.last_news].into_iter().flatten() {
            *at -= by;
        }
    }
}

impl Engine {
    pub(super) fn reach_boundary(&mut self, boundary: Boundary) {
        self.boundaries.last_boundary = Some((boundary, self.last_now));
        if !self.boundaries.pending.contains(&boundary) {
            self.boundaries.pending.push(boundary);
        }
    }

    /// A boundary from outside. While a turn is running it is answered at once: joined with the turn's end it would be
    /// the explicit one that no bound holds, and a turn that asks for kicks would never be the last.
    pub(super) fn asked(&mut self, boundary: Boundary, now: Timestamp) {
        if self.presence() == Presence::Busy {
            self.boundaries.last_boundary = Some((boundary, now));
            self.suppressed(&[boundary], &Suppression::Busy, now);
        } else {
            self.reach_boundary(boundary);
        }
    }

    /// Nothing new may lie at rest: where a change left something unseen on the list and made no boundary of its own
    /// (somebody edited what had been seen, an `other` reason lapsed, a ticket came to `inprogress` by hand), the
    /// change itself is taken as the one that cleared the way: the first at once, what follows within a minute after
    /// that together, since whoever is writing saves more than once.
    pub(super) fn notice_news(&mut self, now: Timestamp) {
        if std::mem::take(&mut self.stirred) && self.news_at.is_none() {
            let next = self.boundaries.last_news.map_or(now, |last| last + NEWS_EVERY);
            self.news_at = Some(next.max(now));
        }
        if !self.takes_news() || self.news_at.take_if(|at| *at <= now).is_none() {
            return;
        }
        if self.boundaries.pending.is_empty() && self.any_unseen(now) {
            self.boundaries.last_news = Some(now);
            self.reach_boundary(Boundary::GateCleared);
        }
    }

    /// Between two turns, or in one that is silent and counts as over: nothing else would bring up what is new.
    pub(super) fn takes_news(&self) -> bool {
        match self.orchestrator {
            Orchestrator::Idle { .. } => true,
            Orchestrator::Busy(_) => self.session.as_ref().is_some_and(|session| session.silent),
            Orchestrator::Preparing { .. } => false,
        }
    }

    pub(super) fn decide_if_due(&mut self, now: Timestamp) {
        // While a kick is being prepared its decision is still open: boundaries join it when the data is fresh.
        if matches!(self.orchestrator, Orchestrator::Preparing { .. }) {
            return;
        }
        if let Some(answer) = self.contact {
            self.decide_at_contact(answer, now);
            return;
        }
        if self.boundaries.due(now).is_none_or(|due| due > now) {
            return;
        }
        if self.await_look(now) {
            return;
        }
        let causes = self.boundaries.take_pending();
        self.boundaries.decided(now);
        match self.decide(&causes, now) {
            Decision::Kick { items, .. } => self.kick(causes, &items, now),
            Decision::Suppress(why) => self.suppressed(&causes, &why, now),
        }
    }

    /// What these boundaries would lead to now.
    pub fn decide(&self, causes: &[Boundary], now: Timestamp) -> Decision {
        let standing = self.ledger.standing(self.policy.kick.max_per_hour, now);
        let explicit = Causes(causes).explicit(standing.panel_presented_recently);
        let list = self.glance(explicit, self.policy.kick.max_items, now);
        decide(Causes(causes), &self.presence(), &list, &standing, now)
    }

    /// The attention list as an explicit, or an automatic, boundary would see it now.
    pub fn attention(&self, explicit: bool, now: Timestamp) -> Attention {
        attention(self.view(explicit, &self.doubted(), now))
    }

    /// The first of it, and how much more there is: all that a decision needs.
    fn glance(&self, explicit: bool, max_items: usize, now: Timestamp) -> Glance {
        let glance = glance(self.view(explicit, &self.doubted(), now), max_items);
        debug_assert_eq!(glance, self.attention(explicit, now).glance(max_items), "one rule, two ways");
        glance
    }

    fn view<'a>(&'a self, explicit: bool, doubted: &'a BTreeSet<TicketId>, now: Timestamp) -> View<'a> {
        View {
            ground: self.ground(),
            work_set: &self.work_set,
            seen: &self.ledger.seen,
            shown_gated: &self.ledger.shown_gated,
            doubted,
            reverted: self.reverted_tickets(),
            explicit,
            now,
        }
    }

    /// What may just have vanished is not announced; it is on the list again when it has been looked at twice.
    fn doubted(&self) -> BTreeSet<TicketId> {
        let known = self.files.doubted().filter_map(|path| self.backlog.at(path));
        let ids = known.filter_map(|entry| match entry {
            Entry::Ticket(ticket) => Some(ticket),
            _ => None,
        });
        let only = ids.filter(|ticket| self.backlog.get(&ticket.id).is_some_and(|known| known.path == ticket.path));
        only.map(|ticket| ticket.id.clone()).collect()
    }

    /// Whether an automatic boundary would see anything unseen. What is unseen comes first.
    fn any_unseen(&self, now: Timestamp) -> bool {
        self.glance(false, 1, now).items.iter().any(|item| !item.seen)
    }

    pub(super) fn suppressed(&mut self, causes: &[Boundary], why: &Suppression, now: Timestamp) {
        let list = self.glance(false, 0, now);
        let detail = self.suppression_detail(why);
        // Of a reason only the kind is recorded: its wording belongs to the session.
        let kind = |kind: &Option<WaitKind>| json!(kind.map_or("active_inprogress", WaitKind::as_str));
        let held: serde_json::Map<_, _> = list.held.iter().map(|(id, held)| (id.to_string(), kind(held))).collect();
        let data = json!({"row": why.row(), "why": why.as_str(), "detail": detail, "boundaries": causes,
            "attention": list.left_out, "held": held, "held_count": list.held_count, "active": list.active.len()});
        self.record(RecordKind::KickSuppressed, None, data, now);
        self.boundaries.kicks_saved += 1;
        self.boundaries.last =
            Some(LastDecision { at: now, causes: causes.to_vec(), row: why.row(), decision: why.as_str(), detail });
    }

    /// A suppression in words.
    pub fn suppression_detail(&self, why: &Suppression) -> String {
        use crate::domain::classify::clock;
        match why {
            Suppression::NoOrchestrator(reason) => reason.clone(),
            Suppression::Paused(since) => format!("{since}; `yoi resume` goes on"),
            Suppression::Busy => "the Orchestrator is at work; its going idle is the next boundary".into(),
            Suppression::ActiveInprogress(ids) => {
                let names: Vec<_> = ids.iter().take(5).map(|id| format!("`{id}`")).collect();
                format!("delegated work is under way: {}", names.join(", "))
            }
            Suppression::NothingStartable => "every queued ticket is held by a gate, or waits for a reason".into(),
            Suppression::NothingQueued => "nothing is queued and nothing is to be routed".into(),
            Suppression::BackingOff(Some(until)) => format!("waiting until {}", clock(*until)),
            Suppression::BackingOff(None) => {
                format!("{}; only `yoi kick`, a panel or a restart kicks", self.given_up_in_words())
            }
            Suppression::AlreadyPresented => "nothing is new since the last turn ended without progress".into(),
            Suppression::Ignored => {
                "three kicks in a row led to nothing; only `yoi kick`, a panel or a restart kicks".into()
            }
            Suppression::Brake(until) => format!("too many fruitless kicks within an hour; until {}", clock(*until)),
        }
    }
}
