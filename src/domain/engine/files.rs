//! When a noticed file is read: at once, then again for what follows, the sooner the longer it had been quiet before; a
//! file that became unreadable, empty or absent is looked at twice before it is believed (DESIGN.md 2.2; editors save
//! in several steps).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chrono::TimeDelta;
use serde_json::json;

use super::{Actor, Effect, Engine, RecordKind};
use crate::domain::backlog::Entry;
use crate::domain::ticket::Timestamp;

/// What is noticed of a path just after it was read waits for the next notice so long: a save in several steps, a checkout
/// that takes a file away and makes it anew. From then on twice as long each time.
const JOIN_FIRST: TimeDelta = TimeDelta::milliseconds(5);
/// At most so long; and what is noticed this long after a read is read at once again.
const JOIN: TimeDelta = TimeDelta::milliseconds(150);
/// However many notices follow, a read is not put off longer than this.
const JOIN_MOST: TimeDelta = TimeDelta::seconds(1);
/// How long a file that has just become unreadable may take to become whole again.
const SECOND_LOOK: TimeDelta = TimeDelta::milliseconds(300);
/// From this many paths on, one walk is cheaper than reading each.
const MANY: usize = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cooling {
    pub(super) read_at: Timestamp,
    /// How long the next notice waits for others.
    pub(super) join: TimeDelta,
    pub(super) noticed_at: Option<Timestamp>,
    pub(super) due: Option<Timestamp>,
}

impl Cooling {
    fn since(read_at: Timestamp, join: TimeDelta) -> Self {
        Self { read_at, join, noticed_at: None, due: None }
    }
}

/// Which paths were read lately, which are to be read when, which are doubted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) cooling: BTreeMap<PathBuf, Cooling>,
    /// Since when each is doubted.
    doubted: BTreeMap<PathBuf, Timestamp>,
}

impl Files {
    /// We wrote this path ourselves just now: all that is noticed of that is one look.
    pub(super) fn written_by_us(&mut self, path: &Path, now: Timestamp) {
        self.cooling.insert(path.to_owned(), Cooling::since(now, JOIN));
        self.doubted.remove(path);
    }

    /// Whether the path is to be read at once; if not, it is due later.
    fn notice(&mut self, path: PathBuf, now: Timestamp) -> Option<PathBuf> {
        let Some(known) = self.cooling.get_mut(&path).filter(|known| now - known.read_at < JOIN || known.due.is_some())
        else {
            self.cooling.insert(path.clone(), Cooling::since(now, JOIN_FIRST));
            return Some(path);
        };
        let first = *known.noticed_at.get_or_insert(now);
        known.due = Some((now + known.join).min(first + JOIN_MOST));
        None
    }

    /// Whether what was read at this path is not to be believed yet; it is then read again in time. Looks in between
    /// (a further notice, a kick's refresh) do not count as the second one.
    fn doubt(&mut self, path: &Path, now: Timestamp) -> bool {
        let again = *self.doubted.entry(path.to_owned()).or_insert(now) + SECOND_LOOK;
        if again <= now {
            return false;
        }
        let known = self.cooling.entry(path.to_owned()).or_insert(Cooling::since(now, JOIN_FIRST));
        known.due = Some(known.due.map_or(again, |due| due.min(again)));
        true
    }

    /// The paths whose read is due; forgets those that have cooled down.
    pub(super) fn due(&mut self, now: Timestamp) -> Vec<PathBuf> {
        let mut due = Vec::new();
        self.cooling.retain(|path, known| match known.due {
            Some(at) if at <= now => {
                due.push(path.clone());
                *known = Cooling::since(now, (known.join * 2).min(JOIN));
                true
            }
            Some(_) => true,
            None => now - known.read_at < JOIN,
        });
        due
    }

    /// Whether what is known of this path may be gone.
    pub(super) fn doubts(&self, path: &Path) -> bool {
        self.doubted.contains_key(path)
    }

    /// All of those.
    pub(super) fn doubted(&self) -> impl Iterator<Item = &PathBuf> {
        self.doubted.keys()
    }

    /// Whether this path was noticed, and is going to be read.
    pub(super) fn expects(&self, path: &Path) -> bool {
        self.cooling.get(path).is_some_and(|known| known.due.is_some())
    }

    /// The next due time.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.cooling.values().filter_map(|known| known.due).min()
    }

    pub(super) fn shift(&mut self, by: TimeDelta) {
        for since in self.doubted.values_mut() {
            *since -= by;
        }
        for known in self.cooling.values_mut() {
            known.read_at -= by;
            for at in [&mut known.noticed_at, &mut known.due].into_iter().flatten() {
                *at -= by;
            }
        }
    }
}

impl Engine {
    pub(super) fn paths_noticed(&mut self, paths: Vec<PathBuf>, now: Timestamp) {
        if paths.len() > MANY {
            self.want(Effect::ReadAll);
            return;
        }
        let at_once: Vec<_> = paths.into_iter().filter_map(|path| self.files.notice(path, now)).collect();
        if !at_once.is_empty() {
            self.want(Effect::Read(at_once));
        }
    }

    pub(super) fn everything_noticed(&mut self, why: Option<&str>, now: Timestamp) {
        // A look by the clock is no event: every two seconds one would be all that history holds.
        let Some(why) = why else { return self.look_wanted() };
        self.verify.rescan(why, now);
        self.record(RecordKind::WatcherRescan, None, json!({"why": why}), now);
        self.want(Effect::ReadAll);
    }

    pub(super) fn files_read(&mut self, entries: Vec<(PathBuf, Entry)>, full: bool, now: Timestamp) {
        let mut missed = Vec::new();
        if full {
            self.verify.all_read(now);
        }
        let gone = if full { self.gone(&entries) } else { Vec::new() };
        for (path, entry) in entries {
            if self.verify.was_silent(&path) && self.differs(&path, &entry) {
                missed.push(path.clone());
            }
            self.file_read(path, entry, now);
        }
        self.missed(&missed, now);
        for path in gone {
            self.file_read(path, Entry::Absent, now);
        }
    }

    /// The known files that are not among these. As bytes: comparing paths part by part is slow.
    fn gone(&self, there: &[(PathBuf, Entry)]) -> Vec<PathBuf> {
        let mut there: Vec<_> = there.iter().map(|(path, _)| path.as_os_str()).collect();
        there.sort_unstable();
        let is_gone = |path: &&Path| there.binary_search(&path.as_os_str()).is_err();
        self.backlog.known_paths().filter(is_gone).map(Path::to_path_buf).collect()
    }

    fn differs(&self, path: &Path, entry: &Entry) -> bool {
        match self.backlog.at(path) {
            Some(known) => known != *entry,
            None => !matches!(entry, Entry::Absent | Entry::NotATicket),
        }
    }

    fn file_read(&mut self, path: PathBuf, entry: Entry, now: Timestamp) {
        let known = match self.backlog.at(&path) {
            Some(Entry::Ticket(known)) => Some(known.id.clone()),
            _ => None,
        };
        let worse = !matches!(entry, Entry::Ticket(_));
        // Where another file has the id, this one has moved: there is nothing to wait for.
        let alone = known.is_some_and(|id| self.backlog.paths_of(&id).count() == 1);
        if worse && alone && self.files.doubt(&path, now) {
            return;
        }
        // While it was in doubt it was on no list.
        self.stirred |= self.files.doubted.remove(&path).is_some();
        let id = match &entry {
            Entry::Ticket(ticket) => Some(ticket.id.clone()),
            _ => None,
        };
        self.take_in_file(path, entry, &Actor::Unknown, now);
        // This one is in doubt no more; another one that is, with the same id, was its former place.
        let former = id.iter().flat_map(|id| self.backlog.paths_of(id)).filter(|at| self.files.doubts(at));
        for from in former.cloned().collect::<Vec<_>>() {
            self.files.doubted.remove(&from);
            self.take_in_file(from, Entry::Absent, &Actor::Unknown, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sample::at;

    /// Notices of one file at these milliseconds are read at those.
    fn check(notices: &[i64], reads: &[i64]) {
        let (mut files, path, mut read) = (Files::default(), PathBuf::from("a.md"), Vec::new());
        for ms in 0..=notices.last().copied().unwrap_or_default() + 2000 {
            let now = at(0) + TimeDelta::milliseconds(ms);
            let due = files.due(now).len();
            let at_once =
                if notices.contains(&ms) { usize::from(files.notice(path.clone(), now).is_some()) } else { 0 };
            read.extend((due + at_once > 0).then_some(ms));
        }
        assert_eq!(read, reads, "{notices:?}");
        assert_eq!(files, Files::default(), "nothing is remembered for long");
    }

    #[test]
    fn the_first_notice_is_read_at_once_and_what_follows_the_later_the_more_there_is() {
        check(&[], &[]);
        check(&[0], &[0]);
        check(&[0, 150], &[0, 150]);
        // A save in several steps, a checkout: one more look.
        check(&[0, 1], &[0, 6]);
        check(&[0, 1, 2, 3, 4], &[0, 9]);
        // One that goes on is looked at ever more seldom,
        check(&[0, 10, 20, 40, 80, 160], &[0, 15, 30, 60, 120, 240]);
        // and, if it never pauses, once a second.
        check(&(0..2500).collect::<Vec<_>>(), &[0, 1001, 2001, 2519]);
        // After some rest it begins anew.
        check(&[0, 10, 500, 510], &[0, 15, 500, 515]);
    }

    #[test]
    fn what_is_noticed_of_an_own_write_is_one_look() {
        let mut files = Files::default();
        files.written_by_us(Path::new("a.md"), at(0));
        for ms in [1, 10, 100] {
            assert_eq!(files.notice("a.md".into(), at(0) + TimeDelta::milliseconds(ms)), None);
        }
        assert!(files.due(at(0) + TimeDelta::milliseconds(249)).is_empty());
        assert_eq!(files.due(at(0) + TimeDelta::milliseconds(250)), [PathBuf::from("a.md")]);
    }
}
