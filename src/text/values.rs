//! What the YAML of a frontmatter says: serde_yaml's reading, bounded, with every refusal as a sentence about a place.
//!
//! Must not know: which keys a ticket has. DESIGN.md 2.2.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_yaml::{Mapping, Value};

use super::explain::{self, at};
use super::outline::{Kind, Lost, Node, outline};
use crate::domain::ticket::Diagnostic;

/// Frontmatter beyond this many bytes is refused.
pub const MAX_YAML: usize = 64 * 1024;
/// So many nodes may there be once aliases are replaced by what they name.
const MAX_NODES: u64 = 10_000;
/// Types of YAML itself (`!!str`); other `!!` tags ask a program to build an object.
const CORE_TAGS: [&str; 15] = [
    "str",
    "int",
    "float",
    "bool",
    "null",
    "seq",
    "map",
    "set",
    "omap",
    "pairs",
    "binary",
    "timestamp",
    "merge",
    "value",
    "yaml",
];
/// Ordinary characters in YAML 1.2 that libyaml takes for line ends.
const FALSE_BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

/// The mapping that the text holds (empty for nothing but blanks and comments), and where everything stands.
pub(crate) fn parse(yaml: &str) -> Result<(Mapping, Result<Node, Lost>), Diagnostic> {
    let (value, outline) = parse_any(yaml)?;
    match value {
        Value::Mapping(map) => Ok((map, outline)),
        Value::Null if outline.as_ref().is_ok_and(|root| root.kind == Kind::Empty) => Ok((Mapping::new(), outline)),
        other => Err(not_a_map(yaml, outline.as_ref(), &other)),
    }
}

/// The same for a text that need not be a mapping.
pub(crate) fn parse_any(yaml: &str) -> Result<(Value, Result<Node, Lost>), Diagnostic> {
    if yaml.len() > MAX_YAML {
        let message = format!("the frontmatter is {} bytes long; at most {MAX_YAML} are read", yaml.len());
        return Err(Diagnostic { line: 1, column: 1, message });
    }
    let outline = outline(yaml);
    match &outline {
        Ok(root) => bound(yaml, root)?,
        Err(lost) => bound_unknown(yaml, *lost)?,
    }
    let value = load(yaml, outline.as_ref().ok()).map_err(|error| explain::sentence(yaml, outline.as_ref(), &error))?;
    if let Ok(root) = &outline {
        refuse_tags(yaml, root)?;
    }
    Ok((untagged(value), outline))
}

/// The value under any tag.
pub(crate) fn untagged(mut value: Value) -> Value {
    while let Value::Tagged(tagged) = value {
        value = tagged.value;
    }
    value
}

/// Any YAML text as serde_yaml reads it, with what libyaml misreads put right.
fn load(yaml: &str, outline: Option<&Node>) -> Result<Value, serde_yaml::Error> {
    if yaml.contains(FALSE_BREAKS) {
        return load_with_breaks(yaml);
    }
    match serde_yaml::from_str(yaml) {
        Err(error) if yaml.contains("\\u") => match outline.and_then(|root| join_surrogates(yaml, root)) {
            Some(joined) => serde_yaml::from_str(&joined).map_err(|_| error),
            None => Err(error),
        },
        read => read,
    }
}

/// Reads with stand-ins for the characters that libyaml would take for line ends, and puts them back.
fn load_with_breaks(yaml: &str) -> Result<Value, serde_yaml::Error> {
    let unused: Vec<char> = ('\u{e000}'..'\u{f8ff}').filter(|c| !yaml.contains(*c)).take(FALSE_BREAKS.len()).collect();
    let pairs: Vec<(char, char)> = FALSE_BREAKS.into_iter().zip(unused).collect();
    let swap = |text: &str, back: bool| -> String {
        let find = |c: char| pairs.iter().find(|(real, stand)| c == if back { *stand } else { *real });
        text.chars().map(|c| find(c).map_or(c, |(real, stand)| if back { *real } else { *stand })).collect()
    };
    let value: Value = serde_yaml::from_str(&swap(yaml, false))?;
    Ok(map_text(value, &|text| swap(text, true)))
}

fn map_text(value: Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(&text)),
        Value::Sequence(items) => Value::Sequence(items.into_iter().map(|v| map_text(v, change)).collect()),
        Value::Mapping(map) => {
            Value::Mapping(map.into_iter().map(|(k, v)| (map_text(k, change), map_text(v, change))).collect())
        }
        Value::Tagged(mut tagged) => {
            tagged.value = map_text(std::mem::take(&mut tagged.value), change);
            Value::Tagged(tagged)
        }
        other => other,
    }
}

/// JSON writers put an emoji into double quotes as two escapes (`\uD83D\uDE00`), which YAML does not know: joins them.
/// None if there is no such pair.
fn join_surrogates(yaml: &str, root: &Node) -> Option<String> {
    let mut joined = yaml.to_owned();
    let mut quoted = Vec::new();
    root.walk(&mut |node| {
        if node.kind == Kind::Double {
            quoted.push(node.span.clone());
        }
    });
    quoted.sort_by_key(|span| std::cmp::Reverse(span.start));
    for span in quoted {
        let (mut at, mut end) = (span.start, span.end);
        while let Some(found) = joined[at..].find("\\u").map(|n| at + n).filter(|n| *n < end) {
            let unit = |from: usize| joined.get(from + 2..from + 6).and_then(|hex| u16::from_str_radix(hex, 16).ok());
            let low = joined.get(found + 6..found + 8).filter(|t| *t == "\\u").and_then(|_| unit(found + 6));
            let pair = unit(found).zip(low).map(|(high, low)| String::from_utf16(&[high, low]));
            at = found + 2;
            if let Some(Ok(text)) = pair.filter(|p| p.as_ref().is_ok_and(|t| t.chars().count() == 1)) {
                joined.replace_range(found..found + 12, &text);
                at = found + text.len();
                end -= 12 - text.len();
            }
        }
    }
    (joined != yaml).then_some(joined)
}

/// Refuses a text whose aliases would blow it up, before anything expands them.
fn bound(yaml: &str, root: &Node) -> Result<(), Diagnostic> {
    let mut alias = None;
    root.walk(&mut |node| {
        if matches!(node.kind, Kind::Alias(_)) {
            alias = Some(node.span.start);
        }
    });
    match alias {
        Some(last) if root.expanded(&mut BTreeMap::new()) > MAX_NODES => {
            let message = format!(
                "aliases (`*name`) would make more than {MAX_NODES} values of this frontmatter; it is not read"
            );
            Err(at(yaml, last, message))
        }
        _ => Ok(()),
    }
}

/// The same where the outline is lost: then aliases cannot be counted, and are refused if the text is YAML at all.
fn bound_unknown(yaml: &str, lost: Lost) -> Result<(), Diagnostic> {
    if lost.too_deep {
        return Err(at(yaml, lost.at, "nested too deep; this is not read"));
    }
    let aliases = yaml.contains('&') && yaml.contains('*');
    if aliases && serde_yaml::from_str::<IgnoredAny>(yaml).is_ok() {
        let message =
            "this is written in a way that yoi cannot follow together with anchors and aliases; write it plainly";
        return Err(at(yaml, lost.at, message));
    }
    Ok(())
}

fn refuse_tags(yaml: &str, root: &Node) -> Result<(), Diagnostic> {
    let mut bad = None;
    root.walk(&mut |node| {
        let tag = node.tag.as_deref().unwrap_or_default();
        let name = tag.strip_prefix("!!").or_else(|| tag.strip_prefix("!<tag:yaml.org,2002:"));
        if bad.is_none() && name.is_some_and(|n| !CORE_TAGS.contains(&n.trim_end_matches('>'))) {
            bad = Some((node.start(), tag));
        }
    });
    let Some((start, tag)) = bad else { return Ok(()) };
    Err(at(
        yaml,
        start,
        format!("the tag `{tag}` asks a program to build an object; yoi reads plain data: remove the tag"),
    ))
}

fn not_a_map(yaml: &str, outline: Result<&Node, &Lost>, value: &Value) -> Diagnostic {
    let what = match value {
        Value::Sequence(_) => "a list",
        Value::Null => "null",
        _ => "text",
    };
    let start = outline.map_or(0, Node::start);
    at(yaml, start, format!("the frontmatter is {what}, not a mapping: write `key: value` lines"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(yaml: &str) -> Diagnostic {
        parse(yaml).map(|(map, _)| map).unwrap_err()
    }

    #[test]
    fn alias_bombs_are_refused_before_they_expand() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..9 {
            let refs = vec![format!("*a{}", n - 1); 9].join(", ");
            bomb.extend([format!("a{n}: &a{n} [{refs}]\n")]);
        }
        assert!(error(&bomb).message.contains("aliases"));
        assert!(error("a: &a [*a]\n").message.contains("aliases"));
        let many = format!("a: [{}]\n", vec!["x"; 20_000].join(","));
        assert!(parse(&many).is_ok(), "without aliases the length is bound enough");
        assert!(error(&"x".repeat(MAX_YAML + 1)).message.contains("at most 65536"));
        assert!(error(&"[".repeat(60_000)).message.contains("too deep"));
    }

    #[test]
    fn tags_that_build_objects_are_refused_with_their_line() {
        let error = error("title: x\nrun: !!js/function \"function(){}\"\n");
        assert_eq!((error.line, error.column), (3, 6));
        assert!(error.message.contains("!!js/function"));
        assert!(parse("title: !!str 5\n").is_ok());
    }

    #[test]
    fn characters_that_libyaml_takes_for_line_ends_are_text() {
        let (map, _) = parse("title: a\u{2028}b\nnel: \"c\u{85}d\"\n").unwrap();
        assert_eq!(map["title"], Value::from("a\u{2028}b"));
        assert_eq!(map["nel"], Value::from("c\u{85}d"));
    }

    #[test]
    fn surrogate_escapes_are_joined() {
        let (map, _) = parse("title: \"\\uD83D\\uDE00 party\"\nraw: '\\uD83D\\uDE00'\n").unwrap();
        assert_eq!(map["title"], Value::from("\u{1f600} party"));
        assert_eq!(map["raw"], Value::from("\\uD83D\\uDE00"));
    }

    #[test]
    fn what_is_no_mapping_is_said() {
        assert!(error("- a\n- b\n").message.contains("a list"));
        assert_eq!(error("\n# Heading\n\nSome words\n").line, 5);
        assert!(error("null\n").message.contains("null"));
        assert!(parse("# only a comment\n").unwrap().0.is_empty());
    }
}
