//! Every row of the class table of DESIGN.md 3, and what each class is shown with.

use chrono::TimeDelta;

use super::*;
use crate::domain::facts::{Facts, Worktree};
use crate::domain::sample::{accepted, at, claim, id, pod, queued, ticket, with};
use crate::domain::workset::{Awaited, WaitKind, Waiting, WorkSet};

const TTL: i64 = 90 * 60;
/// Others respect a claim until two minutes past its time.
const RESPECTED: i64 = TTL + 120;

fn noted(note: Note) -> WorkSet {
    let mut work_set = WorkSet::new("s1");
    *work_set.entry(&id("a")) = note;
    work_set
}

fn awaiting(due: i64) -> WorkSet {
    noted(Note { awaited: Some(Awaited { step: "merge".into(), due: at(due) }), ..Note::default() })
}

fn facts(change: impl FnOnce(&mut Facts)) -> Facts {
    let mut facts = Facts::default();
    change(&mut facts);
    facts
}

/// The class, and the evidence as it is shown.
#[track_caller]
fn check(ticket: &Ticket, work_set: &WorkSet, facts: &Facts, now: i64, class: Class, shown: &str) {
    let found = classify(ticket, work_set, facts, at(now)).expect("a class");
    let evidence: Vec<_> = found.evidence.iter().map(ToString::to_string).collect();
    assert_eq!((found.class, evidence.join("; ").as_str()), (class, shown));
}

#[test]
fn only_queued_and_inprogress_tickets_have_a_class() {
    for state in State::ALL {
        let class = classify(&ticket("a", state), &WorkSet::new("s1"), &Facts::default(), at(0));
        assert_eq!(class.is_some(), matches!(state, State::Queued | State::Inprogress), "{state}");
    }
    let stateless = with(queued("a"), |t| t.state = None);
    assert_eq!(classify(&stateless, &WorkSet::new("s1"), &Facts::default(), at(0)), None);
}

#[test]
fn queued_is_new_or_planned_by_the_work_set_alone() {
    let none = Facts::default();
    let (new, planned) = ("not in the Orchestrator's work set", "in the Orchestrator's work set");
    check(&queued("a"), &WorkSet::new("s1"), &none, 0, Class::NewQueued, new);
    let order = noted(Note { order: Some(3), ..Note::default() });
    check(&queued("a"), &order, &none, 0, Class::PlannedQueued, planned);
    let waiting = Waiting { kind: WaitKind::Other, detail: "later".into() };
    let reason = noted(Note { waiting: Some(waiting), ..Note::default() });
    check(&queued("a"), &reason, &none, 0, Class::PlannedQueued, planned);
    check(&queued("b"), &order, &none, 0, Class::NewQueued, new);
    // Claims, Pods and worktrees make no queued ticket active.
    let busy = facts(|f| {
        f.claims.insert(id("a"), claim("coder", 0));
        let pod = pod("p", "coder", "a");
        f.pods.insert(pod.id.clone(), pod);
    });
    check(&queued("a"), &WorkSet::new("s1"), &busy, 0, Class::NewQueued, new);
}

#[test]
fn a_fresh_claim_of_a_worker_makes_active() {
    let it = accepted("a");
    let none = WorkSet::new("s1");
    let held = facts(|f| drop(f.claims.insert(id("a"), claim("coder", 0))));
    let fresh = "claimed by lane-3, respected until 2026-11-30T10:32:00Z";
    let stale = "the claim of lane-3 is stale";
    check(&it, &none, &held, 0, Class::ActiveInprogress, fresh);
    check(&it, &none, &held, TTL, Class::ActiveInprogress, fresh);
    check(&it, &none, &held, RESPECTED - 1, Class::ActiveInprogress, fresh);
    check(&it, &none, &held, RESPECTED, Class::ActionableInprogress, stale);
    // The Orchestrator's own claim is no delegated step.
    let own = facts(|f| drop(f.claims.insert(id("a"), claim("orchestrator", 0))));
    check(&it, &none, &own, 0, Class::ActionableInprogress, "no claim, no live Pod and no awaited step");
    let other = facts(|f| drop(f.claims.insert(id("b"), claim("coder", 0))));
    check(&it, &none, &other, 0, Class::ActionableInprogress, "no claim, no live Pod and no awaited step");
}

#[test]
fn a_claim_is_fresh_by_its_own_clock_rule() {
    let it = claim("coder", 0);
    let rows = [
        (-60, true, true),
        (0, true, true),
        (TTL - 1, true, true),
        (TTL, false, true),
        (RESPECTED - 1, false, true),
        (RESPECTED, false, false),
    ];
    for (now, holder, others) in rows {
        assert_eq!((it.fresh_for_holder(at(now)), it.fresh_for_others(at(now))), (holder, others), "at {now} s");
    }
    assert_eq!(it.expires(), at(0) + TimeDelta::minutes(92));
}

#[test]
fn a_live_pod_makes_active() {
    let live = |role: &str, ticket: &str| {
        let pod = pod("p", role, ticket);
        facts(|f| drop(f.pods.insert(pod.id.clone(), pod)))
    };
    let (it, none) = (accepted("a"), WorkSet::new("s1"));
    let shown = "a live reviewer Pod works on it (pid 4711)";
    check(&it, &none, &live("reviewer", "a"), 0, Class::ActiveInprogress, shown);
    let nothing = "no claim, no live Pod and no awaited step";
    check(&it, &none, &live("reviewer", "b"), 0, Class::ActionableInprogress, nothing);
    check(&it, &none, &live("orchestrator", "a"), 0, Class::ActionableInprogress, nothing);
    let dead = facts(|f| drop(f.ended_pods.insert(id("a"), ("reviewer".into(), at(-5)))));
    check(&it, &none, &dead, 0, Class::ActionableInprogress, "its reviewer Pod ended at 2026-11-30T08:59:55Z");
}

#[test]
fn a_live_process_inside_the_worktree_is_a_pod() {
    let tree = |live_process| {
        facts(|f| drop(f.worktrees.insert(id("a"), Worktree { path: ".yoi/worktrees/a".into(), live_process })))
    };
    let (it, none) = (accepted("a"), WorkSet::new("s1"));
    check(&it, &none, &tree(Some(99)), 0, Class::ActiveInprogress, "a live process works in its worktree (pid 99)");
    check(&it, &none, &tree(None), 0, Class::ActionableInprogress, "a worktree is left at .yoi/worktrees/a");
}

#[test]
fn an_awaited_step_makes_active_until_it_is_due() {
    let (it, none) = (accepted("a"), Facts::default());
    let shown = "step `merge` is awaited until 2026-11-30T09:01:40Z";
    check(&it, &awaiting(100), &none, 99, Class::ActiveInprogress, shown);
    let overdue = "step `merge` is overdue since 2026-11-30T09:01:40Z";
    check(&it, &awaiting(100), &none, 100, Class::ActionableInprogress, overdue);
    // In the work set without a step is nothing under way.
    let planned = noted(Note { order: Some(1), ..Note::default() });
    let nothing = "no claim, no live Pod and no awaited step";
    check(&it, &planned, &none, 0, Class::ActionableInprogress, nothing);
}

#[test]
fn all_that_is_left_behind_is_shown() {
    let left = facts(|f| {
        f.claims.insert(id("a"), claim("coder", -RESPECTED));
        f.ended_pods.insert(id("a"), ("coder".into(), at(-5)));
        f.worktrees.insert(id("a"), Worktree { path: "w".into(), live_process: None });
    });
    let shown = "the claim of lane-3 is stale; its coder Pod ended at 2026-11-30T08:59:55Z; \
        step `merge` is overdue since 2026-11-30T08:59:59Z; a worktree is left at w";
    check(&accepted("a"), &awaiting(-1), &left, 0, Class::ActionableInprogress, shown);
}

#[test]
fn inprogress_by_hand_is_actionable_and_says_so() {
    let shown = "no acceptance is recorded in the file (accepted_by, accepted_at)";
    let by_hand = ticket("a", State::Inprogress);
    check(&by_hand, &WorkSet::new("s1"), &Facts::default(), 0, Class::ActionableInprogress, shown);
    let none = with(accepted("a"), |t| t.stamps.queued_at = Some(at(-1)));
    check(&none, &WorkSet::new("s1"), &Facts::default(), 0, Class::ActionableInprogress, shown);
}

#[test]
fn names_of_classes_are_stable() {
    for class in Class::ALL {
        assert_eq!(class.as_str().parse(), Ok(class));
        assert_eq!(serde_json::to_value(class).unwrap(), class.as_str());
    }
    let said = "active".parse::<Class>().unwrap_err();
    assert!(said.contains("`active` is not a class") && said.contains("actionable_inprogress"), "{said}");
}
