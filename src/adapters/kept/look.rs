//! How a text looks, and whether whoever writes it has come to the end.
//!
//! Must not know: why a text is looked at.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::super::fault;
use super::super::files::{self, FileId};
use super::openness::Openness;
use crate::domain::ticket::Digest;
use crate::text::merge::is_whole;

/// Who saves in place writes one piece after the other without a rest: nobody has written for this long, and the text can
/// be read as a ticket, then it is all there.
pub(super) const REST: Duration = Duration::from_millis(10);
/// A text that cannot be read, or that somebody has open and has written to lately, is waited for so long: perhaps it is
/// half written.
const PATIENCE: Duration = Duration::from_millis(300);
const LATELY: Duration = Duration::from_secs(2);
/// How long the last look before the end of a command waits for a writer, and how long it has to be quiet then.
const LAST_LOOK: Duration = Duration::from_millis(60);
const LAST_QUIET: Duration = Duration::from_millis(20);

/// How a text looked when it was last looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Look {
    pub(super) digest: Digest,
    pub(super) size: u64,
    /// In nanoseconds since 1970.
    pub(super) written: i128,
}

impl Look {
    /// Reads a text, and says how it looks.
    pub(in super::super) fn at(path: &Path) -> io::Result<(Vec<u8>, Self)> {
        // The times first: what is written in between is seen as a change later.
        let (size, written) = Self::times(path)?;
        let bytes = files::read_whole(path)?;
        let look = Self { digest: Digest::of(&bytes), size, written };
        Ok((bytes, look))
    }

    /// How a text looks that nobody can look at any more.
    pub(in super::super) fn of(bytes: &[u8]) -> Self {
        Self { digest: Digest::of(bytes), size: bytes.len() as u64, written: 0 }
    }

    /// Its size, and when it was written to.
    pub(super) fn times(path: &Path) -> io::Result<(u64, i128)> {
        let metadata = path.symlink_metadata()?;
        Ok((metadata.size(), written(&metadata)))
    }

    /// How long nobody has written to it.
    pub(super) fn quiet_for(self) -> Duration {
        quiet_since(self.written)
    }
}

/// Reads a text once whoever writes it has come to the end, as far as that can be told: not longer than a moment. One
/// that `is_ours` knows is whole.
pub(in super::super) fn settled(
    path: &Path,
    read: impl Fn(&Path) -> io::Result<Vec<u8>>,
    is_ours: impl Fn(&[u8]) -> bool,
) -> io::Result<Vec<u8>> {
    let read = || {
        let text = read(path)?;
        if is_ours(&text) {
            return Ok((text, true));
        }
        // The time last: what was written while the text was read shows.
        let quiet = quiet_since(written(&path.metadata()?));
        let enough = if is_whole(&text) { REST } else { PATIENCE };
        let rests = quiet >= enough && (quiet >= LATELY || !Openness::now().is_open(path));
        Ok((text, rests))
    };
    let text = at_rest(PATIENCE, read)?;
    fault::delay("after-settling");
    Ok(text)
}

/// Reads a displaced text once its writer has been quiet for a moment, or patience is over.
pub(super) fn rested(path: &Path) -> io::Result<(Vec<u8>, Look)> {
    at_rest(LAST_LOOK, || {
        let (bytes, look) = Look::at(path)?;
        Ok(((bytes, look), look.quiet_for() >= LAST_QUIET))
    })
}

/// Reads a text that was there a moment ago and is not: somebody may just be writing it anew. None where nobody does.
pub(in super::super) fn returned(path: &Path) -> io::Result<Option<Vec<u8>>> {
    at_rest(PATIENCE, || match settled(path, files::read_whole, |_| false) {
        Ok(text) => Ok((Some(text), true)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((None, false)),
        Err(error) => Err(error),
    })
}

/// Looks again and again until what is seen is at rest, or for as long as this.
fn at_rest<T>(at_most: Duration, mut look: impl FnMut() -> io::Result<(T, bool)>) -> io::Result<T> {
    let began = Instant::now();
    loop {
        let (seen, rests) = look()?;
        if rests || began.elapsed() >= at_most {
            return Ok(seen);
        }
        thread::sleep(REST / 4);
    }
}

/// Whether both are names of one file.
pub(in super::super) fn is_same_file(one: &Path, other: &Path) -> bool {
    let of = |path: &Path| path.symlink_metadata().map(|found| FileId::of(&found)).ok();
    of(one).is_some_and(|found| of(other) == Some(found))
}

fn written(metadata: &Metadata) -> i128 {
    i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec())
}

fn quiet_since(written: i128) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let written = Duration::from_nanos(u64::try_from(written).unwrap_or_default());
    // A time in the future says nothing: the text is taken to be quiet, because nothing else would ever end the wait.
    now.checked_sub(written).unwrap_or(Duration::MAX)
}
