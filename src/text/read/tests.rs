//! How tickets read, and what is said about their faults.

use super::*;

fn ticket_of(text: &str) -> Ticket {
    with_keys(text, &KeyMap::default())
}

fn with_keys(text: &str, keys: &KeyMap) -> Ticket {
    match read(text.as_bytes(), "t".into(), "tickets/t.md".into(), keys) {
        Reading::Ticket(ticket) => ticket,
        other => panic!("{text:?}: {other:?}"),
    }
}

fn problems_of(yaml: &str) -> Vec<String> {
    let ticket = ticket_of(&format!("---\ntitle: x\nstate: ready\n{yaml}---\n"));
    ticket.problems.iter().map(|p| format!("{}:{}: {}", p.line, p.column, p.message)).collect()
}

#[test]
fn a_full_ticket_reads_as_the_design_says() {
    let text = "---\ntitle: \"Login fails on Safari\"       # required\nstate: queued\npriority: P1\nlabels: [agent-ready]\n\
        created_at: \"2026-11-30T08:00:00Z\"\nqueued_by: alice\nqueued_at: 2026-11-30T09:00:00Z\norphan_status: orphan\n\
        depends_on: [db-migration, 0010, 21E08]\nconflicts_with: []\ntouches:\n  - src/auth\n  - docs/auth.md\n\
        human_gate: \"needs design sign-off\"\nparent: 0042\n---\nBody\n";
    let ticket = ticket_of(text);
    assert_eq!(ticket.problems, vec![]);
    assert_eq!((ticket.title.as_str(), ticket.state), ("Login fails on Safari", Some(State::Queued)));
    assert_eq!(ticket.priority.to_string(), "P1");
    assert_eq!(ticket.labels, ["agent-ready"]);
    assert_eq!(ticket.depends_on, ["db-migration".into(), "0010".into(), "21E08".into()]);
    assert_eq!(ticket.touches, ["src/auth", "docs/auth.md"]);
    assert_eq!(ticket.human_gate.as_deref(), Some("needs design sign-off"));
    assert_eq!(ticket.orphan_status, Some(OrphanStatus::Orphan));
    assert_eq!(ticket.parent, Some("0042".into()));
    assert_eq!(ticket.stamps.queued_at.unwrap().to_rfc3339(), "2026-11-30T09:00:00+00:00");
    assert_eq!(ticket.stamps.queued_by.as_deref(), Some("alice"));
}

#[test]
fn other_keys_and_names_are_adopted() {
    let names = [("Offen", State::Ready), ("Bereit", State::Ready), ("In Arbeit", State::Inprogress)];
    let keys = KeyMap {
        state_key: "status".into(),
        states: names.iter().map(|(name, state)| ((*name).to_owned(), *state)).collect(),
    };
    let ticket = with_keys("---\ntitle: x\nstatus: In Arbeit\nstate: queued\n---\n", &keys);
    assert_eq!(ticket.state, Some(State::Inprogress));
    assert_eq!((keys.name(State::Ready), keys.name(State::Done)), ("Offen", "done"));
    let unknown = with_keys("---\ntitle: x\nstatus: Foo\n---\n", &keys);
    assert_eq!(unknown.problems[0].message, "`Foo` is not a known state: status is one of Offen, Bereit, In Arbeit");
    assert_eq!((unknown.problems[0].line, unknown.problems[0].column), (3, 9));
}

#[test]
fn faults_are_named_with_their_place() {
    let check = |yaml: &str, expected: &[&str]| assert_eq!(problems_of(yaml), expected, "{yaml:?}");
    check("priority: high\n", &["4:11: `high` is not a priority; priorities are P0 (highest) to P4; read as P2"]);
    check("queued_at: 2016-12-15\n", &["4:12: `queued_at` is not RFC 3339; read as 2016-12-15T00:00:00Z"]);
    check(
        "queued_at: 2026-02-30\n",
        &["4:12: `queued_at`: `2026-02-30` is no timestamp; write it like 2026-11-30T08:00:00Z"],
    );
    check("labels: {a: b}\n", &["4:9: `labels` holds a mapping where a text is expected; it is left out"]);
    check("depends_on: [[x]]\n", &["4:14: `depends_on` holds a list where a text is expected; it is left out"]);
    check("repo: [a]\n", &["4:7: `repo` is a list; one text is expected here"]);
    check(
        "note: PR #526 coverage\n",
        &[
            "4:10: ` #` starts a comment, so `#526 coverage` is not part of `note`; put quotes around the value if it should be",
        ],
    );
    check(
        "labels:\n  - a #b\n",
        &["5:7: ` #` starts a comment, so `#b` is not part of `labels`; put quotes around the value if it should be"],
    );
    check(
        "tag: #foo\n",
        &["4:6: ` #` starts a comment, so `#foo` is not part of `tag`; put quotes around the value if it should be"],
    );
    check("note: x # a comment\nn2: a#b\nn3: \"a #b\"\n#note: x\n", &[]);
    check(
        "orphan_status: lost\n",
        &["4:16: `orphan_status`: `lost` is neither orphan nor needs_human; read as absent"],
    );
    let bare = ticket_of("---\n---\n");
    let messages: Vec<&str> = bare.problems.iter().map(|p| p.message.as_str()).collect();
    assert_eq!(
        messages,
        ["there is no `state`: one of planning, ready, queued, inprogress, done, closed", "there is no `title`",]
    );
    assert_eq!(ticket_of("---\ntitle: Fix # of items\nstate: ready\n---\n").problems.len(), 1);
}

#[test]
fn a_human_gate_is_any_value_but_false_and_nothing() {
    let gate = |value: &str| ticket_of(&format!("---\nhuman_gate: {value}\n---\n")).human_gate.clone();
    for open in ["", "~", "null", "false", "False", "\"\"", "[]", "{}"] {
        assert_eq!(gate(open), None, "{open}");
    }
    assert_eq!(gate("true"), Some("true".into()));
    assert_eq!(gate("no"), Some("no".into()));
    assert_eq!(gate("0"), Some("0".into()));
    assert_eq!(gate("[legal, design]"), Some("legal, design".into()));
    assert_eq!(gate("{who: me}"), Some("a mapping".into()));
}

#[test]
fn meaning_is_blind_to_yois_own_stamps_and_to_nothing_else() {
    let base = ticket_of("---\ntitle: x\nstate: queued\nlabels: [bug]\n---\nBody\n").meaning;
    let same = |text: &str| assert_eq!(ticket_of(text).meaning, base, "{text:?}");
    let other = |text: &str| assert_ne!(ticket_of(text).meaning, base, "{text:?}");
    same(
        "---\ntitle: \"x\" # c\nstate: queued\nlabels:\n  - orphan\n  - bug\nqueued_at: 2026-11-30T09:00:00Z\n---\nBody\n",
    );
    same("---\ntitle: x\nstate: queued\norphan_status: orphan\nlabels: bug\naccepted_by: o\n---\nBody\n");
    other("---\ntitle: x\nstate: ready\nlabels: [bug]\n---\nBody\n");
    other("---\ntitle: x\nstate: queued\nlabels: [bug, ui]\n---\nBody\n");
    other("---\ntitle: x\nstate: queued\nlabels: [bug]\nmine: 1\n---\nBody\n");
    other("---\ntitle: x\nstate: queued\nlabels: [bug]\n---\nBody!\n");
    let unlabelled = ticket_of("---\ntitle: x\n---\n").meaning;
    assert_eq!(ticket_of("---\ntitle: x\nlabels: [orphan]\n---\n").meaning, unlabelled);
    assert_ne!(ticket_of("---\ntitle: x\nlabels: [bug]\n---\n").meaning, unlabelled);
}
