//! What is plain is read as the full reader reads it, to the last place and digest; and what people mostly write is plain.

use proptest::prelude::*;

use super::super::keys::KeyMap;
use super::super::read::{Reading, read, read_fully};
use super::*;

/// Whether the text is read here; then the ticket is the same by both readers.
fn is_plain(file: &str) -> bool {
    let plain = Plain::read(file.as_bytes()).is_some();
    if plain {
        let keys = KeyMap::default();
        let fully = read_fully(file.as_bytes(), "t".into(), "t.md".into(), &keys);
        assert_eq!(read(file.as_bytes(), "t".into(), "t.md".into(), &keys), fully, "{file:?}");
        assert!(matches!(fully, Reading::Ticket(_)), "{file:?}");
    }
    plain
}

fn check(yaml: &[&str], expected: bool) {
    for yaml in yaml {
        assert_eq!(is_plain(&format!("---\n{yaml}---\n\nBody: 1\n")), expected, "{yaml:?}");
    }
}

#[test]
fn what_people_mostly_write_is_plain() {
    check(
        &[
            "title: Fix the watcher\nstate: queued\npriority: P1\nlabels: [bug, agent-ready]\n",
            "title: \"Fix: # the watcher\"\nstate: 'queued'\ncreated_at: 2026-11-30T08:00:00Z\n",
            "# a comment\nid: 0010\nnumber: 12\nhuman_gate: true\nnothing:\nlabels: []\n\nurl: https://x.org/a#b\n",
            "title: ログインが失敗する\nlabels: [\u{fc}, \"a, b\", 'c]' , 12]\nd: 2026-11-30\n",
            "labels:\n  - bug\n  - \"two: words\"\n\ndepends_on:\n- a-1\n-  b-2\n# end\nstate: ready\n",
            "title: [a, list]\nstate: [queued]\nlabels: bug, ui\nhuman_gate: [sign-off, 12]\npriority: 7\nqueued_at: x\n",
            "depends_on: [00001KEDC9, 12-a-b]\ntitle: 3 things\nx: 10:00\n",
            "labels: True\ntitle: No\nhuman_gate: no\ndepends_on: true\norphan_status: false\nparent: 0042\n",
        ],
        true,
    );
}

#[test]
fn whatever_leaves_a_doubt_is_not() {
    let doubts = [
        "",
        "# only a comment\n",
        "title: a # comment\n",
        "title: a: b\n",
        "title: a:\n",
        "title: one\n  two\n",
        "title: |\n  text\n",
        "title: >-\n  text\n",
        "title: 'it''s'\n",
        "title: \"a \\\" b\"\n",
        "title: \"a\" b\n",
        "title: &a x\nlabels: [*a]\n",
        "title: !!str 5\n",
        "title: {a: b}\n",
        "title: - x\n",
        "title: @x\n",
        "title: null\n",
        "title: ~\n",
        "title: .inf\n",
        "title: 1.10\n",
        "title: 21E08\n",
        "title: 0x1F\n",
        "title: -5\n",
        "title: 1_000\n",
        "title: 99999999999999999999\n",
        "title: a\ttab\n",
        "title: a\r\n",
        "title: a\u{2028}b\n",
        "title: a\u{85}b\n",
        "title: a\u{a0}b\n",
        "title: \u{feff}b\n",
        "title: a\ntitle: b\n",
        "title : a\n",
        " title: a\n",
        "title:a\n",
        "'title': a\n",
        "two words: a\n",
        "12: a\n",
        "true: a\n",
        "? title\n: a\n",
        "<<: {a: b}\n",
        "labels: [a, ]\n",
        "labels: [,]\n",
        "labels: [a b, [c]]\n",
        "labels: [a: b]\n",
        "labels: [a\n",
        "labels: [a]\n        - b\n",
        "labels: [ a]\n        - b\n",
        "labels: [a] b\n",
        "labels: [null]\n",
        "labels: [a #b]\n",
        "labels:\n  - a\n - b\n",
        "labels:\n  - a\n    - b\n",
        "labels:\n  - a: b\n",
        "labels:\n  - - a\n",
        "labels:\n  -\n",
        "labels:\n  a: b\n",
        "labels: a\n- b\n",
        "- a\n",
        "--- a\n",
        "... a\n",
        "%YAML 1.2\n",
        "just words\n",
        "<<<<<<< HEAD\n",
    ];
    check(&doubts, false);
}

#[rustfmt::skip]
const KEYS: &[&str] = &[
    "title", "state", "labels", "queued_at", "depends_on", "human_gate", "priority", "x", "a-b", "_c", "true",
    "touches",
];

/// Words that YAML takes for text, and words that it takes for something else.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a", "ready", "queued", "P1", "0010", "12", "true", "False", "null", "~", "1.5", "1e3", "0x1f",
    "2026-11-30", "2026-11-30T08:00:00Z", "a b", "a: b", "a:b", "a #b", "a#b", "#b", "\u{fc}", "\u{8868}", "",
    "- a", "'q'", "\"q\"", "'it''s'", "\"a, b\"", "\"\\n\"", "[a]", "a]", "{a}", "&a", "*a", "!t", "|", ">",
    "-5", ".5", "+1", "orphan", "x,y", "inf", "nan", "No", "https://x.org/a", "a:", "?", "@a", "%a", "a  b",
    "_", "(a)", "2026-x", "99999999999999999999", "00001KE", "1e", "0xg", "0b2", "12ab", "1-2", "1.2.3",
];

/// Pieces that make a frontmatter of the usual kind, and some that do not belong in one.
fn line() -> impl Strategy<Value = String> {
    let (key, word) = (prop::sample::select(KEYS), prop::sample::select(WORDS));
    prop_oneof![
        6 => (key.clone(), word.clone()).prop_map(|(key, word)| format!("{key}: {word}\n")),
        3 => (key.clone(), prop::collection::vec(word.clone(), 0..4), prop::sample::select(vec![", ", ",", " , "]))
            .prop_map(|(key, words, comma)| format!("{key}: [{}]\n", words.join(comma))),
        2 => (key, prop::sample::select(vec!["", "  ", "    "]), prop::collection::vec(word.clone(), 1..4)).prop_map(
            |(key, indent, words)| {
                let items = words.iter().flat_map(|word| [indent, "- ", word, "\n"]);
                format!("{key}:\n{}", items.collect::<String>())
            }
        ),
        1 => prop::sample::select(vec!["\n", "# c\n", "  # c\n", "   \n", "- a\n", "  - a\n", "  a\n", "--- a\n", "b:\n"])
            .prop_map(str::to_owned),
        1 => word.prop_map(|word| format!("{word}\n")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_readers_agree(lines in prop::collection::vec(line(), 1..7), body in "[a-z\n-]{0,20}") {
        is_plain(&format!("---\n{}---\n{body}", lines.concat()));
    }

    #[test]
    fn both_readers_agree_on_text_with_something_put_in(
        lines in prop::collection::vec(line(), 1..5),
        at in any::<prop::sample::Index>(),
        junk in "[ \\t\\r\\n:#'\"\\[\\]{},&*!|>?%@`~<=.\u{85}\u{a0}\u{2028}\u{feff}\u{e9}0-9a-z-]{1,3}",
    ) {
        let mut yaml = lines.concat();
        let mut at = at.index(yaml.len() + 1);
        while !yaml.is_char_boundary(at) {
            at -= 1;
        }
        yaml.insert_str(at, &junk);
        is_plain(&format!("---\n{yaml}---\nbody\n"));
    }
}
