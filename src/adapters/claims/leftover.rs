//! Git's lock on a claim's ref, left there by a yoi that was killed while it held it: nobody else would ever take it away.
//!
//! Whoever moves a claim's ref shares a kernel lock meanwhile. Who has that lock alone knows that no living yoi holds git's. What
//! another git program holds is not touched: it holds a lock for moments, and writes no commit of a claim into it.
//!
//! Must not know: which repository it is; what is moved.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::refs::{Refs, is_object_id, read_step};
use crate::adapters::files::{self, FileId, Text};
use crate::domain::claim::Revision;
use crate::domain::ticket::TicketId;

/// How long it is waited for those who move claims just now.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(5);
/// The most that is read of a lock.
const MOST_BYTES: u64 = 100;

/// Somebody moves claims, as long as it lives; None where that cannot be said, which is no reason not to.
pub(super) struct Moving(Option<File>);

impl Moving {
    pub(super) fn begin(common_dir: &Path) -> Self {
        let file = file(common_dir).filter(|file| file.lock_shared().is_ok());
        Self(file)
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        // Not by closing alone: a child between fork and exec may have it open too.
        let _ = self.0.take().map(|file| file.unlock());
    }
}

fn file(common_dir: &Path) -> Option<File> {
    let folder = common_dir.join("yoi");
    files::own_folder(&folder).ok()?;
    files::open_own(&folder.join("claims.lock"), Text::Kept).ok()
}

/// Git's lock on a ref, as it was when it was in the way.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct InTheWay {
    path: PathBuf,
    file: FileId,
    modified: (i64, i64),
}

impl InTheWay {
    /// None where nothing is in the way any more.
    pub(super) fn now(common_dir: &Path, name: &str) -> Option<Self> {
        let path = common_dir.join(format!("{name}.lock"));
        let found = path.symlink_metadata().ok().filter(fs::Metadata::is_file)?;
        Some(Self { path, file: FileId::of(&found), modified: (found.mtime(), found.mtime_nsec()) })
    }

    /// Takes it away if nobody but a dead yoi can have left it: it has not changed since, no living yoi moves a claim, and the
    /// commit that it was to bring is a step of this very ticket. Returns whether it is gone.
    pub(super) fn take_away(self, common_dir: &Path, name: &str, id: &TicketId, refs: &dyn Refs) -> bool {
        let Some(alone) = file(common_dir).filter(alone) else { return false };
        let same = || Self::now(common_dir, name).as_ref() == Some(&self);
        let is_ours = same() && self.is_step_of(id, refs) && same();
        if is_ours {
            tracing::warn!(path = %self.path.display(), "git's lock was left by a yoi that was killed; it is taken away");
        }
        let gone = is_ours && fs::remove_file(&self.path).is_ok();
        let _ = alone.unlock();
        gone
    }

    fn is_step_of(&self, id: &TicketId, refs: &dyn Refs) -> bool {
        let short = self.path.metadata().is_ok_and(|found| found.len() <= MOST_BYTES);
        let text = if short { fs::read_to_string(&self.path).unwrap_or_default() } else { String::new() };
        let revision = text.trim();
        is_object_id(revision)
            && read_step(refs, &Revision(revision.to_owned())).is_ok_and(|tip| tip.step.ticket == *id)
    }
}

fn alone(file: &File) -> bool {
    let end = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return true,
            Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(PAUSE),
            Err(_) => return false,
        }
    }
}
