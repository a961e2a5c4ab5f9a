//! The start of a daemon: what it finds, what happened while none was running (DESIGN.md 2.4, 5).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use chrono::TimeDelta;
use serde_json::json;

use super::changes::Known;
use super::polite::Stamp;
use super::stamps::{last_seen, needs_human};
use super::{Effect, Engine, LastSeen, Orchestrator, Reach, RecordKind, Start, Turn};
use crate::domain::backlog::Backlog;
use crate::domain::kick::Boundary;
use crate::domain::lifecycle::entry_unstamped;
use crate::domain::ticket::{State, TicketId, Timestamp};
use crate::domain::workset::WorkSet;

impl Engine {
    pub(super) fn start(&mut self, start: Start, now: Timestamp) {
        self.policy = start.policy;
        self.reach = start.reach;
        self.whom = start.whom;
        self.editor_name = start.editor_name;
        self.ledger.saved = start.ledger;
        // A clock set back between two daemons must not make any wait longer either.
        if let Some(back) = start.recorded_at.map(|last| last - now).filter(|back| *back > TimeDelta::zero()) {
            self.ledger.shift(back);
        }
        self.facts.dirty = start.dirty;
        self.find_claims(start.claims);
        self.backlog = Backlog::of(start.files);
        self.find_worktrees(start.worktrees, now);
        self.verify.all_read(now);
        self.remote.begin(now);
        self.gates.judge_all();
        for pod in start.pods {
            if !pod.supervised {
                self.want(Effect::WatchPod(pod.id.clone(), pod.process.clone()));
            }
            self.facts.pods.insert(pod.id.clone(), pod);
        }
        let session = if self.reach == Reach::Session { String::new() } else { start.session };
        self.work_set = WorkSet::new(start.adopted.as_ref().map_or(session.clone(), |turn| turn.session.clone()));
        let adopted = start.adopted.is_some();
        if let Some(turn) = start.adopted {
            // The session goes on, and with it the numbers of its kicks: each names a log, a file and events.
            self.kicks = turn.kick.number_in(&turn.session).unwrap_or_default();
            self.want(Effect::WatchTurn(turn.kick.clone()));
            self.orchestrator = Orchestrator::Busy(Turn::adopted(turn));
        } else {
            self.orchestrator = Orchestrator::Idle { since: now };
        }
        let data = json!({"session": self.work_set.session, "adopted_turn": adopted});
        self.record(RecordKind::DaemonStarted, None, data, now);
        for turn in start.ended_turns {
            self.former_turn_ended(&turn, now);
        }
        self.know_whose_turns(adopted.then_some(session), now);
        for pod in start.ended_pods {
            let id = pod.id.clone();
            self.facts.pods.insert(id.clone(), pod);
            self.pod_ended(&id, now);
        }
        self.catch_up(start.recorded, start.recorded_at, now);
        self.find_reverted(now);
        match (&self.reach, adopted) {
            // An adopted turn is found at work: an automatic boundary (5, "A start of the daemon").
            (Reach::Exec, true) => self.reach_boundary(Boundary::OrchestratorIdle),
            (Reach::Exec, false) => self.reach_boundary(Boundary::OrchestratorSpawn),
            // Whoever registers is a boundary of its own.
            (Reach::No(_) | Reach::Session, _) => {}
        }
    }

    /// Another command since the last daemon is another Orchestrator, as it is under a running one: the former one's
    /// failures are not its own. A turn of the former one that still runs is judged as that one's, and the new session
    /// begins with its end.
    fn know_whose_turns(&mut self, next: Option<String>, now: Timestamp) {
        let before = self.ledger.saved.of;
        if next.is_some() && before.is_some() && self.whom.is_some() && before != self.whom {
            self.next_session = next;
            return;
        }
        if self.ledger.belongs_to(self.whom) {
            self.ledger.another_orchestrator(now);
        }
        if self.ledger.saved.of != before {
            self.save_ledger();
        }
    }

    /// Entries into the queue that nobody watched are stamped now; at the very first start nothing is known of how a
    /// ticket came to be queued, so nothing is stamped.
    fn catch_up(
        &mut self,
        recorded: Option<BTreeMap<TicketId, LastSeen>>,
        recorded_at: Option<Timestamp>,
        now: Timestamp,
    ) {
        let mut entered: Vec<(TicketId, PathBuf, Timestamp, bool)> = Vec::new();
        let mut unstamped = Vec::new();
        for ticket in self.backlog.queued().iter().filter_map(|id| self.backlog.get(id)) {
            let Some(known) = &recorded else {
                if ticket.stamps.queued_at.is_none() {
                    unstamped.push(ticket.id.clone());
                }
                continue;
            };
            let last = known.get(&ticket.id);
            let cleared = last.is_some_and(|last| last.needs_human) && !needs_human(ticket);
            let since = last.map(|last| last.at).or(recorded_at).unwrap_or(now);
            let was_queued = last.is_some_and(|last| last.state == Some(State::Queued));
            if (!was_queued || cleared) && entry_unstamped(ticket, since, now) && !self.is_old_text(ticket) {
                entered.push((ticket.id.clone(), ticket.path.clone(), since, cleared));
            }
        }
        // An entry counts as seen when it is stamped: if that fails, the next daemon finds it again.
        let unseen: BTreeSet<_> = entered.iter().map(|(id, ..)| id.clone()).collect();
        for (id, path, since, always) in entered {
            let data = json!({"by": self.editor_name, "while": "the daemon was not running"});
            self.record(RecordKind::IssueApproved, Some(&id), data, now);
            let by = self.editor_name.clone();
            self.stamp(Stamp { path, by, since, always }, false);
            self.reach_boundary(Boundary::TicketQueued);
        }
        if !unstamped.is_empty() {
            // One entry for all: a folder that is adopted may have hundreds.
            let data = json!({"what": "queued without queued_at since before yoi's first start", "items": unstamped,
                "do": "write queued_at into the file, or move it to ready and back to queued"});
            self.record(RecordKind::Inbox, None, data, now);
        }
        let known = recorded.unwrap_or_default();
        for (id, last) in &known {
            if self.backlog.get(id).is_none() && self.backlog.paths_of(id).next().is_some() {
                self.unreadable.insert(id.clone(), Known { state: last.state, ticket: None });
            }
        }
        self.save_all_seen(&known, &unseen, now);
    }

    fn save_all_seen(&mut self, known: &BTreeMap<TicketId, LastSeen>, but: &BTreeSet<TicketId>, now: Timestamp) {
        let mut changed: Vec<_> = self
            .backlog
            .tickets()
            .filter(|ticket| !but.contains(&ticket.id))
            .map(|ticket| (ticket.id.clone(), last_seen(ticket, now)))
            .filter(|(id, seen)| {
                known.get(id).is_none_or(|k| k.state != seen.state || k.needs_human != seen.needs_human)
            })
            .map(|(id, seen)| (id, Some(seen)))
            .collect();
        // A ticket that cannot be read now may be readable again: only what has no file is forgotten.
        changed
            .extend(known.keys().filter(|id| self.backlog.paths_of(id).next().is_none()).map(|id| (id.clone(), None)));
        if !changed.is_empty() {
            self.want(Effect::SaveSeen(changed));
        }
    }
}
