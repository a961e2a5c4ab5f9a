//! What a race that failed leaves, for whoever wants to know why: copied before the bench is taken down.
//!
//! Must not know: what a race is about.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use chrono::Utc;

use crate::support::Bench;
use crate::support::stage::Stage;

/// Who did what when, on a bench.
pub(super) struct Evidence<'b> {
    pub(super) bench: &'b Bench,
    name: String,
    notes: Mutex<Vec<String>>,
    is_kept: AtomicBool,
}

impl<'b> Evidence<'b> {
    pub(super) fn of(bench: &'b Bench, name: &str) -> Self {
        Self { bench, name: name.to_owned(), notes: Mutex::default(), is_kept: AtomicBool::new(false) }
    }

    /// Notes that something has just been done.
    pub(super) fn note(&self, what: impl Into<String>) {
        let note = format!("{} {}", Utc::now().format("%H:%M:%S%.6f"), what.into());
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }

    /// Copies the ticket folder, all of yoi's state and the notes to a folder that stays. Says where.
    pub(super) fn keep(&self) -> String {
        self.is_kept.store(true, Ordering::Release);
        let now = Utc::now().format("%Y%m%dT%H%M%S%6f");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("race-{now}-{}", self.name));
        let kept = (|| {
            copy(&self.bench.path("work/tickets"), &folder.join("tickets"))?;
            copy(&self.bench.path("work/.git/yoi"), &folder.join("state"))?;
            let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner).join("\n");
            fs::write(folder.join("notes"), notes)?;
            fs::write(folder.join("events"), self.bench.yoi("work", "events --json").to_string())?;
            let log = self.bench.path("daemon.log");
            if log.exists() {
                fs::copy(log, folder.join("daemon.log"))?;
            }
            std::io::Result::Ok(())
        })();
        match kept {
            Ok(()) => format!("everything there was is in {}", folder.display()),
            Err(error) => format!("not everything could be copied to {}: {error}", folder.display()),
        }
    }
}

/// A race that fails otherwise than by what is missing.
impl Drop for Evidence<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.is_kept.load(Ordering::Acquire) {
            eprintln!("{}", self.keep());
        }
    }
}

/// Regular files and folders.
fn copy(from: &Path, to: &PathBuf) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in walkdir::WalkDir::new(from).min_depth(1) {
        let entry = entry?;
        let there = to.join(entry.path().strip_prefix(from).unwrap_or(entry.path()));
        if entry.file_type().is_dir() {
            fs::create_dir_all(there)?;
        } else if entry.file_type().is_file() {
            fs::copy(entry.path(), there)?;
        }
    }
    Ok(())
}

#[test]
fn what_a_failed_race_leaves_is_copied_and_named() {
    let stage = Stage::new();
    stage.ticket("a", "planning", "");
    stage.done("set a k0=v0");
    let evidence = Evidence::of(&stage.bench, "proof");
    evidence.note("k0=v0 asked");
    let said = evidence.keep();
    let folder = PathBuf::from(said.strip_prefix("everything there was is in ").unwrap());
    assert!(fs::read_to_string(folder.join("tickets/a.md")).unwrap().contains("k0: v0"), "{said}");
    assert!(fs::read_to_string(folder.join("notes")).unwrap().ends_with("k0=v0 asked"));
    assert!(fs::read_to_string(folder.join("events")).unwrap().ends_with("(exit 0)"));
    let kept: Vec<_> = fs::read_dir(folder.join("state/kept")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(kept.iter().any(|name| name.to_string_lossy().ends_with(".journal")), "{kept:?}");
    fs::remove_dir_all(folder).unwrap();
}
