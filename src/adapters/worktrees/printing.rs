//! What lies in a folder, entry by entry, symlinks as themselves; and a print of all of it, by which a change is noticed.
//!
//! Must not know: git, except that what holds a `.git` is a repository.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use walkdir::WalkDir;

use super::GitWorktrees;
use super::occupants;
use super::paths::bytes_of;
use crate::domain::ticket::Digest;
use crate::domain::worktree::Tree;
use crate::ports::worktrees::Print;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A folder.
    Folder,
    /// A folder that holds a `.git`: a submodule, or another repository. It is not looked into.
    Repository,
    /// A regular file.
    File,
    /// A symlink.
    Link,
    /// A socket, a pipe, a device.
    Odd,
}

/// One entry below a folder.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Relative to the folder.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// Its permissions.
    pub mode: u32,
    /// Whether it may be read; asked of regular files.
    pub readable: bool,
}

/// Everything below a worktree's folder but its own `.git`, in order; not what lies in one of `skipped`, which are relative.
/// What cannot be looked at is told in words.
pub(super) fn walk<'a>(folder: &'a Path, skipped: &'a [PathBuf]) -> impl Iterator<Item = Result<Entry, String>> + 'a {
    let mut walk = WalkDir::new(folder).min_depth(1).sort_by_file_name().into_iter();
    let device = folder.symlink_metadata().map(|top| top.dev()).ok();
    std::iter::from_fn(move || {
        loop {
            let found = match walk.next()? {
                Ok(found) => found,
                Err(error) => return Some(Err(error.to_string())),
            };
            let Ok(path) = found.path().strip_prefix(folder) else { continue };
            let is_top_git = found.depth() == 1 && found.file_name() == ".git";
            if is_top_git || skipped.iter().any(|skipped| skipped == path) {
                if found.file_type().is_dir() {
                    walk.skip_current_dir();
                }
                continue;
            }
            let there = match found.metadata() {
                Ok(there) => there,
                Err(error) => return Some(Err(error.to_string())),
            };
            if Some(there.dev()) != device {
                if there.is_dir() {
                    walk.skip_current_dir();
                }
                return Some(Err(format!("{}: another file system is mounted there", path.display())));
            }
            let kind = kind(&there, found.path());
            if kind == Kind::Repository {
                walk.skip_current_dir();
            }
            let readable = kind != Kind::File || access(found.path(), Access::READ_OK).is_ok();
            return Some(Ok(Entry { path: path.to_owned(), kind, mode: there.mode() & 0o7777, readable }));
        }
    })
}

fn kind(there: &Metadata, path: &Path) -> Kind {
    let kind = there.file_type();
    match () {
        () if kind.is_dir() && path.join(".git").symlink_metadata().is_ok() => Kind::Repository,
        () if kind.is_dir() => Kind::Folder,
        () if kind.is_symlink() => Kind::Link,
        () if kind.is_fifo() || kind.is_socket() || kind.is_block_device() || kind.is_char_device() => Kind::Odd,
        () => Kind::File,
    }
}

impl GitWorktrees {
    /// Of the folder, wherever it is just now, of what git keeps for the worktree, and of who works in it.
    pub(super) fn print_of(&self, tree: &Tree, folder: &Path) -> Print {
        let mut print = Digest::of(b"");
        if folder.symlink_metadata().is_ok() {
            print = add(print, folder);
        }
        if let Some(admin) = self.admin(&tree.path) {
            print = add(print, &admin.folder);
        }
        let working = occupants::all_in(folder);
        let print = working.iter().fold(print, |print, occupant| print.and(&occupant.pid.to_le_bytes()));
        Print(format!("{:016x}", print.0))
    }
}

/// Adds all that the system says of each entry, except when it was last read; what it will not say is a part of it.
fn add(mut print: Digest, folder: &Path) -> Digest {
    for found in WalkDir::new(folder).min_depth(1).sort_by_file_name() {
        let looked_at = found.and_then(|found| found.metadata().map(|there| (found, there)));
        let (found, there) = match looked_at {
            Ok(looked_at) => looked_at,
            Err(error) => {
                print = print.and(format!("{:?}", error.io_error().map(std::io::Error::kind)).as_bytes());
                continue;
            }
        };
        let numbers = [there.ino(), u64::from(there.mode()), there.size()];
        let times = [there.mtime(), there.mtime_nsec(), there.ctime(), there.ctime_nsec()];
        print = print.and(bytes_of(found.path().strip_prefix(folder).unwrap_or(found.path())));
        print = numbers.iter().fold(print, |print, number| print.and(&number.to_le_bytes()));
        print = times.iter().fold(print, |print, number| print.and(&number.to_le_bytes()));
    }
    print
}
