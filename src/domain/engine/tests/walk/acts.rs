//! What may happen in a walk, and doing it.

use std::time::Duration;

use chrono::TimeDelta;

use super::super::super::{Actor, Event, Orders, TurnOutcome};
use super::super::host::Host;
use super::{attached, workers};
use crate::domain::facts::PodId;
use crate::domain::kick::Boundary;
use crate::domain::rate_limit;
use crate::domain::sample::id;
use crate::domain::ticket::State;
use crate::domain::workset::WaitKind;

/// The tickets' names.
pub(super) const NAMES: [&str; 3] = ["a", "b", "c"];

/// One thing that may happen; a number says to which ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Act {
    // The Orchestrator, by requests with its session.
    Plan(usize),
    Shelve(usize),
    WaitForRoom(usize),
    Accept(usize),
    Await(usize),
    Delegate(usize),
    Requeue(usize),
    Done(usize),
    Offer(usize),
    // The Orchestrator, by writing into files: nobody can tell it from a person.
    Reopen(usize),
    Scribble(usize),
    Invent(usize),
    // The end of its turn.
    EndTurn,
    FailTurn,
    NotDelivered,
    /// It reports a rate limit, and fails.
    RateLimit,
    // The contacts of one that registers itself.
    Starts,
    Resumes,
    Prompt,
    Stop,
    StopAgain,
    StopFails,
    Interrupt,
    Leaves,
    // What becomes of waking it.
    WakeRuns,
    WakeFails,
    // What was delegated.
    PodEnds(usize),
    WorkerCloses(usize),
    // Workers that claim.
    WorkerClaims(usize),
    WorkerBeats(usize),
    WorkerGivesUp(usize),
    WorkerIsDone(usize),
    // Time.
    AnHourPasses,
    ADayPasses,
    // People.
    PersonEdits(usize),
    PersonQueues(usize),
    PersonUnqueues(usize),
    PersonStarts(usize),
    PersonFinishes(usize),
    PersonGates(usize),
    /// A checkout, or another clone.
    OldTextComesBack(usize),
    UserKick,
    PanelOpen,
    Pause,
    Resume,
    Restart,
}
use Act::*;

impl Act {
    /// A person is bound by nothing: what people do again and again may kick again and again.
    pub(super) fn is_a_persons(self) -> bool {
        matches!(
            self,
            PersonEdits(_)
                | PersonQueues(_)
                | PersonUnqueues(_)
                | PersonStarts(_)
                | PersonFinishes(_)
                | PersonGates(_)
                | OldTextComesBack(_)
                | UserKick
                | PanelOpen
                | Pause
                | Resume
                | Restart
                | Starts
                | Resumes
        )
    }

    /// Only one that registers itself does it. A prompt too may be its own doing: whoever prompts it again and again is
    /// no reason for kicks.
    fn is_of_session(self) -> bool {
        let contacts = matches!(self, Starts | Resumes | Prompt | Stop | StopAgain | StopFails | Interrupt | Leaves);
        contacts || matches!(self, WakeRuns | WakeFails)
    }

    /// A turn that was running has ended well enough for what it was handed to be seen.
    pub(super) fn ends_quietly(self) -> bool {
        matches!(self, EndTurn | Stop | StopAgain | Interrupt | Prompt | Leaves)
    }

    /// Only a running turn does it.
    fn is_in_turn(self) -> bool {
        self.ends_turn()
            || matches!(
                self,
                Plan(_)
                    | Shelve(_)
                    | WaitForRoom(_)
                    | Accept(_)
                    | Await(_)
                    | Delegate(_)
                    | Requeue(_)
                    | Done(_)
                    | Offer(_)
                    | Reopen(_)
                    | Scribble(_)
                    | Invent(_)
            )
    }

    pub(super) fn ends_turn(self) -> bool {
        matches!(self, EndTurn | FailTurn | NotDelivered | RateLimit)
    }

    /// Which ticket it is about, if about one.
    pub(super) fn about(self) -> Option<usize> {
        match self {
            Shelve(n) | WaitForRoom(n) | Await(n) | PodEnds(n) | Offer(n) | WorkerBeats(n) | WorkerGivesUp(n)
            | WorkerIsDone(n) => Some(n),
            _ => self.touches(),
        }
    }

    /// Which ticket it changes, if it does.
    pub(super) fn touches(self) -> Option<usize> {
        match self {
            Plan(n) | Accept(n) | Delegate(n) | Requeue(n) | Done(n) | Reopen(n) | Scribble(n) | Invent(n)
            | WorkerCloses(n) | WorkerClaims(n) | OldTextComesBack(n) | PersonEdits(n) | PersonQueues(n)
            | PersonUnqueues(n) | PersonStarts(n) | PersonFinishes(n) | PersonGates(n) => Some(n),
            _ => None,
        }
    }

    /// Whether it may be done now, as far as that can be said without doing it. `any_time`: what the Orchestrator does
    /// it may do outside its turns too (a process that outlived one).
    pub(super) fn is_possible(self, host: &Host, any_time: bool) -> bool {
        let busy = host.turn.is_some();
        if self.is_of_session() {
            return attached::is_possible(host, self);
        }
        if self.ends_turn() {
            return busy;
        }
        if self.is_in_turn() && !busy && !any_time {
            return false;
        }
        let state = |n: usize| host.ticket(NAMES[n]).state;
        match self {
            Plan(n) => matches!(state(n), Some(State::Inprogress | State::Queued)),
            Accept(n) | Shelve(n) | WaitForRoom(n) | PersonUnqueues(n) => state(n) == Some(State::Queued),
            Delegate(n) => state(n) == Some(State::Inprogress) && pod_on(host, n).is_none(),
            Await(n) | Requeue(n) | Done(n) => state(n) == Some(State::Inprogress),
            Reopen(n) => state(n) == Some(State::Done),
            Invent(n) => state(n) == Some(State::Ready),
            PodEnds(n) | WorkerCloses(n) => pod_on(host, n).is_some(),
            PersonQueues(n) => state(n) != Some(State::Queued),
            PersonStarts(n) => state(n) != Some(State::Inprogress),
            PersonFinishes(n) => state(n) != Some(State::Done),
            Restart => !busy,
            Offer(_) | WorkerClaims(_) | WorkerBeats(_) | WorkerGivesUp(_) | WorkerIsDone(_) | OldTextComesBack(_) => {
                workers::is_possible(host, self)
            }
            Pause => host.saved.paused.is_none(),
            Resume => host.saved.paused.is_some(),
            _ => true,
        }
    }
}

fn pod_on(host: &Host, n: usize) -> Option<PodId> {
    let ticket = Some(id(NAMES[n]));
    host.engine.facts().pods.values().find(|pod| pod.ticket == ticket).map(|pod| pod.id.clone())
}

/// Does one thing that is possible; false where the engine refused it.
pub(super) fn act(host: &mut Host, act: Act) -> bool {
    match act {
        Plan(n) => return host.order(NAMES[n], Orders::Plan { order: None }).is_ok(),
        Shelve(n) => return wait(host, n, WaitKind::Other),
        WaitForRoom(n) => return wait(host, n, WaitKind::Capacity),
        Await(n) => {
            return host.order(NAMES[n], Orders::Await { step: "merge".into(), span: TimeDelta::hours(23) }).is_ok();
        }
        Accept(n) => return host.accept(NAMES[n]),
        Delegate(n) => drop(host.delegate(NAMES[n], "coder", 9_999_999_999)),
        Requeue(n) => {
            let now = host.now;
            host.write(NAMES[n], Actor::Orchestrator, |t| {
                t.state = Some(State::Queued);
                t.stamps.queued_at = Some(now);
            });
        }
        Done(n) => host.done(NAMES[n]),
        Reopen(n) | Invent(n) | PersonQueues(n) => host.queue(NAMES[n]),
        Scribble(n) | PersonEdits(n) => host.reword(NAMES[n]),
        EndTurn => host.finish_turn(TurnOutcome::Succeeded),
        FailTurn => host.finish_turn(TurnOutcome::Failed("exit 1".into())),
        NotDelivered => host.finish_turn(TurnOutcome::NotDelivered("no such program".into())),
        RateLimit => {
            let limit = rate_limit::RateLimit { wait: Duration::from_mins(30), named: false };
            host.finish_turn(TurnOutcome::Limited { why: "exit 75".into(), limit });
        }
        PodEnds(n) | WorkerCloses(n) => end_pod(host, n, matches!(act, WorkerCloses(_))),
        Starts | Resumes | Prompt | Stop | StopAgain | StopFails | Interrupt | Leaves | WakeRuns | WakeFails => {
            attached::act(host, act);
        }
        Offer(_) | WorkerClaims(_) | WorkerBeats(_) | WorkerGivesUp(_) | WorkerIsDone(_) | OldTextComesBack(_) => {
            workers::act(host, act);
        }
        AnHourPasses => host.run(3_700),
        ADayPasses => host.run(25 * 3600),
        PersonUnqueues(n) => host.edit(NAMES[n], |t| t.state = Some(State::Ready)),
        PersonStarts(n) => host.edit(NAMES[n], |t| t.state = Some(State::Inprogress)),
        PersonFinishes(n) => host.edit(NAMES[n], |t| t.state = Some(State::Done)),
        PersonGates(n) => {
            host.edit(NAMES[n], |t| t.human_gate = t.human_gate.is_none().then(|| "sign-off".into()));
        }
        UserKick => host.boundary(Boundary::UserKick),
        PanelOpen => host.boundary(Boundary::PanelOpen),
        Pause => host.tell(Event::Paused { by: "al".into(), reason: None }),
        Resume => host.tell(Event::Resumed { by: "al".into() }),
        Restart => host.restart_at(super::super::super::Reach::Exec, host.now),
    }
    true
}

fn wait(host: &mut Host, n: usize, kind: WaitKind) -> bool {
    host.order(NAMES[n], Orders::Wait { kind, detail: String::new() }).is_ok()
}

fn end_pod(host: &mut Host, n: usize, closes: bool) {
    host.workers_close = closes;
    if let Some(pod) = pod_on(host, n) {
        host.end_pod(&pod);
    }
    host.workers_close = false;
}
