//! What the watcher says of itself: its lag, by a canary; where it polls and when that ends; what it doubts.

use std::os::unix::fs::MetadataExt;

use super::*;
use crate::adapters::watcher::canary::{Canary, NAME, PATIENCE};

/// A watcher on a file system that reports nothing until the flag is taken off.
fn silent(flag: &Arc<AtomicBool>) -> Scene {
    let root = TempDir::new().unwrap();
    fs::create_dir_all(root.path().join(".git")).unwrap();
    fs::create_dir_all(root.path().join("tickets/sub")).unwrap();
    let places = Places::new(root.path(), Path::new("tickets"), Some(&root.path().join(".git")));
    let (send, notices) = channel();
    let says = Arc::clone(flag);
    let unsupported = Box::new(move |_: &Places| says.load(Ordering::Relaxed).then(|| "tickets lies on NFS".into()));
    let manner = Manner { every: Duration::from_millis(5), unsupported };
    let watching = Watcher::start_with(places, manner, move |notice| drop(send.send(notice)));
    Scene { root, watching, notices, folder: "tickets".into(), sentinels: 0 }
}

#[test]
fn where_the_kernel_reports_nothing_a_look_is_asked_for_until_it_does() {
    let flag = Arc::new(AtomicBool::new(true));
    let mut scene = silent(&flag);
    assert_eq!(scene.watching.backend().to_string(), "polling: tickets lies on NFS");
    assert_eq!(scene.watching.noticing().folders, 0);
    let seen = scene.until(|seen| seen.contains("a look by the clock"));
    assert!(!seen.contains("git"));
    fs::write(scene.path(".git/HEAD"), "x").unwrap();
    scene.until(|seen| seen.contains("git"));
    flag.store(false, Ordering::Relaxed);
    scene.until(|seen| seen.iter().any(|line| line.ends_with("polling ends")));
    assert_eq!((scene.watching.backend(), scene.watching.noticing().folders), (Backend::Inotify, 2));
    scene.is_not_deaf("sub/late.md");
    // The folder is put anew on a file system that is silent.
    flag.store(true, Ordering::Relaxed);
    shell(scene.root.path(), "mv tickets away; mkdir tickets");
    scene.until(|seen| seen.iter().any(|line| line.ends_with("polling from now on, because tickets lies on NFS")));
    scene.until(|seen| seen.contains("a look by the clock"));
}

#[test]
fn the_lag_is_measured_and_leaves_nothing_behind() {
    let mut scene = Scene::new();
    assert_eq!(scene.watching.noticing().lag, None);
    // What a daemon left that was killed in between is in nobody's way.
    fs::write(scene.path("tickets").join(NAME), "").unwrap();
    for _ in 0..20 {
        scene.watching.measure(None);
        let lag = scene.watching.noticing().lag;
        assert!(matches!(lag, Some(Lag::Of(length)) if length < PATIENCE), "{lag:?}");
        assert!(!scene.path("tickets").join(NAME).exists());
    }
    assert!(scene.caused_by(|_| ()).is_empty(), "it is nobody's ticket");
    assert_eq!(scene.watching.noticing().folders, 2);
}

#[test]
fn where_it_is_not_measured_it_is_said_why() {
    let said = |scene: &Scene, not_now: Option<&str>| {
        scene.watching.measure(not_now.map(str::to_owned));
        match scene.watching.noticing().lag {
            Some(Lag::NotMeasured(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(said(&Scene::new(), Some("a merge is under way")), "a merge is under way");
    assert_eq!(said(&silent(&Arc::new(AtomicBool::new(true))), None), "changes are looked for every 2 s");
    let outside = TempDir::new().unwrap();
    let scene = Scene::of("out", |at| symlink(outside.path(), at.join("out")).unwrap());
    assert!(said(&scene, None).contains("outside the workspace"));
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    let scene = Scene::of("later", |_| ());
    assert!(said(&scene, None).ends_with("/later: No such file or directory (os error 2)"));
    // A folder in which nobody can make a file.
    let canary = Canary::default();
    canary.measure(Path::new("/proc/self"), Path::new("/"));
    assert!(
        matches!(canary.last(), Some(Lag::NotMeasured(why)) if why.starts_with("no file can be made in /proc/self"))
    );
}

#[test]
fn a_canary_that_nobody_notices_is_late() {
    let root = TempDir::new().unwrap();
    let canary = Canary::default();
    canary.measure(&root.path().canonicalize().unwrap(), &root.path().canonicalize().unwrap());
    assert_eq!(canary.last(), Some(Lag::Beyond(PATIENCE)));
}

#[test]
fn what_makes_other_files_tickets_or_takes_them_tells_of_them() {
    // What lies there belongs to it, or does not any more.
    let came = "tickets/plain/a.md";
    let mut scene = Scene::of("tickets", |at| shell(at, "mkdir tickets/plain; echo x > tickets/plain/a.md"));
    assert!(scene.caused_by(|at| shell(at, "echo x > tickets/plain/item.md")).contains(came));
    let line = "echo y > tickets/plain/item.md; cd tickets/plain; cp item.md t; mv t item.md; sed -i s/y/z/ item.md";
    let seen = scene.caused_by(|at| shell(at, line));
    assert!(seen.contains("tickets/plain/item.md") && !seen.contains(came), "a save is none: {seen:?}");
    assert!(scene.caused_by(|at| shell(at, "rm tickets/plain/item.md")).contains(came));
    assert!(!scene.caused_by(|at| shell(at, "echo x > tickets/item.md")).contains(came));
}

#[test]
fn what_happens_in_a_folder_that_was_moved_away_is_not_here() {
    let scene = Scene::new();
    shell(scene.root.path(), "mv tickets away");
    scene.until(|seen| seen.contains("everything: the ticket folder tickets is gone"));
    shell(scene.root.path(), "echo x >> away/a.md; mkdir tickets; echo x > tickets/b.md");
    let mut seen = scene.until(|seen| seen.contains("everything: the ticket folder tickets appeared"));
    shell(scene.root.path(), "echo x >> away/a.md; echo x >> away/epic/item.md; echo x >> tickets/b.md");
    seen.extend(scene.until(|seen| seen.contains("tickets/b.md")));
    assert!(!seen.contains("tickets/a.md") && !seen.contains("tickets/epic/item.md"), "{seen:?}");
}

#[test]
fn a_watcher_that_is_doubted_looks_at_everything_anew() {
    let mut scene = Scene::new();
    scene.watching.doubt("changes were missed");
    scene.until(|seen| seen.contains("everything: changes were missed"));
    scene.is_not_deaf("epic/late.md");
}

/// What the kernel is to report of this folder, by each of this process's sets of watches that has it.
fn masks(folder: &Path) -> Vec<u32> {
    let inode = format!("ino:{:x}", fs::metadata(folder).unwrap().ino());
    let mut masks = Vec::new();
    for set in fs::read_dir("/proc/self/fdinfo").unwrap().flatten() {
        for line in fs::read_to_string(set.path()).unwrap_or_default().lines() {
            let words: Vec<_> = line.split(' ').collect();
            if words.contains(&inode.as_str()) {
                let mask = words.iter().find_map(|word| word.strip_prefix("mask:")).unwrap();
                masks.push(u32::from_str_radix(mask, 16).unwrap());
            }
        }
    }
    masks
}

#[test]
fn reading_is_not_even_reported() {
    const OPEN: u32 = 0x20;
    const CLOSE_WRITE: u32 = 0x8;
    let mut scene = Scene::new();
    let not_reported = |scene: &Scene, folder: &str| {
        let masks = masks(&scene.path(folder));
        assert!(!masks.is_empty(), "{folder} is watched");
        assert!(masks.iter().all(|mask| mask & (OPEN | CLOSE_WRITE) == CLOSE_WRITE), "{folder}: {masks:x?}");
    };
    scene.is_not_deaf("b.md");
    for folder in [".", "tickets", "tickets/epic", ".git", ".git/refs"] {
        not_reported(&scene, folder);
    }
    // Nor after every way of setting watches again.
    scene.watching.doubt("changes were missed");
    scene.until(|seen| seen.contains("everything: changes were missed"));
    shell(scene.root.path(), "mkdir -p tickets/new/er; mv tickets/epic tickets/new/epic");
    scene.is_not_deaf("new/epic/late.md");
    for folder in [".", "tickets", "tickets/new", "tickets/new/er", "tickets/new/epic", ".git"] {
        not_reported(&scene, folder);
    }
    shell(scene.root.path(), "mv tickets away; mv away tickets");
    let there = |why: &String| why.ends_with("made anew") || why.ends_with("appeared");
    scene.until(|seen| seen.iter().any(there));
    scene.is_not_deaf("new/epic/later.md");
    not_reported(&scene, "tickets/new/epic");
}
