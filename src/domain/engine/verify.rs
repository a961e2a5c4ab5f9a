//! The integrity walk: what the watcher has not told is found by comparing the disk with what was last read, every
//! `[watch] verify_every`; and where nothing is ever told, the same comparison by the clock (DESIGN.md 8, Self-proof).
//!
//! A difference that the walk finds is read only after the time that a notice may take. What turns out to be different
//! then, and was not noticed in between, was a missed event: handled, counted and recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chrono::TimeDelta;
use serde_json::json;

use super::{Effect, Engine, RecordKind};
use crate::domain::differences::Differences;
use crate::domain::ticket::Timestamp;

/// How long a notice may take: the longest that reads are joined, and a watcher's lag.
const LATE: TimeDelta = TimeDelta::seconds(2);
/// How many missed paths are named.
const NAMED: usize = 10;

/// What the watcher was seen to do, and what it was seen to miss.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verify {
    /// When all files were last compared with what was read of them; the start was the first time.
    at: Option<Timestamp>,
    /// A comparison is under way.
    under_way: bool,
    /// It was wished for by the clock that stands in for a watcher: what it finds is read at once.
    look: bool,
    /// Differences that nobody has told yet, and when they are read.
    suspected: BTreeMap<PathBuf, Timestamp>,
    /// Those that are being read just now.
    confirming: BTreeSet<PathBuf>,
    missed: u64,
    rescans: u64,
    last_rescan: Option<(String, Timestamp)>,
    trouble: Option<String>,
}

/// The watching's standing, for `status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchSummary<'a> {
    /// When all files were last compared with what was read of them.
    pub verified_at: Option<Timestamp>,
    /// Changes that no notice told of, since the start.
    pub missed: u64,
    /// Full rescans since the start, those by the clock aside.
    pub rescans: u64,
    /// Why and when the last one was.
    pub last_rescan: Option<(&'a str, Timestamp)>,
    /// Why the last comparison came to nothing.
    pub trouble: Option<&'a str>,
}

impl Verify {
    fn due(&self, every: Option<TimeDelta>) -> Option<Timestamp> {
        self.at.zip(every).map(|(at, every)| at + every).filter(|_| !self.under_way)
    }

    /// The next due time.
    pub(super) fn next(&self, every: Option<TimeDelta>) -> Option<Timestamp> {
        self.suspected.values().min().copied().into_iter().chain(self.due(every)).min()
    }

    pub(super) fn shift(&mut self, by: TimeDelta) {
        for at in self.suspected.values_mut().chain(&mut self.at) {
            *at -= by;
        }
    }

    /// All files are as they were read just now.
    pub(super) fn all_read(&mut self, now: Timestamp) {
        self.at = Some(now);
        self.suspected.clear();
        self.confirming.clear();
    }

    /// This file is being looked at. Whether only the comparison told of it.
    pub(super) fn was_silent(&mut self, path: &Path) -> bool {
        self.suspected.remove(path);
        self.confirming.remove(path)
    }

    pub(super) fn rescan(&mut self, why: &str, now: Timestamp) {
        self.rescans += 1;
        self.last_rescan = Some((why.to_owned(), now));
    }
}

impl Engine {
    /// The standing of the watching.
    pub fn watch_summary(&self) -> WatchSummary<'_> {
        let verify = &self.verify;
        WatchSummary {
            verified_at: verify.at,
            missed: verify.missed,
            rescans: verify.rescans,
            last_rescan: verify.last_rescan.as_ref().map(|(why, at)| (why.as_str(), *at)),
            trouble: verify.trouble.as_deref(),
        }
    }

    /// Nothing tells of changes here, and it is time to look. While a comparison is under way it stands for this one
    /// too; what it is too early for is found by the next.
    pub(super) fn look_wanted(&mut self) {
        self.verify.look = true;
        self.compare_wanted();
    }

    fn compare_wanted(&mut self) {
        if !std::mem::replace(&mut self.verify.under_way, true) {
            self.want(Effect::Compare);
        }
    }

    /// A comparison has ended; None: it was not the time for one.
    pub(super) fn compared(&mut self, found: Option<Result<Differences, String>>, now: Timestamp) {
        self.verify.under_way = false;
        self.verify.at = Some(now);
        let look = std::mem::take(&mut self.verify.look);
        let paths = match found {
            Some(Ok(found)) => found.paths(&self.backlog),
            Some(Err(why)) => return self.verify.trouble = Some(why),
            None => return,
        };
        self.verify.trouble = None;
        if look {
            self.paths_noticed(paths, now);
        } else {
            for path in paths.into_iter().filter(|path| !self.files.expects(path)) {
                // One that is suspected already has its time.
                self.verify.suspected.entry(path).or_insert(now + LATE);
            }
        }
    }

    pub(super) fn verify_if_due(&mut self, now: Timestamp) {
        if self.verify.due(self.policy.verify_every).is_some_and(|at| at <= now) {
            self.compare_wanted();
        }
        let due: Vec<_> = self.verify.suspected.extract_if(.., |_, at| *at <= now).map(|(path, _)| path).collect();
        if !due.is_empty() {
            self.verify.confirming.extend(due.iter().cloned());
            self.want(Effect::Read(due));
        }
    }

    /// These had changed, and nobody had told.
    pub(super) fn missed(&mut self, paths: &[PathBuf], now: Timestamp) {
        if paths.is_empty() {
            return;
        }
        self.verify.missed += paths.len() as u64;
        let named: Vec<_> = paths.iter().take(NAMED).map(|path| path.display().to_string()).collect();
        let data =
            json!({"what": "changes that were not noticed when they happened", "count": paths.len(), "paths": named});
        self.record(RecordKind::WatcherMissed, None, data, now);
        // A watch that was lost without a word would miss the next change too.
        self.want(Effect::DoubtWatcher);
    }
}
