//! The children of a ticket as somebody writes them down for `decompose`: a YAML (or JSON) list, each with its line.
//!
//! Must not know: files; what becomes of the children.

use std::fmt::Write as _;

use serde_yaml::{Mapping, Value};

use super::document::{bare, source_text, split_commas};
use super::nearest::nearest;
use super::outline::{Entry, Node, outline};
use super::quote;
use super::values::{MAX_YAML, parse_any};
use crate::domain::evidence::decompose::{Child, faults};
use crate::domain::refusal::Refusal;

/// What is read in a child.
const KEYS: [&str; 8] = ["title", "acceptance", "validation", "labels", "depends_on", "touches", "repo", "body"];
/// What is read beside them.
const AROUND: [&str; 2] = ["children", "why"];

/// What was written down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The children, in order.
    pub children: Vec<Child>,
    /// Why there are several.
    pub why: Option<String>,
}

/// Reads a list of children, or a mapping with `children` and `why`. What is wrong is listed with its line, and what the
/// children lack with it.
pub fn read(text: &str, name: &str) -> Result<Given, Refusal> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let refuse = |lines: Vec<String>| {
        Err(Refusal::new(format!("{name} cannot be taken as it is")).evidence(lines).hint(
            "a list of children, each with title, acceptance (a list) and validation; `yoi decompose ID --template` prints one",
        ))
    };
    if text.len() > MAX_YAML {
        return refuse(vec![format!("it is {} bytes long, and at most {MAX_YAML} are read", text.len())]);
    }
    let (value, outline) = match parse_any(text) {
        Ok(read) => read,
        // Places are told as in a ticket, below its first line.
        Err(error) => {
            let said = || format!("line {}: {}", error.line.saturating_sub(1), error.message);
            return refuse(vec![doubled(text).unwrap_or_else(said)]);
        }
    };
    let mut reading = Reading { text, wrong: Vec::new() };
    let given = reading.given(&value, outline.as_ref().ok());
    if reading.wrong.is_empty() {
        return Ok(given);
    }
    reading.wrong.extend(faults(&given.children));
    refuse(reading.wrong)
}

/// A key that stands twice.
fn doubled(text: &str) -> Option<String> {
    let line = |entry: &Entry| text[..entry.start].matches('\n').count() + 1;
    let mut found = None;
    outline(text).ok()?.walk(&mut |node| {
        let name = |entry: &Entry| entry.key.text(text);
        for (at, entry) in node.entries().iter().enumerate() {
            if let Some(first) = node.entries()[..at].iter().find(|first| name(first) == name(entry)) {
                let (name, first, line) = (name(entry).unwrap_or_default(), line(first), line(entry));
                found
                    .get_or_insert(format!("line {line}: the key `{name}` stands on line {first} already: remove one"));
            }
        }
    });
    found
}

struct Reading<'t> {
    text: &'t str,
    wrong: Vec<String>,
}

impl Reading<'_> {
    fn line(&self, node: Option<&Node>) -> Option<usize> {
        let before = self.text.get(..node?.start())?;
        Some(before.matches('\n').count() + 1)
    }

    fn wrong(&mut self, node: Option<&Node>, what: &str) {
        let line = self.line(node).map(|line| format!("line {line}: ")).unwrap_or_default();
        self.wrong.push(line + what);
    }

    fn given(&mut self, value: &Value, node: Option<&Node>) -> Given {
        match bare(value) {
            Value::Null => Given::default(),
            Value::Sequence(_) => Given { children: self.children(value, node), why: None },
            Value::Mapping(map) => {
                self.unknown(map, node, &AROUND, "a list of children, or `children` and `why`");
                let at = |key: &str| node.and_then(|node| entry(node, key, self.text));
                let (children, why) = (at("children"), at("why"));
                let listed = map.get("children").map(|listed| self.children(listed, children)).unwrap_or_default();
                Given { children: listed, why: map.get("why").and_then(|said| self.text_of("why", said, why)) }
            }
            _ => {
                self.wrong(node, "this is a text, and no list of children");
                Given::default()
            }
        }
    }

    fn children(&mut self, value: &Value, node: Option<&Node>) -> Vec<Child> {
        let Value::Sequence(items) = bare(value) else {
            if !bare(value).is_null() {
                self.wrong(node, "`children` is a list: `- title: ...`");
            }
            return Vec::new();
        };
        let nodes = node.map(Node::items).unwrap_or_default();
        items.iter().enumerate().map(|(at, item)| self.child(item, nodes.get(at).copied())).collect()
    }

    fn child(&mut self, value: &Value, node: Option<&Node>) -> Child {
        let line = self.line(node);
        let map = match bare(value) {
            Value::Mapping(map) => map,
            Value::Sequence(_) => {
                self.wrong(node, "a child is a mapping (`title: ...`), not a list");
                return Child { line, ..Child::default() };
            }
            Value::Null => return Child { line, ..Child::default() },
            // Its title alone: what else it lacks is said with it.
            scalar => return Child { title: source_text(scalar, node), line, ..Child::default() },
        };
        self.unknown(map, node, &KEYS, &format!("a child has {}", KEYS.join(", ")));
        let mut text = |key: &str| {
            let at = node.and_then(|node| entry(node, key, self.text));
            map.get(key).and_then(|said| self.text_of(key, said, at))
        };
        let (title, validation) = (text("title").unwrap_or_default(), text("validation").unwrap_or_default());
        let (repo, body) = (text("repo"), text("body").unwrap_or_default());
        let mut list = |key: &str| {
            let at = node.and_then(|node| entry(node, key, self.text));
            map.get(key).map(|said| self.list_of(key, said, at)).unwrap_or_default()
        };
        let [acceptance, labels, depends_on, touches] =
            ["acceptance", "labels", "depends_on", "touches"].map(&mut list);
        Child { title, acceptance, validation, labels, depends_on, touches, repo, body, line }
    }

    fn text_of(&mut self, key: &str, value: &Value, node: Option<&Node>) -> Option<String> {
        match bare(value) {
            Value::Null => None,
            Value::Sequence(_) | Value::Mapping(_) => {
                self.wrong(node, &format!("`{key}` is one text"));
                None
            }
            scalar => Some(source_text(scalar, node)),
        }
    }

    fn list_of(&mut self, key: &str, value: &Value, node: Option<&Node>) -> Vec<String> {
        let items = match bare(value) {
            Value::Null => return Vec::new(),
            Value::Sequence(items) => items,
            Value::Mapping(_) => {
                self.wrong(node, &format!("`{key}` is a list of texts (a colon in one of them? put it into quotes)"));
                return Vec::new();
            }
            scalar if key == "acceptance" => return vec![source_text(scalar, node)],
            scalar => return split_commas(&source_text(scalar, node)),
        };
        let nodes = node.map(Node::items).unwrap_or_default();
        let mut texts = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let node = nodes.get(at).copied();
            match bare(item) {
                Value::Sequence(_) | Value::Mapping(_) => {
                    self.wrong(node, &format!("an item of `{key}` is one text (a colon in it? put it into quotes)"));
                }
                Value::Null => texts.push(String::new()),
                scalar => texts.push(source_text(scalar, node)),
            }
        }
        texts
    }

    fn unknown(&mut self, map: &Mapping, node: Option<&Node>, known: &[&str], all: &str) {
        for (key, _) in map {
            let name = source_text(key, None);
            if known.contains(&name.as_str()) {
                continue;
            }
            let to_do = match (name.as_str(), nearest(&name, known.iter().copied())) {
                ("priority", _) => {
                    "children begin at the default priority; --keep-priority WHY gives them their parent's".into()
                }
                ("state", _) => "children begin in planning".to_owned(),
                (_, Some(meant)) => format!("did you mean `{meant}`?"),
                (_, None) => all.to_owned(),
            };
            let at = node.and_then(|node| key_of(node, &name, self.text));
            self.wrong(at, &format!("unknown key `{name}`: {to_do}"));
        }
    }
}

fn entry<'n>(node: &'n Node, key: &str, text: &str) -> Option<&'n Node> {
    node.entries().iter().find(|entry| entry.key.text(text).as_deref() == Some(key)).map(|entry| &entry.value)
}

fn key_of<'n>(node: &'n Node, key: &str, text: &str) -> Option<&'n Node> {
    node.entries().iter().find(|entry| entry.key.text(text).as_deref() == Some(key)).map(|entry| &entry.key)
}

/// What to fill in.
pub fn template(id: &str, titles: &[String], why: Option<&str>) -> String {
    let quoted = |text: &str| quote::string(text, Some(quote::Quote::Double), false);
    let mut text = format!(
        "\
# `{id}` becomes 2 to 5 tickets, each of which can be shipped by itself. Fill in and save; leave it as it is to give up.
# Each needs a title, when it is done (acceptance, at least one) and how somebody sees that (validation, one line).
# It may have labels, depends_on (ids, or titles of others here), touches (files or folders), repo, body.
why: {}    # why it is several things and not one
children:
",
        quoted(why.unwrap_or_default()).replace('\n', " "),
    );
    let mut titles: Vec<_> = titles.iter().map(String::as_str).collect();
    titles.resize(titles.len().max(2), "");
    for title in titles {
        let _ = write!(text, "  - title: {}\n    acceptance:\n      - \"\"\n    validation: \"\"\n", quoted(title));
    }
    text.push_str(
        "#   labels: [ui]\n#   depends_on: []\n#   touches: [src/login]\n#   body: |\n#     More about it.\n",
    );
    text
}

#[cfg(test)]
mod tests;
