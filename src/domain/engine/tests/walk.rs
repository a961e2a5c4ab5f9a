//! A small exhaustive walk: every order of what the Orchestrator, people, Pods and time may do with two tickets, through
//! the real engine. No state at rest in which something would be kicked for; no kick on a cycle of states; the kicks on
//! any path are bounded. (What a kick itself must obey is asserted by the host, at every launch.)

use std::collections::{BTreeMap, VecDeque};

use chrono::TimeDelta;

use super::super::{Actor, Orchestrator, Orders, TurnOutcome};
use super::graph::{Walk, most_kicks};
use super::host::Host;
use crate::domain::kick::{Boundary, Decision};
use crate::domain::policy::{KickPolicy, Policy};
use crate::domain::sample::{accepted, id, queued, ticket};
use crate::domain::ticket::{State, Ticket};
use crate::domain::workset::WaitKind;

const NAMES: [&str; 2] = ["a", "b"];

/// One thing that may happen. A person's acts and explicit boundaries are few on a path; the others are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Plan(usize),
    Shelve(usize),
    Accept(usize),
    Await(usize),
    Delegate(usize),
    Requeue(usize),
    Done(usize),
    Reopen(usize),
    Scribble(usize),
    EndTurn,
    FailTurn,
    PodEnds(usize),
    WorkerCloses(usize),
    ADayPasses,
    PersonEdits(usize),
    PersonQueues(usize),
    PersonUnqueues(usize),
    PersonStarts(usize),
    UserKick,
    PanelOpen,
}
use Act::*;

impl Act {
    fn is_counted(self) -> bool {
        matches!(self, PersonEdits(_) | PersonQueues(_) | PersonUnqueues(_) | PersonStarts(_) | UserKick | PanelOpen)
    }

    fn is_in_turn(self) -> bool {
        matches!(
            self,
            Plan(_)
                | Shelve(_)
                | Accept(_)
                | Await(_)
                | Delegate(_)
                | Requeue(_)
                | Done(_)
                | Reopen(_)
                | Scribble(_)
                | EndTurn
                | FailTurn
        )
    }
}

/// What is walked: who does what, how often people act on a path, and at how many states the walk ends.
struct World {
    tickets: Vec<Ticket>,
    acts: Vec<Act>,
    counted: u32,
    policy: Policy,
    states: usize,
}

#[derive(Clone)]
struct Spot {
    host: Host,
    counted: u32,
}

/// A person changes a state in an editor.
fn a_person_moves(host: &mut Host, act: Act) -> Option<()> {
    let state = |host: &Host, n: usize| host.ticket(NAMES[n]).state;
    match act {
        PersonQueues(n) => {
            (state(host, n) != Some(State::Queued)).then_some(())?;
            host.queue(NAMES[n]);
        }
        PersonUnqueues(n) => {
            (state(host, n) == Some(State::Queued)).then_some(())?;
            host.edit(NAMES[n], |t| t.state = Some(State::Ready));
        }
        PersonStarts(n) => {
            (state(host, n) != Some(State::Inprogress)).then_some(())?;
            host.edit(NAMES[n], |t| t.state = Some(State::Inprogress));
        }
        _ => return None,
    }
    Some(())
}

/// Does one thing, if it can be done here.
fn act(spot: &Spot, act: Act) -> Option<Spot> {
    if act.is_in_turn() != spot.host.turn.is_some() && (act.is_in_turn() || act == ADayPasses) {
        return None;
    }
    let mut spot = spot.clone();
    if act.is_counted() {
        spot.counted = spot.counted.checked_sub(1)?;
    }
    let host = &mut spot.host;
    let state = |host: &Host, n: usize| host.ticket(NAMES[n]).state;
    let pod = |host: &Host, n: usize| {
        host.engine.facts().pods.values().find(|p| p.ticket == Some(id(NAMES[n]))).map(|p| p.id.clone())
    };
    match act {
        Plan(n) => host.order(NAMES[n], Orders::Plan { order: None }).ok()?,
        Shelve(n) => host.order(NAMES[n], Orders::Wait { kind: WaitKind::Other, detail: String::new() }).ok()?,
        Await(n) => host.order(NAMES[n], Orders::Await { step: "merge".into(), span: TimeDelta::hours(23) }).ok()?,
        Accept(n) => (state(host, n) == Some(State::Queued) && host.accept(NAMES[n])).then_some(())?,
        Delegate(n) => {
            (state(host, n) == Some(State::Inprogress) && pod(host, n).is_none()).then_some(())?;
            host.delegate(NAMES[n], "coder", 9_999_999_999);
        }
        Requeue(n) => {
            (state(host, n) == Some(State::Inprogress)).then_some(())?;
            let now = host.now;
            host.write(NAMES[n], Actor::Orchestrator, |t| {
                t.state = Some(State::Queued);
                t.stamps.queued_at = Some(now);
            });
        }
        Done(n) => {
            (state(host, n) == Some(State::Inprogress)).then_some(())?;
            host.done(NAMES[n]);
        }
        Reopen(n) => {
            (state(host, n) == Some(State::Done)).then_some(())?;
            // In the file, as nobody could tell from a person's.
            host.queue(NAMES[n]);
        }
        Scribble(n) | PersonEdits(n) => host.reword(NAMES[n]),
        EndTurn => host.finish_turn(TurnOutcome::Succeeded),
        FailTurn => {
            host.finish_turn(TurnOutcome::Failed("exit 1".into()));
            // Every wait after a failure ends here, so that its length makes no further states.
            host.run(80);
        }
        PodEnds(n) => host.end_pod(&pod(host, n)?),
        WorkerCloses(n) => {
            let pod = pod(host, n)?;
            host.workers_close = true;
            host.end_pod(&pod);
            host.workers_close = false;
        }
        ADayPasses => host.run(25 * 3600),
        PersonQueues(_) | PersonUnqueues(_) | PersonStarts(_) => a_person_moves(host, act)?,
        UserKick => host.boundary(Boundary::UserKick),
        PanelOpen => host.boundary(Boundary::PanelOpen),
    }
    // Until what is joined or put off is over: every state of the walk is one at rest.
    host.run_ms(62_500);
    Some(spot)
}

/// All that what happens next depends on, without the times.
fn key(spot: &Spot) -> String {
    let engine = &spot.host.engine;
    let files = NAMES.map(|name| {
        let t = spot.host.ticket(name);
        (t.state, t.acceptance_recorded())
    });
    let notes: Vec<_> = engine
        .work_set
        .iter()
        .map(|(id, n)| (id, n.waiting.is_some(), n.awaited.as_ref().map(|a| a.due > spot.host.now)))
        .collect();
    let turn = match &engine.orchestrator {
        Orchestrator::Busy(turn) => {
            let handed: Vec<_> = turn.handed.iter().map(|i| (&i.id, i.class)).collect();
            format!("{handed:?} {} {:?} {}", turn.progress, turn.changed, turn.shaken)
        }
        _ => String::new(),
    };
    let mut ledger = engine.ledger.clone();
    let saved = std::mem::take(&mut ledger.saved);
    let panel = ledger.panel_presented_at.take().is_some_and(|at| spot.host.now - at < TimeDelta::hours(1));
    let pods: Vec<_> = engine.facts.pods.values().map(|p| &p.ticket).collect();
    let counts = (saved.failures, saved.fruitless.min(4), panel, spot.counted);
    let ended: Vec<_> = engine.facts.ended_pods.keys().collect();
    format!("{files:?} {notes:?} {turn} {ledger:?} {counts:?} {pods:?} {ended:?} {:?}", engine.held)
}

fn walk(world: &World) -> Result<Walk, String> {
    let mut host = Host::new(world.policy.clone(), world.tickets.clone());
    host.run_ms(62_500);
    let first = Spot { host, counted: world.counted };
    let mut known = BTreeMap::from([(key(&first), 0)]);
    let mut walk = Walk { edges: vec![Vec::new()], came: vec![None], whole: true };
    // Memory is spent on what is still to be walked from.
    let mut spots = VecDeque::from([first]);
    let mut at = 0;
    while let Some(mut spot) = spots.pop_front() {
        spot.host.kicks.clear();
        for &one in &world.acts {
            let Some(mut next) = act(&spot, one) else { continue };
            let kicks = next.host.kicks.len();
            next.host.records.clear();
            let fresh = walk.edges.len();
            let to = *known.entry(key(&next)).or_insert(fresh);
            if to == fresh {
                if fresh >= world.states {
                    walk.whole = false;
                    known.retain(|_, to| *to != fresh);
                    continue;
                }
                walk.edges.push(Vec::new());
                walk.came.push(Some((at, one)));
                if let Some(left) = at_rest(&next.host) {
                    return Err(format!("{left} lies at rest, unseen, after {:?}", walk.path(fresh)));
                }
                spots.push_back(next);
            }
            walk.edges[at].push((to, kicks));
        }
        at += 1;
    }
    Ok(walk)
}

/// What an automatic boundary would kick for although nobody has anything to wait for.
fn at_rest(host: &Host) -> Option<String> {
    if host.turn.is_some() {
        return None;
    }
    match host.engine.decide(&[Boundary::OrchestratorIdle], host.now) {
        Decision::Kick { items, .. } => Some(items.iter().map(|i| i.id.to_string()).collect()),
        Decision::Suppress(_) => None,
    }
}

#[track_caller]
fn check(name: &str, world: &World, bound: usize) {
    let found = walk(world).and_then(|walk| Ok((most_kicks(&walk)?, walk)));
    let (most, walk) = found.unwrap_or_else(|why| panic!("{name}: {why}"));
    println!("{name}: {} states, whole: {}, at most {most} kicks on a path", walk.edges.len(), walk.whole);
    assert!(most <= bound, "{name}: {most} kicks on a path, more than {bound}");
    assert!(most > 0);
}

fn each(acts: &[fn(usize) -> Act]) -> Vec<Act> {
    acts.iter().flat_map(|act| [act(0), act(1)]).collect()
}

fn policy(capacity: Option<usize>, max_items: usize) -> Policy {
    let kick = KickPolicy { max_attempts: 1, max_items, max_per_hour: 1000, reoffer_idle: None };
    Policy { kick, capacity: crate::domain::policy::Capacity { max_inprogress: capacity }, ..Policy::default() }
}

#[test]
fn whatever_the_orchestrator_does_with_two_queued_tickets() {
    let mut acts = vec![EndTurn, ADayPasses];
    acts.extend(each(&[Plan, Accept, Delegate, Requeue, Done, PodEnds]));
    acts.push(Reopen(0));
    let tickets = vec![queued("a"), queued("b")];
    check("capacity 1", &World { tickets, acts, counted: 0, policy: policy(Some(1), 10), states: STATES }, 60);
}

#[test]
fn one_item_a_kick() {
    let mut acts = vec![EndTurn, FailTurn, ADayPasses];
    acts.extend(each(&[Plan, Shelve, Accept, Await, Scribble, WorkerCloses]));
    acts.extend([Delegate(0)]);
    let tickets = vec![queued("a"), queued("b")];
    check("one item", &World { tickets, acts, counted: 0, policy: policy(None, 1), states: STATES }, 60);
}

#[test]
fn people_change_their_minds() {
    let mut acts = vec![EndTurn, UserKick, PanelOpen, ADayPasses, Plan(0), Accept(0), Shelve(1)];
    acts.extend(each(&[PersonEdits, PersonQueues, PersonUnqueues, PersonStarts]));
    let tickets = vec![queued("a"), ticket("b", State::Ready)];
    check("people", &World { tickets, acts, counted: 3, policy: policy(Some(1), 10), states: STATES }, 60);
}

#[test]
fn work_that_comes_and_goes_under_a_failing_orchestrator() {
    let mut acts = vec![EndTurn, FailTurn, ADayPasses, PersonEdits(0), PersonEdits(1), UserKick];
    acts.extend(each(&[Delegate, Await, Requeue, Done, PodEnds, WorkerCloses]));
    let tickets = vec![accepted("a"), queued("b")];
    check("failing", &World { tickets, acts, counted: 2, policy: policy(Some(1), 10), states: STATES }, 60);
}

/// As far as a few seconds go; the whole of each world is walked by the exhaustive check.
const STATES: usize = 1_500;
