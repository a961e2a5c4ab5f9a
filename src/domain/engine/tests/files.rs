//! Files as editors, git and people treat them: nothing is lost, nothing is queued twice (DESIGN.md 2.2, 2.4, 4).

use super::super::{Actor, Event, RecordKind, TurnOutcome};
use super::host::Host;
use crate::domain::backlog::Entry;
use crate::domain::kick::Boundary;
use crate::domain::policy::Policy;
use crate::domain::sample::{accepted, at, id, queued, sealed, ticket, with};
use crate::domain::ticket::{State, Ticket};

const PATH: &str = "tickets/a.md";

/// A planned ticket, and an Orchestrator that is idle again.
fn planned(it: Ticket) -> Host {
    let mut host = Host::new(Policy::default(), [it]);
    host.run(1);
    host.plan("a");
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(1);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(60);
    host
}

/// The ticket is where it was: in the work set, not queued again, not announced as moved.
#[track_caller]
fn check_unmoved(name: &str, host: &mut Host, records: usize) {
    host.run(10);
    assert!(host.engine.work_set().get(&id("a")).is_some(), "{name}: the work set lost it");
    assert!(host.stamped.is_empty(), "{name}: stamped anew");
    let later = &host.records[records..];
    let moved: Vec<_> = later.iter().filter(|r| r.kind.as_str().starts_with("ISSUE_")).collect();
    assert!(moved.is_empty(), "{name}: {moved:?}");
    assert_eq!(host.ticket("a").stamps.queued_at, Some(at(-3600)), "{name}");
}

#[test]
fn what_an_editor_saves_over_is_reported_and_explained() {
    let mut host = Host::new(Policy::default(), [queued("a")]);
    let old = host.ticket("a");
    let now = host.now;
    host.write("a", Actor::Somebody("ana".into()), |t| {
        t.state = Some(State::Inprogress);
        t.stamps.accepted_by = Some("ana".into());
        t.stamps.accepted_at = Some(now);
    });
    let said = |host: &Host| host.engine.saved_over(&id("a")).map(str::to_owned);
    // An edit that had read the new text loses nothing.
    host.reword("a");
    host.run(10);
    assert_eq!(said(&host), None);
    // One that had read the old text does.
    host.edit("a", |t| {
        t.state = old.state;
        t.stamps = old.stamps.clone();
    });
    assert!(said(&host).is_some_and(|what| what.contains("saved over by an editor")), "{:?}", said(&host));
    let inbox = host.records.iter().filter(|r| r.kind == RecordKind::Inbox && r.ticket == Some(id("a"))).count();
    assert_eq!(inbox, 1);
    // Doing it again ends the remark.
    host.write("a", Actor::Somebody("ana".into()), |t| t.state = Some(State::Ready));
    assert_eq!(said(&host), None);
}

#[test]
fn a_save_in_several_steps_is_no_change() {
    type Between = fn(&Host) -> Option<Entry>;
    let kinds: [(&str, Between); 3] = [
        ("renamed away", |_| None),
        ("cut to nothing", |_| Some(Entry::NotATicket)),
        ("half written", |_| Some(Host::unreadable("a"))),
    ];
    for (name, between) in kinds {
        for gap in [0, 1, 10, 149, 150, 151, 200, 299] {
            for it in [queued("a"), accepted("a")] {
                let mut host = planned(it);
                let (whole, records) = (Some(Entry::Ticket(host.ticket("a"))), host.records.len());
                let entry = between(&host);
                host.save(PATH, entry);
                // What editors do in between is noticed, and read, too.
                host.run_ms(gap / 2);
                host.tell(Event::PathsNoticed(vec![PATH.into()]));
                host.run_ms(gap - gap / 2);
                host.save(PATH, whole);
                check_unmoved(&format!("{name} for {gap} ms"), &mut host, records);
            }
        }
    }
}

#[test]
fn a_refresh_in_between_is_no_second_look() {
    let mut host = planned(queued("a"));
    let (whole, records) = (Some(Entry::Ticket(host.ticket("a"))), host.records.len());
    host.save(PATH, None);
    host.run_ms(5);
    host.boundary(Boundary::UserKick);
    host.run_ms(5);
    host.save(PATH, whole);
    check_unmoved("refresh", &mut host, records);
}

#[test]
fn what_stays_away_is_believed_after_a_second_look() {
    let mut host = planned(queued("a"));
    host.save(PATH, None);
    host.run_ms(299);
    assert!(host.engine.backlog().get(&id("a")).is_some());
    host.run_ms(2);
    assert!(host.engine.backlog().get(&id("a")).is_none());
    assert!(host.engine.work_set().get(&id("a")).is_none());
    assert!(!host.seen.contains_key(&id("a")), "forgotten with its file");
    // Back after that, it is a file that appears as queued: an entry.
    host.add(queued("a"));
    host.run(10);
    assert_eq!(host.stamped, [id("a")]);
}

#[test]
fn a_ticket_that_cannot_be_read_for_a_while_has_not_left_the_queue() {
    let mut host = planned(queued("a"));
    let (whole, records) = (Some(Entry::Ticket(host.ticket("a"))), host.records.len());
    host.save(PATH, Some(Host::unreadable("a")));
    host.run(300);
    assert_eq!(host.engine.backlog().faults().len(), 1, "listed");
    assert!(host.engine.attention(true, host.now).items.is_empty(), "and not offered");
    assert!(host.seen.contains_key(&id("a")), "what was recorded of it is kept for the next daemon");
    host.save(PATH, whole);
    check_unmoved("a tab for five minutes", &mut host, records);
}

#[test]
fn unreadable_at_the_start_and_mended_later_is_no_entry() {
    let mut host = Host::new(Policy::default(), [queued("a")]);
    let whole = Some(Entry::Ticket(host.ticket("a")));
    host.finish_turn(TurnOutcome::Succeeded);
    host.files.insert(PATH.into(), Host::unreadable("a"));
    host.start(super::super::Reach::Exec, true);
    host.run(60);
    host.save(PATH, whole);
    host.run(10);
    assert!(host.stamped.is_empty());
    assert_eq!(host.handed(1), ["a"], "readable again, it is decided on");
}

#[test]
fn what_was_out_of_sight_is_decided_on_when_it_is_back() {
    let mut host = Host::new(Policy::default(), [queued("a")]);
    let whole = Some(Entry::Ticket(host.ticket("a")));
    host.finish_turn(TurnOutcome::Failed("exit 1".into()));
    host.save(PATH, Some(Host::unreadable("a")));
    host.run(60);
    assert_eq!(host.decisions(0).last().map(String::as_str), Some("nothing_queued"), "the back-off ended on nothing");
    host.save(PATH, whole);
    host.run(1);
    assert_eq!(host.handed(1), ["a"]);
}

#[test]
fn an_unreadable_ticket_that_is_deleted_is_gone() {
    let mut host = planned(queued("a"));
    host.save(PATH, Some(Host::unreadable("a")));
    host.run(60);
    host.save(PATH, None);
    host.run(60);
    assert!(host.engine.work_set().get(&id("a")).is_none());
    assert!(!host.seen.contains_key(&id("a")));
}

#[test]
fn a_ticket_moved_to_a_folder_stays_what_it_is() {
    for it in [queued("a"), accepted("a")] {
        let mut host = planned(it);
        let records = host.records.len();
        let moved = sealed(with(host.ticket("a"), |t| t.path = "tickets/sub/a.md".into()), "0");
        host.files.remove(&std::path::PathBuf::from(PATH));
        host.files.insert("tickets/sub/a.md".into(), Entry::Ticket(moved));
        host.tell(Event::PathsNoticed(vec![PATH.into(), "tickets/sub/a.md".into()]));
        check_unmoved("moved", &mut host, records);
        assert!(host.engine.backlog().get(&id("a")).is_some());
    }
}

#[test]
fn active_work_stays_active_while_its_file_moves() {
    for order in [[PATH, "tickets/sub/a.md"], ["tickets/sub/a.md", PATH]] {
        let mut host = planned(accepted("a"));
        host.delegate("a", "coder", 900);
        host.add(queued("b"));
        let kicks = host.kicks.len();
        let moved = sealed(with(host.ticket("a"), |t| t.path = "tickets/sub/a.md".into()), "0");
        host.files.remove(&std::path::PathBuf::from(PATH));
        host.files.insert("tickets/sub/a.md".into(), Entry::Ticket(moved));
        host.tell(Event::PathsNoticed(order.map(Into::into).to_vec()));
        host.run(10);
        assert_eq!(host.handed(kicks), [""; 0], "{order:?}");
        assert!(host.engine.backlog().faults().is_empty());
    }
}

#[test]
fn of_two_files_with_one_id_neither_is_started() {
    let mut host = Host::new(Policy::default(), [queued("a"), queued("b")]);
    host.finish_turn(TurnOutcome::Succeeded);
    let twin = sealed(with(queued("a"), |t| t.path = "tickets/sub/a.md".into()), "twin");
    host.save("tickets/sub/a.md", Some(Entry::Ticket(twin)));
    host.run(1);
    let faults: Vec<_> = host.engine.backlog().faults().into_iter().map(|f| f.path.display().to_string()).collect();
    assert_eq!(faults, [PATH, "tickets/sub/a.md"], "both are listed");
    host.boundary(Boundary::UserKick);
    assert_eq!(host.handed(1), ["b"]);
    host.finish_turn(TurnOutcome::Succeeded);
    host.save("tickets/sub/a.md", None);
    host.run(1);
    host.boundary(Boundary::UserKick);
    assert!(host.handed(1).concat().contains('a'), "alone again, it is a ticket again");
    assert!(host.stamped.is_empty(), "and was never queued anew");
}

#[test]
fn equal_content_is_no_change() {
    let mut host = planned(queued("a"));
    let records = host.records.len();
    for _ in 0..50 {
        host.tell(Event::PathsNoticed(vec![PATH.into()]));
        host.run_ms(40);
    }
    host.tell(Event::EverythingNoticed(Some("overflow".into())));
    host.run(5);
    let others: Vec<_> = host.records[records..].iter().map(|r| r.kind).collect();
    assert_eq!(others, [RecordKind::WatcherRescan]);
}

#[test]
fn a_full_walk_finds_what_was_missed() {
    let mut host = Host::new(Policy::default(), [ticket("a", State::Planning), queued("b")]);
    host.finish_turn(TurnOutcome::Succeeded);
    host.run(1);
    // Of these two the first is on no list, so that no kick reads its file again.
    for gone in ["tickets/a.md", "tickets/b.md"] {
        host.files.remove(&std::path::PathBuf::from(gone));
    }
    let entered = with(queued("c"), |t| t.stamps.queued_at = None);
    host.files.insert("tickets/c.md".into(), Entry::Ticket(sealed(entered, "0")));
    host.tell(Event::EverythingNoticed(Some("overflow".into())));
    host.run(2);
    let left: Vec<_> = host.engine.backlog().tickets().map(|ticket| ticket.id.clone()).collect();
    assert_eq!(left, [id("c")]);
    assert_eq!(host.stamped, [id("c")]);
    assert_eq!(host.handed(1), ["c"]);
}

#[test]
fn an_entry_by_a_request_is_stamped_by_the_request() {
    let mut host = Host::new(Policy::default(), [ticket("a", State::Ready)]);
    host.run(1);
    let now = host.now;
    host.write("a", Actor::Somebody("al".into()), |t| {
        t.state = Some(State::Queued);
        t.stamps.queued_by = Some("al".into());
        t.stamps.queued_at = Some(now);
    });
    host.run(5);
    assert!(host.stamped.is_empty());
    assert_eq!(host.kicks[0].1.causes, [Boundary::TicketQueued]);
    // By an editor it is stamped with the editor's name, whatever old stamp the file has.
    let mut host = Host::new(Policy::default(), [with(queued("a"), |t| t.state = Some(State::Ready))]);
    host.run(1);
    host.queue("a");
    let stamps = host.ticket("a").stamps.clone();
    assert_eq!((stamps.queued_by.as_deref(), stamps.queued_at), (Some("ed"), Some(host.now)));
}

#[test]
fn a_ticket_back_in_the_queue_within_a_minute_is_a_new_entry() {
    let mut host = Host::new(Policy::default(), [ticket("a", State::Ready)]);
    host.run(1);
    host.queue("a");
    let first = host.ticket("a").stamps.queued_at;
    assert_eq!(first, Some(host.now));
    host.run(5);
    assert!(host.accept("a"));
    host.run(20);
    host.queue("a");
    assert_eq!(host.ticket("a").stamps.queued_at, Some(host.now), "the entry is newer than the stamp");
    // So an inprogress by hand after that is no proof of acceptance.
    host.run(5);
    host.edit("a", |t| t.state = Some(State::Inprogress));
    assert!(!host.ticket("a").acceptance_recorded());
    assert_eq!(host.stamped.len(), 2);
}

#[test]
fn a_stamp_that_an_editor_saved_over_is_set_again() {
    let mut host = Host::new(Policy::default(), [ticket("a", State::Ready)]);
    host.run(1);
    let buffer = |host: &mut Host, title: &str| {
        // What the editor holds: read before the stamp.
        let title = title.to_owned();
        host.edit("a", |t| {
            (t.state, t.title) = (Some(State::Queued), title);
            (t.stamps.queued_at, t.stamps.queued_by) = (None, None);
        });
    };
    buffer(&mut host, "first save");
    assert_eq!(host.stamped.len(), 1);
    host.run(10);
    let (kicks, from) = (host.kicks.len(), host.records.len());
    buffer(&mut host, "second save");
    assert_eq!(host.ticket("a").stamps.queued_at, Some(host.now));
    assert_eq!(host.ticket("a").title, "second save");
    let said: Vec<_> = host.records[from..].iter().filter(|r| r.kind == RecordKind::Inbox).collect();
    assert_eq!(said.len(), 1, "and it is reported");
    assert_eq!(host.kicks.len(), kicks);
    // A date that a person writes is the person's.
    host.run(10);
    host.edit("a", |t| t.stamps.queued_at = Some(at(-99_999)));
    host.run(10);
    assert_eq!(host.ticket("a").stamps.queued_at, Some(at(-99_999)));
    // Without a stamp before, none is missed.
    let mut host = Host::new(Policy::default(), [with(queued("a"), |t| t.stamps.queued_at = None)]);
    host.reword("a");
    host.run(10);
    assert!(host.stamped.is_empty());
}

#[test]
fn a_read_is_never_put_off_longer_than_a_second() {
    let mut host = Host::new(Policy::default(), [ticket("a", State::Planning)]);
    host.run(1);
    host.reword("a");
    host.edit("a", |t| t.title = "new".into());
    for _ in 0..11 {
        host.run_ms(100);
        host.tell(Event::PathsNoticed(vec![PATH.into()]));
    }
    assert_eq!(host.engine.backlog().get(&id("a")).unwrap().title, "new");
}
