//! What the frontmatter should say after a change, as values.
//!
//! Must not know: how it is written.

use serde_yaml::{Mapping, Value};

use super::super::document::{Document, bare, source_text, split_commas};
use super::super::outline::{Kind, Node};
use crate::domain::edit::Change;

/// The values after the change; None if it changes nothing.
pub(crate) fn intended(document: &Document, change: &Change) -> Result<Option<Mapping>, String> {
    let key = Value::String(change.key().to_owned());
    let old = document.map.get(&key);
    let node = document.node(change.key());
    let new = match change {
        Change::Set(_, value) if old == Some(value) && is_zero_led(value, node) => {
            return Ok(Some(document.map.clone()));
        }
        Change::Set(_, value) => Some(value.clone()),
        Change::Written(_, value, text) => return written(document, key, value, text, node),
        Change::Unset(_) => None,
        Change::Add(_, item) => {
            let mut items = as_list(old, node)?;
            if items.iter().zip(texts(old, node)).any(|(v, text)| same(v, &text, item)) {
                return Ok(None);
            }
            items.push(item.clone());
            Some(Value::Sequence(items))
        }
        Change::Remove(_, item) => {
            let (items, names) = (as_list(old, node)?, texts(old, node));
            let kept: Vec<Value> =
                items.iter().zip(names).filter(|(v, text)| !same(v, text, item)).map(|(v, _)| v.clone()).collect();
            if kept.len() == items.len() {
                return Ok(None);
            }
            Some(Value::Sequence(kept))
        }
    };
    Ok(changed(document, key, new))
}

/// A value with a text of its own also changes where the value is the same and the text is not (`1.1` to `1.10`).
fn written(
    document: &Document,
    key: Value,
    value: &Value,
    text: &str,
    node: Option<&Node>,
) -> Result<Option<Mapping>, String> {
    if serde_yaml::from_str::<Value>(text).ok().as_ref() != Some(value) {
        return Err(format!("`{text}` does not read as the value to be set"));
    }
    let same_text = node.is_some_and(|n| document.yaml[n.span.clone()].trim_end() == text);
    if document.map.get(&key) == Some(value) && same_text {
        return Ok(None);
    }
    let mut map = document.map.clone();
    map.insert(key, value.clone());
    Ok(Some(map))
}

/// `0010` without quotes: text for yoi, a number for most readers. Setting it as text puts quotes around it.
fn is_zero_led(value: &Value, node: Option<&Node>) -> bool {
    let plain = node.is_some_and(|n| matches!(n.kind, Kind::Plain(_)));
    let digits = |text: &str| text.starts_with('0') && text.len() > 1 && text.bytes().all(|b| b.is_ascii_digit());
    plain && value.as_str().is_some_and(|text| digits(text.trim_start_matches(['+', '-'])))
}

fn changed(document: &Document, key: Value, new: Option<Value>) -> Option<Mapping> {
    if document.map.get(&key) == new.as_ref() {
        return None;
    }
    let mut map = document.map.clone();
    match new {
        Some(value) => {
            map.insert(key, value);
        }
        None => {
            map.shift_remove(&key);
        }
    }
    Some(map)
}

/// The items of a list, of one string, or of a string with commas; a mapping is refused.
fn as_list(old: Option<&Value>, node: Option<&Node>) -> Result<Vec<Value>, String> {
    match old.map(bare) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Sequence(items)) => Ok(items.clone()),
        Some(Value::Mapping(_)) => Err("it holds a mapping, not a list".into()),
        Some(Value::String(text)) => Ok(split_commas(text).into_iter().map(Value::String).collect()),
        Some(scalar) => Ok(vec![Value::String(source_text(scalar, node))]),
    }
}

fn texts(old: Option<&Value>, node: Option<&Node>) -> Vec<String> {
    match old.map(bare) {
        Some(Value::Sequence(items)) => {
            let nodes = node.map(Node::items).unwrap_or_default();
            items.iter().enumerate().map(|(n, item)| source_text(item, nodes.get(n).copied())).collect()
        }
        Some(Value::String(text)) => split_commas(text),
        Some(scalar) => vec![source_text(scalar, node)],
        None => Vec::new(),
    }
}

/// An item is meant by its value, or by its text: `2024` in a list is the label "2024".
fn same(value: &Value, text: &str, item: &Value) -> bool {
    value == item
        || matches!((item, value), (Value::String(wanted), Value::Number(_) | Value::Bool(_)) if wanted == text)
}
