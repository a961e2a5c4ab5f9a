//! One file as read: its slice, the values of its frontmatter, and the source text of each.
//!
//! Must not know: which keys a ticket has, where the file lies. DESIGN.md 2.2.

use serde_yaml::{Mapping, Value};

use super::explain::at;
use super::outline::{Kind, Lost, Node};
use super::slice::{Slice, Sliced, slice};
use super::values::{parse, untagged};
use crate::domain::ticket::Diagnostic;

/// Files beyond this many bytes are not read.
pub const MAX_FILE: usize = 4 * 1024 * 1024;

/// What a file holds.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly all files are documents: a box would cost one allocation each")]
pub enum Contents<'b> {
    /// A readable mapping as frontmatter (possibly empty).
    Document(Document<'b>),
    /// No frontmatter, and perhaps a remark for whoever meant some.
    NoFrontmatter(Option<String>),
    /// TOML, JSON, another encoding; named.
    Unsupported(String),
    /// Frontmatter that cannot be read.
    Invalid(Diagnostic),
}

/// A file with readable frontmatter.
#[derive(Debug)]
pub struct Document<'b> {
    /// Where the parts are.
    pub slice: Slice,
    /// The frontmatter's text.
    pub yaml: &'b str,
    /// The file's bytes after the closing line.
    pub body: &'b [u8],
    /// Keys and values in file order, merge keys (`<<`) as written.
    pub map: Mapping,
    pub(crate) outline: Result<Node, Lost>,
}

/// A scalar or one item of a list, with its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// As written: numbers, dates and words like `NO` keep their source text; quotes are resolved.
    pub text: String,
    /// Line in the file.
    pub line: usize,
    /// Column in characters.
    pub column: usize,
}

/// What a key holds where one text is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// No such key.
    Missing,
    /// `null`, `~` or nothing.
    Null,
    /// One scalar.
    Text(Text),
    /// A list or mapping, named, with its place.
    Other(Text),
}

impl<'b> Document<'b> {
    /// Reads a file's bytes.
    pub fn read(bytes: &'b [u8]) -> Contents<'b> {
        let cut = match slice(bytes) {
            Sliced::Frontmatter(cut) => cut,
            Sliced::None(remark) => return Contents::NoFrontmatter(remark),
            Sliced::Unsupported(what) => return Contents::Unsupported(what),
            Sliced::Unterminated(error) => return Contents::Invalid(error),
        };
        if bytes.len() > MAX_FILE {
            let message =
                format!("the file is longer than {MAX_FILE} bytes, and is not read; what is long belongs beside it");
            return Contents::Invalid(Diagnostic { line: 0, column: 0, message });
        }
        let yaml = match std::str::from_utf8(&bytes[cut.yaml.clone()]) {
            Ok(yaml) => yaml,
            Err(error) => return Contents::Invalid(not_utf8(bytes, cut.yaml.start, error.valid_up_to())),
        };
        match parse(yaml) {
            Ok((map, outline)) => {
                let body = &bytes[cut.body_start..];
                Contents::Document(Document { slice: cut, yaml, body, map, outline })
            }
            Err(error) => Contents::Invalid(error),
        }
    }

    /// The value of a key, tags taken off; from a top-level merge key where it is not written itself.
    pub fn value(&self, key: &str) -> Option<&Value> {
        let own = self.map.get(key);
        own.or_else(|| merged(self.map.get("<<")?, key)).map(bare)
    }

    pub(crate) fn node(&self, key: &str) -> Option<&Node> {
        let root = self.outline.as_ref().ok()?;
        root.entries().iter().find(|e| e.key.text(self.yaml).as_deref() == Some(key)).map(|e| &e.value)
    }

    /// The key's value where one text is expected.
    pub fn field(&self, key: &str) -> Field {
        let Some(value) = self.value(key) else { return Field::Missing };
        let node = self.node(key);
        match value {
            Value::Null => Field::Null,
            Value::Sequence(_) => Field::Other(self.place(node, "a list".into())),
            Value::Mapping(_) => Field::Other(self.place(node, "a mapping".into())),
            scalar => Field::Text(self.place(node, source_text(scalar, node))),
        }
    }

    /// The key's items where a list is expected: a list of scalars, one string, or a string of items between commas.
    /// The second part names what is neither.
    pub fn list(&self, key: &str) -> (Vec<Text>, Vec<Text>) {
        let node = self.node(key);
        match self.value(key) {
            None | Some(Value::Null) => (Vec::new(), Vec::new()),
            Some(Value::Sequence(items)) => self.items(items, node),
            Some(Value::Mapping(_)) => (Vec::new(), vec![self.place(node, "a mapping".into())]),
            Some(scalar) => {
                let texts = split_commas(&source_text(scalar, node));
                (texts.into_iter().map(|text| self.place(node, text)).collect(), Vec::new())
            }
        }
    }

    fn items(&self, items: &[Value], node: Option<&Node>) -> (Vec<Text>, Vec<Text>) {
        let nodes = node.map(Node::items).unwrap_or_default();
        let (mut texts, mut odd) = (Vec::new(), Vec::new());
        for (n, item) in items.iter().enumerate() {
            let at = nodes.get(n).copied().or(node);
            match bare(item) {
                Value::Null => odd.push(self.place(at, "nothing".into())),
                Value::Sequence(_) => odd.push(self.place(at, "a list".into())),
                Value::Mapping(_) => odd.push(self.place(at, "a mapping".into())),
                scalar => texts.push(self.place(at, source_text(scalar, nodes.get(n).copied()))),
            }
        }
        (texts, odd)
    }

    fn place(&self, node: Option<&Node>, text: String) -> Text {
        let place = node.map_or(Diagnostic { line: 1, column: 1, message: String::new() }, |n| self.at(n.start(), ""));
        Text { text, line: place.line, column: place.column }
    }

    pub(crate) fn at(&self, byte: usize, message: impl Into<String>) -> Diagnostic {
        at(self.yaml, byte, message)
    }
}

/// A value without its tags.
pub(crate) fn bare(mut value: &Value) -> &Value {
    while let Value::Tagged(tagged) = value {
        value = &tagged.value;
    }
    value
}

fn merged<'v>(merge: &'v Value, key: &str) -> Option<&'v Value> {
    match bare(merge) {
        Value::Mapping(map) => map.get(key),
        Value::Sequence(maps) => maps.iter().find_map(|map| bare(map).as_mapping()?.get(key)),
        _ => None,
    }
}

/// What a scalar says, in the words of the file: `0010`, `21E08`, `1.10` are not retyped.
pub(crate) fn source_text(value: &Value, node: Option<&Node>) -> String {
    match (value, node.map(|n| &n.kind)) {
        (Value::String(text), _) | (_, Some(Kind::Plain(text))) => text.clone(),
        (Value::Bool(b), _) => b.to_string(),
        (Value::Number(n), _) => n.to_string(),
        (other, _) => serde_yaml::to_string(&untagged(other.clone())).unwrap_or_default().trim_end().to_owned(),
    }
}

/// The items of a string that stands where a list is usual.
pub(crate) fn split_commas(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

fn not_utf8(bytes: &[u8], yaml_start: usize, valid: usize) -> Diagnostic {
    let bad = yaml_start + valid;
    let valid_text = String::from_utf8_lossy(&bytes[yaml_start..bad]).into_owned();
    let message = format!(
        "byte {bad} (0x{:02x}) is not UTF-8: save the file as UTF-8",
        bytes.get(bad).copied().unwrap_or_default()
    );
    at(&valid_text, valid_text.len(), message)
}
