//! A host that is stricter than the real one: it owns fake files and a virtual clock, carries out every effect at once,
//! plays a scripted Orchestrator, and after every step asserts what must hold whatever happens.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use chrono::TimeDelta;

use super::super::{
    Actor, ClaimNews, Effect, Engine, Event, Kick, KickId, LastSeen, Orchestrator, Reach, Record, SavedSession, Start,
    TurnOutcome,
};
use crate::domain::backlog::Entry;
use crate::domain::classify::Class;
use crate::domain::differences::Differences;
use crate::domain::facts::{Dirty, Pod, PodId, ProcessIdentity, Worktree};
use crate::domain::ledger::SavedLedger;
use crate::domain::lifecycle::{entry_unstamped, needs_reset};
use crate::domain::policy::Policy;
use crate::domain::sample::{at, sealed};
use crate::domain::ticket::{Digest, State, Ticket, TicketId, Timestamp};

/// What the Orchestrator does with a kick: it acts at once, and its turn ends so much later.
pub(super) type Script = fn(&mut Host, &Kick) -> (TimeDelta, TurnOutcome);

/// How many steps may follow each other without any time passing.
const STEPS_AT_ONCE: u32 = 4000;
/// How often the engine may ask to be woken at one and the same moment.
const WAKES_AT_ONCE: u32 = 6;

#[derive(Clone)]
pub(super) struct Host {
    pub(super) engine: Engine,
    pub(super) now: Timestamp,
    pub(super) files: BTreeMap<PathBuf, Entry>,
    /// What all claims show, for whoever reads them.
    pub(super) claims: Vec<ClaimNews>,
    /// The worktrees that stand, by name, and who works in them.
    pub(super) trees: Vec<(String, Worktree)>,
    /// How often it was looked for them by the engine's wish.
    pub(super) looks: u32,
    /// No look that was wished for answers.
    pub(super) looks_hang: bool,
    /// Tickets that were to be brought back to the queue.
    pub(super) brought_back: Vec<TicketId>,
    /// How often the remote was to be asked.
    pub(super) asked_remote: u32,
    /// How often claims were read.
    pub(super) read_claims: u32,
    pub(super) policy: Policy,
    pub(super) dirty: Dirty,
    /// What stands for the Orchestrator's command.
    pub(super) whom: Option<Digest>,
    pub(super) script: Option<Script>,
    pub(super) turn: Option<Kick>,
    /// What a session's start was answered with, until its next turn.
    pub(super) shown: Option<Kick>,
    pub(super) kicks: Vec<(Timestamp, Kick)>,
    pub(super) records: Vec<Record>,
    pub(super) stamped: Vec<TicketId>,
    pub(super) saved: SavedLedger,
    pub(super) seen: BTreeMap<TicketId, LastSeen>,
    pub(super) pods: BTreeMap<PodId, Pod>,
    /// What a script remembers of each ticket.
    pub(super) memo: BTreeMap<TicketId, u32>,
    /// Pods set their ticket to done before they end.
    pub(super) workers_close: bool,
    pub(super) probes: u32,
    pub(super) doubts: u32,
    pub(super) bodies: BTreeMap<PathBuf, u32>,
    /// Lists that a session was handed, and has not taken.
    pub(super) handed_over: VecDeque<Kick>,
    pub(super) woken: Vec<u64>,
    pub(super) session: Option<SavedSession>,
    pub(super) inbox: VecDeque<Event>,
    launched: Option<Kick>,
    refreshed: Option<(KickId, Timestamp)>,
    turn_ends: Option<(Timestamp, TurnOutcome)>,
    pub(super) pod_ends: BTreeMap<PodId, Timestamp>,
    steps_at_once: u32,
    pub(super) count: u32,
}

impl Host {
    /// A daemon that was started before on this workspace, with no Orchestrator's command tried yet.
    pub(super) fn new(policy: Policy, tickets: impl IntoIterator<Item = Ticket>) -> Self {
        Self::reached(Reach::Exec, policy, tickets)
    }

    pub(super) fn reached(reach: Reach, policy: Policy, tickets: impl IntoIterator<Item = Ticket>) -> Self {
        let mut host = Self::unstarted(policy, tickets);
        for entry in host.files.values() {
            if let Entry::Ticket(t) = entry {
                host.seen.insert(t.id.clone(), LastSeen { state: t.state, needs_human: false, at: at(-60) });
            }
        }
        host.start(reach, true);
        host
    }

    pub(super) fn unstarted(policy: Policy, tickets: impl IntoIterator<Item = Ticket>) -> Self {
        let files = tickets.into_iter().map(|t| (t.path.clone(), Entry::Ticket(sealed(t, "0"))));
        Self {
            engine: Engine::new(at(0)),
            now: at(0),
            files: files.collect(),
            claims: Vec::new(),
            trees: Vec::new(),
            looks: 0,
            looks_hang: false,
            brought_back: Vec::new(),
            asked_remote: 0,
            read_claims: 0,
            policy,
            dirty: Dirty::Clean,
            whom: None,
            script: None,
            turn: None,
            shown: None,
            kicks: Vec::new(),
            records: Vec::new(),
            stamped: Vec::new(),
            saved: SavedLedger::default(),
            seen: BTreeMap::new(),
            pods: BTreeMap::new(),
            memo: BTreeMap::new(),
            workers_close: false,
            probes: 0,
            doubts: 0,
            bodies: BTreeMap::new(),
            handed_over: VecDeque::new(),
            woken: Vec::new(),
            session: None,
            inbox: VecDeque::new(),
            launched: None,
            refreshed: None,
            turn_ends: None,
            pod_ends: BTreeMap::new(),
            steps_at_once: 0,
            count: 0,
        }
    }

    /// A daemon starts; with `known` it finds what the last one recorded until half a minute ago.
    pub(super) fn start(&mut self, reach: Reach, known: bool) {
        let recorded = known.then_some(self.now - TimeDelta::seconds(30));
        self.start_after(reach, recorded);
    }

    /// A daemon starts after one that recorded something at this time last; its turns ended with it.
    pub(super) fn restart_at(&mut self, reach: Reach, recorded_at: Timestamp) {
        (self.turn, self.turn_ends) = (None, None);
        self.start_after(reach, Some(recorded_at));
    }

    fn start_after(&mut self, reach: Reach, recorded_at: Option<Timestamp>) {
        self.count += 1;
        self.engine = Engine::new(self.now);
        let start = Start {
            policy: self.policy.clone(),
            reach,
            whom: self.whom,
            session: format!("s{}", self.count),
            files: self.files.clone().into_iter().collect(),
            recorded: recorded_at.map(|_| self.seen.clone()),
            recorded_at,
            ledger: self.saved.clone(),
            adopted: None,
            ended_turns: Vec::new(),
            pods: self.pods.values().cloned().collect(),
            ended_pods: Vec::new(),
            claims: self.claims.clone(),
            worktrees: self.trees.clone(),
            dirty: self.dirty.clone(),
            editor_name: "ed".into(),
        };
        self.tell(Event::Started(Box::new(start)));
    }

    pub(super) fn session(&self) -> String {
        self.engine.work_set().session.clone()
    }

    /// One event, and all that follows from it at this moment.
    pub(super) fn tell(&mut self, event: Event) {
        self.inbox.push_back(event);
        self.drain();
    }

    pub(super) fn drain(&mut self) {
        loop {
            while let Some(event) = self.inbox.pop_front() {
                self.steps_at_once += 1;
                assert!(self.steps_at_once < STEPS_AT_ONCE, "livelock: {event:?} at {}", self.now);
                let effects = self.engine.step(event, self.now);
                self.perform(effects);
            }
            let Some(kick) = self.launched.take() else { break };
            if let Some(script) = self.script {
                let (after, outcome) = script(self, &kick);
                self.turn_ends = Some((self.now + after, outcome));
            }
        }
        self.assert_promises();
    }

    pub(super) fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Read(paths) => self.read(paths),
                Effect::ReadAll => {
                    let entries = self.files.clone().into_iter().collect();
                    self.inbox.push_back(Event::FilesRead { entries, full: true });
                }
                Effect::ReadClaims => {
                    self.read_claims += 1;
                    let news = self.claims.clone();
                    self.inbox.push_back(Event::ClaimsRead { news, full: true });
                }
                Effect::ReadWorktrees => {
                    self.looks += 1;
                    let answer = (!self.looks_hang).then(|| Event::WorktreesRead(self.trees.clone()));
                    self.inbox.extend(answer);
                }
                Effect::AskRemote => self.asked_remote += 1,
                Effect::BringBack(id) => self.brought_back.push(id),
                Effect::Compare => self.compare(),
                Effect::DoubtWatcher => self.doubts += 1,
                Effect::StampQueued { path, by, since, always, .. } => self.stamp(&path, by, since, always),
                Effect::Probe => {
                    self.probes += 1;
                    self.inbox.push_back(Event::Probed(self.dirty.clone()));
                }
                Effect::Refresh { kick, paths } => {
                    self.read(paths);
                    self.inbox.push_back(Event::Probed(self.dirty.clone()));
                    self.inbox.push_back(Event::WorktreesRead(self.trees.clone()));
                    self.refreshed = Some((kick.clone(), self.now));
                    self.inbox.push_back(Event::Refreshed(kick));
                }
                Effect::Launch(kick) => self.launch(kick),
                Effect::HandOver(kick) => self.hand_over(kick),
                Effect::Wake(number) => self.woken.push(number),
                Effect::SaveSession(saved) => self.session = saved,
                Effect::WatchPod(pod, process) => assert!(process.pid > 0, "{pod}"),
                Effect::WatchTurn(..) | Effect::WatchSession(_) => {}
                Effect::Record(record) => self.records.push(record),
                Effect::SaveLedger(saved) => self.saved = saved,
                Effect::SaveSeen(changes) => {
                    for (id, seen) in changes {
                        match seen {
                            Some(seen) => drop(self.seen.insert(id, seen)),
                            None => drop(self.seen.remove(&id)),
                        }
                    }
                }
                Effect::SavePods(pods) => self.pods = pods.into_iter().map(|p| (p.id.clone(), p)).collect(),
            }
        }
    }

    /// Compares by content, which finds no less than the real one.
    fn compare(&mut self) {
        let known = |path: &PathBuf| self.engine.backlog().at(path);
        let changed = self.files.iter().filter(|(path, entry)| {
            known(path).as_ref() != Some(*entry) && !(known(path).is_none() && matches!(entry, Entry::NotATicket))
        });
        let changed = changed.map(|(path, _)| path.clone()).collect();
        let gone = self.engine.backlog().known_paths().filter(|path| !self.files.contains_key(*path));
        let gone = gone.map(Differences::name).collect();
        self.inbox.push_back(Event::Compared(Some(Ok(Differences { changed, gone }))));
    }

    fn read(&mut self, paths: Vec<PathBuf>) {
        let now = |path: PathBuf| {
            let entry = self.files.get(&path).cloned().unwrap_or(Entry::Absent);
            (path, entry)
        };
        let entries = paths.into_iter().map(now).collect();
        self.inbox.push_back(Event::FilesRead { entries, full: false });
    }

    fn launch(&mut self, kick: Kick) {
        assert!(self.turn.is_none(), "a kick while a turn is running");
        self.judge(&kick);
        self.kicks.push((self.now, kick.clone()));
        self.turn = Some(kick.clone());
        let process = ProcessIdentity { host: "h".into(), boot_id: "b".into(), pid: 1, started: 1 };
        self.inbox.push_back(Event::TurnStarted { kick: kick.id.clone(), process });
        self.launched = Some(kick);
    }

    fn hand_over(&mut self, kick: Kick) {
        self.judge(&kick);
        self.handed_over.push_back(kick);
    }

    /// Everything that must hold of a kick, judged on the files themselves.
    fn judge(&mut self, kick: &Kick) {
        assert_eq!(self.refreshed.take(), Some((kick.id.clone(), self.now)), "delivered without fresh data");
        assert!(!kick.items.is_empty() && kick.items.len() <= self.policy.kick.max_items);
        assert!(!kick.causes.is_empty(), "every kick has a cause");
        let active = self.engine.attention(false, self.now).active;
        for item in &kick.items {
            let state = self.ticket(item.id.as_str()).state;
            let worked_in = |(name, tree): &(String, Worktree)| name == item.id.as_str() && tree.live_process.is_some();
            let routed = item.class == Class::ActionableInprogress;
            assert!(!(routed && self.trees.iter().any(worked_in)), "somebody works in the worktree of {}", item.id);
            match item.class {
                Class::ActionableInprogress => assert_eq!(state, Some(State::Inprogress), "{}", item.id),
                Class::NewQueued | Class::PlannedQueued => {
                    assert_eq!(state, Some(State::Queued), "{}", item.id);
                    assert!(active.is_empty(), "queued {} handed over while {active:?} is active", item.id);
                }
                Class::ActiveInprogress => panic!("active work needs nobody: {}", item.id),
            }
        }
    }

    fn stamp(&mut self, path: &PathBuf, by: String, since: Timestamp, always: bool) {
        let Some(Entry::Ticket(ticket)) = self.files.get(path).cloned() else { return };
        let unstamped = always || entry_unstamped(&ticket, since, self.now);
        if ticket.state != Some(State::Queued) || !(unstamped || needs_reset(&ticket)) {
            return;
        }
        let now = self.now;
        if unstamped {
            self.stamped.push(ticket.id.clone());
        }
        self.write(ticket.id.as_str(), Actor::Daemon, |t| {
            if unstamped {
                t.stamps.queued_by = Some(by);
                t.stamps.queued_at = Some(now);
            }
            t.orphan_status = None;
            t.labels.retain(|l| l != "orphan" && l != "needs-human");
        });
    }

    fn assert_promises(&self) {
        for (id, note) in self.engine.work_set().iter() {
            let open = |t: &Ticket| matches!(t.state, Some(State::Queued | State::Inprogress));
            let known = self.engine.backlog().get(id);
            assert!(known.is_none_or(open), "an entry of the work set outlived its ticket: {id} {note:?}");
        }
        let backlog = self.engine.backlog();
        let found = backlog.tickets().filter(|ticket| self.engine.reverted(ticket).is_some()).map(|ticket| &ticket.id);
        let known = self.engine.reverted_tickets().iter().filter(|id| backlog.get(id).is_some());
        assert!(known.eq(found), "what is kept of reverted tickets is all of them");
        let busy = matches!(self.engine.summary(self.now).orchestrator, Orchestrator::Busy(_));
        assert!(self.turn.is_some() == busy || self.session.is_some());
    }

    /// Lets time pass, with everything that is due in it.
    pub(super) fn run(&mut self, seconds: i64) {
        self.run_ms(seconds * 1000);
    }

    pub(super) fn run_ms(&mut self, ms: i64) {
        let until = self.now + TimeDelta::milliseconds(ms);
        let mut wakes = 0;
        loop {
            let turn = self.turn_ends.as_ref().map(|(at, _)| *at);
            let pod = self.pod_ends.values().min().copied();
            let Some(next) = [self.engine.next_wake(), turn, pod].into_iter().flatten().min() else { break };
            if next > until {
                break;
            }
            wakes = if next > self.now { 0 } else { wakes + 1 };
            assert!(wakes <= WAKES_AT_ONCE, "the engine spins at {}: {:?}", self.now, self.engine.next_wake());
            self.pass(next);
            if turn.is_some_and(|at| at <= self.now) {
                self.end_turn();
            } else if pod.is_some_and(|at| at <= self.now) {
                self.end_due_pod();
            } else {
                self.tell(Event::Ticked);
            }
        }
        self.pass(until);
    }

    /// The wall clock is set back while the host sleeps until what was due next: it wakes by its own, steady clock.
    pub(super) fn jump_back(&mut self, by: TimeDelta) {
        let slept = self.engine.next_wake().map_or(TimeDelta::zero(), |due| (due - self.now).max(TimeDelta::zero()));
        self.now = self.now - by + slept;
        self.steps_at_once = 0;
        self.tell(Event::Ticked);
    }

    fn pass(&mut self, to: Timestamp) {
        if to > self.now {
            self.now = to;
            self.steps_at_once = 0;
        }
    }

    fn end_turn(&mut self) {
        if let Some((_, outcome)) = self.turn_ends.take() {
            self.finish_turn(outcome);
        }
    }

    /// The running turn ends now.
    pub(super) fn finish_turn(&mut self, outcome: TurnOutcome) {
        let kick = self.turn.take().expect("a turn is running");
        self.turn_ends = None;
        self.tell(Event::TurnEnded { kick: kick.id, outcome, jitter: 0 });
    }

    fn end_due_pod(&mut self) {
        let due = self.pod_ends.iter().find(|(_, at)| **at <= self.now).map(|(id, _)| id.clone());
        if let Some(id) = due {
            self.end_pod(&id);
        }
    }

    pub(super) fn end_pod(&mut self, pod: &PodId) {
        self.pod_ends.remove(pod);
        let ticket = self.engine.facts().pods.get(pod).and_then(|p| p.ticket.clone());
        if let Some(ticket) = ticket.filter(|_| self.workers_close) {
            self.write(ticket.as_str(), Actor::Somebody("worker".into()), |t| t.state = Some(State::Done));
        }
        self.tell(Event::PodEnded(pod.clone()));
    }
}
