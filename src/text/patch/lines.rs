//! Splices, and the lines they fall into.
//!
//! Must not know: YAML.

use std::collections::BTreeSet;
use std::ops::Range;

use super::super::slice::Slice;

/// Replacements in the YAML text, not overlapping.
pub(crate) type Splices = Vec<(Range<usize>, String)>;

/// The bytes with the splices done. Lines that are new or changed end as most lines of the frontmatter do.
pub(crate) fn apply(slice: &Slice, yaml: &str, bytes: &[u8], mut splices: Splices) -> Vec<u8> {
    splices.sort_by_key(|(range, _)| (range.start, range.end));
    let mut new = String::with_capacity(yaml.len() + 64);
    let mut at = 0;
    for (range, text) in splices {
        new.push_str(yaml.get(at..range.start).unwrap_or_default());
        new.push_str(&text);
        at = range.end.max(at);
    }
    new.push_str(&yaml[at..]);
    let mixed = yaml.contains("\r\n") && yaml.matches('\n').count() != yaml.matches("\r\n").count();
    if mixed {
        new = with_line_ends(yaml, &new, newline(yaml, slice.open_crlf));
    }
    [&bytes[..slice.yaml.start], new.as_bytes(), &bytes[slice.yaml.end..]].concat()
}

fn with_line_ends(old: &str, new: &str, newline: &str) -> String {
    let known: BTreeSet<&str> = old.split_inclusive('\n').collect();
    let settle = |line: &str| {
        let text = line.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text));
        match text {
            Some(text) if !known.contains(line) => format!("{text}{newline}"),
            _ => line.to_owned(),
        }
    };
    new.split_inclusive('\n').map(settle).collect()
}

/// Where the line of this byte starts.
pub(crate) fn start(yaml: &str, byte: usize) -> usize {
    yaml[..byte].rfind('\n').map_or(0, |n| n + 1)
}

/// Where the line of this byte ends, before its line end.
pub(crate) fn end(yaml: &str, byte: usize) -> usize {
    let line = &yaml[byte..byte + yaml[byte..].find('\n').unwrap_or(yaml.len() - byte)];
    byte + line.strip_suffix('\r').unwrap_or(line).len()
}

/// The first byte after the line on which a range ends; a range that ends with a line end ends there.
pub(crate) fn after(yaml: &str, range: &Range<usize>) -> usize {
    if yaml[range.clone()].ends_with('\n') {
        return range.end;
    }
    range.end + yaml[range.end..].find('\n').map_or(yaml.len() - range.end, |n| n + 1)
}

/// The line end that most lines of the frontmatter have; on a tie, the opening line's.
pub(crate) fn newline(yaml: &str, open_crlf: bool) -> &'static str {
    let crlf = yaml.matches("\r\n").count();
    let lf = yaml.matches('\n').count() - crlf;
    if crlf > lf || (crlf == lf && open_crlf) { "\r\n" } else { "\n" }
}

/// The blanks before this byte, if its line holds nothing else before it.
pub(crate) fn indent(yaml: &str, byte: usize) -> Option<&str> {
    let before = &yaml[start(yaml, byte)..byte];
    before.bytes().all(|b| b == b' ').then_some(before)
}
