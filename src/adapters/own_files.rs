//! Notices when a file of the daemon's own (its lock, its socket) was deleted, moved or replaced: at once where the
//! kernel tells, else after a while. Watching costs nothing while nothing happens.
//!
//! Must not know: what the files are for; whether they are still the daemon's (whoever is woken looks).

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};

/// How often to look where the kernel tells.
const LOOK: Duration = Duration::from_mins(5);
/// How often to look where it cannot.
const LOOK_UNTOLD: Duration = Duration::from_secs(10);
const SETTLING: Duration = Duration::from_millis(30);

/// A watch on some files, and on the names of the folders they lie in.
#[derive(Debug)]
pub struct OwnFiles {
    /// None where the kernel has no watch to give.
    inotify: Option<OwnedFd>,
}

impl Default for OwnFiles {
    fn default() -> Self {
        Self { inotify: init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok() }
    }
}

impl OwnFiles {
    /// Watches the file that lies at this absolute path now.
    pub fn watch(&self, path: &Path) {
        let Some(inotify) = &self.inotify else { return };
        // The number of links is among the attributes: a file that is deleted while it is open tells that way only.
        let _ = add_watch(inotify, path, WatchFlags::ATTRIB | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF);
        for above in path.ancestors().skip(1) {
            let _ = add_watch(inotify, above, WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF);
        }
    }

    /// Returns when something happened to one of them, and in any case after a while.
    pub fn wait(&self) {
        let Some(inotify) = &self.inotify else { return std::thread::sleep(LOOK_UNTOLD) };
        let seconds = i64::try_from(LOOK.as_secs()).unwrap_or(i64::MAX);
        let limit = Timespec { tv_sec: seconds, tv_nsec: 0 };
        let _ = poll(&mut [PollFd::new(inotify, PollFlags::IN)], Some(&limit));
        // The kernel tells a moment before the name is gone; and an error is never a loop without a pause.
        std::thread::sleep(SETTLING);
        // What exactly happened does not matter: whoever waits looks for himself.
        let mut events = [0; 4096];
        while rustix::io::read(inotify, &mut events).is_ok_and(|length| length > 0) {}
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::channel;
    use std::thread;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn deleted_replaced_or_moved_with_its_folder_is_told_at_once() {
        let changes: [fn(&Path); 4] = [
            |folder| fs::remove_file(folder.join("deep/own")).unwrap(),
            |folder| fs::rename(folder.join("other"), folder.join("deep/own")).unwrap(),
            |folder| fs::rename(folder.join("deep"), folder.join("moved")).unwrap(),
            |folder| fs::remove_dir_all(folder.join("deep")).unwrap(),
        ];
        for change in changes {
            let folder = TempDir::new().unwrap();
            fs::create_dir(folder.path().join("deep")).unwrap();
            fs::write(folder.path().join("deep/own"), "").unwrap();
            fs::write(folder.path().join("other"), "").unwrap();
            // The file is open all the time, as a lock is.
            let _open = fs::File::open(folder.path().join("deep/own")).unwrap();
            let files = OwnFiles::default();
            files.watch(&folder.path().join("deep/own"));
            let (woken, told) = channel();
            thread::spawn(move || {
                files.wait();
                let _ = woken.send(());
            });
            change(folder.path());
            told.recv_timeout(Duration::from_secs(20)).unwrap();
        }
    }
}
