//! What `yoi doctor` finds wrong with the workspace's own files, and `--fix` mends: each with what it would do, so that
//! looking and mending cannot differ. Nothing is deleted: what is in the way is moved aside.
//!
//! Must not know: tickets (their repairs go through the host, like every other write of a ticket).

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::App;
use crate::adapters::{git_program, workspace};
use crate::api::view::FindingView;
use crate::ports::StoreError;

/// From so many claims on in files of their own it is worth a word.
const MANY_LOOSE: usize = 1_000;
const CLAIMS: &str = "refs/yoi/claims";

/// Something of yoi's own that is not as it should be.
pub(super) struct Repair {
    /// As `doctor` shows it without `--fix`.
    pub(super) finding: FindingView,
    /// Mends it; says what was done. None: that is somebody else's to do.
    pub(super) mend: Option<Box<dyn Fn() -> io::Result<String>>>,
}

impl App {
    /// Everything of which something can be said, found by looking only.
    pub(super) fn repairs(&self) -> Vec<Repair> {
        [self.open_state(), self.ignored(), self.store_trouble(), self.loose_claims()].into_iter().flatten().collect()
    }

    /// The state folder holds what only this user may read.
    fn open_state(&self) -> Option<Repair> {
        let folder = self.workspace.state_dir.clone();
        let mode = fs::symlink_metadata(&folder).ok().filter(fs::Metadata::is_dir)?.permissions().mode();
        let message = format!("others may look into it (mode {:04o})", mode & 0o7777);
        (mode & 0o077 != 0).then(|| {
            repair("error", &folder.clone(), message, move || {
                fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
                Ok(format!("{}: only you may look into it now", folder.display()))
            })
        })
    }

    /// State and worktrees inside `.yoi/` must not come to be tracked.
    fn ignored(&self) -> Option<Repair> {
        self.workspace.git_common_dir.as_ref()?;
        let own = self.workspace.root.join(".yoi");
        let file = own.join(".gitignore");
        let missing = workspace::not_ignored(&file).ok().filter(|missing| !missing.is_empty())?;
        let message = format!("does not name {}, which must not be tracked", missing.join(" and "));
        Some(repair("remark", &file.clone(), message, move || {
            workspace::ignore(&file).map_err(|error| io::Error::other(error.to_string()))?;
            Ok(format!("{}: names {} now", file.display(), missing.join(" and ")))
        }))
    }

    /// A damaged store is kept beside the new one: it may still be of use to somebody who knows SQLite. One that is newer,
    /// held or not to be read is whole, and stays.
    fn store_trouble(&self) -> Option<Repair> {
        let path = self.state.store();
        let error = self.store().check().err()?;
        let said = error.to_string();
        // The path is what the finding is about.
        let message = said.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&said).to_owned();
        if !matches!(error, StoreError::Damaged { .. }) {
            return Some(Repair { finding: FindingView::new("error", path.display(), message), mend: None });
        }
        let stamp = self.now().format("%Y%m%dT%H%M%SZ").to_string();
        Some(repair("error", &path.clone(), message, move || {
            let aside = set_aside(&path, &stamp)?;
            Ok(format!("the store was moved to {}; a new one begins (no ticket is lost)", aside.display()))
        }))
    }

    /// A file for each claim that there ever was is a file to be read for each.
    fn loose_claims(&self) -> Option<Repair> {
        let git = self.workspace.git_common_dir.clone()?;
        let folder = git.join(CLAIMS);
        let files = WalkDir::new(&folder).into_iter().flatten().filter(|entry| entry.file_type().is_file()).count();
        let message = format!("{files} claims lie in a file each: a look at all of them takes longer than it has to");
        (files > MANY_LOOSE).then(|| {
            repair("remark", &folder, message, move || {
                git_program::run(&git, &["pack-refs", "--include", &format!("{CLAIMS}/*")])
                    .or_else(|_| git_program::run(&git, &["pack-refs", "--all"]))
                    .map_err(|error| io::Error::other(error.to_string()))?;
                Ok(format!("{files} claims were packed into one file (git pack-refs)"))
            })
        })
    }
}

/// With the files that belong to it.
fn set_aside(path: &Path, stamp: &str) -> io::Result<PathBuf> {
    let named = |path: &Path, end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let aside = named(path, &format!(".damaged-{stamp}"));
    for end in ["-wal", "-shm", ""] {
        match fs::rename(named(path, end), named(&aside, end)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(aside)
}

fn repair(severity: &str, subject: &Path, message: String, mend: impl Fn() -> io::Result<String> + 'static) -> Repair {
    Repair { finding: FindingView::new(severity, subject.display(), message), mend: Some(Box::new(mend)) }
}
