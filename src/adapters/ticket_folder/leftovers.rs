//! Hidden texts that a write of yoi's left beside a ticket, and that no journal knows of: a power failure came before the
//! journal's line was on the disk. They are looked at, and never deleted: they may be somebody's newest words.
//!
//! Must not know: what becomes of a text that a journal knows of.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::files;
use super::super::kept::Openness;
use super::TicketFolder;
use crate::domain::finding::Finding;
use crate::domain::ticket::Timestamp;

/// So long somebody may still be writing into one, or yoi be about to put it in its place.
const YOUNG: Duration = Duration::from_mins(10);
/// How soon one is looked at again that could not be looked at.
const AGAIN: Duration = Duration::from_mins(1);
const MARK: &[u8] = b".yoi-";

/// Whether a file has the name of a text that is about to be put in a ticket's place.
pub(super) fn is_leftover(name: &OsStr) -> bool {
    ticket_name(name).is_some()
}

/// The name of the ticket's file: `t.md` of `.t.md.yoi-ab12cd.tmp`.
fn ticket_name(name: &OsStr) -> Option<&OsStr> {
    let inner = name.as_bytes().strip_prefix(b".")?.strip_suffix(b".tmp")?;
    let at = inner.windows(MARK.len()).rposition(|part| part == MARK)?;
    (at > 0).then(|| OsStr::from_bytes(&inner[..at]))
}

/// What came of a look.
enum Seen {
    /// It is no leftover any more, or a journal's business.
    Gone,
    /// Not yet to be told.
    Again(Duration),
    SetAside(Finding),
}

impl TicketFolder {
    /// Remembers what a walk met.
    pub(super) fn left_over(&self, paths: Vec<PathBuf>) {
        if !paths.is_empty() {
            self.noticed(|noticed| {
                noticed.leftovers.extend(paths);
            });
        }
    }

    /// Looks at what was met; what is old, or reads as its ticket does, is moved to what is kept. Returns when to look
    /// again.
    pub(super) fn look_at_leftovers(&self, now: Timestamp) -> Option<Duration> {
        let paths = self.noticed(|noticed| std::mem::take(&mut noticed.leftovers));
        if paths.is_empty() {
            return None;
        }
        let open = Openness::now();
        let mut again_in: Option<Duration> = None;
        for path in paths {
            match self.look_at_leftover(&path, &open, now).unwrap_or(Seen::Again(AGAIN)) {
                Seen::Gone => {}
                Seen::SetAside(finding) => self.noticed(|noticed| noticed.findings.push(finding)),
                Seen::Again(wait) => {
                    self.noticed(|noticed| noticed.leftovers.insert(path));
                    again_in = Some(again_in.map_or(wait, |known| known.min(wait)));
                }
            }
        }
        again_in
    }

    fn look_at_leftover(&self, path: &Path, open: &Openness, now: Timestamp) -> io::Result<Seen> {
        let Some(name) = path.file_name().and_then(ticket_name) else { return Ok(Seen::Gone) };
        let ticket = path.with_file_name(name);
        let id = self.id(&ticket);
        let Some(folder) = self.inside(path.parent().unwrap_or(Path::new("")))? else { return Ok(Seen::Gone) };
        let (left, beside) = (folder.join(path.file_name().unwrap_or_default()), folder.join(name));
        let file = beside.canonicalize().unwrap_or(beside);
        let _lock = self.locks.lock(&id)?;
        let found = match left.symlink_metadata() {
            Ok(found) if found.is_file() => found,
            Ok(_) => return Ok(Seen::Gone),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Seen::Gone),
            Err(error) => return Err(error),
        };
        let journal = self.kept.journal(&file)?;
        if journal.has_beside(&left) {
            return Ok(Seen::Gone);
        }
        let is_same = fs::read(&file).is_ok_and(|text| files::read_whole(&left).is_ok_and(|left| left == text));
        // An exchange leaves the time of writing as it is.
        let touched = found.mtime().max(found.ctime());
        let age = u64::try_from(now.timestamp() - touched).unwrap_or(0);
        if !is_same && age < YOUNG.as_secs() {
            return Ok(Seen::Again(YOUNG.saturating_sub(Duration::from_secs(age))));
        }
        if open.is_open(&left) {
            return Ok(Seen::Again(AGAIN));
        }
        let kept = journal.keep_leftover(&left)?.display().to_string();
        Ok(Seen::SetAside(Finding::Leftover { ticket: id, kept, is_same }))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use chrono::{TimeDelta, Utc};

    use super::*;
    use crate::domain::ticket::Digest;
    use crate::text::keys::KeyMap;
    use crate::text::lineage::Made;

    const TEXT: &str = "---\nstate: ready\n---\n";

    struct Bench {
        root: tempfile::TempDir,
        tickets: TicketFolder,
    }

    impl Bench {
        fn new(name: &str, text: &str) -> Self {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir(root.path().join("tickets")).unwrap();
            fs::write(root.path().join("tickets/t.md"), TEXT).unwrap();
            fs::write(root.path().join("tickets").join(name), text).unwrap();
            let tickets =
                TicketFolder::new(root.path(), "tickets", root.path().join(".state/locks"), KeyMap::default());
            tickets.read_all().unwrap();
            Self { root, tickets }
        }

        /// What was set aside, with its text and whether it reads as the ticket does; and whether it is looked again.
        fn look(&self, now: Timestamp) -> (Vec<(String, String, bool)>, bool) {
            let again = self.tickets.look_at_leftovers(now).is_some();
            let findings = self.tickets.noticed(|noticed| std::mem::take(&mut noticed.findings));
            let told = findings.into_iter().map(|finding| match finding {
                Finding::Leftover { ticket, kept, is_same } => {
                    (ticket.to_string(), fs::read_to_string(kept).unwrap(), is_same)
                }
                other => panic!("{other:?}"),
            });
            (told.collect(), again)
        }

        fn is_there(&self, name: &str) -> bool {
            self.root.path().join("tickets").join(name).exists()
        }
    }

    #[test]
    fn the_name_of_a_leftover_says_whose_it_is() {
        let of = |name: &'static str| ticket_name(OsStr::new(name)).map(|found| found.to_str().unwrap());
        assert_eq!(of(".t.md.yoi-ab12cd.tmp"), Some("t.md"));
        assert_eq!(of(".a.yoi-b.md.yoi-ab12cd.tmp"), Some("a.yoi-b.md"));
        for other in [".t.md.swp", "t.md.yoi-ab12cd.tmp", ".t.md.tmp", ".yoi-ab12cd.tmp", ".t.md.yoi-ab12cd.conflict"] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn what_nobody_knows_of_is_kept_when_it_is_old() {
        let name = ".t.md.yoi-ab12cd.tmp";
        let bench = Bench::new(name, "---\nstate: queued\n---\n");
        assert_eq!(bench.look(Utc::now()), (vec![], true), "yoi may be about to put it in its place");
        assert!(bench.is_there(name));
        // A clock that was set back makes nothing old.
        assert_eq!(bench.look(Utc::now() - TimeDelta::days(1)), (vec![], true));
        let later = Utc::now() + TimeDelta::minutes(11);
        let open = File::open(bench.root.path().join("tickets").join(name)).unwrap();
        // This process's own descriptors say nothing; another's do.
        let mut holder = std::process::Command::new("sleep").arg("600").stdin(open).spawn().unwrap();
        assert_eq!(bench.look(later), (vec![], true));
        holder.kill().unwrap();
        holder.wait().unwrap();
        let kept = ("t".to_owned(), "---\nstate: queued\n---\n".to_owned(), false);
        assert_eq!(bench.look(later), (vec![kept], false));
        assert!(!bench.is_there(name) && bench.is_there("t.md"));
        assert_eq!(bench.look(later), (vec![], false));
    }

    #[test]
    fn what_reads_as_its_ticket_is_kept_at_once() {
        let bench = Bench::new(".t.md.yoi-ab12cd.tmp", TEXT);
        assert_eq!(bench.look(Utc::now()), (vec![("t".to_owned(), TEXT.to_owned(), true)], false));
    }

    #[test]
    fn what_a_journal_knows_of_is_left_to_it() {
        let name = ".t.md.yoi-ab12cd.tmp";
        let bench = Bench::new(name, TEXT);
        let folder = bench.root.path().canonicalize().unwrap().join("tickets");
        let made = Made {
            name: "1".into(),
            at: Utc::now(),
            follows: None,
            base: Digest(1),
            expected: Digest(1),
            placed: Digest(2),
            edits: vec![],
            own: false,
            dealt_with: None,
            settled: false,
            acknowledged: false,
            told: false,
        };
        bench.tickets.kept.journal(&folder.join("t.md")).unwrap().begin(made, &folder.join(name)).unwrap();
        assert_eq!(bench.look(Utc::now() + TimeDelta::hours(1)), (vec![], false));
        assert!(bench.is_there(name));
    }

    #[test]
    fn the_text_of_a_ticket_that_never_came_to_be_is_kept() {
        let bench = Bench::new(".new.md.yoi-ab12cd.tmp", "half");
        let later = Utc::now() + TimeDelta::minutes(11);
        assert_eq!(bench.look(later), (vec![("new".to_owned(), "half".to_owned(), false)], false));
    }
}
