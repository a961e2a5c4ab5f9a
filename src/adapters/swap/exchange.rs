//! Puts a text in the place of a file and looks at what was there: `renameat2(RENAME_EXCHANGE)`, or compare and rename
//! where the file system has no exchange.
//!
//! Must not know: what the texts are.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Access, CWD, Gid, Mode, RenameFlags, Uid};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use super::super::files;
use crate::text::merge::CameOut;

/// A file name may have this many bytes.
const MAX_NAME: usize = 255;

/// One file that is being edited, with the texts that came out of it and are not yet known to be safe.
pub(super) struct Place<'p> {
    path: &'p Path,
    folder: &'p Path,
    displaced: Vec<NamedTempFile>,
}

impl<'p> Place<'p> {
    pub(super) fn new(path: &'p Path, folder: &'p Path) -> Self {
        Self { path, folder, displaced: Vec::new() }
    }

    /// Puts `ours` in place and says what was there. After an error nothing that came out is deleted.
    pub(super) fn put(&mut self, expected: &[u8], ours: &[u8]) -> io::Result<CameOut> {
        self.try_put(expected, ours).map_err(|error| self.kept_in(error))
    }

    fn try_put(&mut self, expected: &[u8], ours: &[u8]) -> io::Result<CameOut> {
        rustix::fs::access(self.path, Access::WRITE_OK)?;
        let temporary = self.write(ours, &fs::metadata(self.path)?)?;
        match self.swap(temporary.path()) {
            Ok(()) => self.came_out(temporary, expected),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => self.rename(temporary, expected),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts what came out last back itself, and says what was there.
    pub(super) fn put_back(&mut self, expected: &[u8]) -> io::Result<CameOut> {
        self.try_put_back(expected).map_err(|error| self.kept_in(error))
    }

    fn try_put_back(&mut self, expected: &[u8]) -> io::Result<CameOut> {
        let Some(last) = self.displaced.pop() else { return Err(io::Error::other("nothing came out of the file")) };
        if let Err(error) = self.swap(last.path()) {
            self.displaced.push(last);
            return Err(error.into());
        }
        self.came_out(last, expected)
    }

    fn swap(&self, other: &Path) -> Result<(), Errno> {
        rustix::fs::renameat_with(CWD, other, CWD, self.path, RenameFlags::EXCHANGE)
    }

    fn came_out(&mut self, other: NamedTempFile, expected: &[u8]) -> io::Result<CameOut> {
        let path = other.path().to_owned();
        self.displaced.push(other);
        let theirs = files::read_whole(&path)?;
        File::open(self.folder)?.sync_all()?;
        // What earlier rounds displaced is part of what is on disk now; what this one displaced only if it was expected.
        let kept = usize::from(theirs != expected);
        self.displaced.drain(..self.displaced.len() - kept);
        Ok(if kept == 0 { CameOut::Expected } else { CameOut::Other(theirs) })
    }

    /// Without an exchange: the file is read once more and replaced if it is still the expected one.
    fn rename(&mut self, temporary: NamedTempFile, expected: &[u8]) -> io::Result<CameOut> {
        let theirs = files::read_whole(self.path)?;
        if theirs != expected {
            return Ok(CameOut::NotPut(theirs));
        }
        temporary.persist(self.path).map_err(|error| error.error)?;
        File::open(self.folder)?.sync_all()?;
        Ok(CameOut::Expected)
    }

    /// The text beside the file, on disk, with the file's mode and owner.
    fn write(&self, text: &[u8], like: &Metadata) -> io::Result<NamedTempFile> {
        let mut temporary = tempfile::Builder::new()
            .prefix(&prefix(self.path))
            .suffix(".tmp")
            .rand_bytes(6)
            .tempfile_in(self.folder)?;
        temporary.write_all(text)?;
        let file = temporary.as_file();
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
            let (uid, gid) = (Uid::from_raw(like.uid()), Gid::from_raw(like.gid()));
            rustix::fs::fchown(file, Some(uid), Some(gid))
                .map_err(|e| io::Error::new(io::Error::from(e).kind(), format!("its owner cannot be kept: {e}")))?;
        }
        rustix::fs::fchmod(file, Mode::from_raw_mode(like.mode() & 0o7777))?;
        file.sync_all()?;
        Ok(temporary)
    }

    /// Leaves the displaced texts where they are, and names them.
    pub(super) fn keep(&mut self) -> Vec<String> {
        let kept = self.displaced.drain(..).filter_map(|file| file.into_temp_path().keep().ok());
        kept.map(|path| path.display().to_string()).collect()
    }

    fn kept_in(&mut self, error: io::Error) -> io::Error {
        let kept = self.keep();
        if kept.is_empty() {
            return error;
        }
        io::Error::new(error.kind(), format!("{error}; somebody's newest text is kept in {}", kept.join(", ")))
    }
}

/// `.<name>.yoi-`, cut where the whole would be too long for a file name.
fn prefix(path: &Path) -> OsString {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let room = MAX_NAME - ".".len() - ".yoi-XXXXXX.tmp".len();
    let mut prefix = vec![b'.'];
    prefix.extend_from_slice(&name[..name.len().min(room)]);
    prefix.extend_from_slice(b".yoi-");
    OsString::from_vec(prefix)
}
