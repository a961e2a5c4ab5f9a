//! Where displaced texts lie, and where they go.
//!
//! Must not know: what becomes of them, and why.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::files::{self, Text};
use super::{BESIDE, CONFLICT, Entry, Journal, TEXT};

impl Journal {
    /// Moves what lies beside the ticket into the folder; on another file system it stays, hidden.
    pub(in super::super) fn put_away(&mut self) {
        let Some(place) = self.place.clone() else { return };
        for entry in &self.entries {
            let name = &entry.made.name;
            if entry.out.is_none() || !self.lies_beside(entry) {
                continue;
            }
            if fs::rename(&entry.beside, place.text(name, TEXT)).is_err() {
                mark(&place.text(name, BESIDE));
            }
        }
    }

    /// Where the text that an exchange displaced lies; None where it is gone, or back in the ticket.
    pub(super) fn locate(&self, entry: &Entry) -> Option<PathBuf> {
        let kept = self.place.as_ref().map(|place| place.text(&entry.made.name, TEXT)).filter(|path| path.exists());
        kept.or_else(|| self.lies_beside(entry).then(|| entry.beside.clone()))
    }

    /// A later exchange with the same hidden file has taken out of it what lay there.
    fn lies_beside(&self, entry: &Entry) -> bool {
        let later = self.entries.iter().rfind(|other| other.beside == entry.beside);
        later.is_some_and(|later| later.made.name == entry.made.name) && entry.beside.exists()
    }

    /// Where somebody else's newest texts are kept, for a message.
    pub(in super::super) fn kept_paths(&self) -> Vec<String> {
        let theirs = self.entries.iter().filter(|e| e.out.is_some_and(|out| out.digest != e.made.known()));
        theirs.filter_map(|entry| self.locate(entry)).map(|path| path.display().to_string()).collect()
    }

    /// Moves a text to where it is kept for good, for the exchange of this name; on another file system, or where nothing
    /// outlives this process, it stays, and has the hidden name. Returns where.
    pub(super) fn keep_for_good(&self, path: &Path, name: &str, hidden: PathBuf) -> io::Result<PathBuf> {
        let wanted = self.place.as_ref().map_or_else(|| hidden.clone(), |place| place.text(name, CONFLICT));
        match fs::rename(path, &wanted) {
            Ok(()) => Ok(wanted),
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                fs::rename(path, &hidden)?;
                Ok(hidden)
            }
            Err(error) => Err(error),
        }
    }

    /// Lets go of a text that nothing is to be done about any more.
    pub(super) fn forget(&self, entry: &Entry) {
        if let Some(path) = self.locate(entry) {
            let _ = fs::remove_file(path);
        }
        if let Some(place) = &self.place {
            let _ = fs::remove_file(place.text(&entry.made.name, BESIDE));
        }
    }
}

/// Makes the mark that a text lies beside its ticket.
fn mark(path: &Path) {
    let _ = files::open_own(path, Text::Replaced);
}
