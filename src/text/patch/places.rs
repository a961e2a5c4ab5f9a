//! Where the text of a value goes: in place of the old one, on a new line, or nowhere any more.
//!
//! Each function gives ways to write, best first; the oracle chooses. Must not know: whether a way is right.

use serde_yaml::Value;

use super::super::outline::{Entry, Kind, Node};
use super::super::quote::{self, Quote};
use super::lines::{self, Splices};
use super::{Edit, lists};
use crate::domain::edit::Change;

const UNWRITABLE: &str = "a value with a tag cannot be written";

/// The value in place of the old one.
pub(super) fn replace(edit: &Edit, entry: &Entry, value: &Value) -> Result<Vec<Splices>, String> {
    let mut ways = Vec::new();
    let node = &entry.value;
    if let (Value::Sequence(items), false) = (value, matches!(edit.change, Change::Written(..))) {
        ways.extend(lists::ways(edit, node, items));
    }
    if let Value::String(text) = value {
        ways.extend(literal(edit, node, text));
    }
    let text = text_of(edit, value, quoting(node))?;
    let in_place = content(edit, entry, &text);
    if let (Some(props), Some(splices)) = (&node.props, &in_place) {
        let with = |keep: String| {
            let mut splices = splices.clone();
            splices.push((props.clone(), keep));
            splices
        };
        ways.push(splices.clone());
        ways.extend(node.anchor.as_ref().map(|anchor| with(format!("&{anchor}"))));
        let gap = edit.document.yaml[props.end..].len() - edit.document.yaml[props.end..].trim_start_matches(' ').len();
        let mut bare = splices.clone();
        bare.push((props.start..props.end + gap, String::new()));
        ways.push(bare);
    } else {
        ways.extend(in_place);
    }
    Ok(ways)
}

fn text_of(edit: &Edit, value: &Value, like: Option<Quote>) -> Result<String, String> {
    if let Change::Written(_, _, text) = edit.change {
        return Ok(text.clone());
    }
    quote::value(value, like, edit.in_flow()).ok_or_else(|| UNWRITABLE.into())
}

/// The quoting that a scalar has.
pub(super) fn quoting(node: &Node) -> Option<Quote> {
    match node.kind {
        Kind::Single => Some(Quote::Single),
        Kind::Double => Some(Quote::Double),
        _ => None,
    }
}

/// Splices that put this text in place of the node's content, anchor and tag aside.
fn content(edit: &Edit, entry: &Entry, text: &str) -> Option<Splices> {
    let (yaml, node) = (edit.document.yaml, &entry.value);
    match &node.kind {
        Kind::Empty => {
            let at = node.end();
            let colon = if node.props.is_some() || yaml[..at].ends_with(':') { "" } else { ":" };
            Some(vec![(at..at, format!("{colon} {text}"))])
        }
        Kind::Block { header_end } => {
            let lines = lines::after(yaml, &(node.span.start..*header_end));
            let gap = if yaml[*header_end..].starts_with('#') { " " } else { "" };
            Some(vec![(node.span.start..*header_end, format!("{text}{gap}")), (lines..node.span.end, String::new())])
        }
        Kind::BlockSeq(_) | Kind::BlockMap(_) => {
            let colon = entry.key.end() + yaml[entry.key.end()..].find(':')? + 1;
            let at = node.props.as_ref().map_or(colon, |p| p.end.max(colon));
            let below = lines::after(yaml, &(at..at));
            let rest = below..lines::after(yaml, &node.span);
            (below <= node.span.start).then(|| vec![(at..at, format!(" {text}")), (rest, String::new())])
        }
        _ => Some(vec![(node.span.clone(), text.to_owned())]),
    }
}

/// A text of several lines where a block scalar stands: it stays one.
fn literal(edit: &Edit, node: &Node, text: &str) -> Option<Splices> {
    let Kind::Block { header_end } = node.kind else { return None };
    let yaml = edit.document.yaml;
    let lines = lines::after(yaml, &(node.span.start..header_end));
    let awkward = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    if !text.trim_end_matches('\n').contains('\n') || text.starts_with([' ', '\n']) || text.contains(awkward) {
        return None;
    }
    let old = yaml[lines..node.span.end].lines().find(|line| !line.trim().is_empty());
    let indent = old.map_or("  ", |line| &line[..line.len() - line.trim_start_matches(' ').len()]);
    let chomp = match text.len() - text.trim_end_matches('\n').len() {
        0 => "-",
        1 => "",
        _ => "+",
    };
    let newline = lines::newline(yaml, edit.document.slice.open_crlf);
    let body: String = text
        .strip_suffix('\n')
        .unwrap_or(text)
        .split('\n')
        .map(|line| if line.is_empty() { newline.to_owned() } else { format!("{indent}{line}{newline}") })
        .collect();
    Some(vec![(node.span.start..header_end, format!("|{chomp}")), (lines..node.span.end, body)])
}

/// A new key, after the last one.
pub(super) fn insert(edit: &Edit, value: &Value) -> Result<Vec<Splices>, String> {
    let (yaml, flow) = (edit.document.yaml, edit.in_flow());
    let key = quote::string(edit.change.key(), None, true);
    let pair = format!("{key}: {}", text_of(edit, value, None)?);
    let last = edit.root.entries().last();
    if flow {
        let at = last.map_or(edit.root.span.start + 1, |e| e.span().end);
        let comma = yaml[at..].trim_start().starts_with(',');
        return Ok(vec![match (last, comma) {
            (None, _) => vec![(at..at, pair)],
            (Some(_), false) => vec![(at..at, format!(", {pair}"))],
            (Some(_), true) => {
                let after = at + yaml[at..].find(',').unwrap_or(0) + 1;
                vec![(after..after, format!(" {pair}"))]
            }
        }]);
    }
    let newline = lines::newline(yaml, edit.document.slice.open_crlf);
    let indent = edit.root.entries().first().and_then(|e| lines::indent(yaml, e.start)).unwrap_or_default();
    let at = last.map_or(yaml.len(), |entry| {
        let after = lines::after(yaml, &entry.span());
        let only_blank = yaml[after..].trim().is_empty();
        if only_blank { after } else { yaml.len() }
    });
    Ok(vec![vec![(at..at, format!("{indent}{pair}{newline}"))]])
}

/// The key and its lines gone.
pub(super) fn remove(edit: &Edit, entry: &Entry) -> Vec<Splices> {
    let yaml = edit.document.yaml;
    let span = entry.span();
    if !edit.in_flow() {
        return vec![vec![(lines::start(yaml, span.start)..lines::after(yaml, &span), String::new())]];
    }
    let entries = edit.root.entries();
    let n = entries.iter().position(|e| e.start == entry.start).unwrap_or(0);
    let range = match (entries.get(n + 1), n.checked_sub(1).map(|p| entries[p].span().end)) {
        (Some(next), _) => span.start..next.start,
        (None, Some(before)) => before..span.end,
        (None, None) => span,
    };
    vec![vec![(range, String::new())]]
}
