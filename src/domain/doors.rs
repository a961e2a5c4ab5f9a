//! How many clients are served at once, and how long a silent one is waited for: reading tickets, git, the store, the
//! watcher and turns must find a file to open, whatever clients do.
//!
//! Must not know: sockets; what is asked for. STYLE.md 14.

use std::time::Duration;

/// How many open files are kept for everything but connections.
const RESERVE: u64 = 64;
/// How many clients that find no place may be told so at once.
pub const REFUSALS: usize = 8;
/// No fewer connections than this, however few files may be open.
const LEAST: usize = 8;
/// No more than this, however many may be.
const MOST: usize = 128;

/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same where half of the places are taken.
const CROWDED: Duration = Duration::from_secs(1);
/// The same of one that will be told that there is no place.
pub const REFUSED: Duration = Duration::from_millis(250);
/// How long a client may leave its answer unread.
pub const UNREAD: Duration = Duration::from_secs(30);

/// How many may be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doors {
    /// Connections at once.
    pub most: usize,
    /// Of these, how many may last for as long as their clients like.
    pub most_streams: usize,
}

impl Doors {
    /// Where a process may have so many files open (None: any number).
    pub fn of(descriptors: Option<u64>) -> Self {
        let spare = descriptors.unwrap_or(u64::MAX).saturating_sub(RESERVE + REFUSALS as u64) / 2;
        let most = usize::try_from(spare).unwrap_or(MOST).clamp(LEAST, MOST);
        Self { most, most_streams: most / 2 }
    }

    /// How long a client that comes when so many are there is waited for.
    pub fn patience(self, open: usize) -> Duration {
        if open * 2 > self.most { CROWDED } else { PATIENCE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_back_is_kept_back() {
        for (descriptors, most) in
            [(None, 128), (Some(20_000), 128), (Some(1024), 128), (Some(256), 92), (Some(100), 14)]
        {
            let doors = Doors::of(descriptors);
            assert_eq!((doors.most, doors.most_streams), (most, most / 2), "{descriptors:?}");
            assert!(descriptors.is_none_or(|all| all >= RESERVE + (doors.most + REFUSALS) as u64), "{descriptors:?}");
        }
        for few in [0, 20, 72, 80] {
            assert_eq!(Doors::of(Some(few)), Doors { most: 8, most_streams: 4 });
        }
    }

    #[test]
    fn the_more_there_are_the_shorter_is_the_patience() {
        let doors = Doors::of(Some(100));
        let patience: Vec<_> = [0, 7, 8, 14].map(|open| doors.patience(open).as_secs()).into();
        assert_eq!(patience, [5, 5, 1, 1]);
    }
}
