//! Lists: items are added to and taken from a list in the style it has.
//!
//! Must not know: labels; whether a way is right (the oracle says).

use serde_yaml::Value;

use super::super::document::bare;
use super::super::outline::{Item, Kind, Node};
use super::super::quote::{self, Quote};
use super::Edit;
use super::lines::{self, Splices};
use super::places::quoting;

/// Ways to make these the items of the list that stands here: by adding at the end, by taking out, or by writing it anew
/// in its style. None where no list stands here.
pub(super) fn ways(edit: &Edit, node: &Node, wanted: &[Value]) -> Vec<Splices> {
    let Some(Value::Sequence(old)) = edit.document.map.get(edit.change.key()).map(bare) else { return Vec::new() };
    let like = common_quoting(node);
    let mut ways = Vec::new();
    if let Some(more) = wanted.strip_prefix(old.as_slice()) {
        ways.extend(append(edit, node, more, like));
    }
    if let Some(gone) = left_out(old, wanted) {
        ways.extend(take_out(edit, node, &gone));
    }
    ways.extend(anew(edit, node, wanted, like));
    ways
}

/// The quoting that all items share.
fn common_quoting(node: &Node) -> Option<Quote> {
    let mut items = node.items().into_iter().map(quoting);
    let first = items.next()??;
    items.all(|quote| quote == Some(first)).then_some(first)
}

/// Which items of `old` are missing in `wanted`, if nothing else differs.
fn left_out(old: &[Value], wanted: &[Value]) -> Option<Vec<usize>> {
    let mut rest = wanted.iter().peekable();
    let gone = old.iter().enumerate().filter(|(_, item)| rest.next_if(|next| next == item).is_none()).map(|(n, _)| n);
    let gone: Vec<usize> = gone.collect();
    rest.peek().is_none().then_some(gone)
}

fn append(edit: &Edit, node: &Node, more: &[Value], like: Option<Quote>) -> Option<Splices> {
    match &node.kind {
        Kind::FlowSeq(items) => Some(append_flow(edit, node, items.last(), &texts(more, like, true)?)),
        Kind::BlockSeq(items) => {
            let text = block_lines(edit, items, &texts(more, like, edit.in_flow())?)?;
            let last = items.last()?;
            let at = lines::after(edit.document.yaml, &(last.dash..last.node.end().max(last.dash + 1)));
            Some(vec![(at..at, text)])
        }
        _ => None,
    }
}

fn texts(items: &[Value], like: Option<Quote>, in_flow: bool) -> Option<Vec<String>> {
    items.iter().map(|item| quote::value(item, like, in_flow)).collect()
}

/// New lines in the style of the list's own: same indentation, same gap after the dash.
fn block_lines(edit: &Edit, items: &[Item], texts: &[String]) -> Option<String> {
    let (yaml, first) = (edit.document.yaml, items.first()?);
    let indent = lines::indent(yaml, first.dash)?;
    let full = items.iter().rev().find(|item| item.node.kind != Kind::Empty);
    let gap = full.map_or(" ", |item| &yaml[item.dash + 1..item.node.start()]);
    let gap = if gap.bytes().all(|b| b == b' ') { gap } else { " " };
    let newline = lines::newline(yaml, edit.document.slice.open_crlf);
    let lines: Vec<String> = texts.iter().map(|text| format!("{indent}-{gap}{text}{newline}")).collect();
    Some(lines.concat())
}

fn append_flow(edit: &Edit, node: &Node, last: Option<&Node>, texts: &[String]) -> Splices {
    let yaml = edit.document.yaml;
    let Some(last) = last else {
        let inner = node.span.start + 1..node.span.end - 1;
        let at = if yaml[inner.clone()].trim().is_empty() { inner } else { inner.start..inner.start };
        return vec![(at, texts.join(", "))];
    };
    let comma = comma_after(yaml, last.end(), node.span.end);
    let end = comma.map_or(last.end(), |n| n + 1);
    let own_line = lines::indent(yaml, last.start()).filter(|_| lines::start(yaml, last.start()) > node.span.start);
    let Some(indent) = own_line else {
        let lead = if comma.is_some() { " " } else { ", " };
        return vec![(end..end, format!("{lead}{}", texts.join(", ")))];
    };
    let newline = lines::newline(yaml, edit.document.slice.open_crlf);
    let line = lines::end(yaml, end);
    if line >= node.span.end {
        // the closing bracket stands on the last item's line
        let glue = if comma.is_some() { "" } else { "," };
        let added: Vec<String> = texts.iter().map(|text| format!("{newline}{indent}{text}")).collect();
        return vec![(end..end, format!("{glue}{}", added.join(",")))];
    }
    let added: Vec<String> = texts.iter().map(|text| format!("{newline}{indent}{text},")).collect();
    let mut added = added.concat();
    let mut splices = Vec::new();
    if comma.is_none() {
        added.pop();
        splices.push((end..end, ",".to_owned()));
    }
    splices.push((line..line, added));
    splices
}

/// A comma between the last item and the closing bracket, comments skipped.
fn comma_after(yaml: &str, from: usize, to: usize) -> Option<usize> {
    let mut in_comment = false;
    for (n, c) in yaml[from..to].char_indices() {
        match c {
            '\n' => in_comment = false,
            '#' => in_comment = true,
            ',' if !in_comment => return Some(from + n),
            _ => {}
        }
    }
    None
}

fn take_out(edit: &Edit, node: &Node, gone: &[usize]) -> Option<Splices> {
    let yaml = edit.document.yaml;
    match &node.kind {
        Kind::FlowSeq(items) if gone.len() == items.len() => Some(vec![(node.span.clone(), "[]".into())]),
        Kind::FlowSeq(items) => {
            let kept = (0..items.len()).rfind(|n| !gone.contains(n))?;
            let mut splices: Splices = Vec::new();
            for n in gone.iter().copied().filter(|n| *n < kept) {
                splices.push((items[n].start()..items[n + 1].start(), String::new()));
            }
            if kept + 1 < items.len() {
                splices.push((items[kept].end()..items[items.len() - 1].end(), String::new()));
            }
            Some(splices)
        }
        Kind::BlockSeq(items) if gone.len() < items.len() => {
            let lines_of = |item: &Item| {
                let span = item.dash..item.node.end().max(item.dash + 1);
                lines::start(yaml, item.dash)..lines::after(yaml, &span)
            };
            let kept = (0..items.len()).rfind(|n| !gone.contains(n))?;
            let inner = gone.iter().filter(|n| **n < kept).map(|n| lines_of(&items[*n]));
            // At the end of the list the comments above the items go too: nothing would hold them any more.
            let tail = lines_of(&items[kept]).end..lines::after(yaml, &node.span);
            let ranges = inner.chain((kept + 1 < items.len()).then_some(tail));
            Some(ranges.map(|range| (range, String::new())).collect())
        }
        _ => None,
    }
}

fn anew(edit: &Edit, node: &Node, wanted: &[Value], like: Option<Quote>) -> Option<Splices> {
    let yaml = edit.document.yaml;
    match &node.kind {
        Kind::FlowSeq(_) => Some(vec![(node.span.clone(), quote::list(wanted, like)?)]),
        Kind::BlockSeq(items) if !wanted.is_empty() => {
            let text = block_lines(edit, items, &texts(wanted, like, edit.in_flow())?)?;
            let range = lines::start(yaml, items.first()?.dash)..lines::after(yaml, &node.span);
            Some(vec![(range, text)])
        }
        _ => None,
    }
}
