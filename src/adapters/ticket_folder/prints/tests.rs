//! The comparing walk on real files: it finds what reading would find, and nothing where nothing changed.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::Instant;

use tempfile::TempDir;

use crate::adapters::ticket_folder::TicketFolder;
use crate::domain::differences::Differences;
use crate::ports::Tickets;
use crate::text::keys::KeyMap;

const LAYOUT: &str = "mkdir -p tickets/epic/files tickets/epic/child tickets/plain/deep tickets/.hidden tickets/x.md
    for file in a.md b.md README.md a.thread.md notes.txt epic/item.md epic/notes.md epic/files/report.md \
        epic/child/item.md plain/c.md plain/deep/d.md .hidden/e.md x.md/f.md item.md 4913 g.md~; do
        printf -- '---\ntitle: x\nstate: ready\n---\n' > \"tickets/$file\"
    done
    echo 'no frontmatter' > tickets/README.md
    printf -- '---\ntitle: x\nstate: ready\n---\n' > target.md
    ln -s ../target.md tickets/link.md
    ln -s ../nowhere.md tickets/dangling.md
    ln -s plain tickets/folder.md";

struct Scene {
    root: TempDir,
    tickets: TicketFolder,
    folder: &'static str,
}

impl Scene {
    /// Read once, at a time at which every file's looks are certain.
    fn new(folder: &'static str) -> Self {
        let root = TempDir::new().unwrap();
        let keys = KeyMap::default();
        let tickets = TicketFolder::new(root.path(), folder, root.path().join("locks"), keys).comparing();
        let scene = Self { root, tickets, folder };
        scene.shell(LAYOUT);
        scene.settle();
        scene
    }

    fn shell(&self, line: &str) {
        let done = Command::new("sh").current_dir(self.root.path()).args(["-euc", line]).output().unwrap();
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Reads until no file was read in the same step of the clock that it was changed in.
    fn settle(&self) {
        let began = Instant::now();
        while self.tickets.scan().is_ok() && self.found() != Differences::default() {
            assert!(began.elapsed().as_secs() < 20, "{:?}", self.found());
        }
    }

    fn found(&self) -> Differences {
        self.tickets.differences().unwrap()
    }

    fn changed(&self) -> BTreeSet<String> {
        self.found().changed.iter().map(|path| path.display().to_string()).collect()
    }
}

fn check(line: &str, changed: &[&str], gone: &[&str]) {
    let scene = Scene::new("tickets");
    scene.shell(line);
    let found = scene.found();
    let mut names: Vec<_> = found.changed.iter().map(|path| path.display().to_string()).collect();
    names.sort();
    assert_eq!(names, changed, "{line}");
    let gone: BTreeSet<_> = gone.iter().map(|path| Differences::name(path.as_ref())).collect();
    assert_eq!(found.gone.into_iter().collect::<BTreeSet<_>>(), gone, "{line}");
    scene.settle();
}

#[test]
fn what_reading_would_find_is_found() {
    let same = "touch -r tickets/a.md keep; printf -- '---\ntitle: y\nstate: ready\n---\n' > tickets/a.md; touch -r keep tickets/a.md";
    let table: [(&str, &[&str], &[&str]); 16] = [
        ("echo more >> tickets/a.md", &["tickets/a.md"], &[]),
        (same, &["tickets/a.md"], &[]),
        ("cp tickets/a.md t; mv t tickets/a.md", &["tickets/a.md"], &[]),
        ("echo x > tickets/new.md", &["tickets/new.md"], &[]),
        ("rm tickets/a.md", &[], &["tickets/a.md"]),
        ("mv tickets/a.md tickets/z.md", &["tickets/z.md"], &["tickets/a.md"]),
        ("echo more >> tickets/epic/item.md", &["tickets/epic/item.md"], &[]),
        ("rm -r tickets/epic/child", &[], &["tickets/epic/child/item.md"]),
        ("echo more >> target.md", &["tickets/link.md"], &[]),
        ("rm target.md", &["tickets/link.md"], &[]),
        ("echo x > nowhere.md", &["tickets/dangling.md"], &[]),
        ("rm tickets/README.md", &[], &["tickets/README.md"]),
        // What lies beside an `item.md` belongs to it; without it, it is tickets.
        (
            "echo x > tickets/plain/item.md",
            &["tickets/plain/item.md"],
            &["tickets/plain/c.md", "tickets/plain/deep/d.md"],
        ),
        (
            "rm tickets/epic/item.md",
            &["tickets/epic/files/report.md", "tickets/epic/notes.md"],
            &["tickets/epic/item.md"],
        ),
        // A link to a folder is no ticket; one that leads nowhere is one that cannot be read.
        (
            "mv tickets/plain tickets/other",
            &["tickets/folder.md", "tickets/other/c.md", "tickets/other/deep/d.md"],
            &["tickets/plain/c.md", "tickets/plain/deep/d.md"],
        ),
        // Nothing that is no ticket's, and nothing that only reads.
        (
            "echo x > tickets/a.thread.md; echo x > tickets/notes.txt; echo x > tickets/.hidden/e.md; echo x > tickets/epic/notes.md; cat tickets/a.md; echo x > tickets/h.md~",
            &[],
            &[],
        ),
    ];
    for (line, changed, gone) in table {
        check(line, changed, gone);
    }
}

#[test]
fn what_was_read_in_the_step_of_the_clock_in_which_it_changed_is_read_once_more() {
    let scene = Scene::new("tickets");
    for _ in 0..50 {
        scene.shell("echo x >> tickets/a.md");
        scene.tickets.read("tickets/a.md".as_ref());
        // The same size, and possibly the same time.
        fs::write(scene.root.path().join("tickets/b.md"), "---\ntitle: 1\nstate: ready\n---\n").unwrap();
        scene.tickets.read("tickets/b.md".as_ref());
        fs::write(scene.root.path().join("tickets/b.md"), "---\ntitle: 2\nstate: ready\n---\n").unwrap();
        assert!(scene.changed().contains("tickets/b.md"));
    }
    scene.settle();
}

#[test]
fn the_workspace_itself_can_be_the_ticket_folder() {
    let scene = Scene::new(".");
    scene.shell("echo more >> target.md; echo x > new.md");
    let mut changed = scene.changed();
    changed.retain(|path| !path.starts_with("tickets/"));
    assert_eq!(changed.into_iter().collect::<Vec<_>>(), ["new.md", "target.md"], "{}", scene.folder);
}

#[test]
fn a_folder_that_is_gone_is_an_error_and_nothing_else() {
    let scene = Scene::new("tickets");
    scene.shell("mv tickets away");
    assert!(scene.tickets.differences().is_err());
    scene.shell("mv away tickets");
    assert_eq!(scene.found(), Differences::default());
}

#[test]
fn whoever_keeps_nothing_says_so() {
    let root = TempDir::new().unwrap();
    let tickets = TicketFolder::new(root.path(), ".", root.path().join("locks"), KeyMap::default());
    assert!(tickets.differences().is_err());
}
