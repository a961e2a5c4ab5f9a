//! What `decompose` demands, what it writes, and where the children lie.

use std::collections::BTreeSet;

use super::*;
use crate::domain::backlog::{Backlog, Entry};
use crate::domain::evidence::{Placed, candidate, place};
use crate::domain::sample::{accepted, at, backlog, ids, queued, ticket, with};
use crate::domain::ticket::Diagnostic;

fn child(title: &str) -> Child {
    Child {
        title: title.into(),
        acceptance: vec!["it is seen".into()],
        validation: "cargo test".into(),
        ..Child::default()
    }
}

fn some(number: usize) -> Vec<Child> {
    (1..=number).map(|number| child(&format!("Part {number}"))).collect()
}

fn writer() -> Writer {
    Writer { by: "lane-3".into(), holds: true, label: Some("claimed".into()) }
}

fn of(children: Vec<Child>) -> Result<Decomposition, Refusal> {
    Decomposition::of(&"big".into(), children, Some("two things"), None)
}

/// What is said to be lacking, a line each.
fn lacking(children: Vec<Child>) -> Vec<String> {
    of(children).map_or_else(|refusal| refusal.evidence, |_| Vec::new())
}

#[test]
fn two_to_five_children_and_a_why() {
    for (number, expected) in [
        (0, Some("no child is given: it becomes 2 to 5")),
        (1, Some("1 child is the ticket itself under another name")),
        (2, None),
        (5, None),
        (6, Some("6 children are too many at once")),
    ] {
        let lines = lacking(some(number));
        match expected {
            None => assert_eq!(lines, Vec::<String>::new(), "{number}"),
            Some(part) => assert!(lines.len() == 1 && lines[0].contains(part), "{number}: {lines:?}"),
        }
    }
    let whys = [(None, None), (Some(" "), None), (Some("w"), Some(""))];
    let refused = whys.map(|(why, keep)| Decomposition::of(&"big".into(), some(2), why, keep).unwrap_err().evidence);
    insta::assert_snapshot!(refused.concat().join("\n"), @r"
    --why is missing: why it is several things and not one, for the thread
    --why is blank: why it is several things and not one, for the thread
    --keep-priority is blank: why the children are as urgent as their parent
    ");
}

#[test]
fn each_child_and_each_missing_thing_is_named_with_its_line() {
    let bare = Child { title: "Part 9".into(), line: Some(7), ..Child::default() };
    let children = vec![
        child("Part 1"),
        bare,
        Child { title: " ".into(), line: Some(12), ..child("") },
        Child { acceptance: vec!["x".into(), " ".into()], ..child(" Part \n 1") },
        Child { acceptance: vec!["x".into(); 21], validation: "y".repeat(2001), ..child(&"t".repeat(201)) },
    ];
    let refusal = of(children).unwrap_err();
    insta::assert_snapshot!(refusal.evidence.join("\n").replace(&"t".repeat(201), "[201 letters]"), @r#"
    child 2 "Part 9" (line 7): no acceptance criteria (`acceptance:`, a list of at least one: when is it done?)
    child 2 "Part 9" (line 7): no validation (`validation:`, one line: how does somebody see that it is done?)
    child 3 (line 12): no title (`title:`)
    child 4 "Part 1": its title is that of child 1 too
    child 4 "Part 1": an acceptance criterion is blank
    child 5 "[201 letters]": its title has 201 characters, at most 200
    child 5 "[201 letters]": 21 acceptance criteria, at most 20: it is more than one thing
    child 5 "[201 letters]": more than 2000 characters in one line; `body:` takes more
    "#);
    assert_eq!(refusal.message, "`big` is not decomposed: each child has to be a ticket that somebody can start on");
}

#[test]
fn priority_is_not_inherited_unless_somebody_says_why() {
    let parent = with(queued("big"), |t| t.priority = Priority::new(0).unwrap());
    assert_eq!(of(some(2)).unwrap().priority(&parent).as_str(), "P2");
    let note = of(some(2)).unwrap().note(&parent, &[], &writer(), at(0));
    assert!(note.ends_with("children's priority P2, not the parent's P0"), "{note}");
    let kept = Decomposition::of(&"big".into(), some(2), Some("w"), Some("all of it is the outage")).unwrap();
    assert_eq!(kept.priority(&parent).as_str(), "P0");
    let note = kept.note(&parent, &[], &writer(), at(0));
    assert!(note.ends_with("children's priority P0 kept, because \"all of it is the outage\""), "{note}");
}

#[test]
fn a_child_may_wait_for_another_by_its_title() {
    let mut children = some(2);
    children[1].depends_on = vec![" Part  1".into(), "schema".into()];
    let made = of(children).unwrap();
    assert_eq!(made.depends_on(&made.children()[1], &ids(&["big-part-1", "big-part-2"])), ["big-part-1", "schema"]);
}

#[test]
fn the_parent_goes_back_to_planning_and_stands_for_its_children() {
    let claimed = with(accepted("big"), |t| {
        t.labels = vec!["claimed".into()];
        t.children = ids(&["old"]);
    });
    let children = ids(&["big-a", "big-b"]);
    let list = serde_yaml::Value::Sequence(vec!["old".into(), "big-a".into(), "big-b".into()]);
    assert_eq!(
        Decomposition::changes(&claimed, &children, &writer(), at(0)).unwrap(),
        [
            Change::text("state", "planning"),
            Change::Add("labels".into(), "tracking".into()),
            Change::Set("children".into(), list),
            Change::Unset("accepted_by".into()),
            Change::Unset("accepted_at".into()),
            Change::Remove("labels".into(), "claimed".into()),
        ]
    );
    let again = with(ticket("big", State::Planning), |t| {
        t.labels = vec!["tracking".into()];
        t.children = children.clone();
    });
    assert_eq!(Decomposition::changes(&again, &children, &writer(), at(0)).unwrap(), [], "it is all there");
    for state in State::ALL {
        let made = Decomposition::changes(&ticket("big", state), &children, &writer(), at(0));
        assert_eq!(made.is_ok(), !matches!(state, State::Done | State::Closed), "{state}");
    }
}

#[test]
fn the_note_links_each_child_from_where_the_thread_lies() {
    let made = of(some(2)).unwrap();
    let children =
        [("A [b]".to_owned(), "tickets/a b(1).md".into()), ("C".to_owned(), "tickets/deep/表/item.md".into())];
    let paths = ["tickets/big.md", "tickets/deep/big.md", "tickets/deep/big/item.md"];
    let notes = paths.map(|path| {
        let parent = with(accepted("big"), |t| t.path = path.into());
        made.note(&parent, &children, &writer(), at(0))
    });
    insta::assert_snapshot!(notes.join("\n"), @r#"
    2026-11-30T09:00:00Z DECOMPOSED inprogress -> planning by lane-3: into [A \[b\]](a%20b%281%29.md), [C](deep/表/item.md); why "two things"; children's priority P2
    2026-11-30T09:00:00Z DECOMPOSED inprogress -> planning by lane-3: into [A \[b\]](../a%20b%281%29.md), [C](表/item.md); why "two things"; children's priority P2
    2026-11-30T09:00:00Z DECOMPOSED inprogress -> planning by lane-3: into [A \[b\]](../../a%20b%281%29.md), [C](../表/item.md); why "two things"; children's priority P2
    "#);
}

#[test]
fn ids_are_made_of_the_parent_and_the_title() {
    let long = "a".repeat(200);
    let wide = "\u{8868}".repeat(66);
    for (parent, title, number, expected) in [
        ("big", "Login: fails # on Safari", 1, "big-login-fails-on-safari".to_owned()),
        ("big", "Login", 3, "big-login-3".into()),
        ("big", "!?", 1, "big-part".into()),
        ("big", "../../etc/passwd", 1, "big-etc-passwd".into()),
        ("x@{0} y", "Log", 1, "x@{0} y-log".into()),
        ("big.", "Log", 1, "big-log".into()),
        ("big", "ログイン", 1, "big-ログイン".into()),
        (&long, "Log", 1, format!("{}-log", "a".repeat(156))),
        (&wide, "Log", 2, format!("{}-log-2", "\u{8868}".repeat(51))),
        ("-", "Log", 1, "log".into()),
    ] {
        assert_eq!(candidate(&parent.into(), title, number).as_str(), expected, "{parent} {title}");
    }
    let id = candidate(&"big".into(), &"w".repeat(5000), 1);
    assert!(id.as_str().len() < 60, "{id}");
    assert!(candidate(&wide.as_str().into(), &"\u{1f600}\u{8868}".repeat(99), 1).as_str().len() <= 160);
}

#[test]
fn nothing_is_written_over_and_what_is_there_already_is_taken_for_what_it_is() {
    let parent = "big".into();
    let made = with(ticket("big-part-2", State::Ready), |t| {
        t.title = "Part 2".into();
        t.parent = Some("big".into());
    });
    let other = with(ticket("big-part-1", State::Planning), |t| t.title = "Part 1".into());
    let broken = Entry::Unreadable {
        id: "big-part-3".into(),
        path: "tickets/deep/big-part-3.md".into(),
        error: Diagnostic { line: 1, column: 1, message: "broken".into() },
    };
    let readable = [made.clone(), other].map(|t| (t.path.clone(), Entry::Ticket(t)));
    let files = readable.into_iter().chain([("tickets/deep/big-part-3.md".into(), broken)]);
    let titles = ["Part 1", "Part 2", "Part 3", "Part 4", "part-4"];
    let taken = BTreeSet::from(["big-part-4".into()]);
    let placed = place(&parent, titles, &Backlog::of(files), &taken);
    let shown: Vec<_> = placed.iter().map(|placed| placed.id().as_str()).collect();
    assert_eq!(shown, ["big-part-1-2", "big-part-2", "big-part-3-2", "big-part-4-2", "big-part-4-3"]);
    let there: Vec<_> = placed.iter().filter(|placed| matches!(placed, Placed::There(_))).collect();
    assert_eq!(there, [&Placed::There(made)]);
    assert_eq!(place(&parent, ["Part 1"], &backlog([]), &BTreeSet::new()), [Placed::New("big-part-1".into())]);
}
