//! From a file's bytes to a ticket: the keys of DESIGN.md 2.1, with the ticket's own faults as `problems`.
//!
//! Must not know: files, the current time, what a state allows.

mod fields;
mod meaning;
mod remarks;

use std::path::PathBuf;

use self::fields::Fields;
use super::document::{Contents, Document, Field, Text};
use super::keys::KeyMap;
use super::plain::Plain;
use super::timestamp;
use crate::domain::ticket::{
    self, Apart, Diagnostic, Digest, OrphanStatus, Priority, Seldom, Stamps, State, Ticket, TicketId, Timestamp,
};

/// What a file in the ticket folder is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A ticket, perhaps with problems.
    Ticket(Ticket),
    /// A file without frontmatter.
    NotATicket,
    /// Frontmatter in a form that yoi does not read, or that is broken.
    Unreadable(Diagnostic),
}

/// Reads a ticket. `id` and `path` are the caller's, from where the file lies.
pub fn read(bytes: &[u8], id: TicketId, path: PathBuf, keys: &KeyMap) -> Reading {
    match Plain::read(bytes) {
        Some(plain) => {
            let digests = digests(plain.parts, |body| meaning::of_plain(&plain, body));
            Reading::Ticket(ticket(&plain, Vec::new(), digests, (id, path), keys))
        }
        None => read_fully(bytes, id, path, keys),
    }
}

/// The same by the YAML parser, whatever the text.
pub(super) fn read_fully(bytes: &[u8], id: TicketId, path: PathBuf, keys: &KeyMap) -> Reading {
    match Document::read(bytes) {
        Contents::Document(document) => {
            let parts = bytes.split_at(document.slice.body_start);
            let digests = digests(parts, |body| meaning::digest(&document, body));
            Reading::Ticket(ticket(&document, remarks::cut_values(&document), digests, (id, path), keys))
        }
        Contents::NoFrontmatter(_) => Reading::NotATicket,
        Contents::Unsupported(message) => Reading::Unreadable(Diagnostic { line: 1, column: 1, message }),
        Contents::Invalid(error) => Reading::Unreadable(error),
    }
}

/// Of the whole file, and of what people say in it; the body, which is most of it, is gone through once.
fn digests((head, body): (&[u8], &[u8]), meaning: impl Fn(Digest) -> Digest) -> (Digest, Digest) {
    let body = Digest::quick(body);
    (body.with(b'h', head), meaning(body))
}

/// `remarks` are problems that are known already.
fn ticket(
    fields: &dyn Fields,
    remarks: Vec<Diagnostic>,
    (content, meaning): (Digest, Digest),
    (id, path): (TicketId, PathBuf),
    keys: &KeyMap,
) -> Ticket {
    let mut reader = Reader { fields, problems: remarks };
    let mut said = ticket::Fields {
        id,
        path,
        title: reader.title(),
        state: reader.state(keys),
        priority: reader.priority(),
        labels: reader.list("labels"),
        stamps: reader.stamps(),
        depends_on: reader.ids("depends_on"),
        repo: reader.text("repo"),
        seldom: Apart::default(),
        content,
        meaning,
    };
    let mut seldom = Seldom {
        orphan_status: reader.orphan_status(),
        conflicts_with: reader.ids("conflicts_with"),
        touches: reader.list("touches"),
        human_gate: reader.human_gate(),
        requires: reader.list("requires"),
        parent: reader.text("parent").map(TicketId::new),
        children: reader.ids("children"),
        github: reader.text("github"),
        pr: reader.text("pr"),
        problems: Vec::new(),
    };
    reader.problems.sort();
    seldom.problems = reader.problems;
    said.seldom = seldom.into();
    said.into()
}

/// The ticket's own faults in a document, without making a ticket of it.
pub fn problems(bytes: &[u8], keys: &KeyMap) -> Vec<Diagnostic> {
    match read(bytes, TicketId::new(""), PathBuf::new(), keys) {
        Reading::Ticket(ticket) => ticket.problems.clone(),
        _ => Vec::new(),
    }
}

struct Reader<'d> {
    fields: &'d dyn Fields,
    problems: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn problem(&mut self, place: &Text, message: String) {
        self.problems.push(Diagnostic { line: place.line, column: place.column, message });
    }

    fn missing(&mut self, message: String) {
        self.problems.push(Diagnostic { line: 1, column: 1, message });
    }

    /// One text; a list or mapping in its place is a problem.
    fn one(&mut self, key: &str) -> Option<Text> {
        match self.fields.field(key) {
            Field::Missing | Field::Null => None,
            Field::Text(text) => Some(text),
            Field::Other(what) => {
                let message = format!("`{key}` is {}; one text is expected here", what.text);
                self.problem(&what, message);
                None
            }
        }
    }

    fn text(&mut self, key: &str) -> Option<String> {
        self.one(key).map(|text| text.text).filter(|text| !text.trim().is_empty())
    }

    fn title(&mut self) -> String {
        let before = self.problems.len();
        let title = self.text("title").unwrap_or_default();
        if title.is_empty() && self.problems.len() == before {
            self.missing("there is no `title`".into());
        }
        title
    }

    fn state(&mut self, keys: &KeyMap) -> Option<State> {
        let key = &keys.state_key;
        let before = self.problems.len();
        let Some(text) = self.one(key).filter(|text| !text.text.trim().is_empty()) else {
            if self.problems.len() == before {
                self.missing(format!("there is no `{key}`: one of {}", keys.names()));
            }
            return None;
        };
        let state = keys.state(text.text.trim());
        if state.is_none() {
            self.problem(&text, format!("`{}` is not a known state: {key} is one of {}", text.text, keys.names()));
        }
        state
    }

    fn priority(&mut self) -> Priority {
        let Some(text) = self.one("priority").filter(|text| !text.text.is_empty()) else { return Priority::default() };
        text.text.trim().parse().unwrap_or_else(|message: String| {
            self.problem(&text, format!("{message}; read as P2"));
            Priority::default()
        })
    }

    fn list(&mut self, key: &str) -> Vec<String> {
        let (texts, odd) = self.fields.list(key);
        for item in odd {
            let message = format!("`{key}` holds {} where a text is expected; it is left out", item.text);
            self.problem(&item, message);
        }
        let mut texts: Vec<_> = texts.into_iter().map(|text| text.text).collect();
        // It may lie in the room of what it was made of, and is kept as long as the ticket.
        texts.shrink_to_fit();
        texts
    }

    fn ids(&mut self, key: &str) -> Vec<TicketId> {
        let mut ids: Vec<_> = self.list(key).into_iter().map(TicketId::new).collect();
        ids.shrink_to_fit();
        ids
    }

    fn stamps(&mut self) -> Stamps {
        Stamps {
            created_at: self.timestamp("created_at"),
            updated_at: self.timestamp("updated_at"),
            queued_by: self.text("queued_by"),
            queued_at: self.timestamp("queued_at"),
            accepted_by: self.text("accepted_by"),
            accepted_at: self.timestamp("accepted_at"),
        }
    }

    fn timestamp(&mut self, key: &str) -> Option<Timestamp> {
        let text = self.one(key).filter(|text| !text.text.trim().is_empty())?;
        match timestamp::read(&text.text) {
            timestamp::Reading::Exact(moment) => Some(moment),
            timestamp::Reading::Odd(moment) => {
                let read = moment.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true);
                self.problem(&text, format!("`{key}` is not RFC 3339; read as {read}"));
                Some(moment)
            }
            timestamp::Reading::Unreadable => {
                let example = "2026-11-30T08:00:00Z";
                self.problem(&text, format!("`{key}`: `{}` is no timestamp; write it like {example}", text.text));
                None
            }
        }
    }

    fn orphan_status(&mut self) -> Option<OrphanStatus> {
        let text = self.one("orphan_status").filter(|text| !text.text.trim().is_empty())?;
        match text.text.trim() {
            "orphan" => Some(OrphanStatus::Orphan),
            "needs_human" => Some(OrphanStatus::NeedsHuman),
            other => {
                let message = format!("`orphan_status`: `{other}` is neither orphan nor needs_human; read as absent");
                self.problem(&text, message);
                None
            }
        }
    }

    /// Any value but false and nothing holds the ticket.
    fn human_gate(&mut self) -> Option<String> {
        match self.fields.field("human_gate") {
            Field::Missing | Field::Null => None,
            Field::Other(_) if self.fields.is_empty_map("human_gate") => None,
            Field::Other(what) => {
                let (texts, odd) = self.fields.list("human_gate");
                let named: Vec<String> = texts.into_iter().map(|t| t.text).collect();
                match (named.is_empty(), odd.is_empty()) {
                    (true, true) => None,
                    (true, false) => Some(what.text),
                    _ => Some(named.join(", ")),
                }
            }
            Field::Text(text) => {
                let gate = text.text.trim();
                let off = gate.is_empty() || gate.eq_ignore_ascii_case("false");
                if matches!(gate.to_ascii_lowercase().as_str(), "no" | "off" | "n") {
                    let message =
                        format!("`human_gate: {gate}` holds the ticket, as any text does; write false to open it");
                    self.problem(&text, message);
                }
                (!off).then(|| gate.to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests;
