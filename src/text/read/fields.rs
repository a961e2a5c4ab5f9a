//! What a ticket's keys hold, whichever reader read them.
//!
//! Must not know: which keys a ticket has.

use serde_yaml::Mapping;

use super::super::document::{Document, Field, Text, split_commas};
use super::super::plain::{Held, Place, Plain, Scalar};

/// A frontmatter as it was read.
pub(super) trait Fields {
    /// The key's value where one text is expected.
    fn field(&self, key: &str) -> Field;

    /// The key's items where a list is expected, and what among them is no text.
    fn list(&self, key: &str) -> (Vec<Text>, Vec<Text>);

    /// The key holds `{}`.
    fn is_empty_map(&self, key: &str) -> bool;
}

impl Fields for Document<'_> {
    fn field(&self, key: &str) -> Field {
        Document::field(self, key)
    }

    fn list(&self, key: &str) -> (Vec<Text>, Vec<Text>) {
        Document::list(self, key)
    }

    fn is_empty_map(&self, key: &str) -> bool {
        self.value(key).is_some_and(|value| value.as_mapping().is_some_and(Mapping::is_empty))
    }
}

impl Fields for Plain<'_> {
    fn field(&self, key: &str) -> Field {
        match self.held(key) {
            None => Field::Missing,
            Some(Held::Nothing) => Field::Null,
            Some(Held::One(scalar)) => Field::Text(text(scalar)),
            Some(Held::Many(list)) => Field::Other(at(list.start, "a list")),
        }
    }

    fn list(&self, key: &str) -> (Vec<Text>, Vec<Text>) {
        let texts = match self.held(key) {
            None | Some(Held::Nothing) => Vec::new(),
            Some(Held::One(scalar)) => split_commas(scalar.text).iter().map(|item| at(scalar.place, item)).collect(),
            Some(Held::Many(list)) => list.items.iter().map(text).collect(),
        };
        (texts, Vec::new())
    }

    fn is_empty_map(&self, _key: &str) -> bool {
        false
    }
}

fn text(scalar: &Scalar<'_>) -> Text {
    at(scalar.place, scalar.text)
}

fn at(place: Place, text: &str) -> Text {
    Text { text: text.to_owned(), line: place.line, column: place.column }
}
