//! Puts a text in the place of a file and looks at what was there: `renameat2(RENAME_EXCHANGE)`; where the file system has
//! none, `replace` has another way.
//!
//! Must not know: what the texts are.

mod replace;

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Access, CWD, Gid, Mode, RenameFlags, Uid};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use super::super::kept::{Journal, Look, returned, settled};
use super::super::{fault, files};
use crate::domain::ticket::Digest;
use crate::text::lineage::{Made, SavedOver};
use crate::text::merge::{CameOut, Edit};

/// A file name may have this many bytes.
const MAX_NAME: usize = 255;

/// What a text is made of, what is to come out, and the text itself.
pub(super) type Texts<'t> = (&'t [u8], &'t [u8], &'t [u8]);

/// One file that is being edited.
pub(super) struct Place<'p> {
    path: &'p Path,
    folder: &'p Path,
    own: bool,
    journal: &'p mut Journal,
    /// The exchange on whose outcome the next one is made.
    follows: Option<String>,
    /// The first exchange of this edit.
    first: Option<String>,
    /// The last exchange with an edit, if something else came out of it.
    unsettled: Option<String>,
}

impl<'p> Place<'p> {
    pub(super) fn new(path: &'p Path, folder: &'p Path, own: bool, journal: &'p mut Journal) -> Self {
        Self { path, folder, own, journal, follows: None, first: None, unsettled: None }
    }

    /// What is put is made of what was written into the displaced text of this exchange.
    pub(super) fn following(self, name: &str) -> Self {
        Self { follows: Some(name.to_owned()), ..self }
    }

    /// Puts a text, made of `base` by these edits, in place and says what was there. After an error nothing that came
    /// out is deleted.
    pub(super) fn put(&mut self, texts: Texts<'_>, edits: Vec<Edit>) -> io::Result<CameOut> {
        let edits_something = !edits.is_empty();
        let put = self.put_there(texts, edits);
        if edits_something && matches!(put, Ok(CameOut::Expected | CameOut::Other(_))) {
            self.unsettled = self.follows.clone();
        }
        match put {
            // Who keeps a backup moves the file away and writes a new one: for a moment there is none.
            Err(gone) if gone.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => {
                returned(self.path)?.map(CameOut::NotPut).ok_or(gone)
            }
            put => put,
        }
    }

    fn put_there(&mut self, (base, expected, ours): Texts<'_>, edits: Vec<Edit>) -> io::Result<CameOut> {
        rustix::fs::access(self.path, Access::WRITE_OK)?;
        let temporary = self.write(ours, &fs::metadata(self.path)?)?;
        let name = self.begin(temporary.path(), (base, expected, ours), edits.clone())?;
        fault::delay("after-journal");
        // Writing ours to disk took its time. Who has saved since is not displaced at all, but for the moment that is left.
        if let Some(other) = self.other_than(expected).transpose() {
            self.void(&name);
            return other.map(CameOut::NotPut);
        }
        fault::delay("before-exchange");
        match self.swap(temporary.path()) {
            Ok(()) => {
                fault::delay("after-exchange");
                let path = temporary.into_temp_path().keep().map_err(|kept| kept.error)?;
                self.came_out(name, &path, expected)
            }
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                self.void(&name);
                self.replace(temporary, (base, expected, ours), edits)
            }
            Err(errno) => {
                self.void(&name);
                Err(errno.into())
            }
        }
    }

    /// What is in the file, if it is another text than this one; once whoever wrote it has come to the end.
    fn other_than(&self, expected: &[u8]) -> io::Result<Option<Vec<u8>>> {
        if files::read_whole(self.path)? == expected {
            return Ok(None);
        }
        let theirs = settled(self.path, files::read_whole, |text| text == expected)?;
        Ok((theirs != expected).then_some(theirs))
    }

    fn void(&mut self, name: &str) {
        self.journal.void(name);
        self.first.take_if(|first| first == name);
    }

    fn begin(&mut self, beside: &Path, (base, expected, placed): Texts<'_>, edits: Vec<Edit>) -> io::Result<String> {
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
            acknowledged: false,
            told: false,
        };
        let name = made.name.clone();
        self.journal.begin(made, beside)?;
        self.first.get_or_insert_with(|| name.clone());
        Ok(name)
    }

    fn swap(&self, other: &Path) -> Result<(), Errno> {
        fault::refuses("exchange")?;
        rustix::fs::renameat_with(CWD, other, CWD, self.path, RenameFlags::EXCHANGE)
    }

    fn came_out(&mut self, name: String, path: &Path, expected: &[u8]) -> io::Result<CameOut> {
        let (mut theirs, mut look) = Look::at(path)?;
        if theirs != expected {
            settled(path, files::read_whole, |text| text == expected)?;
            (theirs, look) = Look::at(path)?;
        }
        self.journal.came_out(&name, look);
        if theirs == expected {
            File::open(self.folder)?.sync_all()?;
            self.follows = None;
            return Ok(CameOut::Expected);
        }
        self.follows = Some(name);
        Ok(CameOut::Other(theirs))
    }

    /// The edit is said to be done, and this text is in the file: also where the last exchange of it was none that settled
    /// it, because somebody had saved meanwhile what held it already.
    pub(super) fn acknowledge(&mut self, text: &[u8]) {
        if let Some(name) = self.unsettled.take() {
            self.journal.acknowledge(&name, text);
        }
    }

    /// What came out of the exchange called `name` was written into since, and has perhaps taken something back.
    pub(super) fn meet_later(&mut self, theirs: &[u8], name: &str) -> Option<SavedOver> {
        self.journal.meet(theirs, Some(name))
    }

    /// It did not come into the file.
    pub(super) fn withdraw(&mut self, taken: Option<&SavedOver>) {
        if let Some(taken) = taken {
            self.journal.withdraw(taken);
        }
    }

    /// Whether a text of this edit stands in the file, or has stood there.
    pub(super) fn has_put(&self) -> bool {
        self.first.is_some()
    }

    /// What came out has perhaps taken back what was acknowledged before this edit.
    pub(super) fn meet(&mut self, theirs: &[u8]) {
        self.journal.meet(theirs, self.first.as_deref());
    }

    /// The text beside the file, on disk, with the file's mode and owner.
    fn write(&self, text: &[u8], like: &Metadata) -> io::Result<NamedTempFile> {
        fault::refuses("write")?;
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

    /// Where what somebody else wrote is kept.
    pub(super) fn kept_paths(&self) -> Vec<String> {
        self.journal.kept_paths()
    }

    /// Moves what was displaced to where it is kept.
    pub(super) fn put_away(&mut self) {
        self.journal.put_away();
    }

    /// An error that came when a text of this edit stood in the file already.
    pub(super) fn midway(&self, error: io::Error) -> io::Error {
        if self.first.is_none() {
            return error;
        }
        let kept = self.journal.kept_paths();
        let what = if kept.is_empty() {
            "this edit is in the file all the same".to_owned()
        } else {
            let kept = kept.join(", ");
            format!(
                "somebody saved the file at the same moment, and this edit may be in it already; what they saved is kept in \
                 {kept}, and yoi brings both together as soon as it can"
            )
        };
        // Of another kind: of these it is said that nothing was changed.
        io::Error::other(format!("{error}; {what}"))
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
