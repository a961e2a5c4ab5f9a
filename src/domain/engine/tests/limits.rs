//! Rate limits: waited out, no failure of anybody's, and bounded (DESIGN.md 5, row 4 (a)).

use std::time::Duration;

use chrono::TimeDelta;

use super::super::{Contact, Event, RecordKind, TurnOutcome};
use super::bounds::{alerts, host};
use super::host::Host;
use super::sessions::{self, PROMPT, START, STOP, contact, pending};
use crate::domain::classify::clock;
use crate::domain::kick::Boundary;
use crate::domain::policy::Policy;
use crate::domain::rate_limit::RateLimit;
use crate::domain::sample::{queued, ticket};
use crate::domain::ticket::State;

/// An Orchestrator that every turn ends in such a limit; how many kicks each of so many days has.
fn limited_for(days: usize, limit: RateLimit) -> (Host, Vec<usize>) {
    let mut host = host(&["a"]);
    let mut kicks = Vec::new();
    let mut before = 0;
    for _ in 0..days {
        for _ in 0..24 * 60 {
            if host.turn.is_some() {
                host.finish_turn(TurnOutcome::Limited { why: "exit 75".into(), limit });
            }
            host.run(60);
        }
        kicks.push(host.kicks.len() - before);
        before = host.kicks.len();
    }
    (host, kicks)
}

#[test]
fn rate_limits_one_after_the_other_are_waited_out_longer_and_longer_and_are_no_failures() {
    let limit = RateLimit { wait: Duration::from_mins(15), named: false };
    let (mut host, kicks) = limited_for(3, limit);
    assert_eq!(kicks, [10, 6, 6], "15 min, 30 min, 1 h, 2 h, then every 4 h");
    let standing = host.engine.summary(host.now).standing;
    assert_eq!((standing.failures, standing.fruitless), (0, 0));
    assert!(host.engine.ledger.seen.is_empty());
    assert!(alerts(&host).is_empty(), "{:?}", alerts(&host));
    // The first turn that comes through is like any other, and the next limit is the first one again.
    host.run(4 * 3600);
    assert!(host.turn.is_some());
    host.finish_turn(TurnOutcome::Succeeded);
    assert_eq!(host.saved.rate_limits, 0);
    host.add(queued("b"));
    host.run(1);
    host.finish_turn(TurnOutcome::Limited { why: "exit 75".into(), limit });
    let kicks = host.kicks.len();
    host.run(16 * 60);
    assert_eq!(host.kicks.len(), kicks + 1);
}

#[test]
fn a_limit_is_told_as_one_with_its_end_and_what_is_to_be_done() {
    let mut host = host(&["a"]);
    let limit = RateLimit { wait: Duration::from_mins(15), named: false };
    host.finish_turn(TurnOutcome::Limited { why: "exit 75".into(), limit });
    let of = |kind| host.records.iter().rev().find(|r| r.kind == kind).unwrap().data.clone();
    let (inbox, end) = (of(RecordKind::Inbox), of(RecordKind::TurnEnded));
    let until = clock(host.saved.rate_limited_until.unwrap());
    assert_eq!(inbox["what"], format!("rate limited until {until}"));
    assert_eq!((&inbox["do"], &inbox["in_a_row"]), (&"nothing: it goes on by itself".into(), &1.into()));
    assert_eq!((&end["failed"], &end["limited_until"]), (&"exit 75".into(), &until.into()));
}

#[test]
fn rate_limits_without_end_come_to_one() {
    // Whoever says that it is over at once, and is not: the hourly brake, then the bound.
    let (host, kicks) = limited_for(2, RateLimit { wait: Duration::ZERO, named: true });
    assert_eq!(kicks, [50, 0], "{:?}", host.decisions(0).last());
    let told: Vec<_> = alerts(&host).into_iter().filter(|what| what.contains("50 turns in a row ended")).collect();
    assert_eq!(told.len(), 1, "{:?}", alerts(&host));
    let mut an_hour = host.kicks.iter().map(|(at, _)| *at).collect::<Vec<_>>();
    an_hour.retain(|at| *at < host.kicks[0].0 + TimeDelta::hours(1));
    assert_eq!(an_hour.len(), 20, "the brake");
    // A limit of days is waited out to its end: at every 4 h that is more than a week.
    let (host, _) = limited_for(10, RateLimit { wait: Duration::from_mins(15), named: false });
    assert_eq!(host.kicks.len(), 50);
    assert!(host.kicks[49].0 - host.kicks[0].0 > TimeDelta::days(7));
}

#[test]
fn failures_back_off_and_a_rate_limit_is_waited_for() {
    let failed = Contact::Failed { why: "the API".into(), jitter: 0 };
    let limited = |wait| Contact::Limited { why: "the API".into(), wait };
    let mut host = sessions::host(Policy::default(), [ticket("a", State::Ready)]);
    contact(&mut host, START);
    contact(&mut host, PROMPT);
    host.queue("a");
    contact(&mut host, failed);
    assert_eq!(host.decisions(0).last().unwrap(), "backing_off");
    assert_eq!(contact(&mut host, PROMPT), "", "not before the wait is over");
    contact(&mut host, Contact::Interrupted);
    assert_eq!(host.saved.failures, 1, "an interruption is neither a failure nor a success");
    host.run(10);
    assert!(pending(&host), "the end of the wait is a boundary");
    assert_eq!(contact(&mut host, PROMPT), "a");
    // As often as it comes: no failure of the session's, and waited for twice as long each time.
    for minutes in [15, 30, 60] {
        contact(&mut host, limited(None));
        assert_eq!((host.saved.failures, host.saved.fruitless), (1, 0));
        host.run((minutes - 1) * 60);
        assert!(!pending(&host), "{minutes}");
        host.run(2 * 60);
        assert!(pending(&host), "{minutes}");
        assert_eq!(contact(&mut host, PROMPT), "a");
    }
    // Or as long as it says itself.
    contact(&mut host, limited(Some(Duration::from_secs(40))));
    host.run(30);
    assert!(!pending(&host));
    host.run(15);
    assert_eq!(contact(&mut host, PROMPT), "a");
}

/// Somebody reports a limit, in the midst of whatever goes on.
fn reports(host: &mut Host) {
    host.tell(Event::RateLimited(host.now + TimeDelta::hours(1)));
}

#[test]
fn a_turn_that_comes_through_shows_that_the_limit_before_it_is_over() {
    let limited = || Contact::Limited { why: "the API".into(), wait: Some(Duration::from_hours(5)) };
    let under_limit = || {
        let mut host = sessions::host(Policy::default(), [ticket("a", State::Ready)]);
        contact(&mut host, START);
        contact(&mut host, PROMPT);
        host.queue("a");
        contact(&mut host, limited());
        assert_eq!(host.decisions(0).last().unwrap(), "backing_off");
        host
    };
    // A person tries, and it works: what waited for the limit is decided on at once.
    let mut host = under_limit();
    assert_eq!(contact(&mut host, PROMPT), "");
    assert_eq!(contact(&mut host, STOP), "a");
    assert_eq!(host.saved.rate_limited_until, None);
    // Nothing is shown by a turn that ran into it, that somebody ended, or that nobody saw begin; nor by one during which
    // another limit was reported, or that began before the first.
    let shows_nothing: [fn(&mut Host); 4] = [
        |host| {
            contact(host, PROMPT);
            contact(host, Contact::Interrupted);
        },
        |host| {
            contact(host, STOP);
        },
        |host| {
            contact(host, PROMPT);
            reports(host);
            contact(host, STOP);
        },
        |host| {
            host.run(6 * 3600);
            contact(host, PROMPT);
            reports(host);
            contact(host, STOP);
        },
    ];
    for (number, happens) in shows_nothing.into_iter().enumerate() {
        let mut host = under_limit();
        happens(&mut host);
        assert!(host.saved.rate_limited_until.is_some_and(|until| until > host.now), "{number}");
    }
    // An agent that runs into it again each time a person tries is kicked no more often than the person tries.
    let mut host = under_limit();
    for _ in 0..20 {
        contact(&mut host, PROMPT);
        contact(&mut host, STOP);
        contact(&mut host, limited());
        host.run(60);
    }
    assert_eq!(host.count(RecordKind::KickSent), 20, "once each");
}

/// Prompts may be the agent's own doing: a task of its that ends in the background gives one.
#[test]
fn an_agent_that_prompts_itself_and_runs_into_limits_comes_to_an_end() {
    let mut policy = Policy::default();
    policy.session.rate_limits = 5;
    let mut host = sessions::host(policy, [ticket("a", State::Ready)]);
    contact(&mut host, START);
    contact(&mut host, PROMPT);
    host.queue("a");
    for _ in 0..50 {
        contact(&mut host, STOP);
        contact(&mut host, Contact::Limited { why: "the API".into(), wait: None });
        host.run(600);
        contact(&mut host, PROMPT);
    }
    assert_eq!((host.count(RecordKind::KickSent), alerts(&host).len()), (5, 1));
    // A person asks, and it works again: that is a kick which came through.
    contact(&mut host, STOP);
    host.boundary(Boundary::UserKick);
    assert_eq!(contact(&mut host, PROMPT), "a");
    contact(&mut host, STOP);
    assert_eq!((host.saved.rate_limits, host.saved.failures), (0, 0));
}

#[test]
fn a_kick_of_a_persons_that_comes_through_ends_the_wait_and_the_rest_follows() {
    let mut host = host(&["a"]);
    host.finish_turn(TurnOutcome::Limited {
        why: "exit 75".into(),
        limit: RateLimit { wait: Duration::from_hours(5), named: true },
    });
    host.run(60);
    assert!(host.turn.is_none());
    host.boundary(Boundary::UserKick);
    host.run(1);
    host.plan("a");
    host.finish_turn(TurnOutcome::Succeeded);
    assert_eq!(host.saved.rate_limited_until, None);
    host.run(1);
    assert!(host.turn.is_some(), "a turn with progress is asked for the next step");
}
