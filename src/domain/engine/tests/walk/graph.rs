//! The graph of states that a walk has found: no kick on a cycle, and the most kicks on any path.

use std::collections::{BTreeMap, VecDeque};

use super::acts::Act;

/// From a state to another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: usize,
    pub(super) kicks: u8,
    pub(super) act: Act,
}

impl Edge {
    /// No person took part.
    fn automatic(self) -> bool {
        !self.act.is_a_persons()
    }
}

/// The states found, and from each the edges.
pub(super) struct Walk {
    pub(super) edges: Vec<Vec<Edge>>,
    pub(super) came: Vec<Option<(usize, Act)>>,
    pub(super) whole: bool,
}

impl Walk {
    pub(super) fn path(&self, mut at: usize) -> Vec<Act> {
        let mut path = Vec::new();
        while let Some((from, act)) = self.came[at] {
            path.push(act);
            at = from;
        }
        path.reverse();
        path
    }

    /// The way to a state, and one act more.
    pub(super) fn path_and(&self, at: usize, act: Act) -> Vec<Act> {
        let mut path = self.path(at);
        path.push(act);
        path
    }

    /// What leads, without a person, from one state to another one.
    fn way(&self, from: usize, to: usize) -> Vec<Act> {
        let mut came = BTreeMap::new();
        let mut next = VecDeque::from([from]);
        while let Some(at) = next.pop_front().filter(|at| *at != to) {
            for edge in self.edges[at].iter().filter(|edge| edge.automatic()) {
                if edge.to != from && !came.contains_key(&edge.to) {
                    came.insert(edge.to, (at, edge.act));
                    next.push_back(edge.to);
                }
            }
        }
        let mut way = Vec::new();
        let mut at = to;
        while let Some((before, act)) = came.get(&at) {
            way.push(*act);
            at = *before;
        }
        way.reverse();
        way
    }

    /// How many acts the last state found is away.
    pub(super) fn depth(&self) -> usize {
        self.path(self.edges.len() - 1).len()
    }
}

/// The most kicks on any path without a person, from whatever state; an error names a state on a cycle that contains one.
pub(super) fn most_kicks(walk: &Walk) -> Result<usize, String> {
    let component = components(&walk.edges);
    // Components are numbered in reverse topological order: what an edge leads to has been counted before.
    let mut order: Vec<_> = (0..walk.edges.len()).collect();
    order.sort_by_key(|state| component[*state]);
    let mut most = vec![0; walk.edges.len()];
    for state in order {
        for edge in walk.edges[state].iter().filter(|edge| edge.automatic()) {
            let kicks = usize::from(edge.kicks);
            if component[edge.to] == component[state] && kicks > 0 {
                let back = walk.way(edge.to, state);
                return Err(format!("a kick on a cycle, reached by {:?}: {:?} {back:?}", walk.path(state), edge.act));
            }
            most[component[state]] = most[component[state]].max(kicks + most[component[edge.to]]);
        }
    }
    Ok(most.into_iter().max().unwrap_or_default())
}

/// Tarjan's strongly connected components of the automatic edges, without recursion.
fn components(edges: &[Vec<Edge>]) -> Vec<usize> {
    let none = vec![usize::MAX; edges.len()];
    let mut found = Components { edges, index: none.clone(), low: none.clone(), component: none, ..Default::default() };
    for root in 0..edges.len() {
        if found.index[root] == usize::MAX {
            found.from(root);
        }
    }
    found.component
}

#[derive(Default)]
struct Components<'e> {
    edges: &'e [Vec<Edge>],
    index: Vec<usize>,
    low: Vec<usize>,
    component: Vec<usize>,
    stack: Vec<usize>,
    next: usize,
    count: usize,
}

impl Components<'_> {
    fn enter(&mut self, at: usize) {
        (self.index[at], self.low[at]) = (self.next, self.next);
        self.next += 1;
        self.stack.push(at);
    }

    fn from(&mut self, root: usize) {
        self.enter(root);
        let mut trail = vec![(root, 0)];
        while let Some(&mut (at, ref mut edge)) = trail.last_mut() {
            if let Some(&found) = self.edges[at].get(*edge) {
                *edge += 1;
                let to = found.to;
                if !found.automatic() {
                    continue;
                }
                if self.index[to] == usize::MAX {
                    self.enter(to);
                    trail.push((to, 0));
                } else if self.component[to] == usize::MAX {
                    self.low[at] = self.low[at].min(self.index[to]);
                }
                continue;
            }
            trail.pop();
            if let Some(&(parent, _)) = trail.last() {
                self.low[parent] = self.low[parent].min(self.low[at]);
            }
            if self.low[at] == self.index[at] {
                self.close(at);
            }
        }
    }

    fn close(&mut self, at: usize) {
        while let Some(member) = self.stack.pop() {
            self.component[member] = self.count;
            if member == at {
                break;
            }
        }
        self.count += 1;
    }
}

/// The most kicks on any path of these edges, or that a kick is on a cycle.
#[track_caller]
fn check(edges: &[&[(usize, u8)]], expected: Option<usize>) {
    // Two hundred and more kicks stand for a person's.
    let act = |kicks| if kicks < 200 { Act::EndTurn } else { Act::UserKick };
    let edge = |&(to, kicks): &(usize, u8)| Edge { to, kicks: kicks % 200, act: act(kicks) };
    let edges: Vec<Vec<_>> = edges.iter().map(|e| e.iter().map(edge).collect()).collect();
    let walk = Walk { came: vec![None; edges.len()], edges, whole: true };
    assert_eq!(most_kicks(&walk).ok(), expected);
}

#[test]
fn kicks_are_counted_along_the_longest_path_and_found_on_cycles() {
    check(&[&[]], Some(0));
    check(&[&[(1, 1), (2, 0)], &[(2, 2)], &[]], Some(3));
    check(&[&[(1, 1)], &[(2, 0)], &[(1, 0), (3, 4)], &[]], Some(5));
    check(&[&[(1, 1)], &[(2, 0)], &[(1, 1)]], None);
    check(&[&[(0, 1)]], None);
    check(&[&[(0, 0), (1, 1)], &[(1, 0)]], Some(1));
    // What a person does again and again is no circle, and begins a path anew.
    check(&[&[(1, 201)], &[(0, 0)]], Some(0));
    check(&[&[(1, 201), (2, 1)], &[(0, 0)], &[(3, 1)], &[(1, 203)]], Some(2));
    // A state that is reached both before and after a cycle.
    check(&[&[(3, 1), (1, 0)], &[(2, 0)], &[(1, 0), (3, 0)], &[(4, 1)], &[]], Some(2));
}
