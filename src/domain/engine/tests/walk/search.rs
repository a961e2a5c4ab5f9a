//! The search: breadth first through every state of a world, with what must hold on the way.

use std::collections::{BTreeMap, VecDeque};
use std::mem::discriminant;

use super::super::super::Reach;
use super::super::host::Host;
use super::acts::{Act, act};
use super::graph::{Edge, Walk, most_kicks};
use super::key::{key, settle_times};
use super::rest::Ghost;
use crate::domain::policy::Policy;
use crate::domain::ticket::Ticket;

/// Longer than anything that is joined, put off or waited for after an act, but for what takes hours.
const REST_MS: i64 = 62_500;
/// Of so many arrivals at a known state one is looked at for whether what follows is the same.
const COMPARED: usize = 97;

/// What is walked: who does what, and at how many states the walk ends.
#[derive(Clone)]
pub(super) struct World {
    pub(super) name: &'static str,
    pub(super) tickets: Vec<Ticket>,
    pub(super) acts: Vec<Act>,
    pub(super) policy: Policy,
    /// Further acts may follow after so many milliseconds already, so many times before there is rest.
    pub(super) haste: (u8, Vec<i64>),
    /// How the Orchestrator is reached.
    pub(super) reach: Reach,
    /// The Orchestrator's acts are not bound to its turns.
    pub(super) any_time: bool,
    pub(super) states: usize,
}

impl World {
    pub(super) fn new(name: &'static str, tickets: Vec<Ticket>, acts: Vec<Act>, policy: Policy) -> Self {
        Self {
            name,
            tickets,
            acts,
            policy,
            haste: (0, Vec::new()),
            reach: Reach::Exec,
            any_time: false,
            states: usize::MAX,
        }
    }

    /// Only so many states of it.
    pub(super) fn first(mut self, states: usize) -> Self {
        self.states = states;
        self
    }

    /// No rule tells its tickets apart, and whatever may happen to one may happen to each.
    fn alike(&self) -> bool {
        let alike = |one: &Act| self.acts.iter().filter(|act| discriminant(*act) == discriminant(one)).count();
        let all = |one: &Act| one.about().is_none() || alike(one) == self.tickets.len();
        self.policy.kick.max_items >= self.tickets.len() && self.acts.iter().all(all)
    }

    /// Section 5's bound on automatic kicks between two acts of people: each kick follows a step of progress or is one of
    /// three fruitless ones after it, each of them preceded by at most two failed deliveries. Steps of progress are, for
    /// each ticket, the five it can get further by, in each of its rounds, and each attempt as often as it counts.
    fn bound(&self) -> usize {
        let max = self.policy.kick.max_attempts as usize;
        let progress = self.tickets.len() * (5 * (max + 1) + 3 * max);
        (progress + 1) * (1 + 3) * 3
    }
}

#[derive(Clone)]
struct Spot {
    host: Host,
    ghost: Ghost,
    hasty: u8,
}

impl Spot {
    fn key(&self, world: &World) -> Vec<u8> {
        key(&self.host, &self.ghost, self.hasty, world.tickets.len(), world.alike())
    }

    /// One act, and so much time; None where it cannot be done here. `rest` is what comes after it.
    fn after(&self, world: &World, one: Act, rest: Option<i64>) -> Option<Result<(Self, u8), String>> {
        if !one.is_possible(&self.host, world.any_time) {
            return None;
        }
        let mut next = self.clone();
        next.ghost.before(&next.host, one);
        if !act(&mut next.host, one) {
            return None;
        }
        next.host.run_ms(rest.unwrap_or(REST_MS));
        Some(next.came_to_rest(one, rest.is_none()))
    }

    fn came_to_rest(mut self, one: Act, at_rest: bool) -> Result<(Self, u8), String> {
        let host = &mut self.host;
        let kicks = u8::try_from(host.kicks.len() + host.woken.len()).unwrap_or(u8::MAX);
        self.ghost.after(host)?;
        host.kicks.clear();
        host.woken.clear();
        if at_rest {
            self.hasty = 0;
            host.tell(super::super::super::Event::Ticked);
            self.ghost.at_rest(host, one == Act::ADayPasses)?;
            settle_times(host);
        } else {
            self.hasty += 1;
        }
        host.records.clear();
        host.stamped.clear();
        Ok((self, kicks))
    }
}

/// Walks a world, and gives the number of states and the most kicks on a path.
#[track_caller]
pub(super) fn check(world: &World) -> (usize, usize) {
    let name = world.name;
    let walk = walk(world).unwrap_or_else(|why| panic!("{name}: {why}"));
    let most = most_kicks(&walk).unwrap_or_else(|why| panic!("{name}: {why}"));
    let (states, edges) = (walk.edges.len(), walk.edges.iter().map(Vec::len).sum::<usize>());
    let whole = if walk.whole { "all" } else { "the first" };
    println!("{name}: {whole} {states} states, {edges} edges, depth {}, at most {most} kicks", walk.depth());
    assert!(most <= world.bound(), "{name}: {most} kicks on a path, more than {}", world.bound());
    assert!(most > 0, "{name}: nothing was ever kicked for");
    (states, most)
}

fn walk(world: &World) -> Result<Walk, String> {
    let mut host = Host::reached(world.reach.clone(), world.policy.clone(), world.tickets.clone());
    host.run_ms(REST_MS);
    let first = Spot { host, ghost: Ghost::new(), hasty: 0 };
    let (first, _) = first.came_to_rest(Act::EndTurn, true)?;
    let mut known = BTreeMap::from([(first.key(world), 0)]);
    let mut walk = Walk { edges: vec![Vec::new()], came: vec![None], whole: true };
    // Memory is spent on what is still to be walked from.
    let mut spots = VecDeque::from([first]);
    let (mut at, mut arrivals) = (0, 0);
    while let Some(spot) = spots.pop_front() {
        for (one, rest) in ways(world, &spot) {
            let Some(next) = spot.after(world, one, rest) else { continue };
            let (next, kicks) = next.map_err(|why| format!("{why}, after {:?}", walk.path_and(at, one)))?;
            let fresh = walk.edges.len();
            let key = next.key(world);
            let found = known.get(&key).copied();
            if found.is_none() && fresh >= world.states {
                walk.whole = false;
                continue;
            }
            let to = found.unwrap_or(fresh);
            if to == fresh {
                known.insert(key, fresh);
                walk.edges.push(Vec::new());
                walk.came.push(Some((at, one)));
                spots.push_back(next);
            } else {
                arrivals += 1;
                // One that is still to be walked from stands for all that have its key.
                if arrivals % COMPARED == 0
                    && let Some(other) = to.checked_sub(at + 1).and_then(|ahead| spots.get(ahead))
                {
                    same_future(world, other, &next).map_err(|why| format!("{why}: {:?}", walk.path_and(at, one)))?;
                }
            }
            walk.edges[at].push(Edge { to, kicks, act: one });
        }
        at += 1;
    }
    Ok(walk)
}

/// Every act, with rest after it, and with haste where there is still some left.
fn ways(world: &World, spot: &Spot) -> Vec<(Act, Option<i64>)> {
    let (most, gaps) = &world.haste;
    let hasty: Vec<_> = gaps.iter().filter(|_| spot.hasty < *most).map(|gap| Some(*gap)).collect();
    let rests = || [None].into_iter().chain(hasty.iter().copied());
    world.acts.iter().flat_map(|one| rests().map(|rest| (*one, rest))).collect()
}

/// Two states of one key lead to states of one key, whatever is done (to tickets that play the same part).
fn same_future(world: &World, one: &Spot, other: &Spot) -> Result<(), String> {
    let futures = |spot: &Spot| {
        let after = |(act, rest)| spot.after(world, act, rest).map(|next| (act, rest, next));
        let ways = ways(world, spot).into_iter().filter_map(after);
        let known = |(act, rest, next): (_, _, Result<(Spot, u8), String>)| {
            (next.map(|(next, kicks)| (next.key(world), kicks)), format!("{act:?} {rest:?}"))
        };
        let mut keys: Vec<_> = ways.map(known).collect();
        if world.alike() {
            keys.sort_unstable();
        }
        keys
    };
    let (ours, theirs) = (futures(one), futures(other));
    let differ = ours.iter().zip(&theirs).find(|(a, b)| a.0 != b.0);
    let Some((ours, theirs)) = differ else { return Ok(()) };
    Err(format!("the key of a state does not say all: {ours:?} is not {theirs:?}"))
}
