//! All tickets of a workspace as last read, indexed by id and by open state; finds doubled ids.
//!
//! Must not know: how files are read; classes, gates. DESIGN.md 1 and 2.2.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use super::filed::{Filed, placed};
use super::indices::Indices;
use super::ticket::{Diagnostic, Ticket, TicketId};

/// What one file in the ticket folder turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A ticket (it may have `problems`).
    Ticket(Ticket),
    /// A file that should be a ticket and cannot be read: listed, never skipped (DESIGN.md 2.2).
    Unreadable {
        /// From the path.
        id: TicketId,
        /// Relative to the workspace.
        path: PathBuf,
        /// Where and what.
        error: Diagnostic,
    },
    /// A file without frontmatter, or a thread: not a ticket and not an error.
    NotATicket,
    /// Nothing is there (any more).
    Absent,
}

impl Entry {
    pub(super) fn id(&self) -> Option<&TicketId> {
        match self {
            Entry::Ticket(ticket) => Some(&ticket.id),
            Entry::Unreadable { id, .. } => Some(id),
            Entry::NotATicket | Entry::Absent => None,
        }
    }
}

/// A ticket before and after a change; None where it was not, or is no longer, a single readable ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// Which ticket.
    pub id: TicketId,
    /// As it was known.
    pub before: Option<Ticket>,
    /// As it is now.
    pub after: Option<Ticket>,
}

/// Why a file is listed as an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From the path.
    pub id: TicketId,
    /// Relative to the workspace.
    pub path: PathBuf,
    /// Where and what.
    pub error: Diagnostic,
}

/// `path:line:column: sentence`, as far as there is a line and a column.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        for place in [self.error.line, self.error.column].into_iter().take_while(|place| *place > 0) {
            write!(f, ":{place}")?;
        }
        write!(f, ": {}", self.error.message)
    }
}

/// The tickets by path, with indices that are kept rather than derived.
#[derive(Clone, Debug, Default)]
pub struct Backlog {
    files: BTreeSet<Filed>,
    ids: BTreeMap<TicketId, Named>,
    /// The ids that are no single readable ticket's.
    faulty: BTreeSet<TicketId>,
    indices: Indices,
}

impl PartialEq for Backlog {
    /// By all that is in it, and not by its files' names alone, which is how one of them is found.
    fn eq(&self, other: &Self) -> bool {
        let Self { files, ids, faulty, indices } = self;
        *ids == other.ids && *faulty == other.faulty && *indices == other.indices && all(files).eq(all(&other.files))
    }
}

impl Eq for Backlog {}

fn all(files: &BTreeSet<Filed>) -> impl Iterator<Item = (&Path, Entry)> {
    files.iter().map(|filed| (filed.path(), filed.entry()))
}

/// What has an id.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Named {
    /// One file, which can be read.
    Ticket(Ticket),
    /// One that cannot, or several.
    Files(BTreeSet<PathBuf>),
}

impl Named {
    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let (ticket, files) = match self {
            Named::Ticket(ticket) => (Some(&ticket.path), None),
            Named::Files(paths) => (None, Some(paths)),
        };
        ticket.into_iter().chain(files.into_iter().flatten())
    }
}

impl Backlog {
    /// A backlog of these files.
    pub fn of(entries: impl IntoIterator<Item = (PathBuf, Entry)>) -> Self {
        let there = entries.into_iter().filter(|(_, entry)| entry.id().is_some());
        let files: BTreeSet<_> = there.map(|(path, entry)| Filed::new(path, entry)).collect();
        let mut by_id: Vec<_> = files.iter().filter_map(|filed| Some((filed.id()?, filed))).collect();
        by_id.sort_by_key(|(id, _)| *id);
        let alike = by_id.chunk_by(|(a, _), (b, _)| a == b);
        let ids = alike.filter_map(|alike| {
            let named = match alike {
                [(_, Filed::Ticket(ticket))] => Named::Ticket(ticket.clone()),
                several => Named::Files(several.iter().map(|(_, filed)| filed.path().to_owned()).collect()),
            };
            Some((alike.first()?.0.clone(), named))
        });
        let mut backlog = Self { ids: ids.collect(), files, ..Self::default() };
        let mut indices = Indices::default();
        for ticket in backlog.tickets() {
            indices.enter(ticket);
        }
        backlog.indices = indices;
        let faulty = backlog.ids.iter().filter(|(_, named)| matches!(named, Named::Files(_)));
        backlog.faulty = faulty.map(|(id, _)| id.clone()).collect();
        backlog
    }

    /// The ticket with this id, if exactly one file has it and it can be read.
    pub fn get(&self, id: &TicketId) -> Option<&Ticket> {
        match self.ids.get(id)? {
            Named::Ticket(ticket) => Some(ticket),
            Named::Files(_) => None,
        }
    }

    /// What the file at this path was when last read.
    pub fn at(&self, path: &Path) -> Option<Entry> {
        self.files.get(path.as_os_str()).map(Filed::entry)
    }

    /// The files that claim this id: none, one, or (an error) several.
    pub fn paths_of(&self, id: &TicketId) -> impl Iterator<Item = &PathBuf> {
        self.ids.get(id).into_iter().flat_map(Named::paths)
    }

    /// Every readable ticket with an id of its own, by id.
    pub fn tickets(&self) -> impl Iterator<Item = &Ticket> {
        self.ids.values().filter_map(|named| match named {
            Named::Ticket(ticket) => Some(ticket),
            Named::Files(_) => None,
        })
    }

    /// All known paths.
    pub fn known_paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(Filed::path)
    }

    /// Ids in state `queued`.
    pub fn queued(&self) -> &BTreeSet<TicketId> {
        &self.indices.queued
    }

    /// Ids in state `inprogress`.
    pub fn inprogress(&self) -> &BTreeSet<TicketId> {
        &self.indices.inprogress
    }

    /// Ids in state `inprogress` that no human gate holds: they take up capacity.
    pub fn running(&self) -> &BTreeSet<TicketId> {
        &self.indices.running
    }

    /// Ids in state `inprogress` that name conflicts or touched paths.
    pub fn exclusive(&self) -> &BTreeSet<TicketId> {
        &self.indices.exclusive
    }

    /// All that is kept of who stands where.
    pub fn indices(&self) -> &Indices {
        &self.indices
    }

    /// Every file that is listed as an error: unreadable, or with an id that another file has too.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for id in &self.faulty {
            let Some(Named::Files(paths)) = self.ids.get(id) else { continue };
            for path in paths {
                let error = match self.at(path) {
                    Some(Entry::Unreadable { error, .. }) => error,
                    _ => doubled(id, path, paths),
                };
                faults.push(Fault { id: id.clone(), path: path.clone(), error });
            }
        }
        faults
    }

    /// Takes in what a file is now. Returns the difference for its ticket, if there is one.
    pub fn put(&mut self, path: PathBuf, entry: Entry) -> Option<Diff> {
        let entry = placed(entry, &path);
        let known = self.at(&path);
        if known.as_ref() == Some(&entry) {
            return None;
        }
        // The id comes from the path, so that it is the same before and after.
        let id = entry.id().or_else(|| known.as_ref().and_then(Entry::id)).cloned()?;
        let before = self.get(&id).cloned();
        let mut paths: BTreeSet<_> = self.paths_of(&id).cloned().collect();
        if entry.id().is_some() {
            paths.insert(path.clone());
            self.files.replace(Filed::new(path, entry));
        } else {
            paths.remove(&path);
            self.files.remove(path.as_os_str());
        }
        self.name(&id, paths);
        let after = self.get(&id).cloned();
        if before != after {
            if let Some(ticket) = &before {
                self.indices.leave(ticket);
            }
            if let Some(ticket) = &after {
                self.indices.enter(ticket);
            }
        }
        (before != after).then_some(Diff { id, before, after })
    }

    /// These files have the id.
    fn name(&mut self, id: &TicketId, paths: BTreeSet<PathBuf>) {
        let named = match (paths.len(), paths.first().and_then(|path| self.at(path))) {
            (_, None) => {
                self.ids.remove(id);
                self.faulty.remove(id);
                return;
            }
            (1, Some(Entry::Ticket(ticket))) => Named::Ticket(ticket),
            _ => Named::Files(paths),
        };
        if matches!(named, Named::Files(_)) {
            self.faulty.insert(id.clone());
        } else {
            self.faulty.remove(id);
        }
        self.ids.insert(id.clone(), named);
    }
}

fn doubled(id: &TicketId, path: &Path, paths: &BTreeSet<PathBuf>) -> Diagnostic {
    let others = || paths.iter().filter(|p| *p != path);
    let named: Vec<_> = others().take(3).map(|p| p.display().to_string()).collect();
    let more = others().count() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Diagnostic {
        line: 0,
        column: 0,
        message: format!(
            "the id `{id}` is also that of {}{more}; rename one of the files, neither is started",
            named.join(", ")
        ),
    }
}

#[cfg(test)]
#[path = "backlog_tests.rs"]
mod tests;
