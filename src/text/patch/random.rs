//! Random frontmatters and random changes: what an edit leaves is judged without any of the patch's own parts.

use proptest::prelude::*;
use serde_yaml::{Mapping, Value};

use super::super::document::{Contents, Document};
use super::{AT_ONCE, PatchError, patch};
use crate::domain::edit::Change;

const KEYS: [&str; 6] = ["state", "labels", "x", "'q k'", "a-b", "ü"];
const NAMES: [&str; 6] = ["state", "labels", "x", "q k", "a-b", "ü"];

/// One entry's lines after its key; `I` stands for its indentation.
fn written_value() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        " ready\n",
        "\n",
        " # nothing\n",
        "   'it''s'  # c\n",
        " \"a \\\" # b\"\n",
        " 0010\n",
        " ~\n",
        " one\nI  two\n\nI  three # c\n",
        " 'one\n\nI  two'\n",
        " |\nI  state: no\nI  # text\n\n",
        " >-  # c\nI  folded\nI  text\n",
        " |+\nI  kept\n\n",
        " []\n",
        " [a, 'b, c', \"d\"] # c\n",
        " [\nI  a, # one\nI  b\nI]\n",
        "\nI- a # c\nI- b\n",
        " # c\nI  -  a\n\nI  # between\nI  -  b\n",
        "\nI  state: nested\nI  labels: [z]\n",
        " {a: 1, b: [c]}\n",
        " https://x.org/a#b\n",
    ])
}

prop_compose! {
    fn frontmatter()(
        indent in prop::sample::select(vec!["", "", "  "]),
        crlf in any::<bool>(),
        entries in prop::sample::subsequence(vec![0, 1, 2, 3, 4, 5], 0..6).prop_shuffle(),
        values in prop::collection::vec(written_value(), 6),
        comments in prop::collection::vec(prop::sample::select(vec!["", "", "# state: c\n", "\n"]), 6),
        colon in prop::sample::select(vec![":", ":", " :"]),
    ) -> String {
        let mut yaml = String::new();
        for (n, value, comment) in entries.into_iter().zip(values).zip(comments).map(|((n, v), c)| (n, v, c)) {
            let value = value.replace('I', indent);
            yaml.extend([comment, indent, KEYS[n], colon, value.as_str()]);
        }
        if crlf { yaml.replace('\n', "\r\n") } else { yaml }
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z#:,'\"\\[{}\\]&*!|>%@`$\\\\ -]{0,12}",
        prop::sample::select(vec![
            "queued",
            "0010",
            "21E08",
            "NO",
            "10:00",
            "~",
            "2016-12-15",
            "$1",
            "\\1",
            "a\nb\n",
            "\u{a0}x"
        ])
        .prop_map(str::to_owned),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let key = || prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned);
    prop_oneof![
        (key(), text()).prop_map(|(key, text)| Change::Set(key, text.into())),
        (key(), prop::collection::vec(text(), 0..4)).prop_map(|(key, items)| Change::Set(key, items.into())),
        key().prop_map(Change::Unset),
        (key(), text()).prop_map(|(key, text)| Change::Add(key, text.into())),
        (key(), prop::sample::select(vec!["a", "b", "b, c"])).prop_map(|(key, text)| Change::Remove(key, text.into())),
    ]
}

fn values(yaml: &str) -> Option<Mapping> {
    match serde_yaml::from_str(yaml).ok()? {
        Value::Mapping(map) => Some(map),
        Value::Null => Some(Mapping::new()),
        _ => None,
    }
}

/// A list was asked of something else.
struct NotAList;

/// What the key should hold afterwards, worked out from the values alone.
fn expected(before: Option<&Value>, change: &Change) -> Result<Option<Value>, NotAList> {
    let list = || match before {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Sequence(items)) => Ok(items.clone()),
        _ => Err(NotAList),
    };
    Ok(match change {
        Change::Set(_, value) | Change::Written(_, value, _) => Some(value.clone()),
        Change::Unset(_) => None,
        Change::Add(_, item) => {
            let mut items = list()?;
            if items.contains(item) {
                return Ok(before.cloned());
            }
            items.push(item.clone());
            Some(items.into())
        }
        Change::Remove(_, item) => {
            let mut items = list()?;
            let all = items.len();
            items.retain(|i| i != item);
            if items.len() == all {
                return Ok(before.cloned());
            }
            Some(items.into())
        }
    })
}

/// The lines before the key's own and those from the next key's on, found by the way the generator writes keys.
fn other_lines<'y>(yaml: &'y str, name: &str) -> Option<(Vec<&'y str>, Vec<&'y str>)> {
    let lines: Vec<&str> = yaml.split_inclusive('\n').collect();
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let root = lines.iter().find(|line| !line.trim().is_empty() && !line.starts_with('#')).map(|line| indent(line))?;
    let key_of = |line: &str| {
        let key = line.split_once(':')?.0.trim().trim_matches(['\'', '"']);
        NAMES.into_iter().find(|name| *name == key && indent(line) == root)
    };
    let first = lines.iter().position(|line| key_of(line) == Some(name))?;
    let next = (first + 1..lines.len()).find(|n| key_of(lines[*n]).is_some()).unwrap_or(lines.len());
    Some((lines[..first].to_vec(), lines[next..].to_vec()))
}

/// A refusal is right where a list is asked of a mapping, and where a key's going would let the comment after it fall
/// into the block scalar before it.
fn may_refuse(change: &Change, error: &PatchError) -> bool {
    let list = matches!(change, Change::Add(..) | Change::Remove(..));
    (list && error.to_string().contains("it holds a mapping")) || matches!(change, Change::Unset(_))
}

fn check(yaml: &str, change: &Change) -> Result<(), TestCaseError> {
    let file = |yaml: &str| format!("---\n{yaml}...\nbody: 1\n---\n\r\n");
    let before = file(yaml);
    let after = match patch(before.as_bytes(), std::slice::from_ref(change)) {
        Ok(after) => after,
        Err(error) => {
            prop_assert!(may_refuse(change, &error), "{error}");
            return Ok(());
        }
    };
    let after = String::from_utf8(after).unwrap();
    let new = after.strip_prefix("---\n").and_then(|a| a.strip_suffix("...\nbody: 1\n---\n\r\n"));
    let new = new.ok_or_else(|| TestCaseError::fail(format!("frame: {after:?}")))?;
    let (old_map, new_map) = (values(yaml).unwrap(), values(new));
    let new_map = new_map.ok_or_else(|| TestCaseError::fail(format!("broken: {new:?}")))?;
    if let Ok(wanted) = expected(old_map.get(change.key()), change) {
        let mut map = old_map.clone();
        match wanted {
            Some(value) => map.insert(change.key().into(), value),
            None => map.shift_remove(change.key()),
        };
        prop_assert_eq!(&new_map, &map, "{:?}", new);
    }
    if let (Some(old), Some(now)) = (other_lines(yaml, change.key()), other_lines(new, change.key())) {
        prop_assert_eq!(old, now, "{:?}", new);
    }
    let again = patch(after.as_bytes(), std::slice::from_ref(change));
    prop_assert_eq!(again.as_deref(), Ok(after.as_bytes()), "a second time");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edit_does_what_it_should_and_nothing_else(yaml in frontmatter(), change in change()) {
        prop_assume!(values(&yaml).is_some());
        check(&yaml, &change)?;
    }

    #[test]
    fn broken_text_is_refused_or_edited_right(
        yaml in frontmatter(),
        at in any::<prop::sample::Index>(),
        junk in "[ \\t\\n:#'\"\\[\\]{},&*!|>-]{1,3}",
        change in change(),
    ) {
        let mut at = at.index(yaml.len() + 1);
        while !yaml.is_char_boundary(at) {
            at -= 1;
        }
        let file = format!("---\n{}{junk}{}---\nbody\n", &yaml[..at], &yaml[at..]);
        let readable = matches!(Document::read(file.as_bytes()), Contents::Document(_));
        match patch(file.as_bytes(), std::slice::from_ref(&change)) {
            Ok(after) => {
                prop_assert!(readable, "edited what cannot be read: {file:?}");
                prop_assert!(after.ends_with(b"---\nbody\n"));
                let again = patch(&after, std::slice::from_ref(&change));
                prop_assert_eq!(again.as_deref(), Ok(after.as_slice()), "a second time");
            }
            Err(PatchError::Refused { .. }) => prop_assert!(readable),
            Err(_) => prop_assert!(!readable, "refused what can be read: {file:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changes_together_are_what_they_are_one_by_one(
        yaml in frontmatter(),
        changes in prop::collection::vec(change(), 2..AT_ONCE + 4),
    ) {
        let file = format!("---\n{yaml}---\nbody\n").into_bytes();
        let mut one_by_one = Ok(file.clone());
        for change in &changes {
            one_by_one = one_by_one.and_then(|text| patch(&text, std::slice::from_ref(change)));
        }
        prop_assert_eq!(patch(&file, &changes), one_by_one);
    }
}
