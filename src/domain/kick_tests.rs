//! Every row of the decision table of DESIGN.md 5: the first that holds wins.

use super::*;
use crate::domain::attention::{Attention, Held};
use crate::domain::classify::Class;
use crate::domain::sample::{at, id};
use crate::domain::workset::WaitKind;
use Boundary::*;

fn item(name: &str, seen: bool) -> Item {
    let (reason, next_step) = ("reason".into(), "step".into());
    Item { id: id(name), title: name.into(), class: Class::NewQueued, reason, next_step, seen }
}

fn held(name: &str, kind: Option<WaitKind>) -> Held {
    Held { id: id(name), kind, reason: "reason".into() }
}

/// A situation in which a kick follows, to be changed by each row.
struct Case {
    presence: Presence,
    attention: Attention,
    standing: Standing,
    max_items: usize,
}

fn case(change: impl FnOnce(&mut Case)) -> Case {
    let attention = Attention { items: vec![item("a", false)], ..Attention::default() };
    let mut case = Case { presence: Presence::Idle, attention, standing: Standing::default(), max_items: 10 };
    change(&mut case);
    case
}

fn decided(case: &Case, causes: &[Boundary]) -> (u8, String) {
    let list = case.attention.glance(case.max_items);
    let decision = decide(Causes(causes), &case.presence, &list, &case.standing, at(0));
    let name = match &decision {
        Decision::Kick { items, left_out } => {
            format!("kick {} +{left_out}", items.iter().map(|i| i.id.as_str()).collect::<Vec<_>>().join(" "))
        }
        Decision::Suppress(Suppression::BackingOff(until)) => {
            format!("backing_off {:?}", until.map(|u| (u - at(0)).num_seconds()))
        }
        Decision::Suppress(why) => why.as_str().to_owned(),
    };
    (decision.row(), name)
}

const AUTOMATIC: [Boundary; 5] = [OrchestratorIdle, TicketQueued, GateCleared, DelegateFinished, ReofferIdle];
const EXPLICIT: [Boundary; 4] = [OrchestratorSpawn, OrchestratorRestore, PanelOpen, UserKick];

/// The row and outcome for each automatic boundary, for each explicit one but `user_kick`, and for that.
#[track_caller]
fn check(name: &str, case: &Case, automatic: (u8, &str), explicit: (u8, &str), user: (u8, &str)) {
    for boundary in Boundary::ALL {
        let expected = match boundary {
            UserKick => user,
            OrchestratorSpawn | OrchestratorRestore | PanelOpen => explicit,
            _ => automatic,
        };
        assert_eq!(decided(case, &[boundary]), (expected.0, expected.1.to_owned()), "{name}: {boundary}");
    }
}

#[track_caller]
fn check_all(name: &str, case: &Case, expected: (u8, &str)) {
    check(name, case, expected, expected, expected);
}

const KICK: (u8, &str) = (7, "kick a +0");

#[test]
fn row_1_no_orchestrator() {
    let none = |c: &mut Case| c.presence = Presence::None("none is configured".into());
    check_all("none", &case(none), (1, "no_orchestrator"));
    check_all("paused", &case(|c| c.presence = Presence::Paused("paused".into())), (1, "paused"));
    // It wins over everything below.
    let empty = |c: &mut Case| {
        none(c);
        c.attention = Attention::default();
        c.standing.failures = 3;
    };
    check_all("first", &case(empty), (1, "no_orchestrator"));
}

#[test]
fn row_2_not_idle() {
    check_all("busy", &case(|c| c.presence = Presence::Busy), (2, "busy"));
    let nothing = |c: &mut Case| (c.presence, c.attention) = (Presence::Busy, Attention::default());
    check_all("busy with nothing to do", &case(nothing), (2, "busy"));
}

#[test]
fn row_3_nothing_needs_attention() {
    let list = |held: Vec<Held>, active: &[&str]| {
        let active = active.iter().map(|a| id(a)).collect();
        case(|c| c.attention = Attention { items: vec![], held, active })
    };
    check_all("nothing", &list(vec![], &[]), (3, "nothing_queued"));
    let gate = || held("b", Some(WaitKind::Dependency));
    check_all("waiting", &list(vec![gate()], &[]), (3, "nothing_startable"));
    check_all("waiting beside active work", &list(vec![gate()], &["x"]), (3, "nothing_startable"));
    check_all("held by active work alone", &list(vec![held("b", None)], &["x"]), (3, "active_inprogress"));
    check_all("one of them", &list(vec![gate(), held("b", None)], &["x"]), (3, "active_inprogress"));
    // It wins over the rows below.
    let mut worn = list(vec![gate()], &[]);
    worn.standing = Standing { failures: 3, fruitless: 3, rate_limited_until: Some(at(9)), ..Standing::default() };
    check_all("first", &worn, (3, "nothing_startable"));
}

#[test]
fn row_4_backing_off() {
    let limited = case(|c| c.standing.rate_limited_until = Some(at(9)));
    check("rate limit", &limited, (4, "backing_off Some(9)"), (4, "backing_off Some(9)"), KICK);
    check_all("rate limit over", &case(|c| c.standing.rate_limited_until = Some(at(0))), KICK);
    let failed = case(|c| (c.standing.failures, c.standing.backing_off_until) = (1, Some(at(10))));
    check("after a failure", &failed, (4, "backing_off Some(10)"), KICK, KICK);
    check_all("wait over", &case(|c| (c.standing.failures, c.standing.backing_off_until) = (2, Some(at(0)))), KICK);
    let gave_up = case(|c| c.standing.failures = 3);
    check("three failures", &gave_up, (4, "backing_off None"), KICK, KICK);
    let both = case(|c| (c.standing.failures, c.standing.rate_limited_until) = (3, Some(at(9))));
    check("limit and failures", &both, (4, "backing_off Some(9)"), (4, "backing_off Some(9)"), KICK);
    let seen = case(|c| (c.standing.failures, c.attention.items) = (3, vec![item("a", true)]));
    check("before row 5", &seen, (4, "backing_off None"), KICK, KICK);
}

#[test]
fn row_5_already_presented() {
    let seen = case(|c| c.attention.items = vec![item("a", true)]);
    for boundary in AUTOMATIC {
        let expected = if boundary == ReofferIdle { KICK } else { (5, "already_presented") };
        assert_eq!(decided(&seen, &[boundary]), (expected.0, expected.1.into()), "{boundary}");
    }
    for boundary in EXPLICIT {
        assert_eq!(decided(&seen, &[boundary]), (7, "kick a +0".into()), "{boundary}");
    }
    // One unseen item among those handed over is enough.
    let one = case(|c| c.attention.items = vec![item("a", false), item("b", true)]);
    check_all("one is new", &one, (7, "kick a b +0"));
    // A panel that opens again within the hour counts as automatic.
    let mut again = seen;
    again.standing.panel_presented_recently = true;
    assert_eq!(decided(&again, &[PanelOpen]), (5, "already_presented".into()));
    assert_eq!(decided(&again, &[OrchestratorSpawn]), (7, "kick a +0".into()));
    assert_eq!(decided(&again, &[UserKick]), (7, "kick a +0".into()));
}

#[test]
fn row_6_ignored_and_brake() {
    let ignored = case(|c| c.standing.fruitless = 3);
    check("three fruitless", &ignored, (6, "ignored"), KICK, KICK);
    check_all("two fruitless", &case(|c| c.standing.fruitless = 2), KICK);
    let braked = case(|c| c.standing.brake_until = Some(at(9)));
    check("brake", &braked, (6, "brake"), KICK, KICK);
    check_all("brake over", &case(|c| c.standing.brake_until = Some(at(0))), KICK);
    let seen = case(|c| (c.standing.fruitless, c.attention.items) = (3, vec![item("a", true)]));
    assert_eq!(decided(&seen, &[TicketQueued]), (5, "already_presented".into()), "row 5 is before row 6");
    assert_eq!(decided(&seen, &[ReofferIdle]), (6, "ignored".into()), "row 6 still bounds a re-offer");
    let panel = case(|c| (c.standing.fruitless, c.standing.panel_presented_recently) = (3, true));
    assert_eq!(decided(&panel, &[PanelOpen]), (6, "ignored".into()), "an automatic panel");
}

#[test]
fn row_7_hands_over_at_most_ten_and_a_count() {
    let many = |n: usize| case(|c| c.attention.items = (0..n).map(|i| item(&format!("t{i}"), false)).collect());
    let (row, said) = decided(&many(500), &[TicketQueued]);
    assert_eq!((row, said.as_str()), (7, "kick t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 +490"));
    assert_eq!(decided(&many(10), &[TicketQueued]).1, "kick t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 +0");
    let three = case(|c| (c.max_items, c.attention.items) = (3, many(5).attention.items));
    assert_eq!(decided(&three, &[TicketQueued]).1, "kick t0 t1 t2 +2");
    // Rows 5 and 6 judge exactly what is handed over.
    let beyond = case(|c| (c.max_items, c.attention.items) = (1, vec![item("a", true), item("b", false)]));
    assert_eq!(decided(&beyond, &[TicketQueued]), (5, "already_presented".into()));
}

#[test]
fn joined_boundaries_count_by_their_strongest() {
    let seen = case(|c| (c.attention.items, c.standing.fruitless) = (vec![item("a", true)], 3));
    assert_eq!(decided(&seen, &[TicketQueued, OrchestratorIdle]).0, 5);
    assert_eq!(decided(&seen, &[TicketQueued, PanelOpen]).0, 7);
    let limited = case(|c| c.standing.rate_limited_until = Some(at(9)));
    assert_eq!(decided(&limited, &[PanelOpen, TicketQueued]).0, 4);
    assert_eq!(decided(&limited, &[PanelOpen, UserKick]).0, 7);
}

#[test]
fn names_are_stable() {
    for boundary in Boundary::ALL {
        assert_eq!(serde_json::to_value(boundary).unwrap(), boundary.as_str());
    }
    let names: Vec<_> = Boundary::ALL.iter().map(|b| b.as_str()).collect();
    insta::assert_snapshot!(names.join(" "), @"panel_open orchestrator_spawn orchestrator_restore orchestrator_idle ticket_queued gate_cleared delegate_finished user_kick reoffer_idle");
}
