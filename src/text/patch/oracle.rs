//! Judges an edit before anybody sees it: the new bytes must say what was intended and differ in the key's lines only.
//!
//! Must not know: how the edit was made.

use serde_yaml::{Mapping, Value};

use super::super::document::{Contents, Document};
use super::{Edit, Read, lines};

/// The new text as it was read for this, or why the edit must not be made.
pub(super) fn judge<'a>(before: &Read, edit: &Edit, after: &'a [u8], intended: &Mapping) -> Result<Read<'a>, String> {
    let old = &before.document;
    let new = match Document::read(after) {
        Contents::Document(document) => document,
        Contents::Invalid(error) => return Err(format!("the frontmatter would be broken by it ({})", error.message)),
        _ => return Err("the frontmatter would be lost by it".into()),
    };
    let frame = |bytes: &[u8], d: &Document| (bytes[..d.slice.yaml.start].to_vec(), bytes[d.slice.yaml.end..].to_vec());
    if frame(before.bytes, old) != frame(after, &new) {
        return Err("the closing line or the body would move".into());
    }
    let keys = |map: &Mapping| map.keys().cloned().collect::<Vec<Value>>();
    if new.map != *intended || keys(&new.map) != keys(intended) {
        return Err("the frontmatter would not read as intended".into());
    }
    if Edit::new(&new, edit.change).is_err() {
        return Err("yoi could not edit the file any more".into());
    }
    if !other_lines_same(edit, &new) {
        return Err("lines of other keys would change".into());
    }
    if !line_ends_same(old, &new) {
        return Err("the line ends would change".into());
    }
    let new = Read::of(new, after);
    if before.reads_as_map() == Some(true) && new.reads_as_map() == Some(false) {
        return Err("another YAML reader would not read the file any more".into());
    }
    Ok(new)
}

/// All lines before and after the key's own are the same bytes. A new key may stand anywhere between two lines.
fn other_lines_same(edit: &Edit, new: &Document) -> bool {
    let old: Vec<&str> = edit.document.yaml.split_inclusive('\n').collect();
    let now: Vec<&str> = new.yaml.split_inclusive('\n').collect();
    let line = |byte: usize| edit.document.yaml[..byte].matches('\n').count();
    let common = old.iter().zip(&now).take_while(|(a, b)| a == b).count();
    let (first, rest) = match edit.entry {
        _ if edit.in_flow() => (line(edit.root.start()), line(lines::after(edit.document.yaml, &edit.root.span))),
        Some(entry) => (line(entry.start), line(lines::after(edit.document.yaml, &entry.span()))),
        None => (common, common),
    };
    let tail = &old[rest.min(old.len())..];
    common >= first && now.len() >= first + tail.len() && now.ends_with(tail)
}

/// Every line that is new ends as most lines of the old text do.
fn line_ends_same(old: &Document, new: &Document) -> bool {
    let newline = lines::newline(old.yaml, old.slice.open_crlf);
    let known: std::collections::BTreeSet<&str> = old.yaml.split_inclusive('\n').collect();
    let fits = |line: &str| {
        let crlf = line.ends_with("\r\n");
        (newline == "\r\n") == crlf || known.contains(line)
    };
    new.yaml.split_inclusive('\n').all(fits)
}
