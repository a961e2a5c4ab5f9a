//! The graph of states that a walk has found: no kick on a cycle, and the most kicks on any path.

use std::collections::BTreeMap;

use super::walk::Act;

/// The states found, and from each the edges: to which state, by how many kicks.
pub(super) struct Walk {
    pub(super) edges: Vec<Vec<(usize, usize)>>,
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
}

/// The most kicks on any path; an error names a state on a cycle that contains a kick.
pub(super) fn most_kicks(walk: &Walk) -> Result<usize, String> {
    let component = components(&walk.edges);
    // Components are numbered in reverse topological order: what an edge leads to has been counted before.
    let mut order: Vec<_> = (0..walk.edges.len()).collect();
    order.sort_by_key(|state| component[*state]);
    let mut most: BTreeMap<usize, usize> = BTreeMap::new();
    for state in order {
        for &(to, kicks) in &walk.edges[state] {
            if component[to] == component[state] && kicks > 0 {
                return Err(format!("a kick on a cycle, reached by {:?}", walk.path(state)));
            }
            let beyond = most.get(&component[to]).copied().unwrap_or_default();
            let here = most.entry(component[state]).or_default();
            *here = (*here).max(kicks + beyond);
        }
    }
    Ok(most.values().copied().max().unwrap_or_default())
}

/// Tarjan's strongly connected components, without recursion.
fn components(edges: &[Vec<(usize, usize)>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let (mut index, mut low, mut component) =
        (vec![NONE; edges.len()], vec![NONE; edges.len()], vec![NONE; edges.len()]);
    let (mut stack, mut trail, mut next, mut count) = (Vec::new(), vec![(0, 0)], 0, 0);
    while let Some(&mut (at, ref mut edge)) = trail.last_mut() {
        if *edge == 0 && index[at] == NONE {
            (index[at], low[at]) = (next, next);
            next += 1;
            stack.push(at);
        }
        if let Some(&(to, _)) = edges[at].get(*edge) {
            *edge += 1;
            if index[to] == NONE {
                trail.push((to, 0));
            } else if component[to] == NONE {
                low[at] = low[at].min(index[to]);
            }
            continue;
        }
        trail.pop();
        if let Some(&(parent, _)) = trail.last() {
            low[parent] = low[parent].min(low[at]);
        }
        if low[at] == index[at] {
            while let Some(member) = stack.pop() {
                component[member] = count;
                if member == at {
                    break;
                }
            }
            count += 1;
        }
    }
    component
}

/// The most kicks on any path of these edges, or that a kick is on a cycle.
#[track_caller]
fn check(edges: &[&[(usize, usize)]], expected: Option<usize>) {
    let edges: Vec<Vec<_>> = edges.iter().map(|e| e.to_vec()).collect();
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
    // A state that is reached both before and after a cycle.
    check(&[&[(3, 1), (1, 0)], &[(2, 0)], &[(1, 0), (3, 0)], &[(4, 1)], &[]], Some(2));
}
