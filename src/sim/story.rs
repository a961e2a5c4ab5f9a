//! What happened, line by line, for whoever has a run again; and the texts of tickets.

use std::path::{Path, PathBuf};

use super::world::World;
use crate::domain::backlog::Entry;
use crate::domain::ticket::{State, TicketId};
use crate::text::keys::KeyMap;
use crate::text::read::{Reading, read};

impl World {
    /// Says what happens, where somebody listens.
    pub(super) fn say(&self, what: impl FnOnce() -> String) {
        if self.aloud {
            println!("{:>12} {} {}", self.clock, self.now().format("%d %H:%M:%S%.3f"), what());
        }
    }

    /// What a file is; equal texts are read once.
    pub(super) fn entry(&mut self, path: &Path) -> Entry {
        let Some(text) = self.disk.read(path).cloned() else { return Entry::Absent };
        self.read_text(path, &text)
    }

    pub(super) fn read_text(&mut self, path: &Path, text: &[u8]) -> Entry {
        let known = (path.to_owned(), text.to_vec());
        if let Some(entry) = self.read_before.get(&known) {
            return entry.clone();
        }
        let entry = entry_of(path, text);
        self.read_before.insert(known, entry.clone());
        entry
    }

    /// Everything that is there now.
    pub(super) fn entries(&mut self) -> Vec<(PathBuf, Entry)> {
        let paths: Vec<_> = self.disk.names.keys().cloned().collect();
        paths.into_iter().map(|path| (path.clone(), self.entry(&path))).collect()
    }
}

pub(super) fn entry_of(path: &Path, text: &[u8]) -> Entry {
    let id = TicketId::new(path.file_stem().unwrap_or_default().to_string_lossy());
    match read(text, id.clone(), path.to_owned(), &KeyMap::default()) {
        Reading::Ticket(ticket) => Entry::Ticket(ticket),
        Reading::NotATicket => Entry::NotATicket,
        Reading::Unreadable(error) => Entry::Unreadable { id, path: path.to_owned(), error },
    }
}

/// A new ticket's text, in the hands of different people.
pub(super) fn ticket_text(name: &str, state: State, style: usize) -> Vec<u8> {
    let text = match style {
        0 => format!("---\ntitle: {name}\nstate: {state}\n---\nBody.\n"),
        1 => format!("---\n# by hand\ntitle: \"{name}\"\nlabels: [agent-ready]\nstate: {state}   # now\n...\nBody.\n"),
        _ => format!("---\r\ntitle: '{name}'\r\nstate: \"{state}\"\r\nlabels:\r\n  - ui\r\n---\r\nBody.\r\n"),
    };
    text.into_bytes()
}

/// The line that begins with this key replaced by another one, in the newlines of the text; None where there is none.
pub(super) fn with_line(text: &[u8], key: &str, line: Option<&str>) -> Option<Vec<u8>> {
    let text = String::from_utf8(text.to_vec()).ok()?;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let found = text.split_inclusive('\n').any(|old| old.starts_with(key));
    let with =
        |old: &str| if old.starts_with(key) { line.map(|new| format!("{new}{newline}")) } else { Some(old.into()) };
    found.then(|| text.split_inclusive('\n').filter_map(with).collect::<String>().into_bytes())
}

/// A line put in before the one that begins with this key.
pub(super) fn with_line_before(text: &[u8], key: &str, line: &str) -> Option<Vec<u8>> {
    let all = String::from_utf8(text.to_vec()).ok()?;
    let newline = if all.contains("\r\n") { "\r\n" } else { "\n" };
    let at = all.split_inclusive('\n').find(|old| old.starts_with(key))?.to_owned();
    with_line(text, key, Some(&format!("{line}{newline}{}", at.trim_end())))
}
