//! The text of a new ticket, and its id.
//!
//! Must not know: where the file will lie, how chance is drawn. DESIGN.md 8, "New tickets".

use std::fmt::Write;

use super::keys::KeyMap;
use super::quote;
use crate::domain::classify::clock;
use crate::domain::ticket::{Priority, State, Timestamp};

/// The most characters of a title that go into an id.
const MAX_WORDS: usize = 40;
/// Without letters that are taken for one another.
const BASE32: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// What a new ticket says.
pub struct Draft<'a> {
    /// Its title.
    pub title: &'a str,
    /// `planning`, `ready` or `queued`.
    pub state: State,
    /// Written where it is not P2.
    pub priority: Priority,
    /// Written where there are some.
    pub labels: &'a [String],
    /// For the stamps.
    pub now: Timestamp,
    /// Stamped where it is queued.
    pub queued_by: &'a str,
    /// The names in use.
    pub keys: &'a KeyMap,
}

impl Draft<'_> {
    /// The whole file.
    pub fn text(&self) -> String {
        self.head() + "---\n\n"
    }

    /// The frontmatter, without the line that ends it.
    pub(super) fn head(&self) -> String {
        let now = clock(self.now);
        let mut text = String::from("---\n");
        let _ = writeln!(text, "title: {}", double_quoted(self.title));
        let _ = writeln!(text, "{}: {}", self.keys.state_key, quote::string(self.keys.name(self.state), None, false));
        let _ = writeln!(text, "priority: {}", self.priority);
        let labels: Vec<_> = self.labels.iter().map(|label| quote::string(label, None, true)).collect();
        let _ = writeln!(text, "labels: [{}]", labels.join(", "));
        let _ = writeln!(text, "created_at: \"{now}\"");
        let _ = writeln!(text, "updated_at: \"{now}\"");
        if self.state == State::Queued {
            let _ = writeln!(text, "queued_by: {}", quote::string(self.queued_by, None, false));
            let _ = writeln!(text, "queued_at: \"{now}\"");
        }
        text
    }
}

/// Titles are always written in double quotes: people put colons and hashes into them.
fn double_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Words of the title and four letters drawn from `random`: readable, and as good as never the same twice.
pub fn slug(title: &str, random: u32) -> String {
    let lower = title.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = String::new();
    for word in words {
        if id.chars().count() + word.chars().count() >= MAX_WORDS && !id.is_empty() {
            break;
        }
        id.extend(word.chars().take(MAX_WORDS));
        id.push('-');
    }
    for place in (0..4).rev() {
        id.push(char::from(BASE32[(random >> (5 * place)) as usize & 31]));
    }
    id
}

#[cfg(test)]
mod tests {
    use super::{Draft, slug};
    use crate::domain::ticket::{Priority, State};
    use crate::text::keys::KeyMap;
    use crate::text::read::{Reading, read};

    #[test]
    fn ids_are_words_of_the_title_and_four_letters() {
        for (title, id) in [
            ("Login fails on Safari", "login-fails-on-safari-0010"),
            ("  Fix: ../../etc/passwd! ", "fix-etc-passwd-0010"),
            ("ログインが失敗する", "ログインが失敗する-0010"),
            ("!!!", "0010"),
            ("a very long title that goes on and on and never ends", "a-very-long-title-that-goes-on-and-on-0010"),
        ] {
            assert_eq!(slug(title, 32), id, "{title}");
        }
    }

    #[test]
    fn whatever_the_title_the_draft_reads_as_it() {
        for title in [
            "plain",
            "a: b # c",
            "say \"no\" \\ yes",
            "- x",
            "[y]",
            "'",
            "日本",
            "$1 & \\0",
            "null",
            "0010",
            "tab\u{7}",
        ] {
            let labels = ["agent-ready".to_owned(), "a, b".to_owned(), "no".to_owned()];
            let now = chrono::DateTime::from_timestamp(1_800_000_000, 0).unwrap();
            let keys = KeyMap::default();
            let draft = Draft {
                title,
                state: State::Queued,
                priority: Priority::default(),
                labels: &labels,
                now,
                queued_by: "a: b",
                keys: &keys,
            };
            match read(draft.text().as_bytes(), "t".into(), "t.md".into(), &keys) {
                Reading::Ticket(ticket) => {
                    assert_eq!(ticket.title, title);
                    assert_eq!(ticket.labels, labels);
                    assert_eq!(ticket.stamps.queued_at, Some(now));
                    assert_eq!(ticket.stamps.queued_by.as_deref(), Some("a: b"));
                    assert_eq!(ticket.problems, []);
                }
                other => panic!("{title}: {other:?}"),
            }
        }
    }
}
