//! Git's lock on a claim's ref, left there by a yoi that was killed while it held it: nobody else would ever take it away.
//!
//! Whoever moves a claim's ref shares a kernel lock meanwhile. Who has that lock alone knows that no living yoi holds git's. What
//! another git program holds is not touched: it writes no commit of a claim into it; and one that says nothing (yet) is taken
//! away only after it stayed as it is for seconds, and while no process lives that may hold it.
//!
//! Must not know: which repository it is; what is moved.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::holders::{holders, ticks_now};
use super::refs::{Refs, is_object_id, read_step};
use crate::adapters::files::{self, FileId, Text};
use crate::adapters::watcher::shared_with_others;
use crate::domain::claim::Revision;
use crate::domain::ticket::TicketId;

/// How long it is waited for those who move claims just now.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(5);
/// How long a lock has stayed as it is before it may be taken for left.
pub(super) const SEEN: Duration = Duration::from_secs(3);
/// The most that is read of a lock.
const MOST_BYTES: u64 = 100;

/// Somebody moves claims, as long as it lives; None where that cannot be said, which is no reason not to.
pub(super) struct Moving(Option<File>);

impl Moving {
    pub(super) fn begin(common_dir: &Path) -> Self {
        let file = file(common_dir).filter(|file| file.lock_shared().is_ok());
        Self(file)
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        // Not by closing alone: a child between fork and exec may have it open too.
        let _ = self.0.take().map(|file| file.unlock());
    }
}

fn file(common_dir: &Path) -> Option<File> {
    let folder = common_dir.join("yoi");
    files::own_folder(&folder).ok()?;
    files::open_own(&folder.join("claims.lock"), Text::Kept).ok()
}

/// Git's lock on a ref, as it was when it was in the way.
#[derive(Clone, Debug)]
pub(super) struct InTheWay {
    path: PathBuf,
    file: FileId,
    owner: u32,
    times: [(i64, i64); 2],
    /// When it was met, in clock ticks since boot.
    met: u64,
}

/// What stands in a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// Nothing, or the beginning of an object id.
    Nothing,
    /// A step of this very ticket's claim.
    Step,
    /// Something else.
    Other,
}

/// What speaks against it that a dead process left the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Doubts {
    /// It is not this user's.
    foreign: bool,
    /// The file system, where another machine may hold it.
    shared: Option<&'static str>,
    /// Those who may hold it.
    holders: Vec<String>,
}

impl InTheWay {
    /// None where nothing is in the way any more.
    pub(super) fn now(common_dir: &Path, name: &str) -> Option<Self> {
        let met = ticks_now();
        let path = common_dir.join(format!("{name}.lock"));
        let found = path.symlink_metadata().ok().filter(fs::Metadata::is_file)?;
        let times = [(found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec())];
        Some(Self { path, file: FileId::of(&found), owner: found.uid(), times, met })
    }

    /// Takes it away if nobody but a dead process can have left it: it has not changed since it was met, no living yoi moves a
    /// claim, and what it says and who lives let it be nobody's. An error, in words where there are any: it is there still, and
    /// as it was.
    pub(super) fn take_away(
        self,
        common_dir: &Path,
        name: &str,
        id: &TicketId,
        refs: &dyn Refs,
    ) -> Result<(), Option<String>> {
        let alone = file(common_dir).filter(alone).ok_or(None)?;
        let same = || Self::now(common_dir, name).is_some_and(|now| now.file == self.file && now.times == self.times);
        let judged = if same() { may_be_left(self.says(id, refs), || self.doubts()) } else { Ok(()) };
        let taken = judged.and_then(|()| if same() { self.remove() } else { Ok(()) });
        let _ = alone.unlock();
        taken
    }

    fn remove(&self) -> Result<(), Option<String>> {
        fs::remove_file(&self.path)
            .map_err(|error| Some(format!("it was left there, and cannot be removed ({error})")))?;
        tracing::warn!(path = %self.path.display(), "git's lock was left by a program that was killed; it is taken away");
        Ok(())
    }

    fn says(&self, id: &TicketId, refs: &dyn Refs) -> Says {
        let short = self.path.metadata().is_ok_and(|found| found.len() <= MOST_BYTES);
        match fs::read_to_string(&self.path) {
            Ok(text) if short => says(&text, |revision| {
                read_step(refs, &Revision(revision.to_owned())).is_ok_and(|tip| tip.step.ticket == *id)
            }),
            _ => Says::Other,
        }
    }

    fn doubts(&self) -> Doubts {
        let me = rustix::process::geteuid();
        Doubts {
            foreign: !me.is_root() && me.as_raw() != self.owner,
            shared: shared_with_others(&self.path),
            holders: holders(self.file, self.met),
        }
    }
}

fn says(text: &str, is_step: impl Fn(&str) -> bool) -> Says {
    let cut_off = text.len() < 40 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    match text.trim() {
        _ if cut_off => Says::Nothing,
        revision if is_object_id(revision) && is_step(revision) => Says::Step,
        _ => Says::Other,
    }
}

/// Whether a lock that stayed as it is, while no yoi moves a claim, may be taken for left; the error says why not.
fn may_be_left(says: Says, doubts: impl FnOnce() -> Doubts) -> Result<(), Option<String>> {
    match says {
        Says::Step => return Ok(()),
        Says::Other => return Err(None),
        Says::Nothing => {}
    }
    match doubts() {
        Doubts { foreign: true, .. } => Err(Some("it is another user's".into())),
        Doubts { shared: Some(system), .. } => {
            Err(Some(format!("it lies on {system}, where another machine may hold it")))
        }
        Doubts { holders, .. } if holders.is_empty() => Ok(()),
        Doubts { mut holders, .. } => {
            let more = holders.len().saturating_sub(3);
            holders.truncate(3);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Err(Some(format!(
                "{}{more} may be at work there, or it was left by one that was killed",
                holders.join(", ")
            )))
        }
    }
}

fn alone(file: &File) -> bool {
    let end = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return true,
            Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(PAUSE),
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_lock_says_decides_first() {
        let oid = "a".repeat(40);
        for (text, expected) in [
            ("", Says::Nothing),
            ("0123abc", Says::Nothing),
            (&oid[..39], Says::Nothing),
            (&oid, Says::Step),
            (&format!("{oid}\n"), Says::Step),
            (&"b".repeat(40), Says::Other),
            (&"a".repeat(50), Says::Other),
            ("\n", Says::Other),
            ("0123abc\n", Says::Other),
            ("mine", Says::Other),
            ("ref: refs/heads/main", Says::Other),
        ] {
            assert_eq!(says(text, |revision| revision == oid), expected, "{text:?}");
        }
    }

    #[test]
    fn one_that_says_nothing_is_left_only_where_nobody_can_hold_it() {
        let none = Doubts { foreign: false, shared: None, holders: Vec::new() };
        let held = |count: usize| Doubts {
            holders: (1..=count).map(|pid| format!("process {pid} (git)")).collect(),
            ..none.clone()
        };
        let check = |says, doubts: &Doubts, expected: Result<(), Option<&str>>| {
            let found = may_be_left(says, || doubts.clone());
            assert_eq!(found, expected.map_err(|why| why.map(str::to_owned)), "{says:?} {doubts:?}");
        };
        let foreign = Doubts { foreign: true, ..none.clone() };
        let shared = Doubts { shared: Some("NFS"), ..none.clone() };
        check(Says::Nothing, &none, Ok(()));
        check(Says::Nothing, &foreign, Err(Some("it is another user's")));
        check(Says::Nothing, &shared, Err(Some("it lies on NFS, where another machine may hold it")));
        let words = "process 1 (git) may be at work there, or it was left by one that was killed";
        check(Says::Nothing, &held(1), Err(Some(words)));
        let words = "process 1 (git), process 2 (git), process 3 (git) and 2 more may be at work there, or it was left by \
                     one that was killed";
        check(Says::Nothing, &held(5), Err(Some(words)));
        for doubts in [none.clone(), foreign, shared, held(1)] {
            check(Says::Step, &doubts, Ok(()));
            check(Says::Other, &doubts, Err(None));
        }
    }
}
