//! Sorts what the library reports into what matters: pure functions on event and path.
//!
//! Must not know: threads, the disk.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RemoveKind};
use notify::{Event, EventKind};

use super::canary;

/// The file that makes its folder a ticket's own.
pub(super) const ITEM: &str = "item.md";

/// More changed files than this in one pile are "everything": a walk is cheaper, and the pile stays small.
const MOST_PATHS: usize = 5_000;

/// What is watched, absolute.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The ticket folder.
    pub(super) tickets: PathBuf,
    /// The same as the notices name it: relative to the workspace.
    pub(super) named: PathBuf,
    /// The folders from the workspace down to the ticket folder's parent: what is moved or made anew there takes the
    /// ticket folder with it.
    pub(super) above: Vec<PathBuf>,
    /// Git's common directory.
    pub(super) git: Option<PathBuf>,
    /// The workspace.
    pub(super) workspace: PathBuf,
}

impl Places {
    pub(super) fn new(workspace: &Path, ticket_folder: &Path, git: Option<&Path>) -> Self {
        // Canonical, so that one folder has one spelling: the kernel has one watch for it, the library one path.
        let absolute = |path: &Path| {
            std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_path_buf())
        };
        let workspace = absolute(workspace);
        let named = plain(ticket_folder.strip_prefix(&workspace).unwrap_or(ticket_folder));
        let tickets = plain(&workspace.join(&named));
        let above = tickets.ancestors().skip(1).take_while(|up| up.starts_with(&workspace)).map(Path::to_path_buf);
        let above = above.collect();
        Self { tickets, named, above, git: git.map(absolute), workspace }
    }

    /// The folder that is watched before any other: the workspace, or where the ticket folder is that or lies elsewhere, itself.
    pub(super) fn first_watched(&self) -> PathBuf {
        self.above.last().unwrap_or(&self.tickets).clone()
    }

    /// The folder itself, or one whose fate it shares.
    fn is_root(&self, path: &Path) -> bool {
        path == self.tickets || self.above.iter().any(|up| up == path)
    }
}

fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| !matches!(part, Component::CurDir)).collect()
}

/// What has been seen since the last look.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a sight of its own, and any of them may come together")]
pub(super) struct Pile {
    /// Ticket files, as the notices name them.
    pub(super) paths: BTreeSet<PathBuf>,
    /// What may be, or have been, a folder below the ticket folder, absolute.
    pub(super) folders: BTreeSet<PathBuf>,
    /// The ticket folder itself, or one above it, came, went or moved.
    pub(super) root: bool,
    /// Nothing is certain any more; why.
    pub(super) lost: Option<String>,
    /// The kernel's queue was full: the same, as soon as it is time.
    pub(super) overflowed: bool,
    /// Something in git changed.
    pub(super) git: bool,
    /// A folder in git that is, or should be, watched came or went.
    pub(super) git_folders: bool,
    /// Folders whose `item.md` came, went or was replaced, absolute.
    pub(super) items: BTreeSet<PathBuf>,
    /// The watcher's own canary was seen.
    pub(super) canary: bool,
}

impl Pile {
    pub(super) fn is_empty(&self) -> bool {
        let Self { paths, folders, root, lost, overflowed, git, git_folders, items, canary } = self;
        let flags = *root || *overflowed || *git || *git_folders || *canary;
        paths.is_empty() && folders.is_empty() && items.is_empty() && lost.is_none() && !flags
    }

    /// Adds what one event amounts to.
    pub(super) fn sort(&mut self, places: &Places, event: notify::Result<Event>) {
        match event {
            Err(error) => self.lose(format!("the watcher reported an error: {error}")),
            Ok(event) if event.need_rescan() => self.overflowed = true,
            Ok(event) => {
                let Some(touch) = Touch::of(event.kind) else { return };
                for path in event.paths {
                    self.sort_path(places, path, touch);
                }
            }
        }
    }

    pub(super) fn lose(&mut self, why: String) {
        self.lost = Some(why);
        self.git = true;
    }

    fn sort_path(&mut self, places: &Places, path: PathBuf, touch: Touch) {
        if let Some(git) = &places.git
            && let Ok(inside) = path.strip_prefix(git)
        {
            let inside = inside.to_path_buf();
            return self.sort_git(&inside, touch);
        }
        if places.is_root(&path) {
            self.root |= touch != Touch::Content;
            return;
        }
        let Ok(inside) = path.strip_prefix(&places.tickets) else { return };
        if inside.components().any(|part| is_foreign_folder(part.as_os_str())) {
            return;
        }
        if touch != Touch::Folder && path.file_name().is_some_and(is_ticket_file) {
            self.paths.insert(places.named.join(inside));
        }
        if touch != Touch::Content && path.file_name().is_some_and(|name| name == ITEM) {
            self.items.extend(path.parent().map(Path::to_path_buf));
        }
        self.canary |= inside.as_os_str() == canary::NAME;
        if matches!(touch, Touch::Folder | Touch::Place) {
            self.folders.insert(path);
        }
        if self.paths.len().max(self.folders.len()) > MOST_PATHS {
            self.paths.clear();
            self.folders.clear();
            self.items.clear();
            self.lose(format!("more than {MOST_PATHS} paths changed at once"));
        }
    }

    /// `.git/yoi` is our own and left out, like every `*.lock`, save that a removed `index.lock` ends an obstacle.
    fn sort_git(&mut self, inside: &Path, touch: Touch) {
        let parts: Vec<&str> = inside.iter().filter_map(OsStr::to_str).collect();
        let is_lock = inside.extension().is_some_and(|end| end == "lock");
        let matters = match parts.as_slice() {
            [] => touch != Touch::Content,
            ["index.lock"] => matches!(touch, Touch::Gone | Touch::Place),
            [name] => GIT_NAMES.contains(name),
            ["logs", "HEAD"] | ["reftable", "tables.list"] => true,
            ["worktrees", ..] | ["refs", "yoi", ..] => !is_lock,
            _ => false,
        };
        self.git |= matters;
        let is_folder = matches!(parts.as_slice(), [] | ["refs" | "logs" | "worktrees" | "reftable"])
            || matches!(parts.as_slice(), ["refs", "yoi", ..] if !is_lock);
        self.git_folders |= is_folder && touch != Touch::Content;
    }
}

/// What in the git directory says that a commit, a checkout, a merge or a change of the index happened.
pub(super) const GIT_NAMES: [&str; 9] = [
    "HEAD",
    "index",
    "packed-refs",
    "worktrees",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-merge",
    "rebase-apply",
];

/// What an event says of its paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    /// A file was written to.
    Content,
    /// A file, or a symlink, was created.
    Made,
    /// A file is gone.
    Gone,
    /// A folder was created, or is gone.
    Folder,
    /// Renamed, or its permissions changed: file or folder.
    Place,
}

impl Touch {
    /// None for reading: otherwise the daemon's own look at a file would be the next event.
    fn of(kind: EventKind) -> Option<Self> {
        match kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) | EventKind::Modify(ModifyKind::Data(_)) => {
                Some(Touch::Content)
            }
            EventKind::Access(_) => None,
            EventKind::Create(CreateKind::File) => Some(Touch::Made),
            EventKind::Remove(RemoveKind::File) => Some(Touch::Gone),
            EventKind::Create(CreateKind::Folder) | EventKind::Remove(RemoveKind::Folder) => Some(Touch::Folder),
            _ => Some(Touch::Place),
        }
    }
}

/// Folders below the ticket folder that hold no tickets and change all the time.
pub(super) const FOREIGN_FOLDERS: [&str; 2] = [".git", ".yoi"];

/// Whether a folder of this name is one of them.
pub(super) fn is_foreign_folder(name: &OsStr) -> bool {
    FOREIGN_FOLDERS.iter().any(|foreign| name == *foreign)
}

/// `*.md` that is not hidden, and no thread by its name alone (`x.thread.md`). So what editors leave behind is none: `.x.md.swp`, `.#x.md`, `#x.md#`, `x.md~`, vim's
/// `4913`, sed's `sedAbC123`.
pub(super) fn is_ticket_file(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.to_ascii_lowercase().ends_with(b".md") && !name.starts_with(b".") && !name.ends_with(b".thread.md")
}
