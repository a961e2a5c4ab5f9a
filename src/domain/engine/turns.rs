//! The Orchestrator's turns: a kick is prepared, decided again on fresh data, delivered, and judged by its effect
//! (DESIGN.md section 5).

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::json;

use super::{Effect, EndedTurn, Engine, Kick, KickId, Reach, RecordKind, RunningTurn, TurnOutcome};
use crate::domain::attention::Item;
use crate::domain::classify::{Class, clock};
use crate::domain::concern;
use crate::domain::facts::ProcessIdentity;
use crate::domain::gates::human;
use crate::domain::kick::{Boundary, Decision, PATIENCE, Presence};
use crate::domain::ticket::{TicketId, Timestamp};

/// Where the Orchestrator's Pod stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Orchestrator {
    /// Between turns.
    Idle {
        /// Since when.
        since: Timestamp,
    },
    /// A kick is decided; what it rests on is being read again.
    Preparing {
        /// Which kick.
        kick: KickId,
        /// Why.
        causes: Vec<Boundary>,
        /// The files that are read again for it.
        paths: BTreeSet<PathBuf>,
    },
    /// A turn is running.
    Busy(Turn),
}

/// A running turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "observations that have nothing to do with one another")]
pub struct Turn {
    /// The kick that started it; None where a prompt of somebody's did.
    pub kick: Option<KickId>,
    /// Since when.
    pub since: Timestamp,
    /// Its process, once it runs.
    pub process: Option<ProcessIdentity>,
    /// What was handed over.
    pub handed: Vec<Item>,
    /// Something got further.
    pub progress: bool,
    /// Items that changed meanwhile: what was shown of them is old.
    pub(super) changed: BTreeSet<TicketId>,
    /// The situation as a whole changed meanwhile.
    pub(super) shaken: bool,
    /// Tickets came into the queue meanwhile.
    pub(super) made: bool,
    /// It was started by a former daemon: what was handed over is not known.
    pub(super) adopted: bool,
    /// Its list was the answer to the end of the turn before.
    pub(super) by_stop: bool,
    /// A rate limit was to hold when it began, and none was reported since: if it comes through, that one is over.
    pub(super) under_limit: bool,
}

impl Turn {
    pub(super) fn adopted(turn: RunningTurn) -> Self {
        Self { process: turn.process, adopted: true, ..Self::new(Some(turn.kick), Vec::new(), turn.since) }
    }

    pub(super) fn new(kick: Option<KickId>, handed: Vec<Item>, since: Timestamp) -> Self {
        Self {
            kick,
            since,
            process: None,
            handed,
            progress: false,
            changed: BTreeSet::new(),
            shaken: false,
            made: false,
            adopted: false,
            by_stop: false,
            under_limit: false,
        }
    }
}

/// How a turn ended, as far as it did not end well.
#[derive(Default)]
struct Ended {
    /// Why it came to nothing, if it did.
    failed: Option<String>,
    /// A rate limit was the reason, which holds until then.
    limited_until: Option<Timestamp>,
}

impl Engine {
    /// Whether an Orchestrator can take a kick now. A kick in preparation is not yet a turn.
    pub(super) fn presence(&self) -> Presence {
        if let Some(why) = self.absence() {
            return Presence::None(why.to_owned());
        }
        // A turn that has been silent for too long has probably been interrupted.
        let silent = self.session.as_ref().is_some_and(|session| session.silent);
        match self.orchestrator {
            _ if self.ledger.saved.paused.is_some() => Presence::Paused(self.pause_in_words()),
            Orchestrator::Busy(_) if !silent => Presence::Busy,
            _ => Presence::Idle,
        }
    }

    /// A kick is decided: everything it rests on is read again before it is delivered.
    pub(super) fn prepare(&mut self, causes: Vec<Boundary>, items: &[Item]) {
        self.kicks += 1;
        let kick = KickId::of(&self.work_set.session, self.kicks);
        let paths = self.paths_of_items(items).collect();
        self.refresh(kick, causes, paths);
    }

    fn refresh(&mut self, kick: KickId, causes: Vec<Boundary>, paths: BTreeSet<PathBuf>) {
        self.want(Effect::Refresh { kick: kick.clone(), paths: paths.iter().cloned().collect() });
        self.orchestrator = Orchestrator::Preparing { kick, causes, paths };
    }

    fn paths_of_items(&self, items: &[Item]) -> impl Iterator<Item = PathBuf> {
        items.iter().filter_map(|item| self.backlog.get(&item.id)).map(|ticket| ticket.path.clone())
    }

    /// The data is fresh: decide again, for what happened meanwhile too, and deliver or let it be.
    pub(super) fn refreshed(&mut self, kick: &KickId, now: Timestamp) {
        let Orchestrator::Preparing { kick: expected, causes, paths } = &self.orchestrator else { return };
        if expected != kick {
            return;
        }
        let (mut causes, mut paths) = (causes.clone(), paths.clone());
        self.orchestrator = Orchestrator::Idle { since: now };
        // Transitions that the fresh data brought are boundaries too, and join this decision.
        self.judge_active(now);
        self.judge_gates(now);
        for cause in self.boundaries.take_pending() {
            if !causes.contains(&cause) {
                causes.push(cause);
            }
        }
        match self.decide(&causes, now) {
            // What came onto the list meanwhile is read again too. Each round adds a file: it comes to an end.
            Decision::Kick { items, .. } if self.paths_of_items(&items).any(|path| !paths.contains(&path)) => {
                paths.extend(self.paths_of_items(&items));
                self.refresh(kick.clone(), causes, paths);
            }
            Decision::Kick { items, left_out } => self.deliver(kick.clone(), causes, items, left_out, now),
            Decision::Suppress(why) => {
                self.suppressed(&causes, &why, now);
                self.drop_pending();
                if let Some(answer) = self.contact {
                    self.answered_nothing(answer, now);
                }
            }
        }
    }

    fn deliver(&mut self, id: KickId, causes: Vec<Boundary>, items: Vec<Item>, left_out: usize, now: Timestamp) {
        if self.was_shown(&items, now) {
            return;
        }
        let ids: Vec<_> = items.iter().map(|item| item.id.clone()).collect();
        let way = self.session.as_ref().map_or("exec", |session| session.way.as_str());
        let data = json!({"row": 7, "kick": id, "boundaries": causes, "items": ids, "left_out": left_out, "way": way});
        self.record(RecordKind::KickSent, None, data, now);
        if causes.contains(&Boundary::PanelOpen) && items.iter().any(|item| item.seen) {
            self.ledger.panel_presented_at = Some(now);
        }
        self.boundaries.note_kick(&causes, items.len(), left_out, now);
        let kick = Kick { id, session: self.work_set.session.clone(), causes, items, left_out };
        if self.reach == Reach::Session {
            if kick.causes.iter().any(|c| matches!(c, Boundary::OrchestratorSpawn | Boundary::OrchestratorRestore)) {
                self.registered_kick_at = Some(now);
            }
            self.hand_over(kick, now);
            return;
        }
        self.orchestrator = Orchestrator::Busy(self.turn(Some(kick.id.clone()), kick.items.clone(), now));
        self.want(Effect::Launch(kick));
    }

    /// A turn that begins now.
    pub(super) fn turn(&self, kick: Option<KickId>, handed: Vec<Item>, now: Timestamp) -> Turn {
        Turn { under_limit: self.ledger.saved.rate_limited_until.is_some(), ..Turn::new(kick, handed, now) }
    }

    pub(super) fn turn_started(&mut self, kick: &KickId, process: ProcessIdentity) {
        if let Orchestrator::Busy(turn) = &mut self.orchestrator
            && turn.kick.as_ref() == Some(kick)
        {
            turn.process = Some(process);
        }
    }

    pub(super) fn turn_ended(&mut self, kick: &KickId, outcome: &TurnOutcome, jitter: u16, now: Timestamp) {
        if matches!(&self.orchestrator, Orchestrator::Busy(turn) if turn.kick.as_ref() == Some(kick)) {
            self.end_turn(outcome, jitter, now);
        }
    }

    /// The running turn, if one is, has ended: it is judged by its effect.
    pub(super) fn end_turn(&mut self, outcome: &TurnOutcome, jitter: u16, now: Timestamp) {
        let Orchestrator::Busy(turn) = &self.orchestrator else { return };
        let turn = turn.clone();
        if let Some(session) = &mut self.session {
            session.silent = false;
        }
        let failures = self.ledger.saved.failures;
        self.orchestrator = Orchestrator::Idle { since: now };
        self.timers.turn_ended(now);
        if turn.progress {
            self.ledger.forget_limits();
        }
        let ended = self.count_failure(turn.kick.is_some(), outcome, jitter, (now, now));
        // A command that a kick started may say nothing of the limit that it ran into: what it got further does.
        let shows_it = turn.under_limit && (turn.kick.is_none() || turn.progress);
        if shows_it && *outcome == TurnOutcome::Succeeded {
            self.ledger.limit_is_over();
        }
        let delivered = outcome.delivered();
        if delivered && ended.failed.is_none() {
            self.note_shown_gated(&turn);
        }
        if turn.progress {
            // As long as the Orchestrator gets somewhere, it is asked for the next step.
            self.all_unseen();
        } else if delivered && !turn.adopted && turn.kick.is_some() {
            self.without_progress(&turn, outcome, now);
        }
        // A turn that a person began is nobody's business, unless it says how well the agent is.
        if turn.kick.is_some() || ended.failed.is_some() || failures > 0 {
            self.record_end(&turn, &ended, delivered, now);
        }
        self.alert_if_given_up(failures, &turn.handed, now);
        self.save_ledger();
        if let Some(session) = self.next_session.take() {
            return self.begin_session(session, now);
        }
        self.reach_boundary(Boundary::OrchestratorIdle);
    }

    /// A turn that ended while no daemon was running is judged by how it ended; what it was given, and whether it got
    /// anything further, is not known any more.
    pub(super) fn former_turn_ended(&mut self, turn: &EndedTurn, now: Timestamp) {
        let failures = self.ledger.saved.failures;
        // A clock that was set back since must not make the wait longer.
        let Ended { failed, limited_until } =
            self.count_failure(true, &turn.outcome, turn.jitter, (turn.at.min(now), now));
        let ran_ms = (turn.at - turn.since).num_milliseconds().max(0);
        let delivered = turn.outcome.delivered();
        let data = json!({"kick": turn.kick, "ran_ms": ran_ms, "progress": null, "failed": failed, "limited_until": limited_until.map(clock),
            "delivered": delivered, "failures": self.ledger.saved.failures, "fruitless": self.ledger.saved.fruitless,
            "while": "the daemon was not running"});
        self.record(RecordKind::TurnEnded, None, data, now);
        self.alert_if_given_up(failures, &[], now);
        self.save_ledger();
    }

    /// `kicked`: a kick began it. `at`: when it ended.
    fn count_failure(
        &mut self,
        kicked: bool,
        outcome: &TurnOutcome,
        jitter: u16,
        (at, now): (Timestamp, Timestamp),
    ) -> Ended {
        let failed = |why: &String| Ended { failed: Some(why.clone()), limited_until: None };
        match outcome {
            TurnOutcome::Succeeded | TurnOutcome::Unknown => {
                if kicked {
                    self.ledger.succeeded_turn();
                } else {
                    self.ledger.own_turn_succeeded(self.policy.session.rate_limits);
                }
                Ended::default()
            }
            TurnOutcome::Interrupted => Ended::default(),
            TurnOutcome::Failed(why) | TurnOutcome::NotDelivered(why) => {
                self.ledger.failed_turn(now, f64::from(jitter) / 1000.0);
                failed(why)
            }
            TurnOutcome::Limited { why, limit } => {
                let until = self.ledger.limited_turn(at, *limit, self.policy.session.rate_limits);
                self.record_limit(until, Some(self.ledger.saved.rate_limits), now);
                Ended { limited_until: Some(until), ..failed(why) }
            }
            TurnOutcome::NoRoom(why) => {
                self.ledger.no_room(now, f64::from(jitter) / 1000.0);
                failed(why)
            }
        }
    }

    /// `before`: how many had failed in a row.
    fn alert_if_given_up(&mut self, before: u32, handed: &[Item], now: Timestamp) {
        if before < PATIENCE && self.ledger.just_gave_up() {
            let what = format!("{}: only `yoi kick`, a panel or a restart kicks now", self.given_up_in_words());
            self.alert(&what, concern::FAILURES, handed, now);
        }
    }

    /// Why row 4 (c) holds.
    pub(super) fn given_up_in_words(&self) -> String {
        let most = self.policy.session.rate_limits;
        if self.ledger.saved.rate_limits >= most {
            format!("{most} turns in a row ended in a rate limit")
        } else {
            "three turns in a row failed".into()
        }
    }

    fn record_end(&mut self, turn: &Turn, ended: &Ended, delivered: bool, now: Timestamp) {
        // A clock set back meanwhile must not make it less than nothing; only a kick's turn is yoi's doing.
        let ran_ms = turn.kick.as_ref().map_or(0, |_| (now - turn.since).num_milliseconds().max(0));
        let data = json!({"kick": turn.kick, "ran_ms": ran_ms, "progress": turn.progress, "failed": ended.failed,
            "limited_until": ended.limited_until.map(clock), "delivered": delivered, "failures": self.ledger.saved.failures, "fruitless": self.ledger.saved.fruitless});
        self.record(RecordKind::TurnEnded, None, data, now);
    }

    fn without_progress(&mut self, turn: &Turn, outcome: &TurnOutcome, now: Timestamp) {
        let limited = matches!(outcome, TurnOutcome::Limited { .. });
        let may_be_seen = !limited && !matches!(outcome, TurnOutcome::Failed(_));
        let max = self.policy.kick.max_per_hour;
        let braked = self.ledger.brake_until(max, now).is_some();
        if limited {
            // It never came to look: the last brake counts it, and nothing else.
            self.ledger.fruitless_kick(now);
        } else {
            self.ledger.fruitless_turn(now);
        }
        if may_be_seen && !turn.shaken {
            let seen = turn.handed.iter().map(|item| &item.id).filter(|id| !turn.changed.contains(*id));
            let seen: Vec<_> = seen.cloned().collect();
            self.now_seen(seen, now);
        }
        if !limited && self.ledger.just_ignored() {
            self.alert(
                "three kicks in a row led to nothing: only `yoi kick`, a panel or a restart kicks now",
                concern::FRUITLESS,
                &turn.handed,
                now,
            );
        }
        if !braked && let Some(until) = self.ledger.brake_until(max, now) {
            let what = format!("{max} fruitless kicks within an hour: no automatic kicks until {}", clock(until));
            self.alert(&what, concern::BRAKE, &turn.handed, now);
        }
    }

    /// A human-gated new ticket is handed over once: nothing follows from it until a person moves.
    fn note_shown_gated(&mut self, turn: &Turn) {
        let new = turn.handed.iter().filter(|i| i.class == Class::NewQueued && !turn.changed.contains(&i.id));
        let gated = new.filter(|i| self.backlog.get(&i.id).is_some_and(|t| !human(t).is_empty()));
        let ids: Vec<_> = gated.map(|i| i.id.clone()).collect();
        self.ledger.shown_gated.extend(ids);
    }

    fn alert(&mut self, what: &str, about: &str, handed: &[Item], now: Timestamp) {
        let ids: Vec<_> = handed.iter().map(|item| &item.id).collect();
        let data = json!({"what": what, "items": ids, "about": about});
        self.record(RecordKind::Alert, None, data, now);
    }

    pub(super) fn rate_limited(&mut self, until: Timestamp, now: Timestamp) {
        self.ledger.wait_for_limit(until);
        // Its end proves nothing about a limit that came while it ran.
        self.no_proof();
        self.record_limit(until, None, now);
        self.save_ledger();
    }

    /// However the running turn ends, it does not show that the rate limit is over.
    pub(super) fn no_proof(&mut self) {
        if let Orchestrator::Busy(turn) = &mut self.orchestrator {
            turn.under_limit = false;
        }
    }

    /// `times`: how many turns it has ended in a row, where it has ended one.
    fn record_limit(&mut self, until: Timestamp, times: Option<u32>, now: Timestamp) {
        let given_up = times.is_some_and(|times| times >= self.policy.session.rate_limits);
        let what_to_do = if given_up { "`yoi kick`, when it is over" } else { "nothing: it goes on by itself" };
        let data = json!({"what": format!("rate limited until {}", clock(until)), "until": clock(until),
            "in_a_row": times, "do": what_to_do, "about": concern::RATE_LIMIT});
        self.record(RecordKind::Inbox, None, data, now);
    }
}
