//! The ticket folder on disk: which files are tickets, reading them, and editing one under its kernel lock.
//!
//! Must not know: any decision (the edit's is handed in); git, the daemon. DESIGN.md 1, 2.

mod editing;
mod editors;
mod layout;
mod leaf;
mod leftovers;
mod note;
mod plain;
mod prints;
mod scan;
mod standing;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags};

pub use self::layout::id_of;
use self::plain::Plain;
use self::prints::Prints;
use super::kept::Kept;
use super::locks::TicketLocks;
use super::{fault, files};
use crate::domain::differences::Differences;
use crate::domain::edit::Change;
use crate::domain::finding::Finding;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{Diagnostic, Ticket, TicketId};
use crate::ports::{EditError, Entry, Review, Reviewing, Tickets};
use crate::text::keys::KeyMap;
use crate::text::read::{Reading, read};

/// The tickets of one workspace.
#[derive(Clone, Debug)]
pub struct TicketFolder {
    workspace: PathBuf,
    folder: PathBuf,
    locks: TicketLocks,
    kept: Kept,
    keys: KeyMap,
    /// What looks during edits brought to light, and what this process displaced.
    noticed: Arc<Mutex<Noticed>>,
    /// None: nothing is kept to compare with.
    prints: Option<Arc<Prints>>,
    plain: Arc<Plain>,
}

#[derive(Debug, Default)]
struct Noticed {
    findings: Vec<Finding>,
    edited: Vec<PathBuf>,
    /// Reports that are owed and were made by this process, by their names, until they are on record.
    said: BTreeMap<String, Said>,
    /// Hidden texts that a walk met, relative to the workspace.
    leftovers: BTreeSet<PathBuf>,
}

/// Whose report it is, by its path and its file (symlinks resolved).
#[derive(Clone, Debug)]
struct Said {
    path: PathBuf,
    file: PathBuf,
    /// Somebody has it, to put it on record.
    handed_over: bool,
}

impl TicketFolder {
    /// `folder` is relative to the workspace (`tickets`); `locks` is the folder for lock files, in the state folder; what is
    /// displaced is kept beside it, in `kept`.
    pub fn new(
        workspace: impl Into<PathBuf>,
        folder: impl Into<PathBuf>,
        locks: impl Into<PathBuf>,
        keys: KeyMap,
    ) -> Self {
        let locks = locks.into();
        let kept = Kept::new(locks.with_file_name("kept"));
        let (workspace, folder, locks) = (workspace.into(), folder.into(), TicketLocks::new(locks));
        Self { workspace, folder, locks, kept, keys, noticed: Arc::default(), prints: None, plain: Arc::default() }
    }

    /// Locks are waited for so long, and not 10 s.
    #[must_use]
    pub fn patience(self, patience: Duration) -> Self {
        Self { locks: self.locks.patience(patience), ..self }
    }

    /// Keeps what each file looks like when it is read, so that [`Tickets::differences`] can compare.
    #[must_use]
    pub fn comparing(self) -> Self {
        Self { prints: Some(Arc::default()), ..self }
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
        // Mostly it is the same to the byte, and compared so at a stroke.
        let is_top = |parent: &Path| parent.as_os_str() == self.folder.as_os_str() || parent == self.folder;
        if !path.parent().is_some_and(is_top) {
            return id_of(path);
        }
        TicketId::new(path.file_stem().unwrap_or_default().to_string_lossy())
    }

    /// What was read at this path, or why nothing was.
    fn entry_of(&self, read: io::Result<(Vec<u8>, Metadata)>, path: &Path) -> Entry {
        let full = || self.workspace.join(path);
        let unreadable = |message: String| Entry::Unreadable {
            id: self.id(path),
            path: path.to_owned(),
            error: Diagnostic { line: 0, column: 0, message },
        };
        if let Some(prints) = &self.prints {
            match &read {
                Ok((_, found)) => prints.read(path, found),
                Err(error) if error.kind() == io::ErrorKind::NotFound && !full().is_symlink() => prints.forget(path),
                Err(_) => prints.unreadable(path, &full()),
            }
        }
        let entry = match read {
            Ok((bytes, _)) => self.entry(&bytes, path),
            Err(error) if error.kind() == io::ErrorKind::NotFound && full().is_symlink() => {
                unreadable("this symlink points to nothing".into())
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Entry::Absent
            }
            Err(error) => unreadable(format!("it cannot be read: {error}")),
        };
        self.plain.put(path, entry == Entry::NotATicket);
        entry
    }

    fn entry(&self, bytes: &[u8], path: &Path) -> Entry {
        match read(bytes, self.id(path), path.to_owned(), &self.keys) {
            Reading::Ticket(ticket) => Entry::Ticket(ticket),
            Reading::NotATicket => Entry::NotATicket,
            Reading::Unreadable(error) => Entry::Unreadable { id: self.id(path), path: path.to_owned(), error },
        }
    }

    fn relative(&self, full: &Path) -> PathBuf {
        full.strip_prefix(&self.workspace).unwrap_or(full).to_owned()
    }

    /// The file itself, symlinks resolved, if it lies in the workspace.
    fn inside(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let real = self.workspace.join(path).canonicalize()?;
        Ok(real.starts_with(self.workspace.canonicalize()?).then_some(real))
    }
}

impl Tickets for TicketFolder {
    fn scan(&self) -> io::Result<Vec<(PathBuf, Entry)>> {
        self.read_all().map_err(|error| files::named(&self.workspace.join(&self.folder), &error))
    }

    fn read(&self, path: &Path) -> Entry {
        if layout::is_ticket_path(&self.workspace, &self.folder, path) {
            self.entry_of(files::read_with_metadata(&self.workspace.join(path)), path)
        } else {
            self.prints.iter().for_each(|prints| prints.forget(path));
            self.plain.put(path, false);
            Entry::NotATicket
        }
    }

    fn read_many(&self, paths: &[PathBuf]) -> Vec<(PathBuf, Entry)> {
        scan::in_parallel(paths.to_vec(), |path| Some((path.clone(), self.read(&path))))
    }

    fn differences(&self) -> io::Result<Differences> {
        match &self.prints {
            Some(prints) => prints.compare(&self.workspace, &self.folder),
            None => Err(io::Error::new(io::ErrorKind::Unsupported, "nothing was kept to compare with")),
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
        self.edit_as(path, false, decide)
    }

    fn stamp(
        &self,
        path: &Path,
        decide: &mut dyn FnMut(&Ticket) -> Result<Vec<Change>, Refusal>,
    ) -> Result<(Ticket, Ticket), EditError> {
        self.edit_as(path, true, decide)
    }

    fn editor_on(&self, path: &Path) -> Option<String> {
        editors::mark_beside(&self.workspace.join(path))
    }

    fn review(&self, which: Reviewing<'_>) -> Review {
        self.review_kept(which)
    }

    fn on_record(&self) -> bool {
        self.put_on_record()
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
        self.readable()?;
        if self.inside(&self.folder)?.is_none() {
            let message = "the ticket folder lies outside the workspace (a symlink); yoi never writes there";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("{}: {message}", folder.display())));
        }
        if folder.join(id.as_str()).join("item.md").exists() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("a ticket `{id}` is there already")));
        }
        write_new(&folder, &name, text).map_err(|error| files::named(&folder.join(&name), &error))?;
        Ok(self.folder.join(name))
    }

    fn make_folder(&self) -> io::Result<()> {
        self.make()
    }

    fn trouble(&self) -> Option<String> {
        self.readable().and_then(|()| self.writable()).err().map(|error| error.to_string())
    }

    fn without_frontmatter(&self) -> Vec<PathBuf> {
        self.plain.there(&self.workspace)
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
    fault::delay("before-new");
    match rustix::fs::renameat_with(CWD, temporary.path(), CWD, &target, RenameFlags::NOREPLACE) {
        Ok(()) => {}
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => fs::hard_link(temporary.path(), &target)?,
        Err(error) => return Err(error.into()),
    }
    fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests;
