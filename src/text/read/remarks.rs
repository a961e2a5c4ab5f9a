//! Values that YAML cuts silently: a ` #` in unquoted text starts a comment.
//!
//! Must not know: which keys matter; every top-level value and list item is looked at.

use super::super::document::Document;
use super::super::outline::{Kind, Node};
use crate::domain::ticket::Diagnostic;

/// One remark for each value that a comment cuts where its writer probably meant text: `PR #526`, `#tag`. A comment with
/// a blank after its `#` is taken for a comment, except after an unquoted title.
pub(super) fn cut_values(document: &Document) -> Vec<Diagnostic> {
    let Ok(root) = &document.outline else { return Vec::new() };
    let mut remarks = Vec::new();
    if !document.yaml.contains('#') {
        return remarks;
    }
    for entry in root.entries() {
        let key = entry.key.text(document.yaml).unwrap_or_default();
        let any_comment = key == "title";
        for node in std::iter::once(&entry.value).chain(entry.value.items()) {
            if let Some(comment) = cutting(document.yaml, node, any_comment) {
                let (byte, text) = comment;
                let message = format!(
                    "` #` starts a comment, so `{text}` is not part of `{key}`; put quotes around the value if it should be"
                );
                remarks.push(document.at(byte, message));
            }
        }
    }
    remarks
}

fn cutting<'y>(yaml: &'y str, node: &Node, any_comment: bool) -> Option<(usize, &'y str)> {
    let end = match node.kind {
        Kind::Plain(_) | Kind::Empty => node.end(),
        _ => return None,
    };
    let line = yaml[end..].split(['\n', '\r']).next()?;
    let comment = line.trim_start_matches([' ', '\t']);
    let byte = end + line.len() - comment.len();
    let text = comment.strip_prefix('#')?;
    let glued = text.starts_with(|c: char| !c.is_whitespace() && !matches!(c, '#' | '!' | '-' | '='));
    let cut = glued || (any_comment && !matches!(node.kind, Kind::Empty));
    (cut && line.len() > comment.len()).then(|| (byte, comment.trim_end()))
}
