//! The fingerprint of what people say in a ticket, blind to yoi's own stamps and labels.
//!
//! Must not know: files; comments and quoting, which say nothing.

use serde_yaml::{Mapping, Value};

use super::super::document::{Document, source_text, split_commas};
use crate::domain::ticket::{Digest, YOI_KEYS, YOI_LABELS};

/// Body, keys and values; without [`YOI_KEYS`], and without [`YOI_LABELS`] among the labels.
pub(super) fn digest(document: &Document) -> Digest {
    let mut digest = Digest::of(document.body);
    for (key, value) in &document.map {
        match key.as_str() {
            Some(name) if YOI_KEYS.contains(&name) => {}
            Some("labels") => digest = labels(digest, value),
            _ => digest = fold(fold(digest, key), value),
        }
    }
    digest
}

/// A key `labels` that holds nothing but yoi's own is as good as none.
fn labels(digest: Digest, value: &Value) -> Digest {
    let names: Vec<String> = match value {
        Value::Null => Vec::new(),
        Value::Sequence(items) => items.iter().map(|item| source_text(item, None)).collect(),
        Value::Mapping(_) | Value::Tagged(_) => return fold(digest.and(b"labels"), value),
        scalar => split_commas(&source_text(scalar, None)),
    };
    let own: Vec<&String> = names.iter().filter(|name| !YOI_LABELS.contains(&name.as_str())).collect();
    if own.is_empty() {
        return digest;
    }
    own.into_iter().fold(digest.and(b"labels"), |d, name| text(d, b"s", name))
}

fn fold(digest: Digest, value: &Value) -> Digest {
    match value {
        Value::Null => digest.and(b"~"),
        Value::Bool(b) => digest.and(if *b { b"t" } else { b"f" }),
        Value::Number(n) => text(digest, b"n", &n.to_string()),
        Value::String(s) => text(digest, b"s", s),
        Value::Sequence(items) => items.iter().fold(digest.and(b"["), fold).and(b"]"),
        Value::Mapping(map) => mapping(digest, map),
        Value::Tagged(tagged) => fold(text(digest, b"!", &tagged.tag.to_string()), &tagged.value),
    }
}

fn mapping(digest: Digest, map: &Mapping) -> Digest {
    map.iter().fold(digest.and(b"{"), |d, (k, v)| fold(fold(d, k), v)).and(b"}")
}

/// With its length, so that no two sequences of texts look alike.
fn text(digest: Digest, kind: &[u8], text: &str) -> Digest {
    digest.and(kind).and(&text.len().to_le_bytes()).and(text.as_bytes())
}
