//! Takes mere reading out of what the library has the kernel report.
//!
//! The library asks to be told of every file and folder that is opened, and cannot be told not to before its version 9
//! (`EventKindMask`): then a walk of the daemon's own is an event a file and two a folder, and where there are many it
//! fills the kernel's queue. So its descriptor is duplicated, and each watch that it sets is set once more without
//! those. Where that is not possible everything works as before, only dearer; `pacing` ends the circle then.
//!
//! Must not know: what is watched, and why.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::inotify::{WatchFlags, add_watch};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

/// What the kernel's link to a descriptor says where it is a set of watches.
const WATCHES: &str = "anon_inode:inotify";

/// How often a folder is narrowed while the library watches what lies in it.
const OFTEN: Duration = Duration::from_micros(100);

/// The sets of watches of this process that watch a folder already, by descriptor. Others are of no interest: while the
/// library makes its own, some of those may be closed, and the library given one of their numbers.
pub(super) struct Before(Vec<i32>);

impl Before {
    /// As they are now.
    pub(super) fn now(folder: &Path) -> Self {
        Self(watching(folder))
    }

    /// The library's set: it watches this folder, and did not before.
    pub(super) fn which_watches(&self, folder: &Path) -> Option<Narrowing> {
        let mut new = watching(folder).into_iter().filter(|set| !self.0.contains(set));
        let (found, None) = (new.next()?, new.next()) else { return None };
        let itself = pidfd_open(getpid(), PidfdFlags::empty()).ok()?;
        pidfd_getfd(itself, found, PidfdGetfdFlags::empty()).ok().map(Narrowing)
    }
}

/// The open sets of watches that watch a folder; none where it cannot be told.
fn watching(folder: &Path) -> Vec<i32> {
    let Ok(about) = folder.metadata() else { return Vec::new() };
    let inode = format!("ino:{:x} ", about.ino());
    let watches_it = |set: &i32| {
        let told = fs::read_to_string(format!("/proc/self/fdinfo/{set}")).unwrap_or_default();
        told.lines().any(|line| line.starts_with("inotify ") && line.contains(&inode))
    };
    let number = |entry: fs::DirEntry| {
        let is_set = fs::read_link(entry.path()).is_ok_and(|link| link.as_os_str() == WATCHES);
        entry.file_name().to_str()?.parse().ok().filter(|_| is_set)
    };
    fs::read_dir("/proc/self/fd").into_iter().flatten().flatten().filter_map(number).filter(watches_it).collect()
}

/// The library's set of watches.
pub(super) struct Narrowing(OwnedFd);

impl Narrowing {
    /// A folder whose watch the library has just set.
    pub(super) fn narrow(&self, folder: &Path) {
        use WatchFlags as Of;
        let changes = Of::CREATE | Of::DELETE | Of::MOVED_FROM | Of::MOVED_TO | Of::MODIFY | Of::CLOSE_WRITE;
        let itself = Of::ATTRIB | Of::DELETE_SELF | Of::MOVE_SELF;
        // A folder that is gone meanwhile was replaced, and its parent tells.
        let _ = add_watch(&self.0, folder, changes | itself | Of::ONLYDIR);
    }

    /// While the library sets watches at and below a folder it reads no reports, and opens every folder in it: reports of
    /// that would fill the kernel's queue. So the folder is narrowed all the while. None where that cannot be done.
    pub(super) fn meanwhile<T>(&self, folder: &Path, watch: impl FnOnce() -> T) -> Option<T> {
        let over = AtomicBool::new(false);
        let narrow = || {
            while !over.load(Ordering::Acquire) {
                self.narrow(folder);
                thread::sleep(OFTEN);
            }
        };
        thread::scope(|scope| {
            thread::Builder::new().spawn_scoped(scope, narrow).ok()?;
            let _over = Over(&over);
            Some(watch())
        })
    }
}

/// Says that it is over, also where the library panics: the other thread is waited for.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
