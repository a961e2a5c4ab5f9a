//! Reading whole files, bounded, and only regular ones: a pipe or device in the ticket folder must not hang anybody.
//!
//! Must not know: tickets.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// Files are read up to this many bytes and one more, so that the reader sees that there is more.
const LIMIT: usize = crate::text::document::MAX_FILE + 1;

/// The bytes of a regular file, symlinks followed, at most one more than [`crate::text::document::MAX_FILE`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_with_metadata(path).map(|(bytes, _)| bytes)
}

/// The same, with the metadata of the file that was read.
pub(super) fn read_with_metadata(path: &Path) -> io::Result<(Vec<u8>, Metadata)> {
    let (file, metadata) = open(path)?;
    let size = usize::try_from(metadata.len()).unwrap_or(LIMIT).min(LIMIT);
    let mut bytes = Vec::with_capacity(size + 1);
    file.take(LIMIT as u64).read_to_end(&mut bytes)?;
    Ok((bytes, metadata))
}

/// All bytes, however many: for a text that will be put back, and must not come back shorter.
pub(super) fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.0.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file, and without waiting for the other end of a pipe.
fn open(path: &Path) -> io::Result<(File, Metadata)> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not a regular file"));
    }
    Ok((file, metadata))
}
