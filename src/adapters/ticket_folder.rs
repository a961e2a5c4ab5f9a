//! The ticket folder on disk: which files are tickets, reading them, and editing one under its kernel lock.
//!
//! Must not know: any decision (the edit's is handed in); git, the daemon. DESIGN.md 1, 2.

mod layout;
mod note;
mod scan;

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags};
use serde_yaml::Value;

pub use self::layout::id_of;
use super::files;
use super::locks::TicketLocks;
use super::swap::{self, SwapError};
use crate::domain::edit::Change;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{Diagnostic, State, Ticket, TicketId};
use crate::ports::{EditError, Entry, Tickets};
use crate::text::keys::KeyMap;
use crate::text::read::{Reading, read};

/// The tickets of one workspace.
#[derive(Clone, Debug)]
pub struct TicketFolder {
    workspace: PathBuf,
    folder: PathBuf,
    locks: TicketLocks,
    keys: KeyMap,
}

impl TicketFolder {
    /// `folder` is relative to the workspace (`tickets`); `locks` is the folder for lock files, in the state folder.
    pub fn new(
        workspace: impl Into<PathBuf>,
        folder: impl Into<PathBuf>,
        locks: impl Into<PathBuf>,
        keys: KeyMap,
    ) -> Self {
        Self { workspace: workspace.into(), folder: folder.into(), locks: TicketLocks::new(locks), keys }
    }

    /// Where the file of a ticket with this id most likely lies, relative to the workspace.
    pub fn guesses(&self, id: &TicketId) -> Vec<PathBuf> {
        // An id is never joined to a path unless it is one plain name.
        let name = id.as_str();
        if name.is_empty() || name.starts_with('.') || name.contains(['/', '\0']) {
            return Vec::new();
        }
        vec![self.folder.join(format!("{name}.md")), self.folder.join(name).join("item.md")]
    }

    /// The id of a file in the folder; an `item.md` in the folder itself is no folder's.
    fn id(&self, path: &Path) -> TicketId {
        if path.parent() != Some(&self.folder) {
            return id_of(path);
        }
        TicketId::new(path.file_stem().unwrap_or_default().to_string_lossy())
    }

    fn read_at(&self, full: &Path, path: &Path) -> Entry {
        let unreadable = |message: String| Entry::Unreadable {
            id: self.id(path),
            path: path.to_owned(),
            error: Diagnostic { line: 0, column: 0, message },
        };
        match files::read(full) {
            Ok(bytes) => self.entry(&bytes, path),
            Err(error) if error.kind() == io::ErrorKind::NotFound && full.is_symlink() => {
                unreadable("this symlink points to nothing".into())
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Entry::Absent
            }
            Err(error) => unreadable(format!("it cannot be read: {error}")),
        }
    }

    fn entry(&self, bytes: &[u8], path: &Path) -> Entry {
        match read(bytes, self.id(path), path.to_owned(), &self.keys) {
            Reading::Ticket(ticket) => Entry::Ticket(ticket),
            Reading::NotATicket => Entry::NotATicket,
            Reading::Unreadable(error) => Entry::Unreadable { id: self.id(path), path: path.to_owned(), error },
        }
    }

    /// The file itself, symlinks resolved, if it lies in the workspace.
    fn inside(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let real = self.workspace.join(path).canonicalize()?;
        Ok(real.starts_with(self.workspace.canonicalize()?).then_some(real))
    }

    /// `state` and its six names stand for the configured key and names.
    fn in_file_words(&self, change: Change) -> Change {
        if change.key() != "state" {
            return change;
        }
        let key = self.keys.state_key.clone();
        let state = |value: &Value| value.as_str().and_then(|name| name.parse::<State>().ok());
        match change {
            Change::Set(_, value) | Change::Written(_, value, _) => match state(&value) {
                Some(state) => Change::text(&key, self.keys.name(state)),
                None => Change::Set(key, value),
            },
            Change::Unset(_) => Change::Unset(key),
            Change::Add(_, item) => Change::Add(key, item),
            Change::Remove(_, item) => Change::Remove(key, item),
        }
    }

    fn decide(
        &self,
        path: &Path,
        bytes: &[u8],
        decide: &mut dyn FnMut(&Ticket) -> Result<Vec<Change>, Refusal>,
    ) -> Result<Vec<Change>, Stop> {
        match self.entry(bytes, path) {
            Entry::Ticket(ticket) => {
                let changes = decide(&ticket).map_err(Stop::Refused)?;
                Ok(changes.into_iter().map(|change| self.in_file_words(change)).collect())
            }
            Entry::Unreadable { error, .. } => {
                Err(Stop::Unsafe(format!("line {}, column {}: {}", error.line, error.column, error.message)))
            }
            Entry::NotATicket | Entry::Absent => Err(Stop::Unsafe("the file has no frontmatter (any more)".into())),
        }
    }
}

/// Why deciding ended.
enum Stop {
    Refused(Refusal),
    Unsafe(String),
}

impl Tickets for TicketFolder {
    fn scan(&self) -> io::Result<Vec<(PathBuf, Entry)>> {
        self.read_all()
    }

    fn read(&self, path: &Path) -> Entry {
        if layout::is_ticket_path(&self.workspace, &self.folder, path) {
            self.read_at(&self.workspace.join(path), path)
        } else {
            Entry::NotATicket
        }
    }

    fn text(&self, path: &Path) -> io::Result<String> {
        files::read(&self.workspace.join(path)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn edit(
        &self,
        path: &Path,
        decide: &mut dyn FnMut(&Ticket) -> Result<Vec<Change>, Refusal>,
    ) -> Result<(Ticket, Ticket), EditError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => EditError::Absent(path.to_owned()),
            _ => EditError::Io { path: path.to_owned(), error },
        };
        let unsafe_ = |message: String| EditError::Unsafe { path: path.to_owned(), message };
        let _lock = self.locks.lock(&self.id(path)).map_err(|error| EditError::Io { path: path.to_owned(), error })?;
        let real = self.inside(path).map_err(failed)?.ok_or_else(|| EditError::Outside(path.to_owned()))?;
        let mut on_bytes = |bytes: &[u8]| self.decide(path, bytes, decide);
        let swapped = swap::edit(&real, &mut on_bytes).map_err(|error| match error {
            SwapError::Refused(Stop::Refused(reason)) => EditError::Refused(reason),
            SwapError::Refused(Stop::Unsafe(message)) | SwapError::Unsafe(message) => unsafe_(message),
            SwapError::Conflict { key, theirs, ours } => EditError::Conflict { key, theirs, ours },
            SwapError::Absent => EditError::Absent(path.to_owned()),
            SwapError::Io(error) => EditError::Io { path: path.to_owned(), error },
        })?;
        match (self.entry(&swapped.before, path), self.entry(&swapped.after, path)) {
            (Entry::Ticket(before), Entry::Ticket(after)) => Ok((before, after)),
            _ => Err(unsafe_("the file is no ticket any more".into())),
        }
    }

    fn keys(&self) -> &KeyMap {
        &self.keys
    }

    fn create(&self, id: &TicketId, text: &str) -> io::Result<PathBuf> {
        let name = format!("{id}.md");
        if id.as_str().contains(['/', '\0']) || layout::is_hidden(name.as_ref()) || name.ends_with(".thread.md") {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{id}` cannot be a ticket's file name")));
        }
        let folder = self.workspace.join(&self.folder);
        fs::create_dir_all(&folder)?;
        if self.inside(&self.folder)?.is_none() {
            let message = "the ticket folder lies outside the workspace (a symlink); yoi never writes there";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        if folder.join(id.as_str()).join("item.md").exists() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("a ticket `{id}` is there already")));
        }
        write_new(&folder, &name, text)?;
        Ok(self.folder.join(name))
    }

    fn note(&self, path: &Path, note: &str) -> io::Result<()> {
        note::append(self, path, note)
    }
}

/// Writes a file that must not be there yet; it appears whole or not at all.
fn write_new(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let mut temporary = tempfile::Builder::new()
        .prefix(&format!(".{}.yoi-", name.chars().take(60).collect::<String>()))
        .suffix(".tmp")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().sync_all()?;
    let target = folder.join(name);
    match rustix::fs::renameat_with(CWD, temporary.path(), CWD, &target, RenameFlags::NOREPLACE) {
        Ok(()) => {}
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => fs::hard_link(temporary.path(), &target)?,
        Err(error) => return Err(error.into()),
    }
    fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests;
