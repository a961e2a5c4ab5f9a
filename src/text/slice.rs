//! Finds the frontmatter of a file, on bytes: where it starts, where it ends, and what it is if it is not YAML.
//!
//! Must not know: YAML. DESIGN.md 2.2.

use std::ops::Range;

use crate::domain::ticket::Diagnostic;

const BOM: &[u8] = b"\xef\xbb\xbf";
/// Names that, glued to the opening line, announce another language (`---json`).
const LANGUAGES: [&str; 11] =
    ["json", "json5", "toml", "yaml", "yml", "js", "javascript", "coffee", "cson", "ini", "xml"];

/// A file with YAML frontmatter, as byte ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The file starts with a UTF-8 byte order mark.
    pub bom: bool,
    /// The lines between the opening and the closing line, with their line ends.
    pub yaml: Range<usize>,
    /// The first byte after the closing line.
    pub body_start: usize,
    /// The opening line ends with CRLF.
    pub open_crlf: bool,
}

/// What the start of a file turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sliced {
    /// YAML frontmatter.
    Frontmatter(Slice),
    /// None, which is normal; the remark says so where a person probably meant some.
    None(Option<String>),
    /// Frontmatter, or a whole file, in a form that yoi does not read; named.
    Unsupported(String),
    /// An opening line without a closing one.
    Unterminated(Diagnostic),
}

/// Cuts the file. Line 1 is exactly `---` and blanks (after an optional BOM); the first later line that is `---` or
/// `...` and blanks closes, and may be the last byte.
pub fn slice(bytes: &[u8]) -> Sliced {
    if let Some(encoding) = other_encoding(bytes) {
        return Sliced::Unsupported(format!("the file is {encoding}; yoi reads UTF-8: save it as UTF-8"));
    }
    let bom = bytes.starts_with(BOM);
    let start = if bom { BOM.len() } else { 0 };
    let (first, after_first) = line(bytes, start);
    if !is_fence(first, b"---") {
        return not_yaml(bytes, &bytes[start..], first);
    }
    let mut at = after_first;
    while at < bytes.len() {
        let (text, next) = line(bytes, at);
        if is_fence(text, b"---") || is_fence(text, b"...") {
            let open_crlf = bytes[..after_first].ends_with(b"\r\n");
            return Sliced::Frontmatter(Slice { bom, yaml: after_first..at, body_start: next, open_crlf });
        }
        at = next;
    }
    Sliced::Unterminated(unterminated(&bytes[after_first..]))
}

/// The line that starts at `at`, without its end (LF or CRLF; a lone CR is data), and where the next one starts.
fn line(bytes: &[u8], at: usize) -> (&[u8], usize) {
    let rest = &bytes[at..];
    let end = rest.iter().position(|b| *b == b'\n');
    let text = &rest[..end.unwrap_or(rest.len())];
    (text.strip_suffix(b"\r").unwrap_or(text), at + end.map_or(rest.len(), |n| n + 1))
}

fn is_fence(line: &[u8], fence: &[u8]) -> bool {
    line.strip_prefix(fence).is_some_and(|rest| rest.iter().all(|b| matches!(b, b' ' | b'\t')))
}

fn other_encoding(bytes: &[u8]) -> Option<&'static str> {
    [(&b"\xff\xfe\0\0"[..], "UTF-32"), (b"\0\0\xfe\xff", "UTF-32"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16")]
        .into_iter()
        .find_map(|(mark, name)| bytes.starts_with(mark).then_some(name))
}

fn not_yaml(bytes: &[u8], rest: &[u8], first: &[u8]) -> Sliced {
    let is = |fence| is_fence(first, fence);
    if is(b"+++") {
        return Sliced::Unsupported("TOML frontmatter (`+++`); yoi reads YAML between `---` lines".into());
    }
    if is(b";;;") || is(b"{") {
        return Sliced::Unsupported("JSON frontmatter; yoi reads YAML between `---` lines".into());
    }
    if let Some(glued) = first.strip_prefix(b"---").and_then(|rest| std::str::from_utf8(rest).ok()) {
        let name = glued.trim_end();
        if LANGUAGES.contains(&name) {
            return Sliced::Unsupported(format!("`---{name}` frontmatter; yoi reads YAML between plain `---` lines"));
        }
    }
    Sliced::None(remark(bytes, rest, first))
}

/// What to say about a file without frontmatter, where silence would puzzle its writer.
fn remark(bytes: &[u8], rest: &[u8], first: &[u8]) -> Option<String> {
    if bytes.iter().take(8000).any(|b| *b == 0) {
        return Some("this is not text".into());
    }
    if rest.starts_with(b"---\r") && !rest.contains(&b'\n') {
        return Some("the lines end with CR alone; yoi reads LF and CRLF".into());
    }
    if first.len() > 3 && first.iter().all(|b| *b == b'-') {
        return Some("line 1 has more than three dashes, so this is no frontmatter".into());
    }
    (first.starts_with(b"---") && first.trim_ascii_end().len() > 3)
        .then(|| "line 1 is more than `---`, so this is no frontmatter".into())
}

fn unterminated(rest: &[u8]) -> Diagnostic {
    let long = rest
        .split(|b| *b == b'\n')
        .position(|l| l.trim_ascii_end().len() > 3 && l.trim_ascii_end().iter().all(|b| *b == b'-'));
    match long {
        Some(n) => Diagnostic {
            line: n + 2,
            column: 1,
            message: "the frontmatter has no closing line; this line has too many dashes: make it `---`".into(),
        },
        None => Diagnostic {
            line: 1,
            column: 1,
            message: "the frontmatter has no closing line: write `---` alone on the line after its last key".into(),
        },
    }
}

/// `lf`, `crlf`, `mixed` or `none`: how the lines of the whole file end.
pub fn newline_kind(bytes: &[u8]) -> &'static str {
    let (mut lf, mut crlf) = (false, false);
    for (n, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        let after_cr = n > 0 && bytes[n - 1] == b'\r';
        lf |= !after_cr;
        crlf |= after_cr;
    }
    match (lf, crlf) {
        (false, false) => "none",
        (true, false) => "lf",
        (false, true) => "crlf",
        (true, true) => "mixed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &[u8], yaml: &str, body: &str) {
        match slice(text) {
            Sliced::Frontmatter(s) => {
                assert_eq!(std::str::from_utf8(&text[s.yaml]).unwrap(), yaml);
                assert_eq!(std::str::from_utf8(&text[s.body_start..]).unwrap(), body);
            }
            other => panic!("{:?}: {other:?}", String::from_utf8_lossy(text)),
        }
    }

    #[test]
    fn frontmatter_ends_at_the_first_closing_line() {
        check(b"---\na: 1\n---\nbody\n---\nmore", "a: 1\n", "body\n---\nmore");
        check(b"---\na: 1\n...\nbody\n", "a: 1\n", "body\n");
        check(b"--- \t\r\na: 1\r\n---\t\r\nb", "a: 1\r\n", "b");
        check(b"---\na: 1\n---", "a: 1\n", "");
        check(b"---\n---\n", "", "");
        check(b"\xef\xbb\xbf---\na: 1\n---\n", "a: 1\n", "");
        check(b"---\na: x\n  ---\n---x: 1\n---\n", "a: x\n  ---\n---x: 1\n", "");
    }

    #[test]
    fn what_is_not_yaml_is_named() {
        let named = |text: &[u8], word: &str| match slice(text) {
            Sliced::Unsupported(what) => assert!(what.contains(word), "{what}"),
            other => panic!("{other:?}"),
        };
        named(b"+++\na = 1\n+++\n", "TOML");
        named(b";;;\n{}\n;;;\n", "JSON");
        named(b"---json\n{}\n---\n", "json");
        named(b"\xff\xfe-\0-\0-\0", "UTF-16");
        for none in [&b""[..], b"# Title\n", b"---hello\nx\n---\n", b"-----\nx\n-----\n", b" ---\na: 1\n---\n"] {
            assert!(matches!(slice(none), Sliced::None(_)), "{none:?}");
        }
    }

    #[test]
    fn an_unclosed_block_is_its_own_error() {
        let line = |text: &[u8]| match slice(text) {
            Sliced::Unterminated(d) => d.line,
            other => panic!("{other:?}"),
        };
        assert_eq!(line(b"---"), 1);
        assert_eq!(line(b"---\na: 1\n---BOGUS\nx\n"), 1);
        assert_eq!(line(b"---\na: 1\n--------\nx\n"), 3);
    }
}
