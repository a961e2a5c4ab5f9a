//! Stamps that wait for an editor, and stamps that could not be written.

use chrono::TimeDelta;

use super::super::{Effect, Engine, Event, RecordKind, Stamp};
use super::host::Host;
use crate::domain::finding::Finding;
use crate::domain::policy::Policy;
use crate::domain::sample::{at, id, queued, with};
use crate::domain::ticket::{State, Timestamp};

const PATH: &str = "tickets/a.md";

fn unstamped() -> Host {
    Host::new(Policy::default(), [with(queued("a"), |t| t.stamps.queued_at = None)])
}

fn stamp(since: Timestamp) -> Stamp {
    Stamp { path: PATH.into(), by: "ana".into(), since, always: false }
}

/// The stamps that are wanted when so many seconds have passed: `insist` of each.
fn wanted(engine: &mut Engine, event: Event, now: Timestamp) -> Vec<bool> {
    let effects = engine.step(event, now);
    let stamps = effects.into_iter().filter_map(|effect| match effect {
        Effect::StampQueued { insist, .. } => Some(insist),
        _ => None,
    });
    stamps.collect()
}

#[test]
fn a_stamp_waits_for_an_editor_but_not_for_ever() {
    let mut host = unstamped();
    let (began, engine) = (host.now, &mut host.engine);
    let seen = || Event::EditorSeen { stamp: stamp(began), mark: ".a.md.swp".into() };
    assert_eq!(wanted(engine, seen(), began), [false; 0]);
    let said = engine.polite_wait(&id("a")).unwrap();
    assert!(said.contains(".a.md.swp") && said.contains("until "), "{said}");
    let mut looks = 0;
    let now = loop {
        let now = engine.next_wake().unwrap();
        let insist = wanted(engine, Event::Ticked, now);
        looks += 1;
        if insist == [true] {
            break now;
        }
        assert!(insist == [false] || insist.is_empty(), "{insist:?}");
        wanted(engine, seen(), now);
    };
    assert_eq!(now - began, TimeDelta::minutes(10));
    assert!((290..=310).contains(&looks), "{looks}");
    assert_eq!(engine.polite_wait(&id("a")), None);
}

#[test]
fn nothing_waits_any_more_once_it_is_written_or_has_left_the_queue() {
    let mut host = unstamped();
    let now = host.now;
    host.engine.step(Event::EditorSeen { stamp: stamp(now), mark: "#a.md#".into() }, now);
    host.write("a", super::super::Actor::Daemon, |t| t.stamps.queued_at = Some(now));
    assert_eq!(host.engine.polite_wait(&id("a")), None);
    let mut host = unstamped();
    host.engine.step(Event::EditorSeen { stamp: stamp(now), mark: "#a.md#".into() }, now);
    host.edit("a", |t| t.state = Some(State::Ready));
    assert_eq!(wanted(&mut host.engine, Event::Ticked, now + TimeDelta::seconds(9)), [false; 0]);
    assert_eq!(host.engine.polite_wait(&id("a")), None);
}

#[test]
fn a_clock_set_back_makes_the_wait_no_longer() {
    let mut host = unstamped();
    let now = host.now;
    host.engine.step(Event::EditorSeen { stamp: stamp(now), mark: "m".into() }, now);
    let back = now - TimeDelta::hours(1);
    host.engine.step(Event::Ticked, back);
    assert_eq!(wanted(&mut host.engine, Event::Ticked, back + TimeDelta::minutes(10)), [true]);
}

#[test]
fn a_stamp_that_failed_is_tried_again_ever_more_seldom_and_said_once() {
    let mut host = unstamped();
    let (mut now, engine) = (host.now, &mut host.engine);
    let failed = || Event::StampFailed { id: id("a"), why: "no space left".into() };
    let mut waits = Vec::new();
    let mut said = 0;
    let mut event = failed();
    for _ in 0..14 {
        let effects = engine.step(event, now);
        let record = |e: &&Effect| matches!(e, Effect::Record(r) if r.kind == RecordKind::StampFailed);
        said += effects.iter().filter(record).count();
        let next = engine.next_wake().unwrap();
        waits.push((next - now).num_seconds());
        now = next;
        assert_eq!(wanted(engine, Event::Ticked, now), [false]);
        event = failed();
    }
    assert_eq!(said, 1);
    assert_eq!(waits[..6], [5, 10, 20, 40, 80, 160]);
    assert_eq!(waits[13], 3600);
    // It went well at last.
    host.now = now;
    host.write("a", super::super::Actor::Daemon, |t| t.stamps.queued_at = Some(now));
    assert_eq!(host.engine.unstamped_again(), None);
}

#[test]
fn an_edit_of_what_could_not_be_stamped_has_it_tried_at_once() {
    let mut host = unstamped();
    let now = host.now;
    host.engine.step(Event::StampFailed { id: id("a"), why: "no space left".into() }, now);
    let edited = crate::domain::sample::sealed(host.ticket("a"), "edited");
    let entries = vec![(edited.path.clone(), crate::domain::backlog::Entry::Ticket(edited))];
    let read = Event::FilesRead { entries, full: false };
    assert_eq!(wanted(&mut host.engine, read, now + TimeDelta::seconds(1)), [false]);
}

#[test]
fn what_comes_to_light_later_is_in_the_inbox_once_and_explained() {
    let mut host = unstamped();
    let (now, from) = (host.now, host.records.len());
    let saved_over = |news, own| Finding::SavedOver { ticket: id("a"), keys: vec!["k".into()], at: at(-60), own, news };
    let conflict = Finding::Conflict { ticket: id("a"), kept: "kept/x".into(), why: "it is odd".into() };
    host.tell(Event::Reviewed(vec![saved_over(true, false), saved_over(false, false), conflict]));
    host.tell(Event::Reviewed(vec![saved_over(false, false)]));
    let inbox = |host: &Host| host.records[from..].iter().filter(|r| r.kind == RecordKind::Inbox).count();
    assert_eq!(inbox(&host), 2);
    assert!(host.engine.saved_over(&id("a")).unwrap().ends_with("read before it: `k`"));
    assert!(host.engine.set_aside(&id("a")).unwrap().ends_with("it is odd; it is kept in kept/x"));
    host.tell(Event::Reviewed(vec![Finding::Merged { ticket: id("a"), path: PATH.into() }]));
    assert_eq!(inbox(&host), 3);
    // A request ends the remarks.
    host.write("a", super::super::Actor::Somebody("ana".into()), |t| t.title = "new".into());
    assert_eq!((host.engine.saved_over(&id("a")), host.engine.set_aside(&id("a"))), (None, None));
    // A stamp of yoi's own is set again.
    host.run(1);
    let stamped = host.stamped.len();
    host.tell(Event::Reviewed(vec![saved_over(true, true)]));
    assert_eq!(host.stamped.len(), stamped + 1);
    assert!(host.ticket("a").stamps.queued_at.is_some_and(|at| at >= now));
}
