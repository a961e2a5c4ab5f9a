//! Taking a worktree away, step by step, each of which may be done once more.
//!
//! Must not know: whether it may go (that is decided before).

use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::GitWorktrees;
use super::paths::words;
use super::trouble::{failed, io_at};
use crate::domain::worktree::{BranchAt, SALVAGE};
use crate::ports::worktrees::WorktreesError;

impl GitWorktrees {
    /// Git's entry for a folder that is not where it was any more.
    pub(super) fn remove_entry(&self, path: &Path) -> Result<(), WorktreesError> {
        if path.symlink_metadata().is_ok() {
            return Err(failed(format!("{}: something came there just now; it is left alone", path.display())));
        }
        if self.admin(path).is_none() {
            return Ok(());
        }
        self.change(&words(&["worktree", "remove", "--force", "--force"], path))
    }

    /// Unless it has moved since, or is checked out somewhere.
    pub(super) fn remove_branch(&self, branch: &BranchAt) -> Result<(), WorktreesError> {
        if self.commit_of(&branch.name)?.is_none_or(|now| now != branch.at) {
            return Ok(());
        }
        if self.checked_out(&branch.name)?.is_some() {
            return Ok(());
        }
        self.change(&["update-ref", "-d", &branch.name, &branch.at])?;
        // Whoever pushed it has given it an upstream.
        let section = format!("branch.{}", branch.name.trim_start_matches("refs/heads/"));
        let settings = self.ask(&["config", "--local", "--name-only", "-z", "--list"])?;
        let begins = format!("{section}.");
        if settings.split(|byte| *byte == 0).any(|name| name.starts_with(begins.as_bytes())) {
            self.change(&["config", "--local", "--remove-section", &section])?;
        }
        Ok(())
    }

    /// Of a worktree that is whole.
    pub(super) fn remove_salvage(&self, reference: &str) -> Result<(), WorktreesError> {
        let own = reference.starts_with(SALVAGE);
        match self.commit_of(reference)? {
            Some(at) if own => self.change(&["update-ref", "-d", reference, &at]),
            _ => Ok(()),
        }
    }
}

/// Renames a folder where nothing has the other name: at one stroke, so that it is there whole or here whole.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), WorktreesError> {
    let renamed = renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).map_err(io::Error::from);
    let renamed = match renamed {
        // A file system that does not know the flag.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput && to.symlink_metadata().is_err() => {
            fs::rename(from, to)
        }
        renamed => renamed,
    };
    renamed.map_err(|error| failed(format!("{} could not be renamed to {}: {error}", from.display(), to.display())))
}

/// Removes a folder with all that is in it; symlinks are not followed. Folders that nobody may write in are made writable.
pub(super) fn remove_folder(path: &Path) -> Result<(), WorktreesError> {
    let remove = || match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    };
    match remove() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_writable(path);
            remove().map_err(io_at(path))
        }
        removed => removed.map_err(io_at(path)),
    }
}

fn make_writable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    for entry in walkdir::WalkDir::new(path).into_iter().flatten().filter(|entry| entry.file_type().is_dir()) {
        let _ = fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o700));
    }
}
