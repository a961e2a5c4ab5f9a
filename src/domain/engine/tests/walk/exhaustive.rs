//! The large worlds, walked until no new state is found: `cargo test exhaustive -- --ignored --nocapture`. Ten times as
//! fast with the crate's own code optimised: `--config 'profile.dev.package.yoi.opt-level=2'`.

use super::search::{World, check};
use super::{
    Act::*, any_time, brake, by_hand, each, failing, gates, haste, one_item, orchestrator, own_hand, paused, people,
    policy,
};
use crate::domain::sample::queued;

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_orchestrator() {
    check(&orchestrator());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_own_hand() {
    check(&own_hand());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_one_item() {
    check(&one_item());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_people() {
    check(&people());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_by_hand() {
    check(&by_hand());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_gates() {
    check(&gates());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_failing() {
    check(&failing());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_haste() {
    check(&haste());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_any_time() {
    check(&any_time());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_brake() {
    check(&brake());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_pause() {
    check(&paused());
}

/// Three tickets, one at a time.
#[test]
#[ignore = "minutes: the whole of each world"]
fn three_tickets() {
    let mut acts = vec![EndTurn, ADayPasses];
    acts.extend(each(3, &[Plan, Accept, Delegate, Done, PodEnds]));
    check(&World::new("three", ["a", "b", "c"].map(queued).into(), acts, policy(Some(1), 10)));
}

/// Three tickets and room for two.
#[test]
#[ignore = "minutes: the whole of each world"]
fn three_tickets_two_at_once() {
    let mut acts = vec![EndTurn, FailTurn];
    acts.extend(each(3, &[Plan, Accept, Delegate, WorkerCloses]));
    check(&World::new("three, two at once", ["a", "b", "c"].map(queued).into(), acts, policy(Some(2), 10)));
}
