//! Which files are tickets, and what editing and noting does to real ones.

use std::os::unix::fs::symlink;

use super::*;
use crate::domain::ticket::State;

struct Bench {
    _dir: tempfile::TempDir,
    root: PathBuf,
    tickets: TicketFolder,
}

impl Bench {
    fn new(files: &[(&str, &str)]) -> Self {
        Self::with_keys(files, KeyMap::default())
    }

    fn with_keys(files: &[(&str, &str)], keys: KeyMap) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("ws");
        fs::create_dir_all(root.join("tickets")).unwrap();
        let tickets = TicketFolder::new(&root, "tickets", root.join(".state/locks"), keys);
        let bench = Self { _dir: dir, root, tickets };
        for (path, text) in files {
            bench.write(path, text);
        }
        bench
    }

    fn write(&self, path: &str, text: &str) {
        let full = self.root.join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    fn scan(&self) -> Vec<String> {
        let show = |(path, entry): (PathBuf, Entry)| match entry {
            Entry::Ticket(ticket) => format!("{} = {}", path.display(), ticket.id),
            Entry::Unreadable { id, error, .. } => {
                format!("{} = {id}! {}:{} {}", path.display(), error.line, error.column, error.message)
            }
            other => panic!("{other:?}"),
        };
        self.tickets.scan().unwrap().into_iter().map(show).collect()
    }

    fn set_state(&self, path: &str, state: &str) -> Result<(Ticket, Ticket), EditError> {
        self.tickets.edit(Path::new(path), &mut |_| Ok(vec![Change::text("state", state)]))
    }
}

const T: &str = "---\ntitle: x\nstate: ready\n---\nBody\n";

#[test]
fn every_layout_gives_its_ids() {
    let bench = Bench::new(&[
        ("tickets/a.md", T),
        ("tickets/deep/er/b.md", T),
        ("tickets/c/item.md", T),
        ("tickets/c/notes.md", T),
        ("tickets/c/thread.md", T),
        ("tickets/c/files/report.md", T),
        ("tickets/c/d/item.md", T),
        ("tickets/item.md", T),
        ("tickets/other/a.md", T),
        ("tickets/README.md", "# Read me\n"),
        ("tickets/a.thread.md", T),
        ("tickets/1.2 - Spaces & ü.md", T),
        ("tickets/notes.txt", T),
    ]);
    let expected = [
        "tickets/1.2 - Spaces & ü.md = 1.2 - Spaces & ü",
        "tickets/a.md = a",
        "tickets/c/d/item.md = d",
        "tickets/c/item.md = c",
        "tickets/deep/er/b.md = b",
        "tickets/item.md = item",
        "tickets/other/a.md = a",
    ];
    assert_eq!(bench.scan(), expected);
    for (path, entry) in bench.tickets.scan().unwrap() {
        assert_eq!(bench.tickets.read(&path), entry);
    }
    for none in [
        "tickets/c/notes.md",
        "tickets/c/files/report.md",
        "tickets/a.thread.md",
        "elsewhere/a.md",
        "tickets/README.md",
    ] {
        assert_eq!(bench.tickets.read(Path::new(none)), Entry::NotATicket, "{none}");
    }
    assert_eq!(bench.tickets.read(Path::new("tickets/gone.md")), Entry::Absent);
}

#[test]
fn hidden_files_and_leftovers_are_passed_over() {
    let bench = Bench::new(&[
        ("tickets/a.md", T),
        ("tickets/.hidden.md", T),
        ("tickets/.git/x.md", T),
        ("tickets/.a.md.yoi-ab12cd.tmp", T),
        ("tickets/.#a.md", T),
        ("tickets/#a.md#", T),
        ("tickets/a.md~", T),
        ("tickets/4913", T),
        ("tickets/old~/x.md", T),
    ]);
    assert_eq!(bench.scan(), ["tickets/a.md = a"]);
}

#[test]
fn bad_files_are_listed_beside_good_ones() {
    let bench = Bench::new(&[
        ("tickets/good.md", T),
        ("tickets/dup.md", "---\na: 1\na: 2\n---\n"),
        ("tickets/tab.md", "---\na:\n\t- b\n---\n"),
        ("tickets/open.md", "---\na: 1\n"),
        ("tickets/toml.md", "+++\na = 1\n+++\n"),
        ("tickets/list.md", "---\n- a\n---\n"),
    ]);
    symlink("nowhere.md", bench.root.join("tickets/link.md")).unwrap();
    rustix::fs::mknodat(CWD, bench.root.join("tickets/pipe.md"), rustix::fs::FileType::Fifo, 0o644.into(), 0).unwrap();
    let expected = [
        "tickets/dup.md = dup! 3:1 the key `a` stands twice, on lines 2 and 3: remove one",
        "tickets/good.md = good",
        "tickets/link.md = link! 0:0 this symlink points to nothing",
        "tickets/list.md = list! 2:1 the frontmatter is a list, not a mapping: write `key: value` lines",
        "tickets/open.md = open! 1:1 the frontmatter has no closing line: write `---` alone on the line after its last key",
        "tickets/pipe.md = pipe! 0:0 it cannot be read: this is not a regular file",
        "tickets/tab.md = tab! 3:1 a tab as indentation: YAML wants spaces here",
        "tickets/toml.md = toml! 1:1 TOML frontmatter (`+++`); yoi reads YAML between `---` lines",
    ];
    assert_eq!(bench.scan(), expected);
}

#[test]
fn a_missing_folder_is_an_error_of_the_scan() {
    let bench = Bench::new(&[]);
    assert_eq!(bench.scan(), Vec::<String>::new());
    fs::remove_dir(bench.root.join("tickets")).unwrap();
    assert_eq!(bench.tickets.scan().unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn symlinks_are_read_and_never_written_outside() {
    let bench = Bench::new(&[("tickets/a.md", T), ("elsewhere/in.md", T)]);
    let out = bench.root.parent().unwrap().join("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("o.md"), T).unwrap();
    symlink(out.join("o.md"), bench.root.join("tickets/o.md")).unwrap();
    symlink(&out, bench.root.join("tickets/folder")).unwrap();
    symlink("../elsewhere/in.md", bench.root.join("tickets/in.md")).unwrap();
    assert_eq!(bench.scan(), ["tickets/a.md = a", "tickets/in.md = in", "tickets/o.md = o"]);
    assert!(matches!(bench.set_state("tickets/o.md", "queued"), Err(EditError::Outside(_))));
    assert_eq!(fs::read_to_string(out.join("o.md")).unwrap(), T);
    bench.set_state("tickets/in.md", "queued").unwrap();
    assert!(bench.root.join("tickets/in.md").is_symlink());
    assert!(bench.text("elsewhere/in.md").contains("state: queued"));
    symlink(out.join("t.md"), bench.root.join("tickets/a.thread.md")).unwrap();
    assert!(bench.tickets.note(Path::new("tickets/a.md"), "x").is_err());
    fs::write(out.join("t.md"), "theirs").unwrap();
    assert!(bench.tickets.note(Path::new("tickets/a.md"), "x").is_err());
    assert_eq!(fs::read_to_string(out.join("t.md")).unwrap(), "theirs");
}

#[test]
fn an_edit_gives_the_ticket_before_and_after() {
    let bench = Bench::new(&[("tickets/a.md", T)]);
    let (before, after) = bench.set_state("tickets/a.md", "queued").unwrap();
    assert_eq!((before.state, after.state), (Some(State::Ready), Some(State::Queued)));
    assert_eq!(bench.text("tickets/a.md"), T.replace("ready", "queued"));
    let refused = bench.tickets.edit(Path::new("tickets/a.md"), &mut |_| Err(Refusal::new("no")));
    assert!(matches!(refused, Err(EditError::Refused(why)) if why.message == "no"));
    assert!(matches!(bench.set_state("tickets/gone.md", "queued"), Err(EditError::Absent(_))));
    bench.write("tickets/bad.md", "---\na: 1\na: 2\n---\n");
    assert!(matches!(bench.set_state("tickets/bad.md", "queued"), Err(EditError::Unsafe { .. })));
}

#[test]
fn a_conflict_names_both_values() {
    let bench = Bench::new(&[("tickets/a.md", T)]);
    let result = bench.tickets.edit(Path::new("tickets/a.md"), &mut |_| {
        bench.write("tickets/a.md", &T.replace("ready", "done"));
        Ok(vec![Change::text("state", "queued")])
    });
    let message = result.unwrap_err().to_string();
    assert!(message.contains("it is now done, this edit wanted queued"), "{message}");
    assert_eq!(bench.text("tickets/a.md"), T.replace("ready", "done"));
}

#[test]
fn the_state_is_written_in_the_words_of_the_folder() {
    let keys = KeyMap {
        state_key: "status".into(),
        states: vec![("To Do".into(), State::Ready), ("Now".into(), State::Queued)],
    };
    let bench = Bench::with_keys(&[("tickets/a.md", "---\ntitle: x\nstatus: To Do\n---\n")], keys);
    let (before, after) = bench.set_state("tickets/a.md", "queued").unwrap();
    assert_eq!((before.state, after.state), (Some(State::Ready), Some(State::Queued)));
    assert_eq!(bench.text("tickets/a.md"), "---\ntitle: x\nstatus: Now\n---\n");
}

#[test]
fn writers_in_many_threads_lose_nothing() {
    let bench = Bench::new(&[("tickets/a.md", T)]);
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let tickets = bench.tickets.clone();
            scope.spawn(move || {
                let mut add = |_: &Ticket| Ok(vec![Change::Add("labels".into(), format!("l{writer}").into())]);
                tickets.edit(Path::new("tickets/a.md"), &mut add).unwrap();
            });
        }
    });
    let Entry::Ticket(mut ticket) = bench.tickets.read(Path::new("tickets/a.md")) else { panic!() };
    ticket.labels.sort();
    assert_eq!(ticket.labels, ["l0", "l1", "l2", "l3", "l4", "l5"]);
}

#[test]
fn a_ticket_is_created_once_and_whole() {
    let bench = Bench::new(&[("tickets/c/item.md", T)]);
    assert_eq!(bench.tickets.create(&"new".into(), T).unwrap(), Path::new("tickets/new.md"));
    assert_eq!(bench.text("tickets/new.md"), T);
    let kind = |id: &str| bench.tickets.create(&id.into(), "other").unwrap_err().kind();
    assert_eq!(kind("new"), io::ErrorKind::AlreadyExists);
    assert_eq!(kind("c"), io::ErrorKind::AlreadyExists);
    for bad in ["../x", "a/b", ".x", "x.thread"] {
        assert_eq!(kind(bad), io::ErrorKind::InvalidInput, "{bad}");
    }
    assert_eq!(bench.text("tickets/new.md"), T);
    assert_eq!(fs::read_dir(bench.root.join("tickets")).unwrap().count(), 2);
}

#[test]
fn a_new_ticket_is_not_there_before_it_is_whole_and_never_replaces_another() {
    let bench = Bench::new(&[]);
    let path = bench.root.join("tickets/new.md");
    let (there, other) = (path.clone(), path.clone());
    fault::hook::set("before-new", move || assert!(!there.exists()));
    bench.tickets.create(&"new".into(), T).unwrap();
    fs::remove_file(&path).unwrap();
    fault::hook::set("before-new", move || fs::write(&other, "theirs").unwrap());
    assert_eq!(bench.tickets.create(&"new".into(), T).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(bench.text("tickets/new.md"), "theirs");
}

/// Among many files that changed, by whatever name.
#[test]
fn what_is_remembered_is_found_among_many_paths() {
    let bench = Bench::new(&[("tickets/a.md", T), ("elsewhere/b.md", T), ("tickets/c/item.md", T)]);
    symlink("../elsewhere/b.md", bench.root.join("tickets/link.md")).unwrap();
    let edited = ["tickets/a.md", "tickets/link.md", "tickets/c/item.md"];
    let mut paths: Vec<PathBuf> = (0..100).map(|n| format!("tickets/{n}.md").into()).collect();
    assert!(bench.tickets.review(Reviewing::Paths(&paths)).findings.is_empty());
    for path in edited {
        bench.set_state(path, "queued").unwrap();
        bench.write(path, &T.replace("Body", "Old"));
        paths.push(path.into());
    }
    let found = bench.tickets.review(Reviewing::Paths(&paths)).findings;
    let of = |finding: &Finding| match finding {
        Finding::SavedOver { ticket, keys, .. } => format!("{ticket}: {}", keys.join(",")),
        other => panic!("{other:?}"),
    };
    assert_eq!(found.iter().map(of).collect::<Vec<_>>(), ["a: state", "link: state", "c: state"]);
    assert!(bench.tickets.review(Reviewing::Paths(&paths[..100])).findings.is_empty());
}

/// Each process says it once; and once it is on record, nobody does. Who writes another ticket looks after it too.
#[test]
fn what_is_owed_is_said_by_the_next_process_until_it_is_on_record() {
    let bench = Bench::new(&[("tickets/a.md", T), ("tickets/b.md", T)]);
    let another = || TicketFolder::new(&bench.root, "tickets", bench.root.join(".state/locks"), KeyMap::default());
    let news = |tickets: &TicketFolder| {
        let found = tickets.review(Reviewing::Own).findings;
        let is_news = |finding: &&Finding| matches!(finding, Finding::SavedOver { news: true, .. });
        found.iter().filter(is_news).count()
    };
    bench.set_state("tickets/a.md", "queued").unwrap();
    bench.write("tickets/a.md", &T.replace("Body", "Old"));
    bench.set_state("tickets/a.md", "done").unwrap();
    assert!(bench.tickets.on_record(), "what nobody was handed yet is not put on record");
    assert_eq!((news(&bench.tickets), news(&bench.tickets)), (1, 0));
    let next = another();
    next.edit(Path::new("tickets/b.md"), &mut |_| Ok(vec![Change::text("state", "done")])).unwrap();
    assert_eq!((news(&next), news(&next)), (1, 0));
    let lock = bench.tickets.locks.lock(&"a".into()).unwrap();
    assert!(!next.on_record(), "another process has the ticket just now");
    drop(lock);
    assert!(next.on_record());
    assert_eq!(news(&another()), 0);
}

#[test]
fn notes_are_appended_to_the_thread_beside_the_ticket() {
    let bench =
        Bench::new(&[("tickets/a.md", T), ("tickets/c/item.md", T), ("tickets/b.thread.md", "mine, no newline")]);
    let note = |path: &str, text: &str| bench.tickets.note(Path::new(path), text).unwrap();
    note("tickets/a.md", "- 2026-11-30T09:05:00Z — STATE queued -> inprogress by o: why\n\u{1b}[2Jx");
    note("tickets/a.md", "- two");
    note("tickets/c/item.md", "- c");
    note("tickets/b.md", "- b");
    let first = "- 2026-11-30T09:05:00Z — STATE queued -> inprogress by o: why \u{fffd}[2Jx\n";
    assert_eq!(bench.text("tickets/a.thread.md"), format!("# Thread of a\n\n{first}- two\n"));
    assert_eq!(bench.text("tickets/c/thread.md"), "# Thread of c\n\n- c\n");
    assert_eq!(bench.text("tickets/b.thread.md"), "mine, no newline\n- b\n");
    assert_eq!(bench.scan(), ["tickets/a.md = a", "tickets/c/item.md = c"]);
}
