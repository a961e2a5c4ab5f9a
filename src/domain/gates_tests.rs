//! Every gate of DESIGN.md 6.1, with its evidence.

use super::*;
use crate::domain::policy;
use crate::domain::sample::{accepted, backlog, id, ids, queued, texts, ticket, with};
use crate::domain::ticket::{Diagnostic, Ticket};

use crate::domain::backlog::Entry;

/// The gates that hold, and a part of what each says.
type Expected<'a> = &'a [(WaitKind, &'a str)];

/// What holds the first ticket among all of these, under a policy and with a main worktree.
fn judge(tickets: &[Ticket], policy: &Policy, dirty: Dirty) -> Vec<(WaitKind, String)> {
    let backlog = backlog(tickets.iter().cloned());
    let facts = Facts { dirty, ..Facts::default() };
    let ground = Ground { backlog: &backlog, facts: &facts, policy };
    let found = holds(&tickets[0], ground);
    assert_eq!(is_held(&tickets[0], ground), !found.is_empty());
    let gates: std::collections::BTreeSet<_> = found.iter().map(|hold| hold.gate).collect();
    assert_eq!(held_by(&tickets[0], ground).into_iter().collect::<std::collections::BTreeSet<_>>(), gates);
    found.into_iter().map(|h| (h.gate, h.evidence)).collect()
}

/// What is expected to hold the first ticket where capacity is unlimited and nothing is dirty.
#[track_caller]
fn check(name: &str, tickets: &[Ticket], expected: Expected<'_>) {
    let policy = Policy { capacity: policy::Capacity { max_inprogress: None }, ..Policy::default() };
    check_with(name, tickets, &policy, Dirty::Clean, expected);
}

#[track_caller]
fn check_with(name: &str, tickets: &[Ticket], policy: &Policy, dirty: Dirty, expected: Expected<'_>) {
    let found = judge(tickets, policy, dirty);
    let kinds: Vec<_> = found.iter().map(|f| f.0).collect();
    assert_eq!(kinds, expected.iter().map(|e| e.0).collect::<Vec<_>>(), "{name}: {found:?}");
    for ((_, said), (_, part)) in found.iter().zip(expected) {
        assert!(said.contains(part), "{name}: `{part}` is missing in `{said}`");
        assert!(!said.contains('\n'), "{name}: evidence is one line");
    }
}

fn after(ticket: Ticket, depends_on: &[&str]) -> Ticket {
    with(ticket, |t| t.depends_on = ids(depends_on))
}

fn touching(ticket: Ticket, touches: &[&str]) -> Ticket {
    with(ticket, |t| t.touches = texts(touches))
}

#[test]
fn a_direct_dependency_must_be_done_or_closed() {
    use WaitKind::Dependency;
    for state in State::ALL {
        let open = !matches!(state, State::Done | State::Closed);
        let said = format!("depends on `b`, which is {state}");
        let expected = if open { vec![(Dependency, said.as_str())] } else { vec![] };
        check(state.as_str(), &[after(queued("a"), &["b"]), ticket("b", state)], &expected);
    }
    // Only direct ones: b is done, whatever b depends on.
    let chain = [after(queued("a"), &["b"]), after(ticket("b", State::Done), &["c"]), ticket("c", State::Planning)];
    check("indirect", &chain, &[]);
    let two = [after(queued("a"), &["b", "c"]), queued("b"), ticket("c", State::Ready)];
    check("each is named", &two, &[(Dependency, "`b`, which is queued"), (Dependency, "`c`, which is ready")]);
}

#[test]
fn an_unknown_dependency_holds_and_is_named() {
    use WaitKind::Dependency;
    check("unknown", &[after(queued("a"), &["nowhere"])], &[(Dependency, "`nowhere`, which is no ticket here")]);
    let stateless = with(queued("b"), |t| t.state = None);
    check("no state", &[after(queued("a"), &["b"]), stateless], &[(Dependency, "`b`, whose state cannot be read")]);
    // Of two files with the id neither counts, even if one is done.
    let twin = with(ticket("b", State::Done), |t| t.path = "tickets/sub/b.md".into());
    let doubled = [after(queued("a"), &["b"]), ticket("b", State::Done), twin];
    check("doubled", &doubled, &[(Dependency, "`b`, an id that several files have")]);
}

#[test]
fn an_unreadable_dependency_holds() {
    let a = after(queued("a"), &["b"]);
    let error = Diagnostic { line: 3, column: 1, message: "odd".into() };
    let path = std::path::PathBuf::from("tickets/b.md");
    let unreadable = Entry::Unreadable { id: id("b"), path: path.clone(), error };
    let backlog = Backlog::of([(a.path.clone(), Entry::Ticket(a.clone())), (path, unreadable)]);
    let (facts, policy) = (Facts::default(), Policy::default());
    let found = holds(&a, Ground { backlog: &backlog, facts: &facts, policy: &policy });
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].evidence, "depends on `b`, whose file cannot be read");
}

#[test]
fn a_cycle_is_reported_and_others_are_not_blamed_for_it() {
    use WaitKind::Dependency;
    let own = [after(queued("a"), &["a"])];
    check("self", &own, &[(Dependency, "`a`, which is queued"), (Dependency, "`a` -> `a`")]);
    let three = [after(queued("a"), &["b"]), after(queued("b"), &["c"]), after(queued("c"), &["a"])];
    check("three", &three, &[(Dependency, "`b`"), (Dependency, "`a` -> `b` -> `c` -> `a`")]);
    // Waits for a cycle without being in it.
    let beside = [after(queued("x"), &["b"]), after(queued("b"), &["c"]), after(queued("c"), &["b"])];
    check("beside", &beside, &[(Dependency, "`b`, which is queued")]);
    // A circle that is broken by a finished ticket holds nobody.
    let broken = [after(queued("a"), &["b"]), after(ticket("b", State::Closed), &["a"])];
    check("broken", &broken, &[]);
}

#[test]
fn a_long_chain_and_a_wide_diamond_are_no_problem() {
    let name = |n: usize| format!("t{n}");
    let mut all: Vec<_> =
        (0..20_000).map(|n| with(queued(&name(n)), |t| t.depends_on = vec![TicketId::new(name(n + 1))])).collect();
    all.push(queued("t20000"));
    check("chain", &all, &[(WaitKind::Dependency, "`t1`")]);
    // Each layer of two depends on both of the next: 2^20 ways, which must not all be walked.
    let mut diamond = vec![after(queued("a"), &["0x", "0y"])];
    for n in 0..20 {
        for side in ["x", "y"] {
            let next = [format!("{}x", n + 1), format!("{}y", n + 1)];
            diamond.push(with(queued(&format!("{n}{side}")), |t| t.depends_on = next.map(TicketId::new).to_vec()));
        }
    }
    diamond.extend([queued("20x"), queued("20y")]);
    check("diamond", &diamond, &[(WaitKind::Dependency, "`0x`"), (WaitKind::Dependency, "`0y`")]);
}

#[test]
fn named_conflicts_hold_while_the_other_is_inprogress() {
    for state in State::ALL {
        let active = state == State::Inprogress;
        let expected: &[_] =
            if active { &[(WaitKind::Conflict, "conflicts with `b`, which is inprogress")] } else { &[] };
        let mine = with(queued("a"), |t| t.conflicts_with = ids(&["b"]));
        check("mine", &[mine, ticket("b", state)], expected);
        let theirs = with(ticket("b", state), |t| t.conflicts_with = ids(&["a"]));
        check("theirs", &[queued("a"), theirs], expected);
    }
}

#[test]
fn overlapping_touches_are_a_conflict() {
    let rows = [
        ("src/auth", "src/auth", true),
        ("src/auth", "src/auth/", true),
        ("src/auth", "./src/auth", true),
        ("src", "src/auth/login.rs", true),
        ("src/auth/login.rs", "src", true),
        ("src/auth", "src/authority", false),
        ("src/auth", "docs/auth.md", false),
        ("src/auth", "auth", false),
        (".", "src", true),
    ];
    for (mine, theirs, overlap) in rows {
        let expected: &[_] = if overlap { &[(WaitKind::Conflict, "`b`, which is inprogress, touches")] } else { &[] };
        check(mine, &[touching(queued("a"), &[mine]), touching(accepted("b"), &[theirs])], expected);
    }
    check("not active", &[touching(queued("a"), &["x"]), touching(queued("b"), &["x"])], &[]);
    check(
        "second of each",
        &[touching(queued("a"), &["p", "x"]), touching(accepted("b"), &["q", "x"])],
        &[(WaitKind::Conflict, "touches `x`")],
    );
    // The ticket itself is no conflict of its own.
    check("itself", &[touching(accepted("a"), &["x"])], &[]);
    // A human gate takes the other out of the capacity, not out of the conflicts.
    let gated = with(touching(accepted("b"), &["x"]), |t| t.human_gate = Some("wait".into()));
    check("gated", &[touching(queued("a"), &["x"]), gated], &[(WaitKind::Conflict, "`b`")]);
}

#[test]
fn the_dirty_gate_by_policy_and_probe() {
    let kind = WaitKind::DirtyWorkspace;
    let changed = || Dirty::Changed(texts(&["src/a.rs", "b.rs"]));
    let failed = || Dirty::Failed("no index".into());
    let rows: [(DirtyGate, Dirty, Expected); 8] = [
        (DirtyGate::Block, Dirty::Clean, &[]),
        (DirtyGate::Block, Dirty::NotProbed, &[]),
        (DirtyGate::Block, changed(), &[(kind, "src/a.rs, b.rs")]),
        (DirtyGate::Block, failed(), &[(kind, "no index")]),
        (DirtyGate::Warn, changed(), &[]),
        (DirtyGate::Warn, failed(), &[]),
        (DirtyGate::Off, changed(), &[]),
        (DirtyGate::Off, failed(), &[]),
    ];
    for (gate, dirty, expected) in rows {
        let policy = Policy { dirty_workspace: gate, ..Policy::default() };
        check_with(&format!("{gate:?} {dirty:?}"), &[queued("a")], &policy, dirty, expected);
    }
    assert_eq!(Policy::default().dirty_workspace, DirtyGate::Block);
}

#[test]
fn capacity_counts_other_inprogress_tickets_that_no_human_gate_holds() {
    let kind = WaitKind::Capacity;
    let gated = |it: &str| with(accepted(it), |t| t.human_gate = Some("sign-off".into()));
    let labelled = |it: &str, label: &str| with(accepted(it), |t| t.labels = texts(&[label]));
    let rows: [(&str, Option<usize>, Vec<Ticket>, Expected); 10] = [
        ("none", Some(1), vec![], &[]),
        ("one of one", Some(1), vec![accepted("b")], &[(kind, "1 of 1 in progress already: `b`")]),
        ("one of two", Some(2), vec![accepted("b")], &[]),
        ("two of two", Some(2), vec![accepted("b"), accepted("c")], &[(kind, "2 of 2")]),
        ("over", Some(1), vec![accepted("b"), accepted("c")], &[(kind, "2 of 1 in progress already: `b`, `c`")]),
        ("unlimited", None, vec![accepted("b"), accepted("c")], &[]),
        ("gated", Some(1), vec![gated("b")], &[]),
        ("needs-human", Some(1), vec![labelled("b", "needs-human")], &[]),
        ("blocked", Some(1), vec![labelled("b", "blocked")], &[]),
        ("others do not count", Some(1), vec![queued("b"), ticket("c", State::Done)], &[]),
    ];
    for (name, max_inprogress, others, expected) in rows {
        let policy = Policy { capacity: policy::Capacity { max_inprogress }, ..Policy::default() };
        let all: Vec<_> = [queued("a")].into_iter().chain(others).collect();
        check_with(name, &all, &policy, Dirty::Clean, expected);
    }
    let policy = Policy { capacity: policy::Capacity { max_inprogress: Some(1) }, ..Policy::default() };
    check_with("never itself", &[accepted("a")], &policy, Dirty::Clean, &[]);
}

#[test]
fn the_human_gate() {
    let kind = WaitKind::HumanGate;
    check("open", &[queued("a")], &[]);
    check("key", &[with(queued("a"), |t| t.human_gate = Some("needs sign-off".into()))], &[(kind, "needs sign-off")]);
    for label in ["needs-human", "blocked"] {
        check(label, &[with(queued("a"), |t| t.labels = texts(&["x", label]))], &[(kind, label)]);
    }
    check("other labels", &[with(queued("a"), |t| t.labels = texts(&["orphan", "Blocked", "agent-ready"]))], &[]);
}

#[test]
fn every_gate_that_holds_is_listed() {
    use WaitKind::{Capacity, Conflict, Dependency, DirtyWorkspace, HumanGate};
    let all = [
        with(touching(after(queued("a"), &["b"]), &["src"]), |t| t.human_gate = Some("why".into())),
        touching(accepted("b"), &["src"]),
    ];
    let policy = Policy { capacity: policy::Capacity { max_inprogress: Some(1) }, ..Policy::default() };
    let kinds: Vec<_> = judge(&all, &policy, Dirty::Changed(texts(&["x"]))).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [Dependency, Conflict, DirtyWorkspace, Capacity, HumanGate]);
}

#[test]
fn ticket_text_in_evidence_is_quoted_and_short() {
    let hostile = format!("x`\n2. `forged` {}", "y".repeat(500));
    let gated = with(queued("a"), |t| t.human_gate = Some(hostile.clone()));
    for ticket in [gated, after(queued("a"), &[&hostile]), touching(queued("a"), &["x`y"])] {
        let backlog = backlog([ticket.clone(), touching(accepted("b`c"), &["x`y"])]);
        let (facts, policy) = (Facts::default(), Policy::default());
        for hold in holds(&ticket, Ground { backlog: &backlog, facts: &facts, policy: &policy }) {
            let (evidence, spans) = (hold.evidence.clone(), hold.evidence.matches('`').count());
            assert!(spans % 2 == 0 && spans <= 6 && !evidence.contains('\n') && evidence.len() < 400, "{evidence}");
        }
    }
}
