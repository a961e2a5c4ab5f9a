//! Which files any process has open, as far as this process may know.
//!
//! Must not know: why it matters.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::adapters::files::FileId;
use crate::adapters::processes::proc_files::pids;

/// The files that processes have open.
#[derive(Clone, Debug, Default)]
pub struct Openness {
    open: BTreeSet<FileId>,
}

impl Openness {
    /// Looks through all processes but this one; those of other people cannot be looked into.
    pub fn now() -> Self {
        let mut open = BTreeSet::new();
        for pid in pids().filter(|pid| *pid != std::process::id()) {
            for descriptor in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
                if let Ok(metadata) = fs::metadata(descriptor.path())
                    && metadata.is_file()
                {
                    open.insert(FileId::of(&metadata));
                }
            }
        }
        Self { open }
    }

    /// Whether somebody is known to have this file open.
    pub fn is_open(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|metadata| self.open.contains(&FileId::of(&metadata)))
    }
}
