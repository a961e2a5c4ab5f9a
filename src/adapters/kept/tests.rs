//! What is displaced by real edits of real files, and what becomes of it: slow writers, crashes, old texts that come back.

mod owed;

use std::convert::Infallible;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use chrono::{TimeDelta, Utc};

use super::super::fault::hook;
use super::super::swap::{self, SwapError};
use super::bounds::Bounds;
use super::*;
use crate::domain::edit::Change;
use crate::text::merge::Edit;

struct Bench {
    _folder: tempfile::TempDir,
    kept: Kept,
    file: PathBuf,
}

fn ticket(more: &str) -> String {
    format!("---\ntitle: x\nstate: ready\n---\n{more}")
}

impl Bench {
    fn new(text: &str) -> Self {
        Self::named("t.md".as_ref(), text)
    }

    fn named(name: &std::ffi::OsStr, text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().canonicalize().unwrap().join(name);
        fs::write(&file, text).unwrap();
        Self { kept: Kept::new(folder.path().join("state/kept")), file, _folder: folder }
    }

    fn journal(&self) -> Journal {
        self.kept.journal(&self.file).unwrap()
    }

    fn try_set(&self, key: &str, value: &str, own: bool) -> Result<(), SwapError<Infallible>> {
        let mut decide = |_: &[u8]| Ok::<_, Infallible>(vec![Change::text(key, value)]);
        swap::edit(&mut self.journal(), own, Duration::from_secs(5), &mut decide).map(drop)
    }

    fn set(&self, key: &str, value: &str) {
        self.try_set(key, value, false).unwrap();
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.file).unwrap()
    }

    /// As most editors save: a new file, renamed over the old one.
    fn save(&self, text: &str) {
        let new = self.file.with_file_name("editor");
        fs::write(&new, text).unwrap();
        fs::rename(&new, &self.file).unwrap();
    }

    fn open(&self) -> File {
        File::options().write(true).open(&self.file).unwrap()
    }

    /// A look after so many seconds. The texts were written that long ago too.
    fn look(&self, seconds: i64) -> Vec<String> {
        let mut journal = self.journal();
        let reviewed = journal.review(&Looking::new(Utc::now() + TimeDelta::seconds(seconds)));
        reviewed.found.into_iter().map(|found| self.shown(found)).collect()
    }

    fn shown(&self, found: Found) -> String {
        match found {
            Found::Merged => "merged".into(),
            Found::Conflict { kept, why } => {
                assert!(!self.names(TEXT).contains(&kept.file_name().unwrap().to_string_lossy().into_owned()));
                format!("{why} | {}", fs::read_to_string(kept).unwrap().replace('\n', "/"))
            }
            Found::SavedOver { keys, own, debt, .. } => {
                let news = debt.is_some();
                format!("{}{}{}", keys.join(","), if own { " own" } else { "" }, if news { " news" } else { "" })
            }
        }
    }

    fn names(&self, ending: &str) -> Vec<String> {
        self.kept.names().into_iter().filter(|name| name.ends_with(&format!(".{ending}"))).collect()
    }

    /// Nothing of yoi's lies beside the ticket.
    fn is_tidy(&self) -> bool {
        let entries = fs::read_dir(self.file.parent().unwrap()).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().to_string_lossy().into_owned();
        entries.map(name).all(|name| !name.contains(".yoi-"))
    }
}

/// An editor that writes in place goes on with the file that it has opened, and is through with it some time ago.
fn write_on(mut open: File, text: &str) {
    open.set_len(0).unwrap();
    open.seek(SeekFrom::Start(0)).unwrap();
    open.write_all(text.as_bytes()).unwrap();
    open.set_modified(SystemTime::now() - Duration::from_secs(90)).unwrap();
}

#[test]
fn what_was_displaced_is_kept_for_ten_minutes_and_then_goes_unless_somebody_has_it_open() {
    let bench = Bench::new(&ticket("b\n"));
    bench.set("k", "1");
    assert!(bench.is_tidy());
    let text = bench.kept.folder.join(&bench.names(TEXT)[0]);
    assert_eq!(fs::read_to_string(&text).unwrap(), ticket("b\n"));
    assert_eq!(bench.look(590), [""; 0]);
    let mut holder = Command::new("sleep").arg("600").stdin(Stdio::from(File::open(&text).unwrap())).spawn().unwrap();
    assert_eq!(bench.look(601), [""; 0]);
    assert!(text.exists());
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(bench.look(601), [""; 0]);
    assert_eq!(bench.names(TEXT), [""; 0]);
    assert!(bench.kept.known().has(&bench.file));
    bench.look(5 * 3600);
    assert!(!bench.kept.known().has(&bench.file));
}

#[test]
fn what_a_slow_writer_writes_into_the_displaced_text_is_merged_with_every_edit_since() {
    let bench = Bench::new(&ticket("b\n"));
    let slow = bench.open();
    bench.set("k", "1");
    bench.set("l", "2");
    let still = slow.try_clone().unwrap();
    write_on(slow, &ticket("b\nslow\n"));
    assert_eq!(bench.look(1), ["merged"]);
    assert_eq!(bench.text(), "---\ntitle: x\nstate: ready\nk: '1'\nl: '2'\n---\nb\nslow\n".replace('\'', "\""));
    assert_eq!(bench.look(2), [""; 0]);
    // Later edits, and more from the same writer.
    bench.set("k", "3");
    write_on(still, &ticket("b\nslow\nslower\n"));
    assert_eq!(bench.look(3), ["merged"]);
    assert_eq!(bench.text(), "---\ntitle: x\nstate: ready\nk: \"3\"\nl: \"2\"\n---\nb\nslow\nslower\n");
    assert_eq!(bench.look(601), [""; 0]);
    assert_eq!((bench.names(TEXT), bench.names(CONFLICT)), (Vec::<String>::new(), Vec::new()));
    assert!(bench.is_tidy());
}

#[test]
fn the_next_edit_of_the_ticket_looks_too() {
    let bench = Bench::new(&ticket("b\n"));
    let slow = bench.open();
    bench.set("k", "1");
    write_on(slow, &ticket("slow\n"));
    let mut journal = bench.journal();
    assert_eq!(journal.review(&Looking::new(Utc::now())).found, [Found::Merged]);
}

#[test]
fn what_cannot_be_merged_is_kept_for_good_and_said() {
    // Somebody else has saved since.
    let bench = Bench::new(&ticket("b\n"));
    let slow = bench.open();
    bench.set("k", "1");
    bench.save(&bench.text().replace("b\n", "other\n"));
    write_on(slow, &ticket("slow\n"));
    let other = "the ticket's file was changed by somebody else since | ---/title: x/state: ready/---/slow/";
    assert_eq!(bench.look(1), [other]);
    assert!(bench.text().ends_with("other\n"));
    assert_eq!(bench.look(36_000), [""; 0]);
    assert_eq!(bench.names(CONFLICT).len(), 1);

    // The same key was set by both.
    let bench = Bench::new(&ticket("b\n"));
    let slow = bench.open();
    bench.set("state", "queued");
    write_on(slow, &ticket("b\n").replace("ready", "done"));
    let both = "`state` was set by both: it is done there, and queued in the ticket | ---/title: x/state: done/---/b/";
    assert_eq!(bench.look(1), [both]);
    assert!(bench.text().contains("state: queued"));

    // The ticket is gone.
    let bench = Bench::new(&ticket("b\n"));
    let slow = bench.open();
    bench.set("k", "1");
    fs::remove_file(&bench.file).unwrap();
    write_on(slow, &ticket("slow\n"));
    assert_eq!(bench.look(1), [other]);
}

#[test]
fn what_is_in_the_ticket_anyway_is_nothing_to_speak_of() {
    let bench = Bench::new(&ticket("b\n"));
    let slow = bench.open();
    bench.set("k", "1");
    bench.save(&bench.text().replace("b\n", "slow\nand more\n"));
    write_on(slow, &ticket("slow\n"));
    assert_eq!(bench.look(1), [""; 0]);
    assert_eq!(bench.look(601), [""; 0]);
    assert_eq!((bench.names(TEXT), bench.names(CONFLICT)), (Vec::<String>::new(), Vec::new()));
}

#[test]
fn half_a_text_is_waited_for() {
    let bench = Bench::new(&ticket("b\n"));
    let slow = bench.open();
    bench.set("k", "1");
    slow.set_len(0).unwrap();
    // It is quiet for seconds only.
    slow.set_modified(SystemTime::now() - Duration::from_secs(5)).unwrap();
    assert_eq!(bench.look(1), [""; 0]);
    let still = slow.try_clone().unwrap();
    write_on(slow, &ticket("slow\n"));
    assert_eq!(bench.look(1), ["merged"]);
    // An editor that empties the file, and opens it anew by its name, leaves nothing here.
    write_on(still.try_clone().unwrap(), "");
    assert_eq!(bench.look(1), [""; 0]);
    write_on(still, "---\ntitle: x\nsta");
    let half = bench.look(1);
    assert!(half[0].starts_with("the frontmatter has no closing line"), "{half:?}");
    assert!(bench.text().ends_with("---\nslow\n"));
}

#[test]
fn a_writer_that_has_not_finished_is_left_to_write() {
    let bench = Bench::new(&ticket("b\n"));
    let mut slow = bench.open();
    bench.set("k", "1");
    slow.set_len(0).unwrap();
    slow.write_all(ticket("sl").as_bytes()).unwrap();
    let mut journal = bench.journal();
    let reviewed = journal.review(&Looking::new(Utc::now()));
    assert_eq!((reviewed.found, reviewed.again_in), (vec![], Some(Duration::from_millis(200))));
    // The last look of a command waits a moment, and takes what is there.
    slow.write_all(b"ow\n").unwrap();
    assert_eq!(bench.journal().last_look(Utc::now()), [Found::Merged]);
    assert!(bench.text().ends_with("---\nslow\n"));
}

/// What a crash leaves: the first of an exchange's two lines, and a file beside the ticket.
fn crashed(bench: &Bench, beside: &str, in_place: &str) -> PathBuf {
    let (base, ours) = (ticket("b\n"), ticket("b\n").replace("ready", "queued"));
    let path = bench.file.with_file_name(".t.md.yoi-aaaaaa.tmp");
    let edit = Edit::made(base.as_bytes(), &[Change::text("state", "queued")], ours.as_bytes());
    let digest = |text: &str| Digest::of(text.as_bytes());
    let made = Made {
        name: "n".into(),
        at: Utc::now(),
        follows: None,
        base: digest(&base),
        expected: digest(&base),
        placed: digest(&ours),
        edits: vec![edit],
        own: false,
        dealt_with: None,
        settled: false,
        acknowledged: false,
        told: false,
    };
    bench.journal().begin(made, &path).unwrap();
    fs::write(&path, beside).unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(SystemTime::now() - Duration::from_secs(90)).unwrap();
    fs::write(&bench.file, in_place).unwrap();
    path
}

#[test]
fn leftovers_of_a_crash_are_told_apart() {
    let (base, ours) = (ticket("b\n"), ticket("b\n").replace("ready", "queued"));
    // Before the exchange: our own text, that nobody was told of.
    let bench = Bench::new(&base);
    let path = crashed(&bench, &ours, &base);
    assert_eq!(bench.look(1), [""; 0]);
    assert!(!path.exists() && bench.names(TEXT).is_empty());
    // After it: the text that was read.
    let bench = Bench::new(&base);
    let path = crashed(&bench, &base, &ours);
    assert_eq!(bench.look(1), [""; 0]);
    assert!(!path.exists() && bench.names(TEXT).len() == 1);
    // After it: a newer text of somebody's, that nobody has looked at.
    let bench = Bench::new(&base);
    let path = crashed(&bench, &ticket("newer\n"), &ours);
    assert_eq!(bench.look(1), ["merged"]);
    assert_eq!(bench.text(), ticket("newer\n").replace("ready", "queued"));
    assert!(!path.exists());
}

#[test]
fn a_line_that_was_cut_short_hides_nothing_else() {
    let bench = Bench::new(&ticket("b\n"));
    let slow = bench.open();
    bench.set("k", "1");
    let journal = bench.kept.folder.join(&bench.names("journal")[0]);
    File::options().append(true).open(journal).unwrap().write_all(b"\n{\"made\":{\"name\":\"cut").unwrap();
    bench.set("l", "2");
    write_on(slow, &ticket("slow\n"));
    assert_eq!(bench.look(1), ["merged"]);
    assert!(bench.text().contains("k: \"1\"\nl: \"2\"") && bench.text().ends_with("slow\n"));
}

#[test]
fn many_edits_keep_a_bounded_number_of_texts_and_of_lines() {
    let bench = Bench::new(&ticket("b\n"));
    let slow = bench.open();
    for n in 0..320 {
        bench.set("k", &n.to_string());
        if n == 0 {
            write_on(slow.try_clone().unwrap(), "half");
        }
        if n % 10 == 0 {
            bench.journal().review(&Looking::new(Utc::now()));
        }
    }
    assert!(bench.names(TEXT).len() <= 75, "{}", bench.names(TEXT).len());
    // What was written to since is not among those that went: it was put aside.
    assert_eq!(bench.names(CONFLICT).len(), 1);
    assert!(bench.journal().entries.len() <= 280, "{}", bench.journal().entries.len());
    assert!(bench.journal().lines <= 700);
}

#[test]
fn an_old_text_that_comes_back_is_noticed_once_and_remembered_until_the_next_request() {
    let bench = Bench::new(&ticket("b\n"));
    let old = bench.text();
    bench.set("k", "1");
    assert_eq!(bench.look(1), [""; 0]);
    bench.save(&old.replace("b\n", "more\n"));
    assert_eq!(bench.told(1), ["k news"]);
    assert_eq!(bench.look(2), ["k"]);
    bench.set("l", "1");
    assert_eq!(bench.look(3), [""; 0]);
    let old = bench.text();
    bench.try_set("queued_at", "now", true).unwrap();
    bench.save(&old);
    assert_eq!(bench.told(1), ["queued_at own news"]);
}

#[test]
fn any_file_name_has_a_journal_of_its_own() {
    use std::os::unix::ffi::OsStrExt;
    let odd = std::ffi::OsStr::from_bytes(b"\xff \n.md");
    let bench = Bench::named(odd, &ticket("b\n"));
    bench.set("k", "1");
    assert_eq!(bench.kept.files(true), std::slice::from_ref(&bench.file));
    assert_eq!(bench.kept.files(false), std::slice::from_ref(&bench.file));
    assert_ne!(stem(Path::new("/a/t.md")), stem(Path::new("/b/t.md")));
}

#[test]
fn nothing_is_written_where_nothing_can_be_noted() {
    let bench = Bench::new(&ticket("b\n"));
    fs::create_dir_all(&bench.kept.folder).unwrap();
    std::os::unix::fs::symlink("nowhere", bench.kept.folder.join(stem(&bench.file) + ".journal")).unwrap();
    assert!(matches!(bench.try_set("k", "1", false), Err(SwapError::Io(_))));
    assert_eq!(bench.text(), ticket("b\n"));
    assert!(bench.is_tidy());
}

#[test]
fn beyond_its_bounds_the_oldest_go_that_nobody_needs() {
    let bench = Bench::new(&ticket("b\n"));
    for n in 0..8 {
        bench.set("k", &n.to_string());
    }
    let is_text = |name: &String| Path::new(name).extension().is_some_and(|ending| ending == TEXT);
    let texts = || bench.kept.names().into_iter().filter(is_text).count();
    let size = ticket("k: 1\nb\n").len() as u64;
    let many = Bounds { texts: 100, bytes: 100 * size };
    assert_eq!((texts(), bench.kept.beyond(many)), (8, None));
    // Down to three quarters of what is allowed.
    let made = bench.journal().made();
    assert_eq!(bench.kept.beyond(Bounds { texts: 4, ..many }).as_ref(), Some(&made[4].name));
    assert!(bench.kept.beyond(Bounds { bytes: 4 * size, ..many }).is_some());
    // Somebody is still writing into the oldest.
    let oldest = bench.journal().entries[0].clone();
    fs::write(bench.journal().locate(&oldest).unwrap(), ticket("more\n")).unwrap();
    let looking = Looking::new(Utc::now()).sparing(bench.kept.beyond(Bounds { texts: 4, ..many }));
    bench.journal().review(&looking);
    assert_eq!(texts(), 4, "the oldest stays");
    assert!(bench.journal().locate(&oldest).is_some());
}

#[test]
fn who_saves_while_a_slow_text_is_merged_stays_and_what_he_took_back_is_said() {
    let bench = Bench::new(&ticket("b\n"));
    let slow = bench.open();
    bench.set("k", "1");
    write_on(slow, &ticket("slow\n"));
    let mut saves = vec![ticket("other\n")];
    let (file, new) = (bench.file.clone(), bench.file.with_file_name("editor"));
    hook::set("before-exchange", move || {
        if let Some(text) = saves.pop() {
            fs::write(&new, text).unwrap();
            fs::rename(&new, &file).unwrap();
        }
    });
    let slow = "it was saved over by somebody who had perhaps not seen it | ---/title: x/state: ready/---/slow/";
    assert_eq!(bench.look(1), [slow, "k news"]);
    assert_eq!(bench.text(), ticket("other\n"));
}

#[test]
fn a_disk_that_is_full_in_the_middle_of_an_edit_loses_nothing_and_that_is_said_as_it_is() {
    let bench = Bench::new(&ticket("b\n"));
    let file = bench.file.clone();
    hook::set("before-exchange", move || {
        fs::write(&file, ticket("theirs\n")).unwrap();
        hook::refuse("write", rustix::io::Errno::NOSPC);
    });
    let Err(SwapError::Io(error)) = bench.try_set("k", "1", false) else { panic!() };
    let kept = bench.kept.folder.join(&bench.names(TEXT)[0]);
    let said = error.to_string();
    assert!(said.starts_with("No space left") && said.contains(kept.to_str().unwrap()), "{said}");
    // Of errors of other kinds it is added that nothing was changed.
    assert_eq!(error.kind(), io::ErrorKind::Other);
    assert!(bench.text().contains("k: \"1\"") && bench.text().ends_with("b\n"), "{}", bench.text());
    hook::set("nowhere", || {});
    let rests = |path: &Path| {
        let open = File::options().write(true).open(path).unwrap();
        open.set_modified(SystemTime::now() - Duration::from_secs(90)).unwrap();
    };
    rests(&kept);
    assert_eq!(bench.look(1), [""; 0], "there is no room yet");
    hook::allow();
    assert_eq!(bench.look(1), ["merged"]);
    assert!(bench.text().contains("k: \"1\"") && bench.text().ends_with("theirs\n"), "{}", bench.text());
}

#[test]
fn a_second_name_that_a_crash_left_is_no_exchange() {
    let (base, ours) = (ticket("b\n"), ticket("b\n").replace("ready", "queued"));
    let bench = Bench::new(&base);
    let path = crashed(&bench, &base, &base);
    fs::remove_file(&path).unwrap();
    fs::hard_link(&bench.file, &path).unwrap();
    assert_eq!(bench.look(1), [""; 0]);
    assert!(!path.exists() && bench.names(TEXT).is_empty() && bench.journal().entries.is_empty());
    assert_eq!(bench.text(), base);
    // Just after it was renamed over.
    let path = crashed(&bench, &base, &ours);
    assert_eq!(bench.look(1), [""; 0]);
    assert!(!path.exists() && bench.names(TEXT).len() == 1);
}

#[test]
fn a_journal_made_shorter_is_a_new_file_and_what_was_said_stays_said() {
    let bench = Bench::new(&ticket("b\n"));
    let old = bench.text();
    bench.set("k", "1");
    bench.save(&old.replace("b\n", "more\n"));
    assert_eq!(bench.told(1), ["k news"]);
    let path = bench.kept.folder.join(&bench.names("journal")[0]);
    let rewrite = || {
        let before = fs::read(&path).unwrap();
        let mut open = File::open(&path).unwrap();
        bench.journal().rewritten().unwrap();
        // Whoever is just reading it, and a crash in the middle, finds the old one whole.
        let mut read = Vec::new();
        io::Read::read_to_end(&mut open, &mut read).unwrap();
        assert!(read == before && fs::read(&path).unwrap() != before);
    };
    rewrite();
    assert_eq!(bench.look(2), ["k"]);
    bench.set("l", "1");
    let text = bench.text();
    rewrite();
    assert_eq!(bench.look(3), [""; 0], "with the next request it is the past");
    bench.save(&old.replace("b\n", "again\n"));
    assert_eq!(bench.told(3), ["l news"], "{text}");
}
