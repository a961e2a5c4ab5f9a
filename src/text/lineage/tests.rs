//! What an old text took back, told from the journal of edits.

use super::*;
use crate::domain::edit::Change;
use crate::domain::sample::at;

/// Edits one after the other, each of one key (or several, between spaces): `k=1`, `k=` takes the key out. A leading `+` is
/// yoi's own.
fn edited(first: &str, edits: &[&str]) -> (Vec<Made>, Vec<u8>) {
    let mut text = first.as_bytes().to_vec();
    let mut made = Vec::new();
    for (n, edit) in edits.iter().enumerate() {
        let changes: Vec<Change> = edit
            .trim_start_matches('+')
            .split(' ')
            .map(|pair| match pair.split_once('=').unwrap() {
                (key, "") => Change::Unset(key.into()),
                (key, value) => Change::text(key, value),
            })
            .collect();
        let placed = super::super::patch::patch(&text, &changes).unwrap();
        made.push(Made {
            name: n.to_string(),
            at: at(i64::try_from(n).unwrap()),
            follows: None,
            base: Digest::of(&text),
            expected: Digest::of(&text),
            placed: Digest::of(&placed),
            edits: vec![Edit::made(&text, &changes, &placed)],
            own: edit.starts_with('+'),
            dealt_with: None,
            settled: true,
            acknowledged: false,
            told: false,
        });
        text = placed;
    }
    (made, text)
}

fn text(lines: &str) -> String {
    format!("---\ntitle: x\n{lines}---\nbody\n")
}

#[test]
fn acknowledged_changes_are_lost_where_their_keys_are_back_and_nothing_later_stands() {
    let check = |edits: &[&str], now: &str, lost: &str| {
        let (made, _) = edited(&text("k: a\n"), edits);
        let found = saved_over(&made, text(now).as_bytes());
        let shown = found.map_or_else(String::new, |lost| {
            let keys: Vec<_> = lost.keys.into_iter().collect();
            format!("{}@{}{}", keys.join(","), (lost.at - at(0)).num_seconds(), if lost.own { " own" } else { "" })
        });
        assert_eq!(shown, lost, "{edits:?} {now:?}");
    };
    check(&["k=b"], "k: a\nmore: 1\n", "k@0");
    check(&["k=b"], "k: c\n", "");
    check(&["k=b"], "k: b\nmore: 1\n", "");
    check(&["k=b", "l=1"], "k: a\nmore: 1\n", "k,l@0");
    // The saver had read after the first, and before the second.
    check(&["k=b", "l=1"], "k: b\nmore: 1\n", "l@1");
    // The saver had read both: a person took the first back by hand.
    check(&["k=b", "l=1"], "k: a\nl: '1'\n", "");
    check(&["k=b l=1"], "k: a\nl: '1'\nmore: 1\n", "");
    check(&["k=b l=1"], "k: a\nmore: 1\n", "k,l@0");
    check(&["k=b l=1"], "k: other\n", "l@0");
    check(&["k=b", "k=c"], "k: a\nmore: 1\n", "k@0");
    check(&["k=b", "k=c"], "k: b\nmore: 1\n", "k@1");
    check(&["k=b", "k=a"], "k: a\nmore: 1\n", "");
    check(&["k="], "k: a\nmore: 1\n", "k@0");
    check(&["+k=b"], "k: a\nmore: 1\n", "k@0 own");
    check(&["+k=b", "l=1"], "k: a\nmore: 1\n", "k,l@0");
}

/// Two edits; then the first is made again, with the second, on what somebody wrote slowly into the text it displaced.
#[test]
fn what_was_made_again_later_says_nothing_of_what_its_reader_has_seen() {
    let (mut made, current) = edited(&text("k: a\n"), &["k=b", "l=1"]);
    let slow = text("k: a\n").replace("body", "slow");
    let Later::Merge(merged, edits) = judge(&made, "0", slow.as_bytes(), &current) else { panic!() };
    let digests = (Digest::of(slow.as_bytes()), Digest::of(&current), Digest::of(&merged));
    let (base, expected, placed) = digests;
    made.push(Made {
        name: "2".into(),
        at: at(2),
        follows: Some("0".into()),
        base,
        expected,
        placed,
        edits,
        ..made[1].clone()
    });
    let lost =
        |now: &str| saved_over(&made, text(now).as_bytes()).map(|lost| lost.keys.into_iter().collect::<Vec<_>>());
    // Read before the first edit, between the two, after both.
    assert_eq!(lost("k: a\nmore: 1\n"), Some(vec!["k".into(), "l".into()]));
    assert_eq!(lost("k: b\nmore: 1\n"), Some(vec!["l".into()]));
    assert_eq!(lost("k: b\nl: '1'\nmore: 1\n"), None);
}

#[test]
fn a_text_of_our_own_and_one_that_cannot_be_read_have_lost_nothing() {
    let (made, placed) = edited(&text("k: a\n"), &["k=b", "k=a", "k=c"]);
    assert_eq!(saved_over(&made, &placed), None);
    assert_eq!(saved_over(&[], &placed), None);
    assert_eq!(saved_over(&made, b"---\nk: a\n"), None);
    let told: Vec<_> = made.iter().cloned().map(|m| Made { told: true, ..m }).collect();
    assert!(saved_over(&made, text("k: a\nmore: 1\n").as_bytes()).is_some());
    assert_eq!(saved_over(&told, text("k: a\nmore: 1\n").as_bytes()), None);
}

#[test]
fn a_displaced_text_that_changed_is_merged_only_onto_what_our_edits_made_of_it() {
    let (made, current) = edited(&text("k: a\n"), &["k=b", "l=1"]);
    let theirs = text("k: a\n").replace("body", "theirs");
    let check = |made: &[Made], name: &str, theirs: &str, current: &[u8], outcome: &str| {
        let later = match judge(made, name, theirs.as_bytes(), current) {
            Later::Merge(text, _) => String::from_utf8(text).unwrap(),
            other => format!("{other:?}").split(['(', ' ']).next().unwrap().to_owned(),
        };
        assert_eq!(later, outcome);
    };
    let merged = "---\ntitle: x\nk: b\nl: \"1\"\n---\ntheirs\n";
    check(&made, "0", &theirs, &current, merged);
    check(&made, "1", &theirs.replace("k: a", "k: b"), &current, merged);
    check(&made, "0", &text("k: a\n"), &current, "AlreadyThere");
    check(&made, "0", &theirs.replace("k: a", "k: z"), &current, "Conflict");
    check(&made, "0", "---\nk", &current, "Unfinished");
    // Somebody saved in between, or since.
    check(&made, "0", &theirs, b"---\nk: b\n---\nother\n", "Conflict");
    check(&made, "0", &theirs, merged.replace("theirs", "theirs\nmore").as_bytes(), "AlreadyThere");
    check(&made[1..], "0", &theirs, &current, "Conflict");
    check(&[], "0", &theirs, &current, "Conflict");
    // What an exchange that was made on another text displaced belongs to nothing in the file.
    let mut odd = made.clone();
    odd[1].base = Digest(1);
    check(&odd, "1", &theirs, &current, "Conflict");
    check(&odd, "0", &theirs, &current, "Conflict");
    odd[1].follows = Some("0".into());
    check(&odd, "0", &text("k: b\n").replace("body", "theirs"), &current, merged);
}
