//! The attention list of DESIGN.md 5: what is on it, in which order, and what is kept off it and why.

use super::*;
use crate::domain::facts::Facts;
use crate::domain::glance::glance;
use crate::domain::policy::Policy;
use crate::domain::sample::{accepted, at, backlog, id, ids, pod, queued, texts, ticket, with};
use crate::domain::ticket::{Priority, State};
use crate::domain::workset::{Awaited, Note, Waiting};

/// What the list is derived from, all of it changeable.
struct Board {
    tickets: Vec<Ticket>,
    work_set: WorkSet,
    facts: Facts,
    policy: Policy,
    seen: BTreeSet<TicketId>,
    shown_gated: BTreeSet<TicketId>,
    doubted: BTreeSet<TicketId>,
    reverted: BTreeSet<TicketId>,
    explicit: bool,
}

fn board(tickets: Vec<Ticket>, change: impl FnOnce(&mut Board)) -> Attention {
    let mut board = Board {
        tickets,
        work_set: WorkSet::new("s1"),
        facts: Facts::default(),
        policy: Policy::default(),
        seen: BTreeSet::new(),
        shown_gated: BTreeSet::new(),
        doubted: BTreeSet::new(),
        reverted: BTreeSet::new(),
        explicit: false,
    };
    change(&mut board);
    let backlog = backlog(board.tickets.clone());
    let view = View {
        ground: Ground { backlog: &backlog, facts: &board.facts, policy: &board.policy },
        work_set: &board.work_set,
        seen: &board.seen,
        shown_gated: &board.shown_gated,
        doubted: &board.doubted,
        reverted: &board.reverted,
        explicit: board.explicit,
        now: at(0),
    };
    let found = attention(view);
    for most in [0, 1, 2, 10] {
        assert_eq!(glance(view, most), found.glance(most), "at a glance it is the same list");
    }
    found
}

fn plan(board: &mut Board, name: &str, order: Option<i64>) {
    board.work_set.entry(&id(name)).order = order;
}

fn wait(board: &mut Board, name: &str, kind: WaitKind) {
    let detail = "in the Orchestrator's own words".into();
    *board.work_set.entry(&id(name)) = Note { waiting: Some(Waiting { kind, detail }), ..Note::default() };
}

fn work_on(board: &mut Board, name: &str) {
    let pod = pod("p", "coder", name);
    board.facts.pods.insert(pod.id.clone(), pod);
}

/// The ids on the list in order, and after `|` what is held with the kind of its reason.
#[track_caller]
fn check(found: &Attention, expected: &str) {
    let items: Vec<_> = found.items.iter().map(|i| i.id.to_string()).collect();
    let held = found.held.iter().map(|h| format!("{}:{}", h.id, h.kind.map_or("active", WaitKind::as_str)));
    let held: Vec<_> = held.collect();
    assert_eq!(format!("{} | {}", items.join(" "), held.join(" ")).trim(), expected);
}

fn gated(ticket: Ticket) -> Ticket {
    with(ticket, |t| t.human_gate = Some("sign-off".into()))
}

#[test]
fn only_actionable_new_and_startable_planned_tickets_are_listed() {
    for state in State::ALL {
        let listed = matches!(state, State::Queued | State::Inprogress);
        check(&board(vec![ticket("a", state)], |_| {}), if listed { "a |" } else { "|" });
    }
    let all = || vec![accepted("a"), queued("n"), queued("p")];
    check(&board(all(), |b| plan(b, "p", Some(1))), "a n p |");
    let classes = board(all(), |b| plan(b, "p", Some(1)));
    let classes: Vec<_> = classes.items.iter().map(|i| i.class).collect();
    assert_eq!(classes, [Class::ActionableInprogress, Class::NewQueued, Class::PlannedQueued]);
}

#[test]
fn actionable_tickets_are_routed_unless_a_human_gate_holds_them() {
    check(&board(vec![accepted("a")], |_| {}), "a |");
    check(&board(vec![gated(accepted("a"))], |_| {}), "|");
    for label in ["blocked", "needs-human"] {
        check(&board(vec![with(accepted("a"), |t| t.labels = texts(&[label]))], |_| {}), "|");
    }
    // No other gate matters any more.
    let busy = vec![with(accepted("a"), |t| t.depends_on = ids(&["nowhere"])), accepted("b")];
    check(&board(busy, |b| b.policy.capacity.max_inprogress = Some(1)), "a b |");
}

#[test]
fn active_work_holds_the_queue_and_not_what_is_to_be_routed() {
    let all = || vec![accepted("a"), accepted("b"), queued("n"), queued("p")];
    let found = board(all(), |b| {
        plan(b, "p", None);
        work_on(b, "b");
    });
    check(&found, "a | n:active p:active");
    assert_eq!(found.active, ids(&["b"]));
    // Stuck work without live evidence silences nothing.
    check(&board(all(), |b| plan(b, "p", None)), "a b n p |");
    // Neither does active work in another state.
    check(&board(vec![queued("n"), queued("p")], |b| work_on(b, "p")), "n p |");
    let awaited = board(all(), |b| {
        let due = at(60);
        b.work_set.entry(&id("b")).awaited = Some(Awaited { step: "merge".into(), due });
    });
    check(&awaited, "a | n:active p:active");
}

#[test]
fn new_tickets_are_inspected_whatever_gate_holds_them() {
    let dependent = with(queued("n"), |t| t.depends_on = ids(&["b"]));
    let found = board(vec![dependent, ticket("b", State::Planning)], |_| {});
    check(&found, "n |");
    assert!(found.items[0].reason.contains("depends on `b`, which is planning"), "{}", found.items[0].reason);
    assert!(!found.items[0].next_step.contains("accept"), "what is held cannot be accepted");
    let found = board(vec![queued("n")], |_| {});
    assert!(found.items[0].next_step.contains("yoi accept"));
}

#[test]
fn a_human_gated_new_ticket_is_shown_once() {
    check(&board(vec![gated(queued("n"))], |_| {}), "n |");
    check(&board(vec![gated(queued("n"))], |b| b.shown_gated.extend(ids(&["n"]))), "| n:human_gate");
    // Once the gate is gone, having been shown does not matter.
    check(&board(vec![queued("n")], |b| b.shown_gated.extend(ids(&["n"]))), "n |");
    for label in ["needs-human", "blocked"] {
        let it = || vec![with(queued("n"), |t| t.labels = texts(&[label]))];
        check(&board(it(), |_| {}), "| n:human_gate");
        check(&board(it(), |b| b.explicit = true), "| n:human_gate");
    }
}

#[test]
fn planned_tickets_are_listed_when_no_gate_and_no_reason_holds_them() {
    check(&board(vec![queued("p")], |b| plan(b, "p", None)), "p |");
    let held = with(queued("p"), |t| t.depends_on = ids(&["nowhere"]));
    check(&board(vec![held], |b| plan(b, "p", None)), "| p:dependency");
    check(&board(vec![gated(queued("p"))], |b| plan(b, "p", None)), "| p:human_gate");
    let full = board(vec![accepted("a"), queued("p")], |b| {
        plan(b, "p", None);
        b.policy.capacity.max_inprogress = Some(1);
    });
    check(&full, "a | p:capacity");
    for kind in WaitKind::ALL {
        let expected = format!("| p:{kind}");
        check(&board(vec![queued("p")], |b| wait(b, "p", kind)), &expected);
    }
}

#[test]
fn other_reasons_are_shown_again_at_explicit_boundaries() {
    let explicit = |kind| {
        board(vec![queued("p")], |b| {
            wait(b, "p", kind);
            b.explicit = true;
        })
    };
    check(&explicit(WaitKind::Other), "p |");
    check(&explicit(WaitKind::Dependency), "| p:dependency");
}

#[test]
fn the_orchestrators_wording_is_never_in_a_reason() {
    for explicit in [false, true] {
        let found = board(vec![queued("p")], |b| {
            wait(b, "p", WaitKind::Other);
            b.explicit = explicit;
        });
        assert!(!format!("{found:?}").contains("own words"), "{found:?}");
    }
}

#[test]
fn unseen_first_then_class_priority_and_age() {
    let queued_at = |name: &str, priority: u8, age: i64| {
        with(queued(name), |t| {
            t.priority = Priority::new(priority).unwrap();
            t.stamps.queued_at = Some(at(-age));
        })
    };
    let all = || {
        vec![
            queued_at("young", 1, 10),
            queued_at("old", 1, 20),
            queued_at("urgent", 0, 5),
            queued_at("planned", 0, 99),
            accepted("stuck"),
            queued_at("later", 4, 999),
        ]
    };
    let planned = |b: &mut Board| plan(b, "planned", None);
    check(&board(all(), planned), "stuck urgent old young later planned |");
    let seen = board(all(), |b| {
        planned(b);
        b.seen = ids(&["stuck", "urgent"]).into_iter().collect();
    });
    check(&seen, "old young later planned stuck urgent |");
    assert_eq!(seen.items.iter().filter(|i| i.seen).count(), 2);
    // A ticket without a stamp comes after its equals; equals are in order of their ids.
    let bare = |name: &str| with(queued(name), |t| t.stamps.queued_at = None);
    check(&board(vec![bare("b"), bare("a"), queued("z")], |_| {}), "z a b |");
}

#[test]
fn the_orchestrators_order_ranks_planned_tickets_alone() {
    let all = || {
        vec![accepted("a"), with(accepted("b"), |t| t.priority = Priority::new(0).unwrap()), queued("p"), queued("q")]
    };
    let ordered = board(all(), |b| {
        plan(b, "a", Some(1));
        plan(b, "p", None);
        plan(b, "q", Some(9));
    });
    check(&ordered, "b a q p |");
}

#[test]
fn titles_are_cut_to_120_characters() {
    for (length, expected) in [(119, 119), (120, 120), (121, 120), (4000, 120)] {
        let it = with(queued("n"), |t| t.title = "ü".repeat(length));
        let title = board(vec![it], |_| {}).items[0].title.clone();
        assert_eq!(title.chars().count(), expected, "of {length}");
        assert_eq!(title.ends_with('…'), length > 120);
    }
}

#[test]
fn every_item_says_why_and_what_next() {
    let by_hand = ticket("h", State::Inprogress);
    let found = board(vec![accepted("a"), by_hand, queued("n"), queued("p")], |b| plan(b, "p", None));
    let said: Vec<_> = found.items.iter().map(|i| format!("{}: {} => {}", i.id, i.reason, i.next_step)).collect();
    insta::assert_snapshot!(said.join("\n"), @r"
    a: no claim, no live Pod and no awaited step => route it: delegate the next step, `yoi await` one under way, or move it on
    h: no acceptance is recorded in the file (accepted_by, accepted_at) => route it: `yoi accept` it if it is to go on, or move it back
    n: queued, and not yet taken note of => inspect it; `yoi plan` it with an order, `yoi wait` with a reason, or `yoi accept` it
    p: planned, and nothing holds it any more => `yoi accept` it, or `yoi wait` with a reason
    ");
}

#[test]
fn old_text_that_came_back_is_on_no_list() {
    use crate::domain::claim::{End, EndedClaim, Outcome};
    let ended = EndedClaim { worker: "lane-3".into(), end: End::Released(Outcome::Done), at: at(0) };
    let labelled = with(queued("e"), |t| t.labels = texts(&["blocked"]));
    let tickets = vec![accepted("a"), queued("b"), queued("c"), queued("d"), labelled, accepted("f"), accepted("g")];
    for active in [false, true] {
        let found = board(tickets.clone(), |board| {
            for name in ["a", "b", "c", "e", "g"] {
                board.facts.ended_claims.insert(id(name), ended.clone());
                board.reverted.insert(id(name));
            }
            plan(board, "c", Some(1));
            if active {
                let pod = pod("p", "coder", "g");
                board.facts.pods.insert(pod.id.clone(), pod);
            }
        });
        let items: Vec<_> = found.items.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(items, if active { vec!["f"] } else { vec!["f", "d"] });
        let held: Vec<_> = found.held.iter().filter(|held| held.kind == Some(WaitKind::HumanGate)).collect();
        assert_eq!(held.len(), 3, "{held:?}");
        assert!(held[0].reason.starts_with("reverted: lane-3 released its claim as done"), "{held:?}");
    }
}
