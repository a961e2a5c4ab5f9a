//! The files in which a workspace tells agents how to work (AGENTS.md, CLAUDE.md): read, and written whole or not at all.
//!
//! Must not know: what the block says, who wants it there.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, CWD, Gid, RenameFlags, Uid};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use super::{fault, files};
use crate::text::agents_block::{self, BrokenMarkers};
use crate::text::document::MAX_FILE;

/// Their names, in the workspace. The first one is made where none is there.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// Why a guide could not be written. Nothing of it was changed.
#[derive(Debug, thiserror::Error)]
pub enum GuideError {
    /// A link leads out of the workspace.
    #[error("{} leads out of the workspace through a symlink; yoi writes nothing there", .0.display())]
    Outside(PathBuf),
    /// It is a folder, say, or longer than anything that is read.
    #[error("{} is no file that yoi can put a block into: {why}", path.display())]
    Unfit {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// Its markers do not say where the block is.
    #[error("{}: {error}", path.display())]
    Broken {
        /// Which.
        path: PathBuf,
        /// Where in it.
        error: BrokenMarkers,
    },
    /// Somebody else wrote it meanwhile.
    #[error("{} was written by somebody else meanwhile; it was left as it is", .0.display())]
    Changed(PathBuf),
    /// The world outside failed.
    #[error("{}: {error}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// What becomes of one of them.
#[derive(Debug)]
pub struct Guide {
    /// Its name in the workspace.
    pub name: &'static str,
    /// The file itself: where a symlink leads.
    path: PathBuf,
    /// Its text; none where it is to be made.
    before: Option<Vec<u8>>,
    after: Vec<u8>,
}

/// What writing one came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It was not there.
    Made,
    /// The block is new in it, or says something else.
    Changed,
    /// The block was there as it is to be.
    Same,
}

/// Those that are there, else the first one, each with the block in it; nothing is written yet.
pub fn look(root: &Path) -> Result<Vec<Guide>, GuideError> {
    let mut guides: Vec<Guide> = Vec::new();
    for name in NAMES {
        let path = root.join(name);
        let Some(path) = real(root, &path)? else { continue };
        // The one is often a link to the other.
        if guides.iter().all(|other| other.path != path) {
            let before = read(&path)?;
            guides.push(guide(name, path, Some(before))?);
        }
    }
    if guides.is_empty() {
        guides.push(guide(NAMES[0], root.join(NAMES[0]), None)?);
    }
    Ok(guides)
}

fn guide(name: &'static str, path: PathBuf, before: Option<Vec<u8>>) -> Result<Guide, GuideError> {
    match agents_block::with_block(before.as_deref().unwrap_or_default()) {
        Ok(after) => Ok(Guide { name, path, before, after }),
        Err(error) => Err(GuideError::Broken { path, error }),
    }
}

/// Where the file lies, symlinks followed; none where there is nothing.
fn real(root: &Path, path: &Path) -> Result<Option<PathBuf>, GuideError> {
    let io = |error| GuideError::Io { path: path.to_owned(), error };
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        there => there.map_err(io)?,
    };
    let real = path.canonicalize().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            GuideError::Unfit { path: path.to_owned(), why: "it is a symlink, and nothing is where it leads".into() }
        }
        _ => io(error),
    })?;
    if !real.starts_with(root.canonicalize().map_err(io)?) {
        return Err(GuideError::Outside(path.to_owned()));
    }
    Ok(Some(real))
}

fn read(path: &Path) -> Result<Vec<u8>, GuideError> {
    let unfit = |why: String| GuideError::Unfit { path: path.to_owned(), why };
    if !path.is_file() {
        return Err(unfit("it is no regular file".into()));
    }
    let bytes = files::read(path).map_err(|error| GuideError::Io { path: path.to_owned(), error })?;
    if bytes.len() > MAX_FILE {
        return Err(unfit(format!("it is longer than {MAX_FILE} bytes")));
    }
    // Most likely UTF-16: a block of other bytes would be noise in it.
    if bytes.contains(&0) {
        return Err(unfit("it is no UTF-8 text".into()));
    }
    Ok(bytes)
}

impl Guide {
    /// Writes it, unless it is not any more what it was when it was looked at.
    pub fn write(&self) -> Result<Written, GuideError> {
        let Some(before) = &self.before else {
            return self.put(None).map(|()| Written::Made);
        };
        if *before == self.after {
            return Ok(Written::Same);
        }
        self.put(Some(before)).map(|()| Written::Changed)
    }

    /// A temporary file beside it, made durable, takes its name.
    fn put(&self, before: Option<&[u8]>) -> Result<(), GuideError> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        match before {
            None => {
                let temporary = beside(&self.path, &self.after, None)?;
                fault::delay("before-guide");
                temporary.persist_noclobber(&self.path).map(drop).map_err(|lost| match lost.error.kind() {
                    io::ErrorKind::AlreadyExists => GuideError::Changed(self.path.clone()),
                    _ => self.io(lost.error),
                })?;
            }
            Some(before) => {
                rustix::fs::access(&self.path, Access::WRITE_OK).map_err(|error| self.io(error.into()))?;
                self.exchange(before)?;
            }
        }
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| self.io(error))
    }

    /// The file and its new text are exchanged, and what came out is looked at: what somebody saved in the last moment is
    /// put back, and nothing of theirs is lost.
    fn exchange(&self, before: &[u8]) -> Result<(), GuideError> {
        let temporary = beside(&self.path, &self.after, Some(before))?;
        if read(&self.path)? != before {
            return Err(GuideError::Changed(self.path.clone()));
        }
        fault::delay("before-guide");
        match swap(temporary.path(), &self.path) {
            Ok(()) => {}
            // A file system without an exchange: the comparison has to do.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                return temporary.persist(&self.path).map(drop).map_err(|lost| self.io(lost.error));
            }
            Err(error) => return Err(self.io(error.into())),
        }
        if fs::read(temporary.path()).map_err(|error| self.io(error))? == before {
            return Ok(());
        }
        let theirs = temporary.into_temp_path().keep().map_err(|kept| self.io(kept.error))?;
        swap(&theirs, &self.path).map_err(|error| self.kept(&theirs, &io::Error::from(error).to_string()))?;
        // Ours comes out, unless somebody saved once more.
        if fs::read(&theirs).map_err(|error| self.io(error))? != self.after {
            return Err(self.kept(&theirs, "it was saved twice at the same moment"));
        }
        fs::remove_file(&theirs).map_err(|error| self.io(error))?;
        Err(GuideError::Changed(self.path.clone()))
    }

    fn io(&self, error: io::Error) -> GuideError {
        GuideError::Io { path: self.path.clone(), error }
    }

    fn kept(&self, theirs: &Path, why: &str) -> GuideError {
        let what = format!("{why}; what somebody else wrote meanwhile is kept in {}", theirs.display());
        self.io(io::Error::other(what))
    }
}

/// The text beside the file, on disk, with the mode and the owner of the one that is there.
fn beside(path: &Path, text: &[u8], before: Option<&[u8]>) -> Result<NamedTempFile, GuideError> {
    let write = || {
        let like = before.map(|_| fs::metadata(path)).transpose()?;
        let mode = like.as_ref().map_or(0o666, |like| like.mode() & 0o7777);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".guide.").permissions(Permissions::from_mode(mode));
        let mut temporary = builder.tempfile_in(path.parent().unwrap_or(Path::new("/")))?;
        temporary.write_all(text)?;
        let file = temporary.as_file();
        if let Some(like) = like {
            let own = file.metadata()?;
            if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
                let (uid, gid) = (Uid::from_raw(like.uid()), Gid::from_raw(like.gid()));
                rustix::fs::fchown(file, Some(uid), Some(gid))
                    .map_err(|error| io::Error::other(format!("its owner cannot be kept: {error}")))?;
            }
            // Whatever the user's umask is, the file keeps its mode.
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        file.sync_all()?;
        Ok(temporary)
    };
    write().map_err(|error| GuideError::Io { path: path.to_owned(), error })
}

fn swap(one: &Path, other: &Path) -> Result<(), Errno> {
    fault::refuses("exchange")?;
    rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A guide that somebody else writes between the look and the write stays as they wrote it.
    #[test]
    fn what_somebody_else_wrote_meanwhile_stays() {
        for before in [None, Some("mine\n")] {
            let folder = tempfile::TempDir::new().unwrap();
            let file = folder.path().join("AGENTS.md");
            if let Some(text) = before {
                fs::write(&file, text).unwrap();
            }
            let guides = look(folder.path()).unwrap();
            fs::write(&file, "theirs\n").unwrap();
            let refused = guides[0].write();
            assert!(matches!(refused, Err(GuideError::Changed(_))), "{before:?}: {refused:?}");
            assert_eq!(fs::read_to_string(&file).unwrap(), "theirs\n");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
        }
    }
}
