//! Claims at the engine: what a claim, its end and its staleness do to classes, kicks and the queue; and old text that comes
//! back after a claim has ended.

use chrono::TimeDelta;
use insta::assert_snapshot;

use super::super::{Actor, ClaimNews, Event, Kick, Reach, RecordKind, TurnOutcome};
use super::host::Host;
use crate::domain::backlog::Entry;
use crate::domain::claim::{End, EndedClaim, Outcome};
use crate::domain::classify::Class;
use crate::domain::facts::{CLAIM_DRIFT, Claim, TimeDeltaSeconds};
use crate::domain::kick::Boundary;
use crate::domain::policy::{Mode, Policy};
use crate::domain::sample::{accepted, id, queued, sealed, with};
use crate::domain::ticket::{State, Ticket};

const TTL: i64 = 90 * 60;

fn orchestrated(tickets: impl IntoIterator<Item = Ticket>) -> Host {
    attended(Mode::Orchestrated, tickets)
}

fn attended(mode: Mode, tickets: impl IntoIterator<Item = Ticket>) -> Host {
    let mut host = Host::new(Policy { mode, ..Policy::default() }, tickets);
    host.script = Some(looks);
    host.finish_turn(TurnOutcome::Succeeded);
    host
}

/// An Orchestrator that looks, and does nothing.
fn looks(_: &mut Host, _: &Kick) -> (TimeDelta, TurnOutcome) {
    (TimeDelta::seconds(1), TurnOutcome::Succeeded)
}

fn held(host: &Host, ticket: &str, worker: &str, generation: u64) -> ClaimNews {
    let claim = Claim { worker: worker.into(), role: "coder".into(), beat: host.now, ttl: TimeDeltaSeconds(TTL) };
    ClaimNews { ticket: id(ticket), generation, stands: Ok(claim) }
}

fn ended(host: &Host, ticket: &str, end: End, generation: u64) -> ClaimNews {
    let ended = EndedClaim { worker: "w".into(), end, at: host.now };
    ClaimNews { ticket: id(ticket), generation, stands: Err(ended) }
}

fn tell(host: &mut Host, news: ClaimNews) {
    host.tell(Event::ClaimsRead { news: vec![news], full: false });
}

fn class(host: &Host, ticket: &str) -> Option<Class> {
    let known = host.engine.backlog().get(&id(ticket)).unwrap();
    host.engine.row(known, host.now).class.map(|classified| classified.class)
}

/// How many kicks there were, and by what the last one was caused.
fn kicked(host: &Host) -> (usize, Vec<Boundary>) {
    (host.kicks.len(), host.kicks.last().map(|(_, kick)| kick.causes.clone()).unwrap_or_default())
}

#[test]
fn nobody_is_kicked_for_what_is_claimed_until_the_claim_ends() {
    for end in [End::Released(Outcome::Abandoned), End::Released(Outcome::Blocked), End::Broken] {
        let mut host = orchestrated([accepted("a"), queued("b")]);
        host.run(120);
        let before = host.kicks.len();
        let news = held(&host, "a", "w", 1);
        tell(&mut host, news);
        host.run(600);
        assert_eq!((class(&host, "a"), host.kicks.len()), (Some(Class::ActiveInprogress), before));
        let news = ended(&host, "a", end, 1);
        tell(&mut host, news);
        assert_eq!(class(&host, "a"), Some(Class::ActionableInprogress));
        host.run(60);
        assert_eq!(kicked(&host), (before + 1, vec![Boundary::DelegateFinished]), "{end:?}");
    }
}

#[test]
fn a_claim_that_goes_stale_is_a_finished_delegate_and_a_beat_puts_that_off() {
    let mut host = orchestrated([accepted("a")]);
    host.run(120);
    let news = held(&host, "a", "w", 1);
    tell(&mut host, news);
    let before = host.kicks.len();
    host.run(TTL - 60);
    let beat = held(&host, "a", "w", 1);
    tell(&mut host, beat);
    let holds = TTL + CLAIM_DRIFT.num_seconds();
    host.run(holds - 1);
    assert_eq!((class(&host, "a"), host.kicks.len()), (Some(Class::ActiveInprogress), before));
    host.run(30);
    assert_eq!(class(&host, "a"), Some(Class::ActionableInprogress));
    assert_eq!(kicked(&host), (before + 1, vec![Boundary::DelegateFinished]));
    assert_eq!(host.brought_back, Vec::new(), "the Orchestrator decides");
}

#[test]
fn in_pull_mode_a_lost_ticket_is_to_be_brought_back_once_and_again_after_five_minutes() {
    let policy = Policy { mode: Mode::Pull, ..Policy::default() };
    let mut host = Host::new(policy, [accepted("a"), accepted("b"), accepted("c"), accepted("d")]);
    // It was accepted since, and nobody has claimed it.
    let mut before = ended(&host, "d", End::Broken, 1);
    if let Err(ended) = &mut before.stands {
        ended.at -= TimeDelta::hours(1);
    }
    tell(&mut host, before);
    for (ticket, generation) in [("a", 1), ("b", 1), ("c", 1)] {
        let news = held(&host, ticket, "w", generation);
        tell(&mut host, news);
    }
    host.run(60);
    for (ticket, outcome) in [("b", Outcome::Abandoned), ("c", Outcome::PrOpened)] {
        let news = ended(&host, ticket, End::Released(outcome), 1);
        tell(&mut host, news);
    }
    assert_eq!(host.brought_back, [id("b")], "what came to something stays");
    host.run(299);
    assert_eq!(host.brought_back.len(), 1);
    host.run(1);
    assert_eq!(host.brought_back, [id("b"), id("b")]);
    host.write("b", Actor::Daemon, |t| t.state = Some(State::Queued));
    host.run(TTL + CLAIM_DRIFT.num_seconds() - 361);
    assert_eq!(host.brought_back.len(), 2);
    host.run(1);
    assert_eq!(host.brought_back[2..], [id("a")], "stale");
}

#[test]
fn news_that_others_have_overtaken_is_dropped() {
    let mut host = orchestrated([accepted("a")]);
    let first = held(&host, "a", "w", 1);
    let end = ended(&host, "a", End::Released(Outcome::Abandoned), 1);
    tell(&mut host, first.clone());
    tell(&mut host, end.clone());
    tell(&mut host, first.clone());
    assert_eq!(class(&host, "a"), Some(Class::ActionableInprogress), "its end is known already");
    let second = held(&host, "a", "v", 2);
    tell(&mut host, second.clone());
    for old in [first, end] {
        tell(&mut host, old);
        assert_eq!(host.engine.facts().claims[&id("a")].worker, "v");
    }
    // All of them, as they are: then it is so.
    host.tell(Event::ClaimsRead { news: Vec::new(), full: true });
    assert_eq!(class(&host, "a"), Some(Class::ActionableInprogress));
}

#[test]
fn a_claim_and_its_end_are_history() {
    let mut host = orchestrated([accepted("a")]);
    let first = held(&host, "a", "w", 1);
    let second = held(&host, "a", "v", 2);
    let end = ended(&host, "a", End::Released(Outcome::Abandoned), 2);
    for news in [first, second, end.clone(), end] {
        tell(&mut host, news);
    }
    let kinds = [RecordKind::IssueAssigned, RecordKind::IssueUnassigned, RecordKind::ClaimEnded];
    let records = host.records.iter().filter(|record| kinds.contains(&record.kind));
    let lines: Vec<_> = records.map(|record| format!("{:?} {}", record.kind, record.data)).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    IssueAssigned {"worker":"w","role":"coder"}
    ClaimEnded {"worker":"w","how":"broken","by":"v"}
    IssueAssigned {"worker":"v","role":"coder"}
    ClaimEnded {"worker":"w","how":"abandoned"}
    IssueUnassigned {"worker":"w","how":"abandoned"}
    "#);
}

fn inbox(host: &Host) -> Vec<String> {
    let reverted = host.records.iter().filter(|r| r.kind == RecordKind::Inbox && r.data.get("reverted").is_some());
    reverted.map(|record| record.data["what"].as_str().unwrap().to_owned()).collect()
}

/// A ticket that was done under a claim, two hours after it was queued.
fn done(mode: Mode) -> Host {
    let mut host = attended(mode, [queued("a"), queued("b")]);
    host.run(120);
    let now = host.now;
    host.write("a", Actor::Somebody("w".into()), |t| {
        t.state = Some(State::Inprogress);
        t.stamps.accepted_by = Some("w".into());
        t.stamps.accepted_at = Some(now);
    });
    let news = held(&host, "a", "w", 1);
    tell(&mut host, news);
    host.run(600);
    host.write("a", Actor::Somebody("w".into()), |t| t.state = Some(State::Done));
    let news = ended(&host, "a", End::Released(Outcome::Done), 1);
    tell(&mut host, news);
    host.run(600);
    host
}

#[test]
fn old_text_that_comes_back_is_shown_once_and_nobody_is_kicked_for_it() {
    for mode in Mode::ALL {
        for old in [queued("a"), accepted("a")] {
            let mut host = done(mode);
            let (kicks, was) = (host.kicks.len(), host.ticket("a"));
            // As a checkout does it.
            host.edit("a", |t| *t = old.clone());
            host.run(1);
            host.run(3 * 3600);
            assert_eq!(inbox(&host).len(), 1, "{mode:?} {old:?}");
            assert_eq!(host.ticket("a").stamps.queued_at, old.stamps.queued_at, "it has not entered the queue");
            let list = host.engine.attention(false, host.now);
            assert!(list.items.iter().all(|item| item.id != id("a")), "{list:?}");
            assert!(host.kicks[kicks..].iter().all(|(_, kick)| kick.items.iter().all(|item| item.id != id("a"))));
            assert!(host.engine.is_reverted(&id("a")));
            // A daemon that starts shows it again, for it does not know since when it is.
            host.claims = vec![ClaimNews {
                ticket: id("a"),
                generation: 1,
                stands: Err(host.engine.facts().ended_claims[&id("a")].clone()),
            }];
            host.restart_at(Reach::Exec, host.now);
            assert_eq!(inbox(&host).len(), 2);
            assert!(host.engine.is_reverted(&id("a")));
            // The newer text is back.
            host.edit("a", |t| *t = was);
            host.run(1);
            assert!(!host.engine.is_reverted(&id("a")));
        }
    }
}

#[test]
fn whoever_queues_what_was_done_resolves_it() {
    let mut host = done(Mode::Orchestrated);
    // In an editor: the record of its acceptance is in it still.
    host.edit("a", |t| t.state = Some(State::Queued));
    host.run(1);
    host.run(60);
    assert_eq!((host.engine.is_reverted(&id("a")), host.stamped.clone()), (false, vec![id("a")]));
    assert_eq!(class(&host, "a"), Some(Class::NewQueued));

    let mut host = done(Mode::Orchestrated);
    host.edit("a", |t| *t = queued("a"));
    host.run(1);
    host.run(60);
    assert!(host.engine.is_reverted(&id("a")));
    let now = host.now;
    host.write("a", Actor::Somebody("bob".into()), |t| t.stamps.queued_at = Some(now));
    assert!(!host.engine.is_reverted(&id("a")));
    host.run(60);
    let list = host.engine.attention(false, host.now);
    assert!(list.items.iter().any(|item| item.id == id("a")), "{list:?}");
    assert_eq!(inbox(&host).len(), 1);
}

#[test]
fn old_text_that_came_back_while_no_daemon_ran_is_no_entry_into_the_queue() {
    for (old, reverted) in [(queued("a"), true), (with(accepted("a"), |t| t.state = Some(State::Queued)), false)] {
        let mut host = done(Mode::Orchestrated);
        let end = Err(host.engine.facts().ended_claims[&id("a")].clone());
        host.claims = vec![ClaimNews { ticket: id("a"), generation: 1, stands: end }];
        host.files.insert(old.path.clone(), Entry::Ticket(sealed(old, "0")));
        host.restart_at(Reach::Exec, host.now);
        host.run(60);
        assert_eq!((host.engine.is_reverted(&id("a")), host.stamped.is_empty()), (reverted, reverted));
        assert_eq!(inbox(&host).len(), usize::from(reverted));
    }
}

#[test]
fn a_newer_claim_resolves_it() {
    let mut host = done(Mode::Pull);
    host.edit("a", |t| *t = accepted("a"));
    host.run(1);
    assert!(host.engine.is_reverted(&id("a")));
    let news = held(&host, "a", "v", 2);
    tell(&mut host, news);
    assert_eq!((host.engine.is_reverted(&id("a")), class(&host, "a")), (false, Some(Class::ActiveInprogress)));
}
