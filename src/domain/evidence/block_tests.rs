//! What `block` demands, and what it writes.

use super::*;
use crate::domain::facts::TimeDeltaSeconds;
use crate::domain::lifecycle::{Verb, state_after};
use crate::domain::policy::Mode;
use crate::domain::sample::{accepted, at, queued, ticket, with};

fn whole() -> Asked<'static> {
    Asked {
        blocker: Some("no key for the payment provider"),
        evidence: Some("401 on every call, see log"),
        unblock: Some("ops puts one into the vault"),
        then: Some("retry"),
    }
}

fn writer() -> Writer {
    Writer { by: "lane-3".into(), holds: true, label: Some("claimed".into()) }
}

#[test]
fn each_of_the_four_that_is_missing_is_named_and_all_at_once() {
    let missing = |asked: Asked<'_>| match Block::of(&"a".into(), &asked) {
        Ok(_) => Vec::new(),
        Err(refusal) => {
            assert!(refusal.message.contains("`a` is not blocked"), "{refusal}");
            refusal.evidence
        }
    };
    assert_eq!(missing(whole()), Vec::<String>::new());
    let long = "x".repeat(2001);
    let rows = [
        (Asked { blocker: None, ..whole() }, "--blocker is missing: what stands in the way"),
        (Asked { blocker: Some(" \n"), ..whole() }, "--blocker is blank"),
        (Asked { evidence: None, ..whole() }, "--evidence is missing"),
        (Asked { evidence: Some(""), ..whole() }, "--evidence is blank"),
        (Asked { unblock: None, ..whole() }, "--unblock is missing"),
        (Asked { unblock: Some("\t"), ..whole() }, "--unblock is blank"),
        (Asked { then: None, ..whole() }, "--then is missing"),
        (Asked { then: Some(" "), ..whole() }, "--then is blank"),
        (Asked { then: Some("later"), ..whole() }, "--then is one of retry, decompose, reassign, not `later`"),
        (Asked { evidence: Some(&long), ..whole() }, "--evidence has 2001 characters, at most 2000"),
    ];
    for (asked, expected) in rows {
        let lines = missing(asked);
        assert!(lines.len() == 1 && lines[0].contains(expected), "{expected}: {lines:?}");
    }
    let all = missing(Asked::default());
    let options: Vec<_> = all.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(options, ["--blocker", "--evidence", "--unblock", "--then"]);
}

#[test]
fn it_enters_the_queue_anew_and_nothing_of_the_claim_or_the_acceptance_stays() {
    let block = Block::of(&"a".into(), &whole()).unwrap();
    let claimed = with(accepted("a"), |t| {
        t.labels = vec!["ui".into(), "claimed".into(), "orphan".into()];
        t.stamps.updated_at = Some(at(-60));
    });
    let text = |key: &str, value: &str| Change::text(key, value);
    assert_eq!(
        block.changes(&claimed, &writer(), at(0)).unwrap(),
        [
            text("state", "queued"),
            text("queued_by", "lane-3"),
            text("queued_at", "2026-11-30T09:00:00Z"),
            Change::Remove("labels".into(), "orphan".into()),
            Change::Add("labels".into(), "blocked".into()),
            Change::Unset("accepted_by".into()),
            Change::Unset("accepted_at".into()),
            Change::Remove("labels".into(), "claimed".into()),
            text("updated_at", "2026-11-30T09:00:00Z"),
        ]
    );
    let again = with(queued("a"), |t| t.labels = vec!["blocked".into()]);
    let keys: Vec<_> = block.changes(&again, &writer(), at(0)).unwrap().iter().map(|c| c.key().to_owned()).collect();
    assert_eq!(keys, ["queued_by", "queued_at"], "the state is there already");
}

#[test]
fn only_what_is_queued_or_inprogress_is_blocked() {
    let block = Block::of(&"a".into(), &whole()).unwrap();
    for state in State::ALL {
        let made = block.changes(&ticket("a", state), &writer(), at(0));
        let allowed = matches!(state, State::Queued | State::Inprogress);
        assert_eq!(made.is_ok(), allowed, "{state}: {made:?}");
        for mode in Mode::ALL {
            assert_eq!(state_after(Verb::Block, state, mode), Some(State::Queued));
        }
    }
    let stateless = with(ticket("a", State::Queued), |t| t.state = None);
    assert!(block.changes(&stateless, &writer(), at(0)).unwrap_err().hint.unwrap().contains("tickets/a.md"));
}

#[test]
fn the_note_has_every_field_and_what_became_of_the_worktree() {
    let asked = Asked { evidence: Some("said \"401\";\n then nothing \\o/"), ..whole() };
    let block = Block::of(&"a".into(), &asked).unwrap();
    let until = at(0) + TimeDeltaSeconds(86_400).span();
    let kept = |until| Fate::Kept {
        path: ".yoi/worktrees/a".into(),
        owner: "lane-3".into(),
        state: "dirty: 2 files untracked".into(),
        until,
    };
    let fates = [Fate::None, Fate::Removed { path: ".yoi/worktrees/a".into() }, kept(Some(until)), kept(None)];
    let notes = fates.map(|fate| block.note(&accepted("a"), &writer(), &fate, at(0)));
    insta::assert_snapshot!(notes.join("\n"), @r#"
    2026-11-30T09:00:00Z BLOCKED inprogress -> queued by lane-3: blocker "no key for the payment provider"; evidence "said \"401\"; then nothing \\o/"; unblock "ops puts one into the vault"; then retry; worktree none
    2026-11-30T09:00:00Z BLOCKED inprogress -> queued by lane-3: blocker "no key for the payment provider"; evidence "said \"401\"; then nothing \\o/"; unblock "ops puts one into the vault"; then retry; worktree removed (it was clean, at ".yoi/worktrees/a")
    2026-11-30T09:00:00Z BLOCKED inprogress -> queued by lane-3: blocker "no key for the payment provider"; evidence "said \"401\"; then nothing \\o/"; unblock "ops puts one into the vault"; then retry; worktree kept at ".yoi/worktrees/a", owner "lane-3", "dirty: 2 files untracked", until 2026-12-01T09:00:00Z
    2026-11-30T09:00:00Z BLOCKED inprogress -> queued by lane-3: blocker "no key for the payment provider"; evidence "said \"401\"; then nothing \\o/"; unblock "ops puts one into the vault"; then retry; worktree kept at ".yoi/worktrees/a", owner "lane-3", "dirty: 2 files untracked", no expiry set
    "#);
}
