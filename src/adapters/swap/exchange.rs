//! Puts a text in the place of a file and looks at what was there: `renameat2(RENAME_EXCHANGE)`, or compare and rename
//! where the file system has no exchange.
//!
//! Must not know: what the texts are.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, CWD, Gid, Mode, RenameFlags, Uid};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use super::super::files;
use super::super::kept::{Journal, Look};
use crate::domain::ticket::Digest;
use crate::text::lineage::Made;
use crate::text::merge::{CameOut, Edit};

/// A file name may have this many bytes.
const MAX_NAME: usize = 255;

/// One file that is being edited.
pub(super) struct Place<'p> {
    path: &'p Path,
    folder: &'p Path,
    own: bool,
    journal: &'p mut Journal,
    /// The exchange on whose outcome the next one is made.
    follows: Option<String>,
    /// The one before it.
    former: Option<String>,
    /// The first exchange of this edit.
    first: Option<String>,
    /// Where what came out last lies, if it is to be put back.
    last: Option<PathBuf>,
    /// What comes out next is to be kept for good.
    doubtful: bool,
}

impl<'p> Place<'p> {
    pub(super) fn new(path: &'p Path, folder: &'p Path, own: bool, journal: &'p mut Journal) -> Self {
        Self { path, folder, own, journal, follows: None, first: None, former: None, last: None, doubtful: false }
    }

    /// What is put is made of what was written into the displaced text of this exchange.
    pub(super) fn following(self, name: &str) -> Self {
        Self { follows: Some(name.to_owned()), ..self }
    }

    /// Puts a text, made of `base` by these edits, in place and says what was there. After an error nothing that came
    /// out is deleted.
    pub(super) fn put(
        &mut self,
        (base, expected, ours): (&[u8], &[u8], &[u8]),
        edits: Vec<Edit>,
    ) -> io::Result<CameOut> {
        rustix::fs::access(self.path, Access::WRITE_OK)?;
        let temporary = self.write(ours, &fs::metadata(self.path)?)?;
        let name = self.begin(temporary.path(), (base, expected, ours), edits)?;
        match self.swap(temporary.path()) {
            Ok(()) => {
                let path = temporary.into_temp_path().keep().map_err(|kept| kept.error)?;
                self.came_out(name, path, expected).map_err(|error| self.kept_in(&error))
            }
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                let renamed = self.rename(temporary, expected);
                match &renamed {
                    Ok(CameOut::Expected) => self.journal.came_out(&name, Look::of(expected)),
                    _ => self.journal.void(&name),
                }
                renamed
            }
            Err(errno) => {
                self.journal.void(&name);
                Err(errno.into())
            }
        }
    }

    /// Puts what came out last, and reads `newest`, back itself, and says what was there.
    pub(super) fn put_back(&mut self, newest: &[u8], expected: &[u8]) -> io::Result<CameOut> {
        let Some(last) = self.last.clone() else { return Err(io::Error::other("nothing came out of the file")) };
        let name = self.begin(&last, (newest, expected, newest), Vec::new())?;
        if let Err(errno) = self.swap(&last) {
            self.journal.void(&name);
            return Err(self.kept_in(&errno.into()));
        }
        self.came_out(name, last, expected).map_err(|error| self.kept_in(&error))
    }

    fn begin(
        &mut self,
        beside: &Path,
        (base, expected, placed): (&[u8], &[u8], &[u8]),
        edits: Vec<Edit>,
    ) -> io::Result<String> {
        let made = Made {
            name: ulid::Ulid::generate().to_string().to_lowercase(),
            at: chrono::Utc::now(),
            follows: self.follows.clone(),
            base: Digest::of(base),
            expected: Digest::of(expected),
            placed: Digest::of(placed),
            edits,
            own: self.own,
            dealt_with: None,
            settled: false,
            told: false,
        };
        let name = made.name.clone();
        self.journal.begin(made, beside)?;
        self.first.get_or_insert_with(|| name.clone());
        Ok(name)
    }

    fn swap(&self, other: &Path) -> Result<(), Errno> {
        rustix::fs::renameat_with(CWD, other, CWD, self.path, RenameFlags::EXCHANGE)
    }

    fn came_out(&mut self, name: String, path: PathBuf, expected: &[u8]) -> io::Result<CameOut> {
        let (theirs, look) = Look::at(&path)?;
        self.journal.came_out(&name, look);
        self.last = Some(path);
        if theirs == expected {
            File::open(self.folder)?.sync_all()?;
            self.follows = None;
            if self.doubtful {
                self.journal.doubt(&name);
            }
            return Ok(CameOut::Expected);
        }
        self.former = self.follows.replace(name);
        Ok(CameOut::Other(theirs))
    }

    /// What came out has perhaps taken back what was acknowledged before this edit.
    pub(super) fn meet(&mut self, theirs: &[u8]) {
        self.journal.meet(theirs, self.first.as_deref());
    }

    /// The keys that yoi has edited lately.
    pub(super) fn edited_keys(&self) -> BTreeSet<String> {
        self.journal.edited_keys()
    }

    /// Somebody has saved over what came out before the last, and perhaps without having seen it.
    pub(super) fn doubt_former(&mut self) {
        self.doubtful |= self.former.as_ref().is_some_and(|former| !self.journal.doubt(former));
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

    /// Moves what was displaced to where it is kept.
    pub(super) fn put_away(&mut self) {
        self.journal.put_away();
    }

    fn kept_in(&mut self, error: &io::Error) -> io::Error {
        self.put_away();
        let kept = self.journal.kept_paths();
        let named = if kept.is_empty() {
            error.to_string()
        } else {
            format!("{error}; somebody's newest text is kept in {}", kept.join(", "))
        };
        io::Error::new(error.kind(), named)
    }
}

/// `.<name>.yoi-`, cut where the whole would be too long for a file name.
fn prefix(path: &Path) -> OsString {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let room = MAX_NAME - ".".len() - ".yoi-XXXXXX.conflict".len();
    let mut prefix = vec![b'.'];
    prefix.extend_from_slice(&name[..name.len().min(room)]);
    prefix.extend_from_slice(b".yoi-");
    OsString::from_vec(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the file system has no exchange.
    #[test]
    fn without_an_exchange_only_the_expected_text_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.md");
        fs::write(&file, "theirs").unwrap();
        let mut journal = Journal::passing(&file);
        let mut place = Place::new(&file, folder.path(), false, &mut journal);
        let mut rename = |expected: &[u8]| {
            let temporary = place.write(b"ours", &fs::metadata(&file).unwrap()).unwrap();
            (place.rename(temporary, expected).unwrap(), fs::read(&file).unwrap())
        };
        assert_eq!(rename(b"read before"), (CameOut::NotPut(b"theirs".into()), b"theirs".into()));
        assert_eq!(rename(b"theirs"), (CameOut::Expected, b"ours".into()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
