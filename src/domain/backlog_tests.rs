//! The backlog as files come and go: its indices always equal those of one built from scratch.

use super::*;
use crate::domain::sample::{accepted, id, ids, queued, sealed, texts, ticket, with};
use crate::domain::ticket::State;

fn unreadable(name: &str, path: &str) -> Entry {
    let error = Diagnostic { line: 7, column: 3, message: "a tab".into() };
    Entry::Unreadable { id: id(name), path: path.into(), error }
}

/// Puts these one after the other; after each the backlog equals one that was built from what is there now.
#[track_caller]
fn check(puts: &[(&str, Entry)]) -> Backlog {
    let mut backlog = Backlog::default();
    let mut there: BTreeMap<PathBuf, Entry> = BTreeMap::new();
    for (path, entry) in puts {
        backlog.put(path.into(), entry.clone());
        match entry {
            Entry::Absent | Entry::NotATicket => drop(there.remove(Path::new(path))),
            _ => drop(there.insert(path.into(), entry.clone())),
        }
        assert_eq!(backlog, Backlog::of(there.clone()), "after {path}");
    }
    backlog
}

fn names<'a>(ids: impl IntoIterator<Item = &'a TicketId>) -> String {
    ids.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn indices_follow_every_change() {
    let file = |state| Entry::Ticket(ticket("a", state));
    let backlog = check(&[
        ("a.md", file(State::Planning)),
        ("a.md", file(State::Queued)),
        ("a.md", file(State::Inprogress)),
        ("b.md", Entry::Ticket(queued("b"))),
        ("a.md", unreadable("a", "a.md")),
        ("a.md", file(State::Queued)),
        ("b.md", Entry::Absent),
        ("c.md", Entry::NotATicket),
        ("c.md", Entry::Absent),
    ]);
    assert_eq!((names(backlog.queued()), names(backlog.inprogress())), ("a".into(), String::new()));
    assert_eq!(names(backlog.tickets().map(|t| &t.id)), "a");
}

#[test]
fn work_in_progress_is_indexed_by_what_gates_ask_of_it() {
    let plain = || accepted("a");
    let gated = || with(plain(), |t| t.human_gate = Some("sign-off".into()));
    let touching = || with(plain(), |t| t.touches = texts(&["src"]));
    let conflicting = || with(plain(), |t| t.conflicts_with = ids(&["b"]));
    let rows = [(plain(), true, false), (gated(), false, false), (touching(), true, true), (conflicting(), true, true)];
    for (now, running, exclusive) in rows.clone() {
        for (former, ..) in rows.clone() {
            let backlog = check(&[("a.md", Entry::Ticket(former)), ("a.md", Entry::Ticket(now.clone()))]);
            let found = (backlog.running().contains(&id("a")), backlog.exclusive().contains(&id("a")));
            assert_eq!(found, (running, exclusive), "{now:?}");
        }
        let backlog = check(&[("a.md", Entry::Ticket(now)), ("a.md", Entry::Ticket(queued("a")))]);
        assert!(backlog.running().is_empty() && backlog.exclusive().is_empty());
    }
}

#[test]
fn a_doubled_id_is_an_error_for_both_and_neither_is_a_ticket() {
    let one = || Entry::Ticket(queued("a"));
    let two = || Entry::Ticket(sealed(with(queued("a"), |t| t.path = "sub/a/item.md".into()), "two"));
    let backlog = check(&[("a.md", one()), ("sub/a/item.md", two())]);
    assert!(backlog.get(&id("a")).is_none() && backlog.queued().is_empty() && backlog.tickets().next().is_none());
    let faults: Vec<_> =
        backlog.faults().into_iter().map(|f| format!("{}: {}", f.path.display(), f.error.message)).collect();
    insta::assert_snapshot!(faults.join("\n"), @r"
    a.md: the id `a` is also that of sub/a/item.md; rename one of the files, neither is started
    sub/a/item.md: the id `a` is also that of a.md; rename one of the files, neither is started
    ");
    let backlog = check(&[("a.md", one()), ("sub/a/item.md", two()), ("a.md", Entry::Absent)]);
    assert_eq!(backlog.get(&id("a")).map(|t| t.path.display().to_string()).as_deref(), Some("sub/a/item.md"));
    assert!(backlog.faults().is_empty());
    // An unreadable file doubles an id too.
    let backlog = check(&[("a.md", one()), ("sub/a/item.md", unreadable("a", "sub/a/item.md"))]);
    assert!(backlog.get(&id("a")).is_none());
    assert_eq!(backlog.faults().len(), 2);
}

#[test]
fn an_unreadable_file_is_listed_with_its_line_and_the_others_keep_working() {
    let backlog = check(&[("a.md", unreadable("a", "a.md")), ("b.md", Entry::Ticket(queued("b")))]);
    let faults = backlog.faults();
    assert_eq!(faults.len(), 1);
    assert_eq!((faults[0].error.line, faults[0].error.column, faults[0].path.as_path()), (7, 3, Path::new("a.md")));
    assert_eq!(names(backlog.queued()), "b");
}

#[test]
fn a_difference_is_reported_once_and_equal_content_is_none() {
    let mut backlog = Backlog::default();
    let diff = backlog.put("a.md".into(), Entry::Ticket(queued("a"))).unwrap();
    assert_eq!((diff.before.is_some(), diff.after.is_some()), (false, true));
    assert_eq!(backlog.put("a.md".into(), Entry::Ticket(queued("a"))), None);
    let later = with(queued("a"), |t| t.title = "new".into());
    let diff = backlog.put("a.md".into(), Entry::Ticket(later)).unwrap();
    let titles = (diff.before.unwrap().title.clone(), diff.after.unwrap().title.clone());
    assert_eq!(titles, ("Title of a".into(), "new".into()));
    assert!(backlog.put("a.md".into(), Entry::Absent).unwrap().after.is_none());
    assert_eq!(backlog.put("a.md".into(), Entry::Absent), None);
    assert_eq!(backlog.put("README.md".into(), Entry::NotATicket), None);
    assert_eq!(backlog, Backlog::default());
}

#[test]
fn a_ticket_without_a_readable_state_is_a_ticket_in_no_index() {
    let backlog = check(&[("a.md", Entry::Ticket(with(queued("a"), |t| t.state = None)))]);
    assert!(backlog.get(&id("a")).is_some() && backlog.queued().is_empty() && backlog.inprogress().is_empty());
}
