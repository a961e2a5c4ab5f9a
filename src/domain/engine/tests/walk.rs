//! The exhaustive check: every order of what the Orchestrator, people, Pods and time may do with a few tickets, through
//! the real engine, until no new state is found (DESIGN.md 5 and 10). Small worlds, and the first states of large ones,
//! are walked in every run; the whole of each large one by `cargo test exhaustive -- --ignored --nocapture`.
//!
//! No state at rest in which something unseen lies, but for the named reasons, each with its alert; no kick on a cycle of
//! states, unless a person is part of the cycle; the kicks on any path are bounded. (What a kick itself must obey is
//! asserted by the host, at every launch.)

mod acts;
mod attached;
mod exhaustive;
mod graph;
mod key;
mod rest;
mod search;
mod workers;

use acts::Act::{self, *};
use search::{World, check};

use super::super::Reach;
use crate::domain::policy::{Capacity, KickPolicy, Mode, Policy, SessionPolicy};
use crate::domain::sample::{accepted, queued, ticket};
use crate::domain::ticket::{State, Ticket};

/// Bounds as small as they may be, so that each is reached within few acts.
fn policy(capacity: Option<usize>, max_items: usize) -> Policy {
    let kick = KickPolicy { max_attempts: 1, max_items, max_per_hour: 1000, reoffer_idle: None };
    let session = SessionPolicy { rate_limits: 3, ..SessionPolicy::default() };
    Policy { kick, session, capacity: Capacity { max_inprogress: capacity }, ..Policy::default() }
}

/// Each of these acts, on each ticket.
fn each(tickets: usize, acts: &[fn(usize) -> Act]) -> Vec<Act> {
    acts.iter().flat_map(|act| (0..tickets).map(act)).collect()
}

fn two() -> Vec<Ticket> {
    vec![queued("a"), queued("b")]
}

/// All that an Orchestrator can do by requests, and all that can come of its turns, with two queued tickets of which one may be
/// under way.
fn orchestrator() -> World {
    let mut acts = vec![EndTurn, FailTurn, NotDelivered, ADayPasses];
    acts.extend(each(2, &[Plan, Accept, Delegate, Await, Requeue, Done, PodEnds]));
    World::new("orchestrator", two(), acts, policy(Some(1), 10))
}

/// The same by its files, in which nobody can tell it from a person; workers close their own tickets.
fn own_hand() -> World {
    let mut acts = vec![EndTurn, ADayPasses];
    acts.extend(each(2, &[Plan, Accept, Delegate, WorkerCloses, Done, Reopen, Scribble, Invent]));
    World::new("own hand", vec![queued("a"), ticket("b", State::Ready)], acts, policy(Some(1), 10))
}

/// Where items compete for one place in the list, and wait for reasons.
fn one_item() -> World {
    let mut acts = vec![EndTurn, FailTurn, ADayPasses];
    acts.extend(each(2, &[Plan, Shelve, Accept, Await, Scribble, WorkerCloses]));
    acts.push(Delegate(0));
    World::new("one item a kick", two(), acts, policy(None, 1))
}

/// People who edit, queue, take back, and ask.
fn people() -> World {
    let mut acts = vec![EndTurn, UserKick, ADayPasses];
    acts.extend(each(2, &[Plan, Accept, PersonEdits, PersonQueues, PersonUnqueues]));
    World::new("people", vec![queued("a"), ticket("b", State::Ready)], acts, policy(Some(1), 10))
}

/// People who start and finish by hand, look, and start the daemon again.
fn by_hand() -> World {
    let mut acts = vec![EndTurn, PanelOpen, Restart, ADayPasses];
    acts.extend(each(2, &[Accept, Delegate, PodEnds, PersonStarts, PersonQueues, PersonFinishes]));
    World::new("by hand", vec![queued("a"), ticket("b", State::Ready)], acts, policy(Some(1), 10))
}

/// Gates: human ones that people set and take off, and room for one.
fn gates() -> World {
    let mut acts = vec![EndTurn, UserKick, PanelOpen, AnHourPasses, ADayPasses];
    acts.extend(each(2, &[Plan, WaitForRoom, Shelve, Accept, Done, PersonGates, PersonQueues]));
    World::new("gates", two(), acts, policy(Some(1), 10))
}

fn failing() -> World {
    let mut acts = vec![EndTurn, FailTurn, NotDelivered, RateLimit, ADayPasses, PersonEdits(0), UserKick];
    acts.extend(each(2, &[Delegate, Await, Requeue, Done, PodEnds, WorkerCloses]));
    World::new("failing", vec![accepted("a"), queued("b")], acts, policy(Some(1), 10))
}

/// A person holds everything back, and lets it go on; the daemon is started again meanwhile.
fn paused() -> World {
    let mut acts = vec![EndTurn, FailTurn, UserKick, Pause, Resume, Restart, ADayPasses];
    acts.extend(each(2, &[Plan, Accept, Delegate, PodEnds, PersonEdits, PersonQueues]));
    World::new("paused", two(), acts, policy(Some(1), 10))
}

/// What happens within the same moment, the join of boundaries, the minute of news, the wait after a failure.
fn haste() -> World {
    let mut acts = vec![EndTurn, FailTurn, UserKick];
    acts.extend(each(2, &[Plan, Accept, Delegate, PodEnds, PersonEdits, PersonQueues, PersonUnqueues]));
    let world = World::new("haste", two(), acts, policy(Some(1), 10));
    World { haste: (1, vec![0, 170, 5_000]), ..world }
}

/// A process of the Orchestrator's outlives its turns, and goes on.
fn any_time() -> World {
    let mut acts = vec![EndTurn, FailTurn, ADayPasses];
    acts.extend(each(2, &[Plan, Shelve, Accept, Delegate, Await, Requeue, Done, PodEnds]));
    let world = World::new("any time", two(), acts, policy(Some(1), 10));
    World { any_time: true, ..world }
}

/// The hourly brake, and work that is offered again by the clock.
fn brake() -> World {
    let mut acts = vec![EndTurn, UserKick, AnHourPasses, ADayPasses];
    acts.extend(each(2, &[Plan, Accept, Delegate, PodEnds, PersonEdits]));
    let mut policy = policy(Some(1), 10);
    (policy.kick.max_per_hour, policy.kick.reoffer_idle) = (2, Some(chrono::TimeDelta::minutes(10)));
    World::new("brake", two(), acts, policy)
}

/// An Orchestrator that registers itself, and takes its lists as the answers to its hooks.
fn attached() -> World {
    let mut acts = vec![Starts, Resumes, Prompt, Stop, StopAgain, StopFails, Interrupt, Leaves, ADayPasses];
    acts.extend(each(2, &[Plan, Accept, PersonEdits]));
    let world = World::new("attached", two(), acts, policy(Some(1), 10));
    World { reach: Reach::Session, ..world }
}

/// The same, woken by commands which fail, or are followed by nothing; and one that falls silent.
fn woken() -> World {
    let mut acts = vec![Starts, Prompt, Stop, StopAgain, WakeRuns, WakeFails, UserKick, AnHourPasses];
    acts.extend(each(2, &[Plan, PersonQueues, PersonUnqueues]));
    let mut policy = policy(Some(1), 10);
    policy.session.can_wake = true;
    let world = World::new("woken", vec![queued("a"), ticket("b", State::Ready)], acts, policy);
    World { reach: Reach::Session, ..world }
}

/// Workers that claim what is accepted or offered again, beat, give up, finish, and are not heard of any more; and old text
/// that comes back after one of them was done.
fn workers() -> World {
    let mut acts = vec![EndTurn, ADayPasses];
    let claims = [WorkerClaims, WorkerBeats, WorkerGivesUp, WorkerIsDone, Offer, OldTextComesBack];
    acts.extend(each(2, &[Accept, Requeue]));
    acts.extend(each(2, &claims));
    let policy = Policy { mode: Mode::Orchestrated, ..policy(Some(1), 10) };
    World::new("workers", vec![accepted("a"), queued("b")], acts, policy)
}

/// As far as some seconds go.
const FIRST: usize = 1_000;

#[test]
fn first_states_of_an_orchestrator() {
    check(&orchestrator().first(FIRST));
}

#[test]
fn first_states_of_its_own_hand() {
    check(&own_hand().first(FIRST));
}

#[test]
fn first_states_of_one_item_a_kick() {
    check(&one_item().first(FIRST));
}

#[test]
fn first_states_of_people() {
    check(&people().first(FIRST));
}

#[test]
fn first_states_by_hand() {
    check(&by_hand().first(FIRST));
}

#[test]
fn first_states_of_gates() {
    check(&gates().first(FIRST));
}

#[test]
fn first_states_of_a_failing_orchestrator() {
    check(&failing().first(FIRST));
}

#[test]
fn first_states_of_a_pause() {
    check(&paused().first(FIRST));
}

#[test]
fn first_states_in_haste() {
    check(&haste().first(FIRST));
}

#[test]
fn first_states_of_any_time() {
    check(&any_time().first(FIRST));
}

#[test]
fn first_states_of_the_brake() {
    check(&brake().first(FIRST));
}

#[test]
fn first_states_of_an_attached_session() {
    check(&attached().first(FIRST));
}

#[test]
fn first_states_of_workers_that_claim() {
    check(&workers().first(FIRST));
}

#[test]
fn first_states_of_a_woken_session() {
    check(&woken().first(FIRST));
}
