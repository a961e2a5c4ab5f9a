//! The way of file systems without an exchange (NFS, vfat and others): the file is compared, and another renamed over it.
//!
//! Before that it gets a second name, where there are hard links: what somebody writes into it in the last moment, or
//! later because he has it open, is not gone with its first name, and is dealt with like anything that came out of an
//! exchange. What remains: who puts a new file in its place just between the comparison and the rename (microseconds, in
//! which nothing else is done) loses it; and where there are no hard links (vfat), so does who writes into the file then.
//!
//! Must not know: what the texts are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use tempfile::NamedTempFile;

use super::super::super::fault;
use super::super::super::kept::{Look, is_same_file};
use super::{Place, Texts, prefix};
use crate::text::merge::{CameOut, Edit};

impl Place<'_> {
    pub(super) fn replace(
        &mut self,
        temporary: NamedTempFile,
        (base, expected, ours): Texts<'_>,
        edits: Vec<Edit>,
    ) -> io::Result<CameOut> {
        let second = self.second_name();
        // Noted before it is made: nobody knew of it otherwise after a crash.
        let name = self.begin(&second, (base, expected, ours), edits)?;
        let put = self.replace_if(temporary, &second, expected);
        if !matches!(put, Ok(true)) {
            let _ = fs::remove_file(&second);
            self.void(&name);
        }
        if !put? {
            return Ok(CameOut::NotPut(self.other_than(expected)?.unwrap_or_else(|| expected.to_vec())));
        }
        fault::delay("after-exchange");
        if second.exists() {
            return self.came_out(name, &second, expected);
        }
        self.journal.came_out(&name, Look::of(expected));
        fs::File::open(self.folder)?.sync_all()?;
        self.follows = None;
        Ok(CameOut::Expected)
    }

    /// Returns whether it was replaced: not if anything else but the expected text was there.
    fn replace_if(&self, temporary: NamedTempFile, second: &Path, expected: &[u8]) -> io::Result<bool> {
        let linked = link(self.path, second)?;
        fault::point("replace", "linked");
        if self.other_than(expected)?.is_some() || (linked && !is_same_file(self.path, second)) {
            return Ok(false);
        }
        fault::delay("before-rename");
        temporary.persist(self.path).map_err(|error| error.error)?;
        fault::point("replace", "renamed");
        Ok(true)
    }

    fn second_name(&self) -> PathBuf {
        let unique = ulid::Ulid::generate().to_string().to_lowercase();
        let mut name = prefix(self.path);
        name.push(&unique[unique.len() - 6..]);
        name.push(".tmp");
        self.folder.join(name)
    }
}

/// Whether there are hard links.
fn link(path: &Path, second: &Path) -> io::Result<bool> {
    let linked = fault::refuses("link").map_err(io::Error::from).and_then(|()| fs::hard_link(path, second));
    let errno = linked.as_ref().err().and_then(Errno::from_io_error);
    match errno {
        Some(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK) => Ok(false),
        _ => linked.map(|()| true),
    }
}
