//! Splices, and the lines they fall into.
//!
//! Must not know: YAML.

use std::ops::Range;

/// Replacements in the YAML text, not overlapping.
pub(crate) type Splices = Vec<(Range<usize>, String)>;

/// The bytes with the splices done; their ranges count from `base`.
pub(crate) fn apply(bytes: &[u8], base: usize, mut splices: Splices) -> Vec<u8> {
    splices.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = Vec::with_capacity(bytes.len() + 64);
    let mut at = 0;
    for (range, text) in splices {
        let (start, end) = (base + range.start, base + range.end);
        out.extend_from_slice(bytes.get(at..start).unwrap_or_default());
        out.extend_from_slice(text.as_bytes());
        at = end.max(at);
    }
    out.extend_from_slice(&bytes[at..]);
    out
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
