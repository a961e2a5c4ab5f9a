//! What every file looked like when it was last read (size, times, inode), and a walk that compares: no file is opened.
//!
//! Two numbers of eight bytes a file: one for its path, one for its looks. Only a daemon keeps them.
//!
//! Must not know: what a difference is for. DESIGN.md 8, Self-proof.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::mem;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, openat, statat};

use super::layout::{ITEM, is_hidden, is_markdown};
use super::leaf::Leaves;
use super::scan::in_parallel;
use crate::domain::differences::Differences;
use crate::domain::ticket::Digest;

/// A file that changed so shortly before it was read may have changed again without looking different: the kernel's
/// clock of files advances in steps.
const STEP: Duration = Duration::from_millis(20);
/// The same on file systems that keep whole seconds.
const COARSE_STEP: Duration = Duration::from_secs(2);

/// How a file looks from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Print(u64);

/// Read at a moment at which its looks said nothing: it is compared as different once.
const UNSURE: Print = Print(0);
/// It could not be looked at.
const NOTHING: Print = Print(1);

impl Print {
    fn of(fields: [i64; 6]) -> Self {
        let digest = fields.iter().fold(Digest::of(b""), |digest, field| digest.and(&field.to_le_bytes()));
        Self(digest.0.max(2))
    }

    fn of_metadata(found: &Metadata) -> Self {
        let [size, inode] = [found.size(), found.ino()].map(u64::cast_signed);
        Self::of([size, inode, found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()])
    }

    fn of_stat(found: &Stat) -> Self {
        let nanoseconds = |n| i64::try_from(n).unwrap_or_default();
        let inode = found.st_ino.cast_signed();
        let (m, c) = (nanoseconds(found.st_mtime_nsec), nanoseconds(found.st_ctime_nsec));
        Self::of([found.st_size, inode, found.st_mtime, m, found.st_ctime, c])
    }
}

/// By path; a path that is not here was not read.
#[derive(Debug, Default)]
pub(super) struct Prints(Mutex<HashMap<u64, Print, BuildHasherDefault<Plain>>>);

impl Prints {
    /// This file was read; `found` belongs to what was read.
    pub(super) fn read(&self, path: &Path, found: &Metadata) {
        let changed = UNIX_EPOCH + Duration::from_secs(found.ctime().try_into().unwrap_or_default());
        let changed = changed + Duration::from_nanos(found.ctime_nsec().try_into().unwrap_or_default());
        let step = if found.ctime_nsec() == 0 { COARSE_STEP } else { STEP };
        let unsure = SystemTime::now().duration_since(changed).is_ok_and(|age| age < step);
        self.put(path, if unsure { UNSURE } else { Print::of_metadata(found) });
    }

    /// This file could not be read.
    pub(super) fn unreadable(&self, path: &Path, full: &Path) {
        self.put(path, full.metadata().map_or(NOTHING, |found| Print::of_metadata(&found)));
    }

    fn put(&self, path: &Path, print: Print) {
        self.lock().insert(Differences::name(path).0, print);
    }

    /// This file is not there, or no ticket's.
    pub(super) fn forget(&self, path: &Path) {
        self.lock().remove(&Differences::name(path).0);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Print, BuildHasherDefault<Plain>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compares with the disk. What is gone is forgotten: it is told once.
    pub(super) fn compare(&self, workspace: &Path, folder: &Path) -> io::Result<Differences> {
        let root: PathBuf = folder.components().filter(|part| part.as_os_str() != ".").collect();
        let open = File::open(workspace)?;
        let walk = Walk { prints: self, workspace: &open, leaves: Leaves::of(&workspace.join(&root)) };
        let mut found = walk.folder(&root, None)?;
        let mut level = mem::take(&mut found.folders);
        while !level.is_empty() {
            // A folder that went meanwhile, or may not be read, is a place like any other where nothing is found.
            let below = in_parallel(level, |(folder, belongs)| walk.folder(&folder, Some(belongs)).ok());
            level = Vec::new();
            for mut more in below {
                found.changed.append(&mut more.changed);
                found.there.append(&mut more.there);
                level.append(&mut more.folders);
            }
        }
        let Seen { changed, mut there, .. } = found;
        there.sort_unstable();
        let mut gone = Vec::new();
        self.lock().retain(|name, _| {
            let is_there = there.binary_search(name).is_ok();
            if !is_there {
                gone.push(Digest(*name));
            }
            is_there
        });
        Ok(Differences { changed, gone })
    }
}

struct Walk<'a> {
    prints: &'a Prints,
    workspace: &'a File,
    leaves: Leaves,
}

/// What was seen in one folder.
#[derive(Default)]
struct Seen {
    changed: Vec<PathBuf>,
    /// Names of the files that are there.
    there: Vec<u64>,
    /// Still to be looked into, and whether only an `item.md` can be a ticket in and below it.
    folders: Vec<(PathBuf, bool)>,
}

impl Walk<'_> {
    /// One folder, by the rules of `layout`; `belongs` is None for the ticket folder itself.
    fn folder(&self, folder: &Path, belongs: Option<bool>) -> io::Result<Seen> {
        let mut seen = Seen::default();
        let prefix = match folder.as_os_str().as_encoded_bytes() {
            b"" => Digest::of(b""),
            path => Digest::of(path).and(b"/"),
        };
        if belongs.is_some()
            && let Some(item) = self.leaves.item(self.workspace, folder)
        {
            self.file(&mut seen, folder, OsStr::new(ITEM), prefix, Print::of_stat(&item));
            return Ok(seen);
        }
        let follow = if belongs.is_none() { OFlags::empty() } else { OFlags::NOFOLLOW };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK | follow;
        let path = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let open: OwnedFd = openat(self.workspace, path, flags, Mode::empty())?;
        let belongs = belongs.is_some_and(|inherited| inherited || is_file(&open, OsStr::new(ITEM)));
        for entry in Dir::read_from(&open)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if is_hidden(name) {
                continue;
            }
            if is_folder(&open, name, entry.file_type()) {
                seen.folders.push((folder.join(name), belongs));
            } else if is_markdown(Path::new(name)) && (name == ITEM || !belongs) {
                let print = match statat(&open, name, AtFlags::empty()) {
                    Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => continue,
                    Ok(found) => Print::of_stat(&found),
                    Err(_) => NOTHING,
                };
                self.file(&mut seen, folder, name, prefix, print);
            }
        }
        Ok(seen)
    }

    fn file(&self, seen: &mut Seen, folder: &Path, name: &OsStr, prefix: Digest, print: Print) {
        let digest = prefix.and(name.as_bytes());
        seen.there.push(digest.0);
        if self.prints.lock().get(&digest.0) != Some(&print) {
            seen.changed.push(folder.join(name));
        }
    }
}

fn is_folder(open: impl AsFd, name: &OsStr, kind: FileType) -> bool {
    match kind {
        FileType::Directory => true,
        // Some file systems do not say.
        FileType::Unknown => statat(open, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Directory),
        _ => false,
    }
}

/// Whether there is something of this name, and no folder.
fn is_file(open: impl AsFd, name: &OsStr) -> bool {
    let kind = |flags| statat(&open, name, flags).map(|found| FileType::from_raw_mode(found.st_mode));
    match kind(AtFlags::SYMLINK_NOFOLLOW) {
        Ok(FileType::Symlink) => kind(AtFlags::empty()) != Ok(FileType::Directory),
        Ok(kind) => kind != FileType::Directory,
        Err(_) => false,
    }
}

/// The names are digests already.
#[derive(Default)]
pub(super) struct Plain(u64);

impl Hasher for Plain {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = Digest::of(bytes).0;
    }

    fn write_u64(&mut self, name: u64) {
        self.0 = name;
    }
}

#[cfg(test)]
mod tests;
