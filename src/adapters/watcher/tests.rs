//! The watcher on a real folder. Nothing sleeps: every action is followed by a sentinel file, and what came before the
//! sentinel's notice is what the action caused.

mod proof;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use tempfile::TempDir;

use super::*;

const BOUND: Duration = Duration::from_secs(20);

struct Scene {
    root: TempDir,
    watching: Watching,
    notices: Receiver<Notice>,
    folder: String,
    sentinels: u32,
}

impl Scene {
    /// A workspace with `tickets/a.md`, `tickets/epic/item.md` and a git directory, being watched.
    fn new() -> Self {
        Self::of("tickets", |_| ())
    }

    fn of(folder: &str, prepare: impl Fn(&Path)) -> Self {
        let root = TempDir::new().unwrap();
        let at = root.path();
        fs::create_dir_all(at.join("tickets/epic")).unwrap();
        fs::write(at.join("tickets/a.md"), "a").unwrap();
        fs::write(at.join("tickets/epic/item.md"), "item").unwrap();
        for inside in ["refs/heads", "logs", "worktrees", "yoi"] {
            fs::create_dir_all(at.join(".git").join(inside)).unwrap();
        }
        fs::write(at.join(".git/HEAD"), "ref: refs/heads/main").unwrap();
        prepare(at);
        let (send, notices) = channel();
        let watching = Watcher::start(at, Path::new(folder), Some(&at.join(".git")), move |notice| {
            let _ = send.send(notice);
        });
        Self { root, watching, notices, folder: folder.into(), sentinels: 0 }
    }

    /// Writes a file into the ticket folder; its own notice, or an "everything" that was sent after it, must come.
    fn is_not_deaf(&mut self, file: &str) {
        let file = plain(&self.folder, file);
        let seen = self.caused_by(|at| fs::write(at.join(&file), "x").unwrap());
        assert!(seen.contains(&file) || seen.iter().any(|line| line.starts_with("everything")), "{seen:?}");
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn until(&self, wanted: impl Fn(&BTreeSet<String>) -> bool) -> BTreeSet<String> {
        let began = Instant::now();
        let mut seen = BTreeSet::new();
        while !wanted(&seen) {
            let left = BOUND.checked_sub(began.elapsed()).unwrap_or_default();
            match self.notices.recv_timeout(left) {
                Ok(Notice::Paths(paths)) => seen.extend(paths.iter().map(|path| path.display().to_string())),
                Ok(Notice::Everything(why)) => drop(seen.insert(format!("everything: {why}"))),
                Ok(Notice::Look) => drop(seen.insert("a look by the clock".into())),
                Ok(Notice::Git) => drop(seen.insert("git".into())),
                Err(error) => panic!("{error}: not seen within {BOUND:?}; seen: {seen:?}"),
            }
        }
        seen
    }

    /// What `action` causes, without the sentinel. A sentinel that became part of an "everything" is tried again.
    fn caused_by(&mut self, action: impl FnOnce(&Path)) -> BTreeSet<String> {
        action(self.root.path());
        let began = Instant::now();
        let mut all = BTreeSet::new();
        loop {
            assert!(began.elapsed() < BOUND, "no file is noticed by itself; seen: {all:?}");
            self.sentinels += 1;
            let sentinel = plain(&self.folder, &format!("sentinel-{}.md", self.sentinels));
            fs::write(self.path(&sentinel), "").unwrap();
            let everything = |line: &String| line.starts_with("everything");
            let seen = self.until(|seen| seen.contains(&sentinel) || seen.iter().any(everything));
            let done = seen.contains(&sentinel);
            all.extend(seen);
            if done {
                all.retain(|line| !line.contains("sentinel"));
                return all;
            }
        }
    }
}

fn plain(folder: &str, file: &str) -> String {
    if folder == "." { file.into() } else { format!("{folder}/{file}") }
}

fn check(name: &str, action: impl FnOnce(&Path), expected: &[&str]) {
    let seen = Scene::new().caused_by(action);
    assert_eq!(seen.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{name}");
}

fn shell(at: &Path, line: &str) {
    let done = Command::new("sh").current_dir(at).args(["-euc", line]).output().unwrap();
    assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn ticket_files_are_noticed_by_path() {
    let table: [(&str, &[&str]); 11] = [
        ("echo b > tickets/b.md", &["tickets/b.md"]),
        ("echo more >> tickets/a.md", &["tickets/a.md"]),
        ("echo more >> tickets/epic/item.md", &["tickets/epic/item.md"]),
        ("echo note > tickets/epic/thread.md", &["tickets/epic/thread.md"]),
        ("rm tickets/a.md", &["tickets/a.md"]),
        ("mv tickets/a.md tickets/b.md", &["tickets/a.md", "tickets/b.md"]),
        ("mv tickets/a.md elsewhere.md", &["tickets/a.md"]),
        ("echo in > x.md; mv x.md tickets/x.md", &["tickets/x.md"]),
        ("chmod 600 tickets/a.md", &["tickets/a.md"]),
        ("ln -s a.md tickets/link.md", &["tickets/link.md"]),
        ("echo '#1' > 'tickets/#1.md'", &["tickets/#1.md"]),
    ];
    for (line, expected) in table {
        check(line, |at| shell(at, line), expected);
    }
}

#[test]
fn the_ways_editors_save_are_one_changed_ticket() {
    let table = [
        ("sed", "sed -i s/a/b/ tickets/a.md"),
        ("vim", "cd tickets; : > 4913; rm 4913; mv a.md a.md~; echo b > a.md; rm a.md~"),
        ("swap file", "cd tickets; echo s > .a.md.swp; echo b >> a.md; rm .a.md.swp"),
        ("emacs", "cd tickets; ln -s me@host .#a.md; echo s > '#a.md#'; echo b >> a.md; rm .#a.md '#a.md#'"),
        ("temporary file", "cd tickets; echo b > .a.md.tmp; mv .a.md.tmp a.md"),
        ("backup", "cd tickets; cp a.md a.md.bak; echo b > a.md"),
    ];
    for (name, line) in table {
        check(name, |at| shell(at, line), &["tickets/a.md"]);
    }
}

#[test]
fn what_is_no_ticket_is_not_noticed() {
    let table = [
        "cat tickets/a.md tickets/epic/item.md > /dev/null; ls -lR . > /dev/null",
        "echo x > tickets/a.thread.md; rm tickets/a.thread.md",
        "echo x > tickets/notes.txt; mv tickets/notes.txt tickets/n.txt; rm tickets/n.txt",
        "echo x > elsewhere.md; mkdir other; echo x > other/a.md; rm -r other",
        "mkdir .git/yoi/logs; echo x > .git/yoi/state; echo x > .git/yoi/logs/x.md; rm -r .git/yoi",
        "echo x > .git/index.lock; echo x > .git/COMMIT_EDITMSG; echo x > .git/HEAD.lock",
        "cat .git/HEAD > /dev/null",
    ];
    for line in table {
        check(line, |at| shell(at, line), &[]);
    }
}

#[test]
fn folders_that_come_go_or_move_are_everything_and_are_watched() {
    let table = [
        ("mkdir tickets/new; echo x > tickets/new/item.md", "new"),
        ("mv tickets/epic tickets/new", "new"),
        ("mkdir -p elsewhere/deep; mv elsewhere tickets/new", "new/deep"),
        ("rm -r tickets/epic; mkdir tickets/epic", "epic"),
        ("mkdir tickets/new.md", "new.md"),
        ("mkdir -p tickets/1/2/3/4", "1/2/3/4"),
        ("chmod 0 tickets/epic; chmod 755 tickets/epic", "epic"),
    ];
    for (line, folder) in table {
        let mut scene = Scene::new();
        let seen = scene.caused_by(|at| shell(at, line));
        assert!(seen.iter().any(|line| line.starts_with("everything: the folder tickets/")), "{line}: {seen:?}");
        scene.is_not_deaf(&format!("{folder}/late.md"));
    }
}

#[test]
fn a_folder_that_is_gone_or_out_is_everything() {
    for line in ["rm -r tickets/epic", "mv tickets/epic away"] {
        let seen = Scene::new().caused_by(|at| shell(at, line));
        let expected = "everything: the folder tickets/epic came, went or moved";
        assert!(seen.contains(expected), "{line}: {seen:?}");
    }
}

#[test]
fn a_symlinked_folder_is_not_followed() {
    let line = "mkdir other; ln -s ../other tickets/link; echo x > other/x.md";
    check(line, |at| shell(at, line), &[]);
}

#[test]
fn a_ticket_folder_that_goes_and_comes_back_is_watched_again() {
    let table = [
        ("tickets", "rm -r tickets", "mkdir tickets"),
        ("tickets", "mv tickets away", "mv away tickets"),
        ("deep/er/tickets", "mv deep away", "mkdir -p deep/er; mv away/er/tickets deep/er/"),
        ("deep/er/tickets", "rm -r deep", "mkdir -p deep/er/tickets"),
        ("link", "rm link", "mkdir other; ln -s other link"),
        ("link", "mv tickets away", "mv away tickets"),
    ];
    for (folder, go, come) in table {
        let mut scene = Scene::of(folder, |at| shell(at, "mkdir -p deep/er/tickets; ln -s tickets link"));
        scene.is_not_deaf("early.md");
        shell(scene.root.path(), go);
        let gone = format!("everything: the ticket folder {folder} is gone");
        scene.until(|seen| seen.contains(&gone));
        shell(scene.root.path(), come);
        let back = format!("everything: the ticket folder {folder} appeared");
        scene.until(|seen| seen.contains(&back));
        scene.is_not_deaf("late.md");
        assert_eq!(scene.watching.backend(), Backend::Inotify);
    }
}

#[test]
fn what_the_library_cannot_watch_at_one_go_is_watched_all_the_same() {
    // The last one may be read by root.
    for line in ["mkdir -p tickets/.git/objects", "mkdir -p tickets/deep/.yoi", "mkdir -m 0 tickets/closed"] {
        let mut scene = Scene::of("tickets", |at| shell(at, &format!("{line}; mkdir -p tickets/z/y")));
        for file in ["z/y/a.md", "epic/item.md", "late.md"] {
            scene.is_not_deaf(file);
        }
        shell(scene.root.path(), "chmod -R u+rwX tickets");
    }
}

#[test]
fn a_ticket_folder_swapped_for_another_at_once_is_watched() {
    for line in
        ["mv tickets away; mkdir tickets", "rm -r tickets; mkdir tickets", "mv tickets away; ln -s away tickets"]
    {
        let mut scene = Scene::new();
        shell(scene.root.path(), line);
        let there = |why: &String| why.ends_with("made anew") || why.ends_with("appeared");
        scene.until(|seen| seen.iter().any(there));
        scene.is_not_deaf("late.md");
    }
}

#[test]
fn a_ticket_folder_that_is_not_there_yet_is_waited_for() {
    let mut scene = Scene::of("later/tickets", |_| ());
    shell(scene.root.path(), "mkdir -p later/tickets/sub; echo x > later/tickets/sub/a.md");
    scene.until(|seen| seen.contains("everything: the ticket folder later/tickets appeared"));
    scene.is_not_deaf("sub/b.md");
}

#[test]
fn the_workspace_itself_can_be_the_ticket_folder() {
    let mut scene = Scene::of(".", |_| ());
    let seen = scene.caused_by(|at| {
        shell(at, "echo x > top.md; echo x > .git/yoi/x.md; mkdir .git/objects; echo x > .git/objects/y.md");
    });
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["top.md"]);
}

#[test]
fn what_happens_in_git_is_git() {
    let table = [
        "echo x > .git/HEAD.lock; mv .git/HEAD.lock .git/HEAD",
        "echo x > .git/index.lock; mv .git/index.lock .git/index",
        "echo x > .git/index.lock; rm .git/index.lock",
        "echo x > .git/packed-refs",
        "echo x >> .git/logs/HEAD",
        "mkdir .git/worktrees/w",
        "echo x > .git/MERGE_HEAD",
        "mkdir .git/rebase-merge",
        "mkdir -p .git/refs/yoi/claims",
    ];
    for line in table {
        check(line, |at| shell(at, line), &["git"]);
    }
}

#[test]
fn claims_made_later_are_noticed_at_any_depth() {
    let mut scene = Scene::new();
    assert!(scene.caused_by(|at| shell(at, "mkdir -p .git/refs/yoi/claims")).contains("git"));
    let line = "echo x > .git/refs/yoi/claims/a.lock; mv .git/refs/yoi/claims/a.lock .git/refs/yoi/claims/a";
    assert!(scene.caused_by(|at| shell(at, line)).contains("git"));
    assert!(scene.caused_by(|at| shell(at, "rm .git/refs/yoi/claims/a")).contains("git"));
}

#[test]
fn thousands_of_files_at_once_are_all_noticed_or_everything_is() {
    let mut scene = Scene::new();
    let seen = scene.caused_by(|at| shell(at, "cd tickets; seq -f 'n%05g.md' 7000 | xargs touch"));
    let all = (1..=7000).all(|n| seen.contains(&format!("tickets/n{n:05}.md")));
    assert!(all || seen.iter().any(|line| line.starts_with("everything: ")), "{} seen", seen.len());
}

#[test]
fn an_overflow_and_an_error_are_everything() {
    let places = Places::new(Path::new("/ws"), Path::new("tickets"), None);
    let overflow = notify::Event::new(notify::EventKind::Other).set_flag(notify::event::Flag::Rescan);
    for (event, overflowed) in [(Ok(overflow), true), (Err(notify::Error::generic("odd")), false)] {
        let mut pile = Pile::default();
        pile.sort(&places, event);
        assert_eq!((pile.overflowed, pile.lost.is_some(), pile.is_empty()), (overflowed, !overflowed, false));
    }
}

#[test]
fn a_dropped_watcher_ends_its_thread() {
    let scene = Scene::new();
    drop(scene.watching);
    // The callback, and with it the sender, lives as long as the thread.
    assert!(matches!(scene.notices.recv_timeout(BOUND), Err(std::sync::mpsc::RecvTimeoutError::Disconnected)));
}

#[test]
fn a_symlinked_workspace_is_the_same_workspace() {
    let scene = Scene::new();
    let other = TempDir::new().unwrap();
    symlink(scene.root.path(), other.path().join("ws")).unwrap();
    let (send, notices) = channel();
    let at = other.path().join("ws");
    let _watching = Watcher::start(&at, Path::new("tickets"), None, move |notice| drop(send.send(notice)));
    fs::write(at.join("tickets/a.md"), "x").unwrap();
    assert_eq!(notices.recv_timeout(BOUND), Ok(Notice::Paths(vec!["tickets/a.md".into()])));
}
