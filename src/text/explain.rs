//! Why a frontmatter cannot be read, as one sentence about a line and column of the file.
//!
//! Must not know: what would have been in it.

use super::outline::{Entry, Lost, Node};
use crate::domain::ticket::Diagnostic;

/// Characters that look like a space and are none.
const ODD_SPACES: [char; 7] = ['\u{a0}', '\u{2007}', '\u{202f}', '\u{3000}', '\u{200b}', '\u{2003}', '\u{feff}'];

/// A diagnostic about a byte of the YAML text; the opening line is line 1 of the file.
pub(crate) fn at(yaml: &str, byte: usize, message: impl Into<String>) -> Diagnostic {
    let before = &yaml[..floor(yaml, byte)];
    let line = before.matches('\n').count() + 2;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Diagnostic { line, column, message: message.into() }
}

fn floor(text: &str, mut byte: usize) -> usize {
    byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}

/// A refusal of serde_yaml's, explained: known causes first, then what the parser said.
pub(crate) fn sentence(yaml: &str, outline: Result<&Node, &Lost>, error: &serde_yaml::Error) -> Diagnostic {
    let said = error.to_string();
    let byte = error.location().map_or(0, |l| byte_of(yaml, l.index()));
    let line_end = yaml[byte..].find('\n').map_or(yaml.len(), |n| byte + n);
    conflict_marker(yaml)
        .or_else(|| outline.ok().and_then(|root| duplicate(yaml, root)))
        .or_else(|| odd_indentation(yaml, line_end))
        .unwrap_or_else(|| from_parser(yaml, byte, &said))
}

/// libyaml counts characters.
fn byte_of(yaml: &str, chars: usize) -> usize {
    yaml.char_indices().nth(chars).map_or(yaml.len(), |(byte, _)| byte)
}

fn lines(yaml: &str) -> impl Iterator<Item = (usize, &str)> {
    yaml.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line.trim_end_matches(['\n', '\r'])))
    })
}

fn conflict_marker(yaml: &str) -> Option<Diagnostic> {
    let marker = |line: &str| {
        ["<<<<<<<", "|||||||", ">>>>>>>"]
            .iter()
            .any(|m| line.strip_prefix(m).is_some_and(|r| !r.starts_with(['<', '>', '|'])))
            || line == "======="
    };
    let (start, line) = lines(yaml).find(|(_, line)| marker(line))?;
    Some(at(yaml, start, format!("merge conflict marker (`{line}`): resolve the conflict in this file")))
}

/// A key that stands twice in one mapping, at any depth: names both lines.
fn duplicate(yaml: &str, root: &Node) -> Option<Diagnostic> {
    let mut found: Option<(usize, String)> = None;
    root.walk(&mut |node| {
        let entries = node.entries();
        let names: Vec<Option<String>> = entries.iter().map(|e| e.key.text(yaml)).collect();
        for (n, name) in names.iter().enumerate() {
            let first = names[..n].iter().position(|earlier| name.is_some() && earlier == name);
            if let (None, Some(first), Some(name)) = (&found, first, name) {
                found = Some((entries[n].start, twice(yaml, name, &entries[first], &entries[n])));
            }
        }
    });
    found.map(|(start, message)| at(yaml, start, message))
}

fn twice(yaml: &str, name: &str, first: &Entry, second: &Entry) -> String {
    let (a, b) = (at(yaml, first.start, "").line, at(yaml, second.start, "").line);
    format!("the key `{name}` stands twice, on lines {a} and {b}: remove one")
}

/// A tab or an odd space as indentation, up to the line where reading stopped.
fn odd_indentation(yaml: &str, until: usize) -> Option<Diagnostic> {
    for (start, line) in lines(&yaml[..until]) {
        let indent: &str = &line[..line.find(|c: char| !c.is_whitespace() && !ODD_SPACES.contains(&c)).unwrap_or(0)];
        if let Some(n) = indent.find('\t') {
            return Some(at(yaml, start + n, "a tab as indentation: YAML wants spaces here"));
        }
        if let Some((n, odd)) = indent.char_indices().find(|(_, c)| ODD_SPACES.contains(c)) {
            let message =
                format!("an invisible character (U+{:04X}) as indentation: replace it by a space", odd as u32);
            return Some(at(yaml, start + n, message));
        }
    }
    None
}

fn from_parser(yaml: &str, byte: usize, said: &str) -> Diagnostic {
    let next = yaml[byte..].chars().next();
    let begins = context(yaml, said).unwrap_or(byte);
    let has = |part: &str| said.contains(part);
    if has("cannot start any token") {
        return match next {
            Some('\t') => at(yaml, byte, "a tab as indentation: YAML wants spaces here"),
            Some(c) => at(yaml, byte, format!("a value cannot start with `{c}`: put quotes around it")),
            None => at(yaml, byte, "the frontmatter ends too early"),
        };
    }
    if has("mapping values are not allowed") {
        return at(yaml, byte, "a colon (`:`) inside an unquoted value: put quotes around the value");
    }
    if has("sequence entries are not allowed") {
        let message = "a list item (`- `) cannot stand here: put it on a line of its own, or quotes around the value";
        return at(yaml, byte, message);
    }
    if has("could not find expected ':'") {
        return at(
            yaml,
            begins,
            "this line is neither `key: value` (a `:` is missing) nor indented under the key before it",
        );
    }
    if has("alias") && has("did not find expected alphabetic") {
        return at(yaml, begins, "a value that starts with `*` is read as an alias: put quotes around it");
    }
    if has("unknown anchor") {
        return at(
            yaml,
            byte,
            "this alias (`*name`) has no anchor (`&name`) before it: if `*` is meant as text, quote it",
        );
    }
    if has("escape") || has("hexadecimal") {
        let backslash = yaml[..byte].rfind('\\').unwrap_or(byte);
        let message = "a backslash in double quotes starts an escape: use single quotes, or write `\\\\`";
        return at(yaml, backslash, message);
    }
    if has("quoted scalar") {
        return at(yaml, begins, "this quote is never closed");
    }
    if has("flow sequence") || has("flow mapping") {
        let open = yaml[begins..].chars().next().unwrap_or('[');
        return at(yaml, begins, format!("this `{open}` is not closed, or a comma is missing in it"));
    }
    if has("block mapping") || has("block collection") || has("expected <document start>") {
        return at(yaml, byte, after_quote(yaml, byte));
    }
    if has("more than one document") {
        // What came first was a complete document of its own: plain text, before the first `key: value`.
        let first = lines(yaml).find(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
        let message = "this line is text, and no `key: value`: make it a comment (`# `), or take it out";
        return at(yaml, first.map_or(byte, |(start, _)| start), message);
    }
    if has("expected node content") {
        return at(yaml, byte, "a value is missing here: is a bracket or a quote before it never closed?");
    }
    if has("limit exceeded") {
        return at(yaml, byte, "nested too deep, or too many aliases; this is not read");
    }
    let plain = said.split(" at line ").next().unwrap_or(said);
    at(yaml, byte, format!("not readable as YAML: {plain}"))
}

fn after_quote(yaml: &str, byte: usize) -> &'static str {
    let quoted = yaml[..byte].trim_end_matches([' ', '\t']).ends_with(['"', '\'']);
    let same_line = !yaml[..byte].ends_with('\n');
    match (quoted && same_line, yaml[..byte].trim_end_matches([' ', '\t']).ends_with([']', '}']) && same_line) {
        (true, _) => "text after the closing quote: put quotes around the whole value",
        (_, true) => "text after the closing bracket: put quotes around the whole value",
        _ => "this line does not fit the lines before it: check its indentation and its colon",
    }
}

/// Where the construct begins that libyaml was in ("while parsing ... at line 3 column 7").
fn context(yaml: &str, said: &str) -> Option<usize> {
    let tail = said.split(", while ").nth(1)?;
    let mut numbers = tail.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<usize>().ok());
    let (line, column) = (numbers.next()?, numbers.next()?);
    let (start, text) = lines(yaml).nth(line.checked_sub(1)?)?;
    Some(start + byte_of(text, column.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::super::document::Contents;
    use super::super::document::Document;

    fn check(yaml: &str, line: usize, column: usize, words: &str) {
        match Document::read(format!("---\n{yaml}---\n").as_bytes()) {
            Contents::Invalid(e) => {
                assert!(e.message.contains(words), "{yaml:?}: {e:?}");
                assert_eq!((e.line, e.column), (line, column), "{yaml:?}: {e:?}");
            }
            other => panic!("{yaml:?}: {other:?}"),
        }
    }

    #[test]
    fn every_kind_of_broken_yaml_has_its_place_and_sentence() {
        check("title: x\nlabels:\n\t- a\n", 4, 1, "a tab as indentation");
        check("\n<!-- made by a program -->\n# a comment\ntitle: x\n", 3, 1, "this line is text");
        check("bad: [\n", 3, 1, "a value is missing here");
        check("title: x\nlabels:\n \t- a\n", 4, 2, "a tab as indentation");
        check("title: x\nhosts:\n\u{a0}\u{a0}- alice\n\u{a0}\u{a0}- bob\n", 4, 1, "U+00A0");
        check("title: x\n<<<<<<< HEAD\nv: 3\n=======\nv: 4\n>>>>>>> other\n", 3, 1, "merge conflict");
        check("a: 1\nb: 2\na: 3\n", 4, 1, "`a` stands twice, on lines 2 and 4");
        check("a:\n  b: 1\n  b: 2\n", 4, 3, "`b` stands twice, on lines 3 and 4");
        check("\"a\": 1\n'a': 3\n", 3, 1, "lines 2 and 3");
        check("a: 1\nwho: @me\n", 3, 6, "cannot start with `@`");
        check("title: `tx`\n", 2, 8, "cannot start with ``");
        check("title: foo: bar\n", 2, 11, "a colon");
        check("a: 5\ntitle: Q3\nconfidential\ntype: x\n", 4, 1, "`:` is missing");
        check("files: **/*.java\n", 2, 8, "starts with `*`");
        check("files: *.java\n", 2, 8, "starts with `*`");
        check("files: *all\n", 2, 8, "no anchor");
        check("a: 1\npath: \"C:\\Users\\x\"\n", 3, 10, "use single quotes");
        check("title: \"open\nb: 2\n", 2, 8, "never closed");
        check("a: x\nlabels: [a, b\nstate: queued\n", 3, 9, "`[` is not closed");
        check("a: \"x\", \"y\"\n", 2, 7, "text after the closing quote");
        check("a: [x] y\n", 2, 8, "text after the closing bracket");
        check("a: 1\n  b: 2\n", 3, 4, "a colon");
        check("a: - b\n", 2, 4, "a list item");
    }
}
