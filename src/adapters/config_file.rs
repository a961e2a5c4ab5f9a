//! Notices that the configuration file was saved, replaced or removed, and that a folder that it needs has come.
//!
//! Must not know: what is in it.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init, remove_watch};

/// An editor saves in several steps.
const SETTLING: Duration = Duration::from_millis(100);
/// How often to look in any case, seconds: changes made elsewhere on a network file system are not told.
const LOOK_EVERY: i64 = 300;
/// And where the kernel has no watch to give.
const LOOK_UNTOLD: i64 = 10;

/// A watch that goes on.
#[derive(Debug)]
pub struct ConfigWatch {
    inotify: OwnedFd,
    awaited: Mutex<Awaited>,
}

/// A folder that is not there yet.
#[derive(Debug, Default)]
struct Awaited {
    folder: Option<PathBuf>,
    /// The kernel's watch for it.
    watch: Option<i32>,
}

/// Calls back after each change, on a thread of its own, until the callback returns false.
pub fn watch(file: &Path, changed: impl Fn() -> bool + Send + 'static) -> io::Result<Arc<ConfigWatch>> {
    let file = file.to_path_buf();
    let inotify = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let watch = Arc::new(ConfigWatch { inotify, awaited: Mutex::default() });
    let watching = Arc::clone(&watch);
    let mut known = mark(&file);
    let mut armed = arm(&watch.inotify, &file);
    thread::Builder::new().name("yoi settings".into()).spawn(move || {
        loop {
            // What changed while no watch was set shows in the mark.
            let now = mark(&file);
            if now == known && !watching.has_come() {
                wait(&watching.inotify, armed);
            } else if changed() {
                known = now;
            } else {
                return;
            }
            // Set again each time: the folder may be another one by now.
            armed = arm(&watching.inotify, &file);
            watching.arm_awaited();
        }
    })?;
    Ok(watch)
}

impl ConfigWatch {
    /// Calls back once when this folder can be listed, too; None: no folder is awaited any more. Returns whether it can be
    /// listed already: then nothing is called.
    pub fn await_folder(&self, folder: Option<&Path>) -> bool {
        self.awaited().folder = folder.map(Path::to_path_buf);
        self.arm_awaited();
        self.has_come()
    }

    fn has_come(&self) -> bool {
        let mut awaited = self.awaited();
        awaited.folder.take_if(|folder| fs::read_dir(folder).is_ok()).is_some()
    }

    /// What of the way to it is there is watched.
    fn arm_awaited(&self) {
        let mut awaited = self.awaited();
        if let Some(watch) = awaited.watch.take() {
            // It went by itself, with its folder.
            let _ = remove_watch(&self.inotify, watch);
        }
        let comes = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ATTRIB;
        let comes = comes | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
        let mut above = awaited.folder.iter().flat_map(|folder| folder.ancestors().skip(1));
        awaited.watch = above.find_map(|folder| add_watch(&self.inotify, folder, comes).ok());
    }

    fn awaited(&self) -> MutexGuard<'_, Awaited> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn arm(inotify: &OwnedFd, file: &Path) -> bool {
    let saved = WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::MOVED_FROM | WatchFlags::DELETE;
    let folder = saved | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
    file.parent().is_some_and(|parent| add_watch(inotify, parent, folder).is_ok())
}

/// Returns when something happened in the folder, and in any case after a while.
fn wait(inotify: &OwnedFd, armed: bool) {
    let limit = Timespec { tv_sec: if armed { LOOK_EVERY } else { LOOK_UNTOLD }, tv_nsec: 0 };
    let _ = poll(&mut [PollFd::new(inotify, PollFlags::IN)], Some(&limit));
    thread::sleep(SETTLING);
    let mut events = [0; 4096];
    while rustix::io::read(inotify, &mut events).is_ok_and(|length| length > 0) {}
}

/// Size, times and inode.
fn mark(file: &Path) -> Option<(u64, i64, i64, u64)> {
    fs::metadata(file).ok().map(|found| (found.size(), found.mtime(), found.mtime_nsec(), found.ino()))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn every_way_of_saving_is_noticed() {
        let saves: [fn(&Path); 5] = [
            |file| fs::write(file, "in place").unwrap(),
            |file| {
                fs::write(file.with_extension("new"), "renamed").unwrap();
                fs::rename(file.with_extension("new"), file).unwrap();
            },
            |file| fs::remove_file(file).unwrap(),
            |file| fs::write(file, "made anew").unwrap(),
            |file| fs::write(file, "and again").unwrap(),
        ];
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("config.toml");
        fs::write(&file, "first").unwrap();
        let (tell, told) = channel();
        watch(&file, move || tell.send(()).is_ok()).unwrap();
        for save in saves {
            save(&file);
            told.recv_timeout(Duration::from_secs(20)).unwrap();
        }
        assert!(told.recv_timeout(Duration::from_millis(300)).is_err(), "each once");
    }

    #[test]
    fn a_folder_that_comes_is_noticed_once_however_it_comes() {
        let comes: [fn(&Path); 3] = [
            |folder| fs::create_dir_all(folder).unwrap(),
            |folder| {
                fs::create_dir_all(folder.with_file_name("else")).unwrap();
                fs::rename(folder.with_file_name("else"), folder).unwrap();
            },
            |folder| {
                fs::create_dir_all(folder.parent().unwrap()).unwrap();
                fs::write(folder, "a file").unwrap();
                fs::remove_file(folder).unwrap();
                fs::create_dir(folder).unwrap();
            },
        ];
        for come in comes {
            let root = TempDir::new().unwrap();
            let folder = root.path().join("deep/er");
            let (tell, told) = channel();
            let watch = watch(&root.path().join("config.toml"), move || tell.send(()).is_ok()).unwrap();
            assert!(!watch.await_folder(Some(&folder)));
            come(&folder);
            told.recv_timeout(Duration::from_secs(20)).unwrap();
            fs::remove_dir(&folder).unwrap();
            fs::create_dir(&folder).unwrap();
            assert!(told.recv_timeout(Duration::from_millis(300)).is_err(), "it is not awaited any more");
            assert!(watch.await_folder(Some(&folder)), "it is there");
            fs::remove_dir(&folder).unwrap();
            assert!(!watch.await_folder(Some(&folder)) && !watch.await_folder(None));
            fs::create_dir(&folder).unwrap();
            assert!(told.recv_timeout(Duration::from_millis(300)).is_err(), "nor this time");
        }
    }
}
