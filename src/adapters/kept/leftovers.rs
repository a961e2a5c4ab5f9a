//! Texts beside a ticket that no line of its journal tells of.
//!
//! Must not know: why they are there.

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
        if let Some(place) = &self.place {
            files::own_folder(&place.folder)?;
        }
        let name = ulid::Ulid::generate().to_string().to_lowercase();
        self.keep_for_good(path, &name, path.with_extension(CONFLICT))
    }
}
