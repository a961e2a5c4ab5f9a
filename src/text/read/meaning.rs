//! The fingerprint of what people say in a ticket, blind to yoi's own stamps and labels; the same whichever reader read
//! it.
//!
//! Must not know: files; comments and quoting, which say nothing.

use serde_yaml::{Mapping, Value};

use super::super::document::{Document, source_text, split_commas};
use super::super::plain::{Held, Plain, Scalar, Sort};
use crate::domain::ticket::{Digest, YOI_KEYS, YOI_LABELS};

/// Body, keys and values; without [`YOI_KEYS`], and without [`YOI_LABELS`] among the labels. `body` is the body's digest.
pub(super) fn digest(document: &Document, body: Digest) -> Digest {
    document.map.iter().fold(body, |digest, (key, value)| match key.as_str() {
        Some(name) if YOI_KEYS.contains(&name) => digest,
        Some("labels") => labels(digest, value),
        _ => fold(fold(digest, key), value),
    })
}

/// The same of a plain frontmatter.
pub(super) fn of_plain(plain: &Plain, body: Digest) -> Digest {
    plain.entries.iter().fold(body, |digest, entry| match (entry.key, &entry.held) {
        (key, _) if YOI_KEYS.contains(&key) => digest,
        ("labels", Held::Nothing) => digest,
        ("labels", Held::One(scalar)) => named(digest, split_commas(spelled(scalar)).iter().map(String::as_str)),
        ("labels", Held::Many(list)) => named(digest, list.items.iter().map(spelled)),
        (key, held) => {
            let digest = digest.with(b's', key.as_bytes());
            match held {
                Held::Nothing => digest.with(b'~', b""),
                Held::One(scalar) => one(digest, scalar),
                Held::Many(list) => list.items.iter().fold(digest.with(b'[', b""), one).with(b']', b""),
            }
        }
    })
}

fn one(digest: Digest, scalar: &Scalar<'_>) -> Digest {
    match scalar.sort {
        Sort::Text => digest.with(b's', scalar.text.as_bytes()),
        Sort::Number => digest.with(b'n', scalar.text.as_bytes()),
        Sort::Truth(truth) => digest.with(if truth { b't' } else { b'f' }, b""),
    }
}

/// As [`source_text`] has a value of which only the value is known.
fn spelled<'b>(scalar: &Scalar<'b>) -> &'b str {
    match scalar.sort {
        Sort::Truth(true) => "true",
        Sort::Truth(false) => "false",
        Sort::Text | Sort::Number => scalar.text,
    }
}

fn labels(digest: Digest, value: &Value) -> Digest {
    let names: Vec<String> = match value {
        Value::Null => Vec::new(),
        Value::Sequence(items) => items.iter().map(|item| source_text(item, None)).collect(),
        Value::Mapping(_) | Value::Tagged(_) => return fold(digest.with(b's', b"labels"), value),
        scalar => split_commas(&source_text(scalar, None)),
    };
    named(digest, names.iter().map(String::as_str))
}

/// A key `labels` that holds nothing but yoi's own is as good as none.
fn named<'n>(digest: Digest, names: impl Iterator<Item = &'n str>) -> Digest {
    let mut own = names.filter(|name| !YOI_LABELS.contains(name)).peekable();
    let digest = if own.peek().is_some() { digest.with(b'l', b"") } else { digest };
    own.fold(digest, |digest, name| digest.with(b's', name.as_bytes()))
}

fn fold(digest: Digest, value: &Value) -> Digest {
    match value {
        Value::Null => digest.with(b'~', b""),
        Value::Bool(b) => digest.with(if *b { b't' } else { b'f' }, b""),
        Value::Number(n) => digest.with(b'n', n.to_string().as_bytes()),
        Value::String(s) => digest.with(b's', s.as_bytes()),
        Value::Sequence(items) => items.iter().fold(digest.with(b'[', b""), fold).with(b']', b""),
        Value::Mapping(map) => mapping(digest, map),
        Value::Tagged(tagged) => fold(digest.with(b'!', tagged.tag.to_string().as_bytes()), &tagged.value),
    }
}

fn mapping(digest: Digest, map: &Mapping) -> Digest {
    map.iter().fold(digest.with(b'{', b""), |d, (k, v)| fold(fold(d, k), v)).with(b'}', b"")
}
