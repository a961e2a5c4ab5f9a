//! How a text looks, and whether whoever writes it has come to the end.
//!
//! Must not know: why a text is looked at.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::super::files;
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
    let began = Instant::now();
    loop {
        let text = read(path)?;
        if is_ours(&text) {
            return Ok(text);
        }
        // The time last: what was written while the text was read shows.
        let quiet = quiet_since(written(&path.metadata()?));
        let enough = if is_whole(&text) { REST } else { PATIENCE };
        let over = quiet >= enough && (quiet >= LATELY || !Openness::now().is_open(path));
        if over || began.elapsed() >= PATIENCE {
            return Ok(text);
        }
        thread::sleep(REST / 4);
    }
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
