//! Texts beside a ticket that no line of its journal tells of.
//!
//! Must not know: why they are there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::files;
use super::{CONFLICT, Journal};

impl Journal {
    /// Whether a line tells of this hidden file.
    pub fn has_beside(&self, path: &Path) -> bool {
        self.entries.iter().any(|entry| entry.beside == path)
    }

    /// Keeps a text that no line tells of, for good. Returns where.
    pub fn keep_leftover(&self, path: &Path) -> io::Result<PathBuf> {
        let hidden = || path.with_extension(CONFLICT);
        let name = ulid::Ulid::generate().to_string().to_lowercase();
        let wanted = match &self.place {
            Some(place) => {
                files::own_folder(&place.folder)?;
                place.text(&name, CONFLICT)
            }
            None => hidden(),
        };
        match fs::rename(path, &wanted) {
            Ok(()) => Ok(wanted),
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                fs::rename(path, hidden())?;
                Ok(hidden())
            }
            Err(error) => Err(error),
        }
    }
}
