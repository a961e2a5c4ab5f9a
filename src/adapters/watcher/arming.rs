//! Sets the kernel's watches, folder by folder, and sets them again where folders came and went.
//!
//! Folder by folder, because the library's own recursion stops at the first folder that may not be read, would go into
//! `.git`, and watches a new folder only after what was put into it at once went unnoticed. Only where watches are set for
//! a whole ticket folder, it is asked to do that at one go.
//!
//! Must not know: what a notice is for.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use notify::{Config, ErrorKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use walkdir::WalkDir;

use super::Shared;
use super::narrowing::{Before, Narrowing};
use super::sorting::{FOREIGN_FOLDERS, ITEM, Pile, Places, is_foreign_folder, is_ticket_file};

/// Why the kernel cannot report changes here, in words that continue "because".
#[derive(Debug)]
pub(super) struct CannotWatch(pub(super) String);

/// What has to be looked at after watches were set again.
pub(super) struct Rearmed {
    /// Everything, and why.
    pub(super) everything: Option<String>,
    /// Files that belong to another file beside them now, or do not any more.
    pub(super) paths: Vec<PathBuf>,
}

/// All watches that are set.
pub(super) struct Armed {
    watcher: RecommendedWatcher,
    /// None where reading is reported too.
    narrowing: Option<Narrowing>,
    places: Places,
    /// The ticket folder and every folder below it, whether or not it may be read; and whether there is an `item.md`. As
    /// plain bytes: comparing paths part by part is slow.
    folders: BTreeMap<Box<OsStr>, bool>,
    /// Whether the library may set all watches at one go. In a tree of tens of thousands of folders below others that itself
    /// can fill the queue, so not again once reports were lost.
    at_one_go: bool,
}

impl Armed {
    pub(super) fn start(places: Places, shared: &Arc<Shared>) -> Result<Self, CannotWatch> {
        let shared: Weak<Shared> = Arc::downgrade(shared);
        let sorted = places.clone();
        let callback = move |event| {
            if let Some(shared) = shared.upgrade() {
                shared.add(|pile| pile.sort(&sorted, event));
            }
        };
        let config = Config::default().with_follow_symlinks(false);
        let first = places.first_watched();
        let before = Before::now(&first);
        let watcher = RecommendedWatcher::new(callback, config).map_err(|error| cannot(&error))?;
        let mut armed = Self { watcher, narrowing: None, places, folders: BTreeMap::new(), at_one_go: true };
        armed.watch(&first)?;
        armed.narrowing = before.which_watches(&first);
        armed.root()?;
        armed.git()?;
        Ok(armed)
    }

    /// Whether the ticket folder is there and watched; while it is not, it must be looked for.
    pub(super) fn complete(&self) -> bool {
        self.folders.contains_key(self.places.tickets.as_os_str())
    }

    /// Whether the kernel reports mere reading, too.
    pub(super) fn reports_reading(&self) -> bool {
        self.narrowing.is_none()
    }

    /// How many folders of tickets are watched.
    pub(super) fn folders(&self) -> usize {
        self.folders.len()
    }

    /// Sets again what the pile says is needed. Returns what has to be looked at because of that.
    pub(super) fn rearm(&mut self, pile: Pile, shared: &Arc<Shared>) -> Result<Rearmed, CannotWatch> {
        let was_there = self.complete();
        let lost = pile.lost.is_some();
        self.at_one_go &= !lost;
        if pile.root && was_there {
            // Watches follow a folder that is moved: what happens in it then would be taken for what is here.
            *self = Self::start(self.places.clone(), shared)?;
        } else if pile.root || lost || !was_there {
            self.folders.clear();
            self.root()?;
        }
        let mut why = pile.lost;
        if why.is_none() && (pile.root || self.complete() != was_there) {
            let folder = self.places.named.display();
            why = Some(match (was_there, self.complete()) {
                (true, true) => format!("the ticket folder {folder}, or a folder above it, was moved or made anew"),
                (true, false) => format!("the ticket folder {folder} is gone"),
                (false, true) => format!("the ticket folder {folder} appeared"),
                (false, false) => format!("the ticket folder {folder} is still not there"),
            });
        }
        for folder in pile.folders {
            if self.folder(&folder)? {
                why.get_or_insert_with(|| format!("the folder {} came, went or moved", self.named(&folder).display()));
            }
        }
        // While somebody replaces an `item.md` it may be missing, so that this is no rare thing: a checkout does so.
        let turned: Vec<_> = pile.items.into_iter().filter(|folder| self.item(folder)).collect();
        let paths =
            if why.is_none() { turned.iter().flat_map(|folder| self.below(folder)).collect() } else { Vec::new() };
        if pile.git_folders || lost {
            self.git()?;
        }
        Ok(Rearmed { everything: why, paths })
    }

    /// What may be, or may have been, a ticket in or below a folder, as notices name it.
    fn below(&self, folder: &Path) -> Vec<PathBuf> {
        let walk = WalkDir::new(folder).follow_links(false).into_iter();
        let inside = walk.filter_entry(|entry| !is_foreign_folder(entry.file_name()));
        let files = inside.flatten().filter(|entry| !entry.file_type().is_dir() && is_ticket_file(entry.file_name()));
        files.map(|entry| self.named(entry.path())).collect()
    }

    /// The folders above, then the whole ticket folder.
    fn root(&mut self) -> Result<(), CannotWatch> {
        for above in self.places.above.clone() {
            self.watch(&above)?;
        }
        let tickets = self.places.tickets.clone();
        if tickets.is_dir() { self.tree(&tickets) } else { Ok(()) }
    }

    /// One path below the ticket folder. Returns whether it is or was a folder.
    fn folder(&mut self, path: &Path) -> Result<bool, CannotWatch> {
        let bytes = path.as_os_str().as_bytes();
        let from = (Bound::Included(path.as_os_str()), Bound::Unbounded);
        let from = self.folders.range::<OsStr, _>(from).map(|(folder, _)| folder);
        // `a-b` comes between `a` and `a/b`.
        let alike = from.take_while(|folder| folder.as_bytes().starts_with(bytes));
        let below = alike.filter(|folder| Path::new(folder).starts_with(path));
        let known: Vec<Box<OsStr>> = below.cloned().collect();
        let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        for folder in &known {
            self.folders.remove(folder);
        }
        if is_folder {
            self.tree(path)?;
        }
        Ok(is_folder || !known.is_empty())
    }

    fn tree(&mut self, top: &Path) -> Result<(), CannotWatch> {
        if top == self.places.tickets && self.at_once()? {
            self.learn(top);
            return Ok(());
        }
        let walk = WalkDir::new(top).follow_links(false).into_iter();
        let inside = walk.filter_entry(|entry| entry.depth() == 0 || !is_foreign_folder(entry.file_name()));
        for entry in inside.flatten() {
            // The top may be a symlink to a folder, nothing below may.
            if entry.file_type().is_dir() || entry.depth() == 0 {
                self.watch(entry.path())?;
                self.folders.insert(entry.into_path().into_os_string().into(), false);
            } else if entry.file_name() == ITEM
                && let Some(has_item) =
                    entry.path().parent().and_then(|folder| self.folders.get_mut(folder.as_os_str()))
            {
                *has_item = true;
            }
        }
        Ok(())
    }

    /// Has the library set the watches of the whole ticket folder, which it does on a thread of its own: to be asked for
    /// each folder, and waited for, takes many times as long. It watches a folder before it lists it, too. Returns whether
    /// all are set; where not, they are set one by one: it gives up at a folder that may not be read.
    fn at_once(&mut self) -> Result<bool, CannotWatch> {
        let top = &self.places.tickets;
        let suits = self.at_one_go && suits_the_library(top);
        let Some(narrowing) = self.narrowing.as_ref().filter(|_| suits) else { return Ok(false) };
        match narrowing.meanwhile(top, || self.watcher.watch(top, RecursiveMode::Recursive)) {
            Some(Err(error)) if matches!(error.kind, ErrorKind::MaxFilesWatch) => Err(cannot(&error)),
            set => Ok(set.is_some_and(|set| set.is_ok())),
        }
    }

    /// Which folders there are, after the library has watched them. One that came meanwhile is reported by its parent's
    /// watch, and gets its own then.
    fn learn(&mut self, top: &Path) {
        let mut rest = vec![top.to_path_buf()];
        while let Some(folder) = rest.pop() {
            // Before it is opened, which would be reported.
            self.narrowing.iter().for_each(|narrowing| narrowing.narrow(&folder));
            let mut has_item = false;
            for entry in folder.read_dir().into_iter().flatten().flatten() {
                let (name, is_folder) = (entry.file_name(), entry.file_type().is_ok_and(|kind| kind.is_dir()));
                if is_folder && !is_foreign_folder(&name) {
                    rest.push(entry.path());
                }
                has_item |= !is_folder && name == ITEM;
            }
            self.folders.insert(folder.into_os_string().into(), has_item);
        }
    }

    /// Whether a folder has an `item.md` now and had none, or the other way round: other files there are tickets, or
    /// are none any more. In the ticket folder itself it is a ticket like any other.
    fn item(&mut self, folder: &Path) -> bool {
        let there = folder.join(ITEM).symlink_metadata().is_ok();
        let known = self.folders.get_mut(folder.as_os_str()).filter(|_| folder != self.places.tickets);
        known.is_some_and(|known| std::mem::replace(known, there) != there)
    }

    /// What yoi rests on in the git directory; `refs/yoi` at any depth, because claims are refs in it.
    fn git(&mut self) -> Result<(), CannotWatch> {
        let Some(git) = self.places.git.clone() else { return Ok(()) };
        self.watch(&git)?;
        for name in ["refs", "logs", "worktrees", "reftable"] {
            self.watch(&git.join(name))?;
        }
        let refs = WalkDir::new(git.join("refs/yoi")).follow_links(false);
        for entry in refs.into_iter().flatten().filter(|entry| entry.file_type().is_dir()) {
            self.watch(entry.path())?;
        }
        Ok(())
    }

    /// Harmless where it is watched already. A folder that is not there, or may not be read, is no reason to give up:
    /// its parent tells when that changes.
    fn watch(&mut self, folder: &Path) -> Result<(), CannotWatch> {
        match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
            Ok(()) => {
                self.narrowing.iter().for_each(|narrowing| narrowing.narrow(folder));
                Ok(())
            }
            Err(error) => match &error.kind {
                ErrorKind::PathNotFound => Ok(()),
                ErrorKind::Io(io) if is_about_the_folder(io) => Ok(()),
                _ => Err(cannot(&error)),
            },
        }
    }

    fn named(&self, path: &Path) -> PathBuf {
        let inside = path.strip_prefix(&self.places.tickets).unwrap_or(path);
        self.places.named.join(inside)
    }
}

/// The library would watch all that is in a foreign folder, and nothing where a symlink leads to.
fn suits_the_library(top: &Path) -> bool {
    let there = |path: &Path| path.symlink_metadata();
    there(top).is_ok_and(|found| found.is_dir()) && FOREIGN_FOLDERS.iter().all(|name| there(&top.join(name)).is_err())
}

fn is_about_the_folder(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | PermissionDenied | NotADirectory)
}

fn cannot(error: &notify::Error) -> CannotWatch {
    const EMFILE: i32 = 24;
    CannotWatch(match &error.kind {
        ErrorKind::MaxFilesWatch => {
            "the system's limit of watches is reached (raise fs.inotify.max_user_watches, then restart the daemon)"
                .into()
        }
        ErrorKind::Io(io) if io.raw_os_error() == Some(EMFILE) => {
            "the system's limit of watchers or open files is reached (raise fs.inotify.max_user_instances, then \
             restart the daemon)"
                .into()
        }
        _ => format!("the system cannot report changes here: {error}"),
    })
}
