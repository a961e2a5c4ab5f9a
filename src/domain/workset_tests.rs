//! Notes and their order.

use super::*;
use crate::domain::sample::{at, id};

#[test]
fn entries_come_by_order_then_by_id_and_the_unordered_last() {
    let mut work_set = WorkSet::new("s1");
    for (name, order) in [("d", None), ("c", Some(2)), ("b", Some(2)), ("a", None), ("z", Some(-1))] {
        work_set.entry(&id(name)).order = order;
    }
    let order: Vec<_> = work_set.in_order().into_iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(order, ["z", "b", "c", "a", "d"]);
    let ids: Vec<_> = work_set.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "d", "z"]);
}

#[test]
fn an_entry_is_made_once_and_ends_once() {
    let mut work_set = WorkSet::new("s1");
    assert_eq!(work_set.get(&id("a")), None);
    assert!(work_set.get_mut(&id("a")).is_none());
    work_set.entry(&id("a")).order = Some(1);
    assert_eq!(work_set.entry(&id("a")).order, Some(1));
    assert_eq!(work_set.remove(&id("a")).and_then(|note| note.order), Some(1));
    assert_eq!(work_set.remove(&id("a")), None);
}

#[test]
fn a_clock_set_back_moves_what_is_due() {
    let mut work_set = WorkSet::new("s1");
    work_set.entry(&id("a")).awaited = Some(Awaited { step: "merge".into(), due: at(60) });
    work_set.entry(&id("b"));
    work_set.shift(TimeDelta::hours(1));
    assert_eq!(work_set.get(&id("a")).unwrap().awaited.as_ref().unwrap().due, at(60 - 3600));
}

#[test]
fn kinds_of_reasons_by_name() {
    let names: Vec<_> = WaitKind::ALL.iter().map(|k| k.as_str()).collect();
    assert_eq!(names, ["dependency", "conflict", "dirty_workspace", "capacity", "human_gate", "other"]);
    for kind in WaitKind::ALL {
        assert_eq!(kind.as_str().parse(), Ok(kind));
        assert_eq!(kind.as_str().replace('_', "-").parse(), Ok(kind), "as it is typed");
    }
    assert!("later".parse::<WaitKind>().unwrap_err().contains("dirty_workspace"));
}
