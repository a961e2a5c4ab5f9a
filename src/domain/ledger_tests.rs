//! What the ledger of DESIGN.md 5 counts and waits for.

use super::*;
use crate::domain::sample::{at, id};

/// Failed turns one after the other, the wait after each in milliseconds.
#[track_caller]
fn check_waits(jitter: f64, expected: &[Option<i64>]) {
    let mut ledger = Ledger::default();
    for (n, expected) in expected.iter().enumerate() {
        ledger.failed_turn(at(0), jitter);
        let wait = ledger.saved.backing_off_until.map(|until| (until - at(0)).num_milliseconds());
        assert_eq!(wait, *expected, "after {} failures", n + 1);
        assert_eq!(ledger.just_gave_up(), n == 2, "one alert, at the third");
    }
}

#[test]
fn back_off_is_10_s_then_60_s_with_jitter_then_without_end() {
    check_waits(0.0, &[Some(10_000), Some(60_000), None, None]);
    check_waits(1.0, &[Some(12_500), Some(75_000), None, None]);
    check_waits(0.5, &[Some(11_250), Some(67_500), None]);
    check_waits(7.0, &[Some(12_500)]);
    check_waits(-7.0, &[Some(10_000)]);
}

#[test]
fn for_want_of_room_there_is_always_a_next_time() {
    let mut ledger = Ledger::default();
    let wait = |ledger: &Ledger| ledger.saved.backing_off_until.map(|until| (until - at(0)).num_seconds());
    for expected in [10, 60, 60, 60] {
        ledger.no_room(at(0), 0.0);
        assert_eq!((wait(&ledger), ledger.just_gave_up()), (Some(expected), false));
    }
    // It does not count among the failures, and does not take back what is given up.
    ledger.failed_turn(at(0), 0.0);
    assert!(ledger.just_gave_up());
    ledger.no_room(at(0), 0.0);
    assert_eq!((wait(&ledger), ledger.saved.failures), (None, 3));
}

#[test]
fn a_turn_that_succeeds_starts_the_failures_anew() {
    let mut ledger = Ledger::default();
    ledger.failed_turn(at(0), 0.0);
    ledger.failed_turn(at(20), 0.0);
    ledger.succeeded_turn();
    assert_eq!((ledger.saved.failures, ledger.saved.backing_off_until), (0, None));
    ledger.failed_turn(at(100), 0.0);
    assert_eq!(ledger.saved.backing_off_until, Some(at(110)));
}

#[test]
fn fruitless_turns_are_counted_until_something_moves() {
    let mut ledger = Ledger::default();
    for n in 1..=4 {
        ledger.fruitless_turn(at(n));
        assert_eq!(ledger.just_ignored(), n == 3, "one alert, at the third");
    }
    assert_eq!(ledger.standing(20, at(5)).fruitless, 4);
    ledger.reset_fruitless();
    assert_eq!(ledger.standing(20, at(5)).fruitless, 0);
    // The brake counts on: it is the last one.
    assert_eq!(ledger.saved.fruitless_at.len(), 4);
}

#[test]
fn the_brake_holds_at_so_many_an_hour_and_ends_with_the_oldest() {
    let mut ledger = Ledger::default();
    for n in 0..19 {
        ledger.fruitless_turn(at(n * 60));
    }
    assert_eq!(ledger.brake_until(20, at(1140)), None);
    ledger.fruitless_turn(at(1140));
    assert_eq!(ledger.brake_until(20, at(1140)), Some(at(3600)));
    assert_eq!(ledger.brake_until(20, at(3599)), Some(at(3600)));
    assert_eq!(ledger.brake_until(20, at(3600)), None);
    // A further one (an explicit kick) waits for the second oldest.
    ledger.fruitless_turn(at(2000));
    assert_eq!(ledger.brake_until(20, at(2000)), Some(at(3660)));
    assert!(ledger.saved.fruitless_at.len() <= 21);
    ledger.fruitless_turn(at(100_000));
    assert_eq!(ledger.saved.fruitless_at, [at(100_000)], "what is older than an hour is forgotten");
}

#[test]
fn each_step_is_progress_once_a_session() {
    use Reached::{Accepted, Done, InWorkSet, Queued, Started};
    let mut ledger = Ledger::default();
    for step in [Queued, InWorkSet, Accepted, Started, Done] {
        assert!(ledger.reach(&id("a"), step), "{step:?} for the first time");
        assert!(!ledger.reach(&id("a"), step), "{step:?} again");
        assert!(!ledger.reach(&id("a"), Queued), "back is no progress");
    }
    assert!(ledger.reach(&id("b"), Queued), "each ticket counts for itself");
    for round in 1..=12 {
        ledger.another_round(&id("a"), 10);
        assert_eq!(ledger.reach(&id("a"), Queued), round <= 10, "queued again, round {round}");
        assert!(!ledger.reach(&id("b"), Queued), "of that ticket alone");
    }
    ledger.forget_attempts(&id("a"));
    assert!(!ledger.reach(&id("a"), Queued), "a person's change is no further step by itself");
    ledger.another_round(&id("a"), 10);
    assert!(ledger.reach(&id("a"), Queued), "but rounds count anew");
    ledger.new_session();
    assert!(ledger.reach(&id("a"), Queued), "a new session starts anew");
}

#[test]
fn attempts_count_ten_times_each_until_a_person_changes_the_ticket() {
    use Attempt::{Accepted, Awaited, Delegated};
    let mut ledger = Ledger::default();
    for kind in [Accepted, Delegated, Awaited] {
        for n in 1..=12 {
            assert_eq!(ledger.attempt(&id("a"), kind, 10), n <= 10, "{kind:?} number {n}");
        }
    }
    assert!(ledger.attempt(&id("b"), Accepted, 10));
    ledger.forget_attempts(&id("a"));
    assert!(ledger.attempt(&id("a"), Delegated, 10));
    for _ in 0..9 {
        ledger.attempt(&id("b"), Accepted, 10);
    }
    assert!(!ledger.attempt(&id("b"), Accepted, 10), "another ticket's change is no excuse");
}

#[test]
fn a_new_session_keeps_only_what_is_saved() {
    let mut ledger = Ledger::default();
    ledger.fruitless_turn(at(0));
    ledger.failed_turn(at(0), 0.0);
    ledger.saved.rate_limited_until = Some(at(60));
    ledger.seen.insert(id("a"));
    ledger.shown_gated.insert(id("b"));
    ledger.panel_presented_at = Some(at(0));
    let saved = ledger.saved.clone();
    ledger.new_session();
    assert_eq!(ledger, Ledger { saved, ..Ledger::default() });
}

#[test]
fn what_is_saved_survives_the_store() {
    let mut ledger = Ledger::default();
    ledger.fruitless_turn(at(0));
    ledger.failed_turn(at(0), 0.3);
    let text = serde_json::to_string(&ledger.saved).unwrap();
    assert_eq!(serde_json::from_str::<SavedLedger>(&text).unwrap(), ledger.saved);
}

#[test]
fn a_panel_counts_as_recent_for_an_hour() {
    let ledger = Ledger { panel_presented_at: Some(at(0)), ..Ledger::default() };
    for (now, recent) in [(0, true), (3599, true), (3600, false)] {
        assert_eq!(ledger.standing(20, at(now)).panel_presented_recently, recent, "after {now} s");
    }
    assert!(!Ledger::default().standing(20, at(0)).panel_presented_recently);
}

#[test]
fn a_clock_that_jumps_back_makes_no_wait_longer() {
    let mut ledger = Ledger::default();
    ledger.failed_turn(at(0), 0.0);
    ledger.fruitless_turn(at(0));
    ledger.saved.rate_limited_until = Some(at(30));
    ledger.panel_presented_at = Some(at(0));
    ledger.shift(TimeDelta::hours(9));
    let back = -9 * 3600;
    assert_eq!(ledger.saved.backing_off_until, Some(at(back + 10)));
    assert_eq!(ledger.saved.rate_limited_until, Some(at(back + 30)));
    assert_eq!(ledger.saved.fruitless_at, [at(back)]);
    assert_eq!(ledger.panel_presented_at, Some(at(back)));
}
