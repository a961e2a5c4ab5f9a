//! Whose Pod is whose. (The freshness of claims is tested with the classes it makes.)

use super::*;
use crate::domain::sample::{at, claim, id, pod};

#[test]
fn pods_on_a_ticket_are_those_that_name_it() {
    let mut facts = Facts::default();
    for (name, ticket) in [("p1", "a"), ("p2", "b"), ("p3", "a")] {
        facts.pods.insert(PodId(name.into()), pod(name, "coder", ticket));
    }
    let idle = Pod { ticket: None, ..pod("p4", "coder", "a") };
    facts.pods.insert(idle.id.clone(), idle);
    let a = id("a");
    let on: Vec<_> = facts.pods_on(&a).map(|p| p.id.to_string()).collect();
    assert_eq!(on, ["p1", "p3"]);
}

#[test]
fn others_wait_two_minutes_longer_than_the_holder() {
    for ttl in [1, 90 * 60, 24 * 3600] {
        let claim = Claim { ttl: TimeDeltaSeconds(ttl), ..claim("coder", 0) };
        assert_eq!(claim.expires(), at(ttl + 120));
        let (last, over) = (at(ttl - 1), at(ttl));
        assert!(claim.fresh_for_holder(last) && !claim.fresh_for_holder(over) && claim.fresh_for_others(over));
    }
}

#[test]
fn a_recycled_pid_is_another_process() {
    let one = pod("p", "coder", "a").process;
    for other in [
        ProcessIdentity { started: 18, ..one.clone() },
        ProcessIdentity { boot_id: "next".into(), ..one.clone() },
        ProcessIdentity { host: "there".into(), ..one.clone() },
    ] {
        assert_ne!(one, other);
    }
}
