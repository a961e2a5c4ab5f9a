//! Notices that the configuration file was saved, replaced or removed.
//!
//! Must not know: what is in it.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};

/// An editor saves in several steps.
const SETTLING: Duration = Duration::from_millis(100);
/// How often to look in any case, seconds: changes made elsewhere on a network file system are not told.
const LOOK_EVERY: i64 = 300;
/// And where the kernel has no watch to give.
const LOOK_UNTOLD: i64 = 10;

/// Calls back after each change, on a thread of its own, until the callback returns false.
pub fn watch(file: &Path, changed: impl Fn() -> bool + Send + 'static) -> io::Result<()> {
    let file = file.to_path_buf();
    let inotify = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let mut known = mark(&file);
    let mut armed = arm(&inotify, &file);
    thread::Builder::new().name("yoi settings".into()).spawn(move || {
        loop {
            // What changed while no watch was set shows in the mark.
            let now = mark(&file);
            if now == known {
                wait(&inotify, armed);
            } else if changed() {
                known = now;
            } else {
                return;
            }
            // Set again each time: the folder may be another one by now.
            armed = arm(&inotify, &file);
        }
    })?;
    Ok(())
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
}
