//! Making a new workspace's files.
//!
//! Must not know: who chose what is in them.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::super::{fault, files};
use crate::config;

/// What must not be tracked of `.yoi/`: state without git, and worktrees.
const IGNORED: [&str; 2] = ["/run/", "/worktrees/"];

/// Why a workspace could not be made. What was made before stays; nothing that was there is changed.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// There is a configuration.
    #[error("{} is there already, and is never overwritten", .0.display())]
    ConfigExists(PathBuf),
    /// A link leads out of the workspace.
    #[error("{} leads out of the workspace through a symlink; yoi writes nothing there", .0.display())]
    Outside(PathBuf),
    /// The ticket folder's name is taken.
    #[error("{} is there and is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The world outside failed.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// Makes `.yoi/` with this configuration, and the ticket folder. The configuration comes last, so that a workspace that
/// has one is complete.
pub fn create(root: &Path, tickets: &Path, config: &str) -> Result<(), CreateError> {
    let file = root.join(config::FILE);
    let own = root.join(".yoi");
    if file.symlink_metadata().is_ok() {
        return Err(CreateError::ConfigExists(file));
    }
    make_folder(root, &own)?;
    make_folder(root, &root.join(tickets))?;
    ignore(&own.join(".gitignore"))?;
    write_new(&own, &file, config)
}

fn make_folder(root: &Path, folder: &Path) -> Result<(), CreateError> {
    let io = |error| CreateError::Io { path: folder.to_owned(), error };
    let there = folder.ancestors().find(|part| part.symlink_metadata().is_ok()).unwrap_or(root);
    if !there.canonicalize().map_err(io)?.starts_with(root) {
        return Err(CreateError::Outside(folder.to_owned()));
    }
    if !there.is_dir() {
        return Err(CreateError::NotAFolder(there.to_owned()));
    }
    fs::create_dir_all(folder).map_err(io)
}

/// What is missing in `.yoi/.gitignore`.
pub fn not_ignored(file: &Path) -> io::Result<Vec<&'static str>> {
    let there = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    Ok(IGNORED.into_iter().filter(|line| there.lines().all(|other| other.trim() != *line)).collect())
}

/// Adds it.
pub fn ignore(file: &Path) -> Result<(), CreateError> {
    let io = |error| CreateError::Io { path: file.to_owned(), error };
    if file.is_symlink() {
        return Err(CreateError::Outside(file.to_owned()));
    }
    let mut open = fs::File::options().read(true).append(true).create(true).open(file).map_err(io)?;
    let there = io::read_to_string(&open).map_err(io)?;
    let size = there.len() as u64;
    let mut lines = vec![if there.is_empty() { "# What must not be tracked: state and worktrees." } else { "" }];
    lines.extend(not_ignored(file).map_err(io)?);
    if lines.len() == 1 {
        return Ok(());
    }
    files::extend(&mut open, size, format!("{}\n", lines.join("\n")).as_bytes()).map_err(io)
}

/// Writes a file whole or not at all, and never over another one.
fn write_new(folder: &Path, file: &Path, text: &str) -> Result<(), CreateError> {
    let io = |error| CreateError::Io { path: file.to_owned(), error };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".config.").permissions(Permissions::from_mode(0o666));
    let mut temporary = builder.tempfile_in(folder).map_err(io)?;
    temporary.write_all(text.as_bytes()).map_err(io)?;
    temporary.as_file().sync_all().map_err(io)?;
    fault::delay("before-new");
    match temporary.persist_noclobber(file) {
        Ok(_) => Ok(()),
        Err(lost) if lost.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(CreateError::ConfigExists(file.to_owned()))
        }
        Err(lost) => Err(io(lost.error)),
    }
}
