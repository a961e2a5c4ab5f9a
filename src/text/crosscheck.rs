//! A second opinion on a frontmatter, by gray_matter: another slicer, another YAML parser.
//!
//! It says yes or no and nothing more: its values, its body and its positions are not used (it retypes values and loses
//! line ends). It gets only what serde_yaml accepted, without aliases and of a bounded size, rebuilt between plain `---`
//! lines. Must not know: tickets.

use gray_matter::engine::YAML;
use gray_matter::{Matter, Pod};

use super::document::Document;

/// Longer frontmatter is not cross-checked.
const MAX_CHECKED: usize = 16 * 1024;

/// Whether the other reader finds a mapping there; None where it is not asked.
pub fn reads_as_map(document: &Document) -> Option<bool> {
    let yaml = document.yaml;
    let bombable = yaml.contains('*') && yaml.contains('&');
    let empty = document.map.is_empty();
    let indented = yaml.lines().any(|line| line.starts_with(' ') && !line.trim().is_empty())
        && !yaml.lines().any(|line| line.starts_with(|c: char| c != ' ' && c != '#'));
    let known_gap = indented || yaml.contains(['\u{feff}', '\u{85}', '\u{2028}', '\u{2029}']);
    if yaml.len() > MAX_CHECKED || bombable || empty || known_gap {
        return None;
    }
    let rebuilt = format!("---\n{yaml}---\n");
    let read = Matter::<YAML>::new().parse::<Pod>(&rebuilt);
    Some(read.is_ok_and(|entity| matches!(entity.data, Some(Pod::Hash(_)))))
}

/// A remark for a person, where other programs will not read what yoi reads.
pub fn remark(document: &Document) -> Option<String> {
    (reads_as_map(document) == Some(false)).then(|| {
        "another YAML reader does not accept this frontmatter: a tab after a colon, or unusual indentation, may be why".into()
    })
}

#[cfg(test)]
mod tests {
    use super::super::document::Contents;
    use super::*;

    fn check(yaml: &str, expected: Option<bool>) {
        let text = format!("---\n{yaml}---\n");
        let Contents::Document(document) = Document::read(text.as_bytes()) else { panic!("{yaml:?}") };
        assert_eq!(reads_as_map(&document), expected, "{yaml:?}");
    }

    #[test]
    fn the_other_reader_is_asked_only_where_it_is_safe() {
        check("title: x\nlabels: [a]\n", Some(true));
        check("title:\tx\n", Some(false));
        check("# nothing\n", None);
        check("a: &x 1\nb: *x\n", None);
    }
}
