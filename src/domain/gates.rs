//! The gates: the rules that keep a queued ticket from starting. One function decides them for every face.
//!
//! Must not know: who asks, how gates are probed. DESIGN.md 6.1.

use std::collections::BTreeSet;

use super::backlog::Backlog;
use super::facts::{Dirty, Facts};
use super::harmless::quoted;
use super::policy::{DirtyGate, Policy};
use super::ticket::{HUMAN_LABELS, State, Ticket, TicketId};
use super::workset::WaitKind;

/// One gate that holds, with its evidence in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Which gate.
    pub gate: WaitKind,
    /// What it rests on, one line.
    pub evidence: String,
}

/// What the gates rest on.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// All tickets.
    pub backlog: &'a Backlog,
    /// The main worktree.
    pub facts: &'a Facts,
    /// Modes and limits.
    pub policy: &'a Policy,
}

/// Every gate that holds this ticket now; empty means that it may start.
pub fn holds(ticket: &Ticket, ground: Ground<'_>) -> Vec<Hold> {
    let mut holds = Vec::new();
    each(ticket, ground, &mut |gate, evidence| holds.push(Hold { gate, evidence: evidence() }));
    let last = holds.iter().rposition(|hold| hold.gate == WaitKind::Dependency);
    if let Some(last) = last
        && let Some(cycle) = cycle(ticket, ground.backlog)
    {
        let evidence = format!("the dependencies go in a circle: {}", cycle.join(" -> "));
        holds.insert(last + 1, Hold { gate: WaitKind::Dependency, evidence });
    }
    holds
}

/// Which gates hold this ticket now: the same, for who does not ask for the evidence.
pub fn held_by(ticket: &Ticket, ground: Ground<'_>) -> Vec<WaitKind> {
    let mut gates = Vec::new();
    each(ticket, ground, &mut |gate, _| gates.push(gate));
    gates
}

/// Whether any gate holds this ticket.
pub fn is_held(ticket: &Ticket, ground: Ground<'_>) -> bool {
    !held_by(ticket, ground).is_empty()
}

/// Told of each reason: the gate, and its evidence in words for who wants it.
type Found<'f> = &'f mut dyn FnMut(WaitKind, &dyn Fn() -> String);

fn each(ticket: &Ticket, ground: Ground<'_>, found: Found<'_>) {
    dependency(ticket, ground.backlog, found);
    conflict(ticket, ground.backlog, found);
    dirty_workspace(ground, found);
    capacity(ticket, ground, found);
    for evidence in human_evidence(ticket) {
        found(WaitKind::HumanGate, &|| evidence.clone());
    }
}

/// Each direct dependency must be done or closed.
fn dependency(ticket: &Ticket, backlog: &Backlog, found: Found<'_>) {
    for id in &ticket.depends_on {
        let other = backlog.get(id);
        if other.is_some_and(|other| matches!(other.state, Some(State::Done | State::Closed))) {
            continue;
        }
        found(WaitKind::Dependency, &|| match other.map(|other| other.state) {
            Some(Some(state)) => format!("depends on {}, which is {state}", quoted(id)),
            Some(None) => format!("depends on {}, whose state cannot be read", quoted(id)),
            None => format!("depends on {}, {}", quoted(id), unknown(id, backlog)),
        });
    }
}

fn unknown(id: &TicketId, backlog: &Backlog) -> &'static str {
    match backlog.paths_of(id).count() {
        0 => "which is no ticket here",
        1 => "whose file cannot be read",
        _ => "an id that several files have",
    }
}

/// A way from the ticket over unfinished dependencies back to itself.
pub fn cycle(ticket: &Ticket, backlog: &Backlog) -> Option<Vec<String>> {
    let mut visited = BTreeSet::new();
    // Depth first with an explicit stack: a long chain must not exhaust the thread's stack.
    let mut trail: Vec<(&TicketId, std::slice::Iter<'_, TicketId>)> = vec![(&ticket.id, ticket.depends_on.iter())];
    while let Some((_, rest)) = trail.last_mut() {
        let Some(next) = rest.next() else {
            trail.pop();
            continue;
        };
        if *next == ticket.id {
            let mut names: Vec<String> = trail.iter().map(|(id, _)| quoted(id)).collect();
            names.push(quoted(&ticket.id));
            return Some(names);
        }
        if let Some(other) = backlog.get(next).filter(|t| !matches!(t.state, Some(State::Done | State::Closed)))
            && visited.insert(next)
        {
            trail.push((&other.id, other.depends_on.iter()));
        }
    }
    None
}

/// Named conflicts (either side may name the other) and overlapping `touches` of tickets in progress.
fn conflict(ticket: &Ticket, backlog: &Backlog, found: Found<'_>) {
    // Only those in progress can conflict that this ticket names, or that name conflicts or paths themselves.
    let named = ticket.conflicts_with.iter().filter(|id| backlog.inprogress().contains(*id));
    let others: BTreeSet<_> = named.chain(backlog.exclusive()).filter(|id| **id != ticket.id).collect();
    for other in others.into_iter().filter_map(|id| backlog.get(id)) {
        if ticket.conflicts_with.contains(&other.id) || other.conflicts_with.contains(&ticket.id) {
            found(WaitKind::Conflict, &|| format!("conflicts with {}, which is inprogress", quoted(&other.id)));
        } else if let Some((mine, theirs)) = overlap(&ticket.touches, &other.touches) {
            found(WaitKind::Conflict, &|| {
                let (mine, id, theirs) = (quoted(mine), quoted(&other.id), quoted(theirs));
                format!("touches {mine}, and {id}, which is inprogress, touches {theirs}")
            });
        }
    }
}

/// The first pair of paths of which one is, or lies inside, the other.
fn overlap<'a>(ours: &'a [String], theirs: &'a [String]) -> Option<(&'a str, &'a str)> {
    ours.iter().find_map(|a| theirs.iter().find(|b| inside(a, b) || inside(b, a)).map(|b| (a.as_str(), b.as_str())))
}

fn inside(inner: &str, outer: &str) -> bool {
    let mut inner = components(inner);
    components(outer).all(|part| inner.next() == Some(part))
}

fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

fn dirty_workspace(ground: Ground<'_>, found: Found<'_>) {
    if ground.policy.dirty_workspace == DirtyGate::Block
        && let Some(evidence) = dirty_evidence(&ground.facts.dirty)
    {
        found(WaitKind::DirtyWorkspace, &|| evidence.clone());
    }
}

/// What is to be said of the main worktree, if anything.
pub fn dirty_evidence(dirty: &Dirty) -> Option<String> {
    match dirty {
        Dirty::NotProbed | Dirty::Clean => None,
        Dirty::Changed(paths) => Some(format!("uncommitted changes in the main worktree: {}", paths.join(", "))),
        Dirty::Failed(why) => Some(format!("git cannot say whether the main worktree is clean: {why}")),
    }
}

/// Counts `inprogress` tickets that no human gate holds, never the ticket itself.
fn capacity(ticket: &Ticket, ground: Ground<'_>, found: Found<'_>) {
    let Some(limit) = ground.policy.capacity.max_inprogress else { return };
    let running = ground.backlog.running();
    let counted = running.len() - usize::from(running.contains(&ticket.id));
    if counted < limit {
        return;
    }
    found(WaitKind::Capacity, &|| {
        let others = running.iter().filter(|id| **id != ticket.id);
        let shown = others.take(5).map(quoted).collect::<Vec<_>>().join(", ");
        let more = if counted > 5 { format!(" and {} more", counted - 5) } else { String::new() };
        format!("{counted} of {limit} in progress already: {shown}{more}")
    });
}

/// `human_gate`, or a label `needs-human` or `blocked`.
pub fn human(ticket: &Ticket) -> Vec<Hold> {
    human_evidence(ticket).map(|evidence| Hold { gate: WaitKind::HumanGate, evidence }).collect()
}

fn human_evidence(ticket: &Ticket) -> impl Iterator<Item = String> {
    let gate = ticket.human_gate.iter().map(|why| format!("human_gate: {}", quoted(why)));
    let labels = HUMAN_LABELS.into_iter().filter(|label| ticket.has_label(label));
    gate.chain(labels.map(|label| format!("label `{label}`")))
}

#[cfg(test)]
#[path = "gates_tests.rs"]
mod tests;
