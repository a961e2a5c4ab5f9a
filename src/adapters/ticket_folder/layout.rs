//! Which files are tickets, by their path: `<id>.md` at any depth, or `<id>/item.md`.
//!
//! Must not know: contents. DESIGN.md 1.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::domain::ticket::TicketId;

pub(super) const ITEM: &str = "item.md";

/// The id that a path gives: the file stem, or the folder's name of an `item.md`.
pub fn id_of(path: &Path) -> TicketId {
    let folder = path.parent().and_then(Path::file_name);
    let is_item = path.file_name().is_some_and(|name| name == ITEM);
    let name = folder.filter(|_| is_item).or(path.file_stem()).unwrap_or_default();
    TicketId::new(name.to_string_lossy())
}

/// Hidden, or an editor's leftover (`.#x`, `#x#`, `x~`, vim's probe `4913`).
pub(super) fn is_hidden(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    bytes.starts_with(b".")
        || bytes.ends_with(b"~")
        || (bytes.starts_with(b"#") && bytes.ends_with(b"#"))
        || bytes == b"4913"
}

/// A Markdown file that is no thread.
pub(super) fn is_markdown(path: &Path) -> bool {
    is_markdown_name(path.file_name().unwrap_or_default())
}

/// The same by its name.
pub(super) fn is_markdown_name(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.ends_with(b".md") && name.len() > 3 && !name.ends_with(b".thread.md")
}

/// Whether a file is a ticket, by its path relative to the workspace: not what belongs to a ticket with a folder of its
/// own (every file in and below a folder with an `item.md`, other `item.md` files aside). An `item.md` in the ticket folder
/// itself is a plain ticket.
pub(super) fn is_ticket_path(workspace: &Path, root: &Path, path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(root) else { return false };
    let plain = below.components().all(|part| matches!(part, Component::Normal(name) if !is_hidden(name)));
    if !plain || !is_markdown(path) {
        return false;
    }
    let own_folders = path.ancestors().skip(1).take_while(|folder| *folder != root);
    path.file_name().is_some_and(|name| name == ITEM)
        || !own_folders.into_iter().any(|folder| workspace.join(folder).join(ITEM).exists())
}

/// The thread beside a ticket: `<id>.thread.md`, or `thread.md` beside an `item.md`.
pub(super) fn thread_of(root: &Path, path: &Path) -> PathBuf {
    let own_folder = path.file_name().is_some_and(|name| name == ITEM) && path.parent() != Some(root);
    if own_folder {
        return path.with_file_name("thread.md");
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".thread.md");
    path.with_file_name(name)
}
