//! Keeps a run to be found as long as it goes on: its lock is what tells the next daemon not to start a second one. When
//! its files are deleted, with the whole state folder perhaps, they are made anew.
//!
//! Must not know: the program; who deletes files.

use std::env;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::adapters::files;
use crate::adapters::own_files::OwnFiles;
use crate::adapters::runs::files::{RunFiles, Started};
use crate::ports::runs::Order;

/// How soon files that could not be made anew are tried again, at first and at last.
const SOONEST: Duration = Duration::from_millis(50);
const LATEST: Duration = Duration::from_mins(1);

/// The held locks of one run, and what to write again beside a new one.
pub(super) struct Holding {
    files: RunFiles,
    order: Order,
    held: Mutex<Held>,
}

struct Held {
    /// The newest last. Those whose files are gone are held too: a daemon may be waiting for them.
    locks: Vec<File>,
    started: Option<Started>,
    over: bool,
}

impl Holding {
    /// Of this process, whose working folder becomes the run's: there its files are found after a move, too.
    pub(super) fn new(files: &RunFiles, order: Order, lock: File) -> io::Result<Arc<Self>> {
        env::set_current_dir(files.folder())?;
        let held = Mutex::new(Held { locks: vec![lock], started: None, over: false });
        Ok(Arc::new(Self { files: files.clone(), order, held }))
    }

    /// Watches the lock's file from now on, on a thread that ends with the process.
    pub(super) fn guard(self: &Arc<Self>) -> io::Result<()> {
        let holding = Arc::clone(self);
        thread::Builder::new().name("yoi holds".into()).spawn(move || holding.watch()).map(drop)
    }

    /// Who runs, to be written again. Where the lock lies is filled in.
    pub(super) fn note(&self, started: &mut Started) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        started.place = held.locks.last().and_then(|lock| self.files.as_seen_within().place(lock));
        held.started = Some(started.clone());
    }

    /// Lets all of it go.
    pub(super) fn release(&self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.over = true;
        for lock in held.locks.drain(..) {
            // Not by closing alone: a child between fork and exec may have it open too.
            let _ = lock.unlock();
        }
    }

    fn watch(&self) {
        let (own, mut pause) = (OwnFiles::default(), SOONEST);
        loop {
            own.watch(&self.files.lock_path());
            match self.see_to_it() {
                Ok(true) => {
                    pause = SOONEST;
                    own.wait();
                }
                Ok(false) => return,
                // Where it lay is nothing any more, or the disk is full.
                Err(_) => {
                    thread::sleep(pause);
                    pause = (pause * 2).min(LATEST);
                }
            }
        }
    }

    /// False: the run is over.
    fn see_to_it(&self) -> io::Result<bool> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.over {
            return Ok(false);
        }
        if held.locks.last().is_some_and(|lock| self.files.as_seen_within().is_lock(lock)) {
            return Ok(true);
        }
        let lock = self.make_anew(held.started.clone())?;
        held.locks.push(lock);
        Ok(true)
    }

    fn make_anew(&self, started: Option<Started>) -> io::Result<File> {
        let folder = self.files.folder();
        // The workspace itself is not made anew: without it there is no next daemon either.
        let outside = folder.parent().and_then(Path::parent);
        if !outside.is_some_and(Path::is_dir) {
            return Err(io::ErrorKind::NotFound.into());
        }
        files::own_folder(folder)?;
        let lock = self.files.open_lock()?;
        lock.try_lock()?;
        env::set_current_dir(folder)?;
        self.files.write_order(&self.order)?;
        if let Some(started) = started {
            self.files.write_started(&Started { place: self.files.place(&lock), ..started })?;
        }
        Ok(lock)
    }
}
