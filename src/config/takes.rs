//! What may be written for a key, and how that is said.
//!
//! Must not know: any key.

use std::fmt;

/// What may be written for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// A folder inside the workspace.
    Folder,
    /// The name of a frontmatter key.
    Name,
    /// A label, or an empty text.
    Label,
    /// A folder, inside the workspace or absolute.
    Place,
    /// The name of a git remote, or an empty text.
    Remote,
    /// A table from names to states.
    States,
    /// A list of the program and its arguments.
    Command,
    /// One exit code or a list of them, none of them 0.
    ExitCodes,
    /// One text or a list of them.
    Texts,
    /// A list of such lists.
    Commands,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A number and a unit; `off` where that makes sense.
    Duration {
        /// Whether `off` may be written.
        off: bool,
    },
    /// A whole number from 1.
    Count {
        /// The largest.
        most: u32,
        /// Whether `unlimited` may be written.
        unlimited: bool,
    },
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Takes::Folder => f.write_str("a folder inside the workspace"),
            Takes::Name => f.write_str("the name of a frontmatter key"),
            Takes::Place => f.write_str("a folder: inside the workspace, or an absolute path"),
            Takes::Label => f.write_str("a label, or an empty text"),
            Takes::Remote => f.write_str("the name of a git remote, or an empty text"),
            Takes::States => f.write_str("a table of `\"name in the files\" = \"state\"`"),
            Takes::Command => f.write_str("a list of the program and its arguments, like `[\"claude\", \"-p\"]`"),
            Takes::ExitCodes => f.write_str("an exit code from 1 to 255, or a list of them"),
            Takes::Texts => f.write_str("a text, or a list of texts"),
            Takes::Commands => f.write_str(
                "a list of argument lists, one a command, like `[[\"sh\", \"first.sh\"], [\"sh\", \"second.sh\"]]`",
            ),
            Takes::OneOf(words) => f.write_str(&one_of(words)),
            Takes::Duration { off: false } => f.write_str("a duration like `\"30s\"`, `\"90m\"` or `\"24h\"`"),
            Takes::Duration { off: true } => {
                f.write_str("a duration like `\"30s\"`, `\"90m\"` or `\"24h\"`, or `\"off\"`")
            }
            Takes::Count { most, unlimited: false } => write!(f, "a whole number from 1 to {most}"),
            Takes::Count { most, unlimited: true } => write!(f, "a whole number from 1 to {most}, or `\"unlimited\"`"),
        }
    }
}

/// `"a"`, `"b"` or `"c"`.
fn one_of(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}
