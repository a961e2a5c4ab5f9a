//! The lock that makes a daemon the only one of its workspace. It is the kernel's: it ends with its holder, whatever
//! happens to it, so that leftovers of a killed daemon never block a start (FAULTS kind 8). DESIGN.md 8.
//!
//! Must not know: what a daemon does; whether the socket answers.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::stdio::{dup2_stdin, stdin};

use super::fault;
use super::files::{self, FileId, Text};

/// Whoever only asks [`DaemonLock::is_held`] has the lock for a moment: that is waited for, no longer.
const ASKING_TAKES: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(2);

/// Why the lock was not acquired.
#[derive(Debug, thiserror::Error)]
pub enum NotAcquired {
    /// Another daemon has it.
    #[error("another daemon of this workspace is running{}", .by.map(|pid| format!(" (pid {pid})")).unwrap_or_default())]
    Held {
        /// The pid it wrote down: information, never to be signalled.
        by: Option<u32>,
    },
    /// The file cannot be opened or locked; the message names it.
    #[error("{0}")]
    Io(io::Error),
}

/// The held lock; let go when dropped. The file stays: removing it would give the next two daemons two files.
#[derive(Debug)]
pub struct DaemonLock {
    file: File,
    path: PathBuf,
}

impl DaemonLock {
    /// Takes the lock, or says who has it. The file is made where it is missing (mode 0600).
    pub fn acquire(path: &Path) -> Result<Self, NotAcquired> {
        let failed = |error: io::Error| NotAcquired::Io(files::named(path, &error));
        let began = Instant::now();
        loop {
            let mut file = open(path).map_err(failed)?;
            fault::delay("before-daemon-lock");
            match file.try_lock() {
                // The file was replaced between opening and locking: another one counts.
                Ok(()) if !names(path, &file) => {}
                Ok(()) => {
                    file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(failed)?;
                    return Ok(Self { file, path: path.to_path_buf() });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if began.elapsed() > ASKING_TAKES => {
                    return Err(NotAcquired::Held { by: written_pid(&mut file) });
                }
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            }
        }
    }

    /// This very lock as the standard input of the program that takes this process over, with a text for it. Nobody else
    /// can have it in between: it belongs to the open file.
    pub fn to_hand_over(&self, text: &[u8]) -> io::Result<File> {
        let named = |error: io::Error| files::named(&self.path, &error);
        let mut file = self.file.try_clone().map_err(named)?;
        let whole = [format!("{}\n", std::process::id()).as_bytes(), text].concat();
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(&whole)).map_err(named)?;
        Ok(file)
    }

    /// The lock that standard input is, and the text that came with it; None where it is not this path's.
    pub fn handed_over(path: &Path) -> Option<(Self, Vec<u8>)> {
        let mut file = File::from(rustix::io::fcntl_dupfd_cloexec(stdin(), 3).ok()?);
        // Whoever holds it already, by this very open file, gets it again; anybody else does not.
        let ours = file.metadata().is_ok_and(|data| data.is_file()) && names(path, &file) && file.try_lock().is_ok();
        // No child is to have it as its own.
        dup2_stdin(File::open("/dev/null").ok()?).ok().filter(|()| ours)?;
        let mut whole = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut whole)).ok()?;
        let text = whole.iter().position(|byte| *byte == b'\n').map_or_else(Vec::new, |end| whole[end + 1..].to_vec());
        let _ = file.set_len((whole.len() - text.len()) as u64);
        Some((Self { file, path: path.to_path_buf() }, text))
    }

    /// Whether somebody holds it. Makes no file.
    pub fn is_held(path: &Path) -> bool {
        files::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// The pid that the holder wrote down: information, never to be signalled.
    pub fn written_pid(path: &Path) -> Option<u32> {
        written_pid(&mut files::open(path).ok()?)
    }

    /// Whether the path still names the file that is locked. If not, another daemon may already have begun.
    pub fn still_ours(&self) -> bool {
        names(&self.path, &self.file)
    }
}

fn names(path: &Path, file: &File) -> bool {
    file.metadata().is_ok_and(|ours| fs::metadata(path).is_ok_and(|there| FileId::of(&ours) == FileId::of(&there)))
}

impl Drop for DaemonLock {
    fn drop(&mut self) {
        // So that nobody is named who is gone.
        let _ = self.file.set_len(0);
        // Closing alone would do, were it not for a child between fork and exec, which has the file open too.
        let _ = self.file.unlock();
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        files::own_folder(folder)?;
    }
    files::open_own(path, Text::Kept)
}

fn written_pid(file: &mut File) -> Option<u32> {
    let mut text = Vec::new();
    file.take(32).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    text.lines().next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Command, Stdio};

    use tempfile::TempDir;

    use super::*;

    fn lock_file() -> (TempDir, PathBuf) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("yoi/daemon.lock");
        (folder, path)
    }

    #[test]
    fn one_at_a_time_and_the_other_is_told_who() {
        let (_folder, path) = lock_file();
        assert!(!DaemonLock::is_held(&path) && !path.exists());
        let lock = DaemonLock::acquire(&path).unwrap();
        assert!(lock.still_ours() && DaemonLock::is_held(&path));
        let refused = DaemonLock::acquire(&path).unwrap_err();
        let pid = std::process::id();
        assert!(matches!(refused, NotAcquired::Held { by: Some(by) } if by == pid));
        assert_eq!(refused.to_string(), format!("another daemon of this workspace is running (pid {pid})"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        drop(lock);
        assert!(!DaemonLock::is_held(&path));
        DaemonLock::acquire(&path).unwrap();
    }

    #[test]
    fn a_replaced_or_removed_file_is_noticed() {
        let (_folder, path) = lock_file();
        for replace in [
            |path: &Path| fs::remove_file(path),
            |path: &Path| {
                fs::write(path.with_extension("new"), "")?;
                fs::rename(path.with_extension("new"), path)
            },
        ] {
            let lock = DaemonLock::acquire(&path).unwrap();
            replace(&path).unwrap();
            assert!(!lock.still_ours());
            let second = DaemonLock::acquire(&path).unwrap();
            assert!(second.still_ours() && !lock.still_ours());
        }
    }

    #[test]
    fn a_file_replaced_between_opening_and_locking_does_not_count() {
        let (_folder, path) = lock_file();
        DaemonLock::acquire(&path).unwrap();
        let (file, mut first) = (path.clone(), true);
        fault::hook::set("before-daemon-lock", move || {
            if std::mem::take(&mut first) {
                fs::remove_file(&file).unwrap();
            }
        });
        let lock = DaemonLock::acquire(&path).unwrap();
        assert!(lock.still_ours() && DaemonLock::is_held(&path));
    }

    #[test]
    fn leftovers_of_a_killed_holder_block_nobody() {
        let (_folder, path) = lock_file();
        // The lock belongs to the open file: when only another process has it open, that process holds the lock.
        let file = open(&path).unwrap();
        file.try_lock().unwrap();
        let mut holder = Command::new("sleep").arg("1000").stdin(Stdio::from(file)).spawn().unwrap();
        assert!(DaemonLock::is_held(&path));
        assert!(matches!(DaemonLock::acquire(&path), Err(NotAcquired::Held { by: None })));
        holder.kill().unwrap();
        holder.wait().unwrap();
        fs::write(&path, "4000000\n").unwrap();
        assert!(!DaemonLock::is_held(&path));
        DaemonLock::acquire(&path).unwrap();
    }

    #[test]
    fn of_many_starts_at_once_one_wins() {
        let (_folder, path) = lock_file();
        let starts: Vec<_> = (0..16)
            .map(|_| {
                let path = path.clone();
                thread::spawn(move || {
                    DaemonLock::is_held(&path);
                    DaemonLock::acquire(&path)
                })
            })
            .collect();
        let ended: Vec<_> = starts.into_iter().map(|start| start.join().unwrap()).collect();
        assert_eq!(ended.iter().filter(|end| end.is_ok()).count(), 1);
        assert!(ended.iter().all(|end| !matches!(end, Err(NotAcquired::Io(_)))));
    }

    #[test]
    fn what_cannot_be_opened_is_named() {
        let folder = TempDir::new().unwrap();
        let message = DaemonLock::acquire(folder.path()).unwrap_err().to_string();
        assert!(message.starts_with(&folder.path().display().to_string()), "{message}");
    }
}
