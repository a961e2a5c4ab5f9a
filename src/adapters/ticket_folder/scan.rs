//! Reading the whole folder, on as many threads as the machine has for it: level by level what lies where, then every
//! file.
//!
//! Must not know: what a file says.

use std::ffi::OsStr;
use std::fs::{self, DirEntry, File};
use std::io::{self, ErrorKind};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::super::files;
use super::TicketFolder;
use super::layout::{self, ITEM};
use super::leaf::Leaves;
use super::leftovers;
use crate::domain::ticket::Diagnostic;
use crate::ports::Entry;

/// What one thread takes at a time; fewer things than this are not worth a thread.
const HANDFUL: usize = 64;
/// Reading waits for the disk as much as for the processor, but more threads than this only wait for one another.
const MOST_THREADS: usize = 8;

/// A folder to be looked into.
struct Folder {
    /// Relative to the workspace.
    path: PathBuf,
    /// It lies in a folder with an `item.md`, so that only an `item.md` is a ticket in it.
    belongs: bool,
}

/// What lies in one folder.
#[derive(Default)]
struct Listing {
    files: Vec<PathBuf>,
    folders: Vec<Folder>,
    /// Hidden texts that a write left behind.
    leftovers: Vec<PathBuf>,
    /// What could not be looked at, and why.
    failed: Vec<(PathBuf, io::Error)>,
}

impl TicketFolder {
    /// Every ticket file, read, sorted by path.
    pub(super) fn read_all(&self) -> io::Result<Vec<(PathBuf, Entry)>> {
        let Listing { mut files, failed, leftovers, .. } = self.walk()?;
        self.left_over(leftovers);
        self.plain.forget_all();
        // As bytes: comparing paths part by part is slow.
        files.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        let workspace = File::open(&self.workspace)?;
        let mut entries = in_parallel(files, |path| {
            let read = files::read_from(&workspace, &path);
            match self.entry_of(read, &path) {
                Entry::NotATicket | Entry::Absent => None,
                entry => Some((path, entry)),
            }
        });
        // What is not there was removed while we looked.
        let failed = failed.into_iter().filter(|(_, error)| error.kind() != ErrorKind::NotFound);
        let failed: Vec<_> = failed.map(|(path, error)| self.failed(path, &error)).collect();
        if !failed.is_empty() {
            entries.extend(failed);
            entries.sort_by(|(a, _), (b, _)| a.as_os_str().cmp(b.as_os_str()));
        }
        Ok(entries)
    }

    fn failed(&self, path: PathBuf, error: &io::Error) -> (PathBuf, Entry) {
        let error = Diagnostic { line: 0, column: 0, message: format!("it cannot be read: {error}") };
        (path.clone(), Entry::Unreadable { id: self.id(&path), path, error })
    }

    /// The Markdown files that are tickets by where they lie, in no order.
    fn walk(&self) -> io::Result<Listing> {
        // `.` is the workspace itself.
        let root: PathBuf = self.folder.components().filter(|part| part.as_os_str() != ".").collect();
        let (leaves, workspace) = (Leaves::of(&self.workspace.join(&root)), File::open(&self.workspace)?);
        let mut all = self.list(&Folder { path: root, belongs: false }, true)?;
        let mut level = std::mem::take(&mut all.folders);
        // What a write left behind is looked for by who looks after it, a daemon, and seen in a list only.
        let must_list = self.prints.is_some();
        while !level.is_empty() {
            let listings = in_parallel(std::mem::take(&mut level), |folder| {
                if !must_list && leaves.item(&workspace, &folder.path).is_some() {
                    return Some(Listing { files: vec![below(&folder.path, ITEM.as_ref())], ..Listing::default() });
                }
                Some(
                    self.list(&folder, false)
                        .unwrap_or_else(|error| Listing { failed: vec![(folder.path, error)], ..Listing::default() }),
                )
            });
            for listing in listings {
                all.files.extend(listing.files);
                all.failed.extend(listing.failed);
                all.leftovers.extend(listing.leftovers);
                level.extend(listing.folders);
            }
        }
        Ok(all)
    }

    fn list(&self, folder: &Folder, is_root: bool) -> io::Result<Listing> {
        let mut listing = Listing::default();
        for entry in fs::read_dir(self.workspace.join(&folder.path))? {
            let entry = entry?;
            let name = entry.file_name();
            if layout::is_hidden(&name) {
                if leftovers::is_leftover(&name) {
                    listing.leftovers.push(folder.path.join(&name));
                }
                continue;
            }
            let path = || below(&folder.path, &name);
            match kind(&entry, &name) {
                Ok(Kind::Folder) => listing.folders.push(Folder { path: path(), belongs: false }),
                Ok(Kind::File) => listing.files.push(path()),
                Ok(Kind::Other) => {}
                Err(error) => listing.failed.push((path(), error)),
            }
        }
        let is_item = |path: &PathBuf| path.file_name().is_some_and(|name| name == ITEM);
        let belongs = folder.belongs || (!is_root && listing.files.iter().any(is_item));
        if belongs {
            listing.files.retain(is_item);
            listing.folders.iter_mut().for_each(|below| below.belongs = true);
        }
        Ok(listing)
    }
}

/// The path of what lies in a folder, in just its room: it is kept as long as a ticket, and joining would ask for it twice.
fn below(folder: &Path, name: &OsStr) -> PathBuf {
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + name.len());
    path.extend([folder, Path::new(name)]);
    path
}

enum Kind {
    Folder,
    /// A Markdown file, or a link to one, or to nothing.
    File,
    Other,
}

/// Links to folders are not followed: they could lead round in a circle.
fn kind(entry: &DirEntry, name: &OsStr) -> io::Result<Kind> {
    let kind = entry.file_type()?;
    if kind.is_dir() {
        return Ok(Kind::Folder);
    }
    let is_ticket = layout::is_markdown_name(name) && !(kind.is_symlink() && entry.path().is_dir());
    Ok(if is_ticket { Kind::File } else { Kind::Other })
}

/// `work` done on each, several at a time; what comes of it in the order of the items.
pub(super) fn in_parallel<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> Option<R> + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS).min(items.len() / HANDFUL);
    if threads < 2 {
        return items.into_iter().filter_map(work).collect();
    }
    let rest = Mutex::new((0, items.into_iter()));
    let handful = || {
        let mut rest = rest.lock().unwrap_or_else(PoisonError::into_inner);
        rest.0 += 1;
        (rest.0, rest.1.by_ref().take(HANDFUL).collect::<Vec<_>>())
    };
    // One list a thread: many small ones, among what stays, would leave holes as large as themselves.
    let share = || {
        let mut share = Share { spans: Vec::new(), results: Vec::new() };
        loop {
            let (number, items) = handful();
            if items.is_empty() {
                return share;
            }
            let before = share.results.len();
            share.results.extend(items.into_iter().filter_map(&work));
            share.spans.push((number, share.results.len() - before));
        }
    };
    let shares = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(share)).collect();
        let mut shares = vec![share()];
        for other in others {
            // A thread that panicked passes its panic on.
            shares.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        shares
    });
    in_order(shares)
}

/// What one thread did.
struct Share<R> {
    /// Of which handfuls, in its order; and how much came of each.
    spans: Vec<(usize, usize)>,
    results: Vec<R>,
}

fn in_order<R>(mut shares: Vec<Share<R>>) -> Vec<R> {
    let mut all = Vec::with_capacity(shares.iter().map(|share| share.results.len()).sum());
    let mut spans = Vec::new();
    for (by, share) in shares.iter_mut().enumerate() {
        spans.extend(share.spans.drain(..).map(|(number, length)| (number, by, length)));
    }
    spans.sort_unstable();
    let mut results: Vec<_> = shares.into_iter().map(|share| share.results.into_iter()).collect();
    for (_, by, length) in spans {
        all.extend(results[by].by_ref().take(length));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::in_parallel;

    #[test]
    fn what_is_done_by_several_comes_in_the_order_of_the_items() {
        for count in [0, 1, 63, 64, 1000, 10_000] {
            let done = in_parallel((0..count).collect(), |n| (n % 3 > 0).then_some(n));
            assert_eq!(done, (0..count).filter(|n| n % 3 > 0).collect::<Vec<_>>());
        }
    }
}
