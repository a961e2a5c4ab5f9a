//! The large worlds, walked until no new state is found: `cargo test exhaustive -- --ignored --nocapture`. Ten times as
//! fast with the crate's own code optimised: `--config 'profile.dev.package.yoi.opt-level=2'`.

use super::search::{World, check};
use super::{
    Act::{self, *},
    any_time, attached, brake, by_hand, each, failing, gates, haste, one_item, orchestrator, own_hand, paused, people,
    policy, two, woken, workers,
};
use crate::domain::sample::{accepted, queued, ticket};
use crate::domain::ticket::State;

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
    check(&people_in_small());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_by_hand() {
    check(&by_hand_in_small());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_gates() {
    check(&gates_in_small());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_failing() {
    check(&failing());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_haste() {
    check(&haste_in_small());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_any_time() {
    check(&any_time_in_small());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_brake() {
    check(&brake());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_pause() {
    check(&paused_in_small());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_attached() {
    check(&attached());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_workers() {
    check(&workers_in_small());
}

#[test]
#[ignore = "minutes: the whole of each world"]
fn whole_woken() {
    check(&woken());
}

/// The worlds that are walked whole in small only, with all of their acts: far into each.
#[test]
#[ignore = "minutes: hundreds of thousands of states of each world"]
fn far_into_the_large_ones() {
    for world in [people(), by_hand(), gates(), paused(), haste(), any_time(), workers()] {
        check(&world.first(200_000));
    }
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

/// Those whose whole is too large to be walked, with as many acts as can be: the first states of the large ones are walked
/// in every run.
fn small(name: &'static str, mut acts: Vec<Act>, more: &[fn(usize) -> Act]) -> World {
    acts.extend(each(2, more));
    World::new(name, vec![queued("a"), ticket("b", State::Ready)], acts, policy(Some(1), 10))
}

fn people_in_small() -> World {
    small("people", vec![EndTurn, ADayPasses], &[Accept, PersonEdits, PersonQueues])
}

fn workers_in_small() -> World {
    let acts = [Accept, Requeue, WorkerClaims, WorkerBeats, WorkerGivesUp, WorkerIsDone, Offer, OldTextComesBack];
    World { tickets: vec![accepted("a")], acts: [vec![EndTurn, ADayPasses], each(1, &acts)].concat(), ..workers() }
}

fn by_hand_in_small() -> World {
    small("by hand", vec![EndTurn, Restart], &[Delegate, PodEnds, PersonStarts, PersonFinishes])
}

fn gates_in_small() -> World {
    small("gates", vec![EndTurn, PanelOpen, ADayPasses], &[Plan, WaitForRoom, Accept, PersonGates])
}

fn paused_in_small() -> World {
    small("paused", vec![EndTurn, FailTurn, Pause, Resume, ADayPasses], &[Plan, Accept, Delegate, PodEnds, PersonEdits])
}

fn haste_in_small() -> World {
    let world = small("haste", vec![EndTurn, FailTurn], &[Plan, Accept, PersonEdits]);
    World { haste: (1, vec![0, 170]), ..world }
}

fn any_time_in_small() -> World {
    let world = small("any time", vec![EndTurn, ADayPasses], &[Plan, Accept, Delegate, Done, PodEnds]);
    World { any_time: true, tickets: two(), ..world }
}
