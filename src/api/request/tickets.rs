//! What may be asked of tickets, and changed in them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which tickets are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListRequest {
    /// Only this state.
    pub state: Option<String>,
    /// Only this class.
    pub class: Option<String>,
    /// Only with this label.
    pub label: Option<String>,
    /// Closed ones too.
    pub all: bool,
    /// No more of each than its line.
    pub brief: bool,
}

/// One key's change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "change", rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variants of `domain::edit::Change`, on the wire")]
pub enum KeyChange {
    Set {
        key: String,
        value: Value,
        #[serde(default)]
        written: Option<String>,
    },
    Unset {
        key: String,
    },
    Add {
        key: String,
        item: Value,
    },
    Remove {
        key: String,
        item: Value,
    },
}
