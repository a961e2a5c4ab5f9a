//! A frontmatter written the way nearly all of them are: one `key: value` a line, lists in brackets or a `- item` a line,
//! no comment after a value, no anchors, nothing folded. Such a text is read at a fraction of what a YAML parser takes.
//!
//! Only what leaves no doubt is read here; whatever else stands in a text sends its reader to [`Document`], which reads
//! the same values of every text that this one takes (`tests` compares them). DESIGN.md 2.2.
//!
//! Must not know: which keys a ticket has, files.
//!
//! [`Document`]: super::document::Document

use super::document::MAX_FILE;
use super::slice::{Sliced, slice};

/// Longer frontmatters, and those with more keys, are for the full reader.
const MAX_YAML: usize = 16 * 1024;
const MAX_KEYS: usize = 64;
const MAX_KEY: usize = 64;

/// A file with such a frontmatter.
#[derive(Debug)]
pub(super) struct Plain<'b> {
    /// In file order; no key stands twice.
    pub(super) entries: Vec<Entry<'b>>,
    /// The file's bytes up to the body, and from it on.
    pub(super) parts: (&'b [u8], &'b [u8]),
}

/// One key with its value.
#[derive(Debug)]
pub(super) struct Entry<'b> {
    pub(super) key: &'b str,
    pub(super) held: Held<'b>,
}

#[derive(Debug)]
pub(super) enum Held<'b> {
    /// Nothing is written.
    Nothing,
    One(Scalar<'b>),
    Many(List<'b>),
}

/// A list.
#[derive(Debug)]
pub(super) struct List<'b> {
    pub(super) items: Vec<Scalar<'b>>,
    /// Where it begins: its bracket, or its first dash.
    pub(super) start: Place,
    /// It stands in brackets, and has ended on its own line.
    closed: bool,
}

/// A value, or an item of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalar<'b> {
    /// As written, without quotes.
    pub(super) text: &'b str,
    pub(super) sort: Sort,
    pub(super) place: Place,
}

/// What YAML takes a value for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Text,
    /// A whole number, written as anybody would write it.
    Number,
    Truth(bool),
}

/// Line in the file, column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl<'b> Plain<'b> {
    /// Reads a file's bytes, if there is no doubt what they say.
    pub(super) fn read(bytes: &'b [u8]) -> Option<Self> {
        if bytes.len() > MAX_FILE || !bytes.starts_with(b"---\n") {
            return None;
        }
        let Sliced::Frontmatter(found) = slice(bytes) else { return None };
        let yaml = std::str::from_utf8(&bytes[found.yaml]).ok()?;
        if yaml.len() > MAX_YAML || !is_plain_text(yaml) {
            return None;
        }
        let mut entries = Vec::with_capacity(16);
        // The opening line is line 1.
        let (mut rest, mut number) = (yaml, 2);
        while !rest.is_empty() {
            let (line, after) = cut(rest, b'\n').unwrap_or((rest, ""));
            add_line(&mut entries, line, number)?;
            (rest, number) = (after, number + 1);
        }
        (!entries.is_empty()).then_some(Self { entries, parts: bytes.split_at(found.body_start) })
    }

    /// What a key holds.
    pub(super) fn held(&self, key: &str) -> Option<&Held<'b>> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.held)
    }
}

/// Line ends are LF, nothing is invisible, and nothing is a line end to one YAML reader and a letter to another.
fn is_plain_text(yaml: &str) -> bool {
    let ascii = |byte: u8| matches!(byte, b' '..=b'~' | b'\n');
    let letter =
        |c: char| !matches!(c, '\u{80}'..='\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    // To the end in any case: without a way out a processor looks at many bytes at once.
    yaml.bytes().fold(true, |plain, byte| plain & (ascii(byte) || byte >= 0x80))
        && (yaml.is_ascii() || yaml.chars().all(letter))
}

/// What stands before and after the first of an ASCII character. Lines and keys are short: a search that is good for long
/// texts takes longer to begin with than these to be gone through.
fn cut(text: &str, at: u8) -> Option<(&str, &str)> {
    let before = text.bytes().position(|byte| byte == at)?;
    Some((&text[..before], &text[before + 1..]))
}

/// How many blanks a text begins with.
fn blanks(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b' ').count()
}

fn without_blanks_at_end(text: &str) -> &str {
    &text[..text.len() - text.bytes().rev().take_while(|byte| *byte == b' ').count()]
}

/// Takes in one line; None where it leaves a doubt.
fn add_line<'b>(entries: &mut Vec<Entry<'b>>, line: &'b str, number: usize) -> Option<()> {
    match line.bytes().next() {
        // An empty line, or a comment over the whole line.
        None | Some(b'#') => Some(()),
        Some(b' ' | b'-') => {
            let blank = line.bytes().all(|byte| byte == b' ');
            if blank { Some(()) } else { add_item(&mut entries.last_mut()?.held, line, number) }
        }
        Some(_) => {
            let entry = entry(line, number)?;
            let is_new = entries.len() < MAX_KEYS && entries.iter().all(|other| other.key != entry.key);
            is_new.then(|| entries.push(entry))
        }
    }
}

fn entry(line: &str, number: usize) -> Option<Entry<'_>> {
    let (key, rest) = cut(line, b':')?;
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let begins = key.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let is_key = begins && key.len() <= MAX_KEY && key.bytes().all(word) && sort(key) == Some(Sort::Text);
    if !is_key || !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let value = &rest[blanks(rest)..];
    // Keys are ASCII: up to here a byte is a character.
    let place = Place { line: number, column: line.len() - value.len() + 1 };
    let value = without_blanks_at_end(value);
    let held = match value.as_bytes().first() {
        None => Held::Nothing,
        Some(b'[') => Held::Many(List { items: in_brackets(value, place)?, start: place, closed: true }),
        Some(_) => Held::One(scalar(value, place, in_block)?),
    };
    Some(Entry { key, held })
}

/// A line `- item` of the list that stands below its key. All items of a list stand in one column.
fn add_item<'b>(held: &mut Held<'b>, line: &'b str, number: usize) -> Option<()> {
    let after_blanks = &line[blanks(line)..];
    let dash = Place { line: number, column: line.len() - after_blanks.len() + 1 };
    let rest = after_blanks.strip_prefix("- ")?;
    let value = &rest[blanks(rest)..];
    let place = Place { line: number, column: line.len() - value.len() + 1 };
    let item = scalar(without_blanks_at_end(value), place, in_block)?;
    match held {
        Held::Nothing => *held = Held::Many(List { items: vec![item], start: dash, closed: false }),
        Held::Many(list) if !list.closed && list.start.column == dash.column => list.items.push(item),
        _ => return None,
    }
    Some(())
}

/// The items of a whole `[...]`.
fn in_brackets(list: &str, start: Place) -> Option<Vec<Scalar<'_>>> {
    let inside = list.strip_prefix('[')?.strip_suffix(']')?;
    let mut items = Vec::new();
    let mut rest = &inside[blanks(inside)..];
    if rest.is_empty() {
        return Some(items);
    }
    loop {
        let end = match rest.as_bytes().first()? {
            quote @ (b'"' | b'\'') => rest[1..].find(char::from(*quote))? + 2,
            _ => rest.bytes().position(|byte| byte == b',').unwrap_or(rest.len()),
        };
        // Characters, not bytes, from here on.
        let before = &list[..list.len() - 1 - rest.len()];
        let place = Place { line: start.line, column: start.column + before.chars().count() };
        items.push(scalar(without_blanks_at_end(&rest[..end]), place, in_flow)?);
        let after = &rest[end + blanks(&rest[end..])..];
        if after.is_empty() {
            return Some(items);
        }
        let next = after.strip_prefix(',')?;
        rest = &next[blanks(next)..];
    }
}

/// One value: in quotes without an escape, or without quotes.
fn scalar(written: &str, place: Place, may_stand: fn(&str) -> bool) -> Option<Scalar<'_>> {
    let (text, sort) = match written.as_bytes().first()? {
        quote @ (b'"' | b'\'') => {
            let quote = char::from(*quote);
            let inside = written.get(1..)?.strip_suffix(quote)?;
            (!inside.contains([quote, '\\'])).then_some((inside, Sort::Text))?
        }
        _ => (written, sort(written).filter(|_| may_stand(written))?),
    };
    Some(Scalar { text, sort, place })
}

/// Whether an unquoted text after a key, or after a dash, is one whole value: no `: `, ` #` or colon at its end.
fn in_block(text: &str) -> bool {
    let mut last = b'-';
    for byte in text.bytes() {
        if (last == b':' && byte == b' ') || (last == b' ' && byte == b'#') {
            return false;
        }
        last = byte;
    }
    last != b':'
}

/// The same in brackets, where more characters mean something.
fn in_flow(text: &str) -> bool {
    let steers =
        |byte: u8| matches!(byte, b'[' | b']' | b'{' | b'}' | b':' | b'#' | b'"' | b'\'' | b'&' | b'*' | b'!' | b'?');
    !text.bytes().any(steers)
}

/// What an unquoted text is; None where it begins like nothing plain, is null, or may be an unusual number.
fn sort(text: &str) -> Option<Sort> {
    match *text.as_bytes().first()? {
        b'0'..=b'9' => number(text),
        b'a'..=b'z' | b'A'..=b'Z' => match text {
            "null" | "Null" | "NULL" => None,
            "true" | "True" | "TRUE" => Some(Sort::Truth(true)),
            "false" | "False" | "FALSE" => Some(Sort::Truth(false)),
            _ => Some(Sort::Text),
        },
        b'_' | b'/' | b'(' | 0x80.. => Some(Sort::Text),
        _ => None,
    }
}

/// Digits alone are a number, but not with a zero before them. What has a character that is in no number, or begins like
/// a date, is none.
fn number(text: &str) -> Option<Sort> {
    let bytes = text.as_bytes();
    if bytes.iter().all(u8::is_ascii_digit) {
        let leading = bytes.len() > 1 && bytes[0] == b'0';
        return if leading { Some(Sort::Text) } else { (bytes.len() <= 18).then_some(Sort::Number) };
    }
    let in_numbers = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-' | b'_');
    let other_base = ["0x", "0o", "0b"].iter().any(|prefix| text.starts_with(prefix));
    let word = !other_base && !bytes.iter().all(in_numbers);
    let date = bytes.len() >= 10 && bytes[..4].iter().all(u8::is_ascii_digit) && bytes[4] == b'-';
    (word || date).then_some(Sort::Text)
}

#[cfg(test)]
mod tests;
