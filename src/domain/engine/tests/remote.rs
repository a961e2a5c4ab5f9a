//! A remote that says who has a claim is asked in time, and never without one (DESIGN.md 6.2).

use chrono::TimeDelta;

use super::super::{Event, Record, RecordKind};
use super::host::Host;
use crate::domain::policy::{ClaimPolicy, Policy};
use crate::domain::sample::{at, ticket};
use crate::domain::ticket::State;

fn host(remote: Option<&str>) -> Host {
    let claims = ClaimPolicy { remote: remote.map(str::to_owned), ..ClaimPolicy::default() };
    Host::new(Policy { claims, ..Policy::default() }, [ticket("a", State::Planning)])
}

fn answer(host: &mut Host, answer: Result<bool, &str>) {
    host.tell(Event::RemoteAsked { answer: answer.map_err(str::to_owned), jitter: 0 });
}

fn told(host: &Host) -> Vec<String> {
    let about = |record: &&Record| record.kind == RecordKind::Inbox && record.data["about"] == "remote";
    host.records.iter().filter(about).map(|record| record.data["what"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn without_a_remote_nobody_is_asked() {
    let mut host = host(None);
    host.run(3600);
    assert_eq!((host.asked_remote, host.engine.remote_summary()), (0, None));
    let timers = host.engine.timers();
    assert!(timers.iter().all(|(what, _)| !what.contains("remote")), "{timers:?}");
}

#[test]
fn it_is_asked_at_once_then_every_minute_and_never_twice_at_a_time() {
    let mut host = host(Some("origin"));
    assert_eq!(host.asked_remote, 1);
    host.run(600);
    assert_eq!(host.asked_remote, 1, "the first question is not answered yet");
    for minute in 0..3 {
        answer(&mut host, Ok(false));
        host.run(59);
        assert_eq!(host.asked_remote, 1 + minute);
        host.run(2);
        assert_eq!(host.asked_remote, 2 + minute);
    }
}

#[test]
fn claims_are_read_where_one_has_changed_and_only_then() {
    let mut host = host(Some("origin"));
    let reads = host.read_claims;
    answer(&mut host, Ok(false));
    assert_eq!(host.read_claims, reads);
    answer(&mut host, Ok(true));
    assert_eq!(host.read_claims, reads + 1);
}

#[test]
fn a_remote_that_is_silent_is_told_once_and_that_it_is_back() {
    let mut host = host(Some("origin"));
    answer(&mut host, Ok(false));
    host.run(60);
    for _ in 0..6 {
        answer(&mut host, Err("no route"));
        host.run(301);
    }
    assert_eq!(host.engine.remote_summary().unwrap().silent.unwrap().1, "no route");
    assert_eq!(told(&host).len(), 1, "{:?}", told(&host));
    answer(&mut host, Ok(false));
    answer(&mut host, Ok(false));
    insta::assert_snapshot!(told(&host).join("\n"), @r"
    the remote `origin`, which keeps the claims, does not answer: what others have claimed since 2026-11-30T09:00:00Z is not known; no route
    the remote `origin`, which keeps the claims, answers again; it did not since 2026-11-30T09:01:00Z
    ");
    // A single question that was not answered is no news.
    answer(&mut host, Err("no route"));
    answer(&mut host, Ok(false));
    assert_eq!(told(&host).len(), 2);
}

#[test]
fn a_clock_that_is_set_back_does_not_put_it_off() {
    let mut host = host(Some("origin"));
    answer(&mut host, Ok(false));
    host.now = at(-86_400);
    host.tell(Event::Ticked);
    host.run(61);
    assert_eq!(host.asked_remote, 2);
    assert!(host.engine.remote_summary().unwrap().seen_at.unwrap() <= host.now + TimeDelta::seconds(1));
}
