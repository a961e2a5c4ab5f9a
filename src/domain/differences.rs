//! Where the disk differs from what was last read, as a walk that looks at sizes, times and numbers alone finds it.
//!
//! Must not know: how files are told apart. DESIGN.md 8, Self-proof.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::backlog::Backlog;
use super::ticket::Digest;

/// What a walk found. A difference is a hint to read again: the content may be the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Files that are there and were not read, or not as they are now.
    pub changed: Vec<PathBuf>,
    /// Files that were read and are not there: each a [`Differences::name`].
    pub gone: Vec<Digest>,
}

impl Differences {
    /// What stands for a path among those that are gone. The walk keeps no paths: for 10,000 files they would take more
    /// room than everything else that it needs.
    pub fn name(path: &Path) -> Digest {
        Digest::of(path.as_os_str().as_encoded_bytes())
    }

    /// All of it as paths. What is gone and is no known file was no ticket either.
    pub fn paths(&self, backlog: &Backlog) -> Vec<PathBuf> {
        let mut paths = self.changed.clone();
        if !self.gone.is_empty() {
            let gone: BTreeSet<Digest> = self.gone.iter().copied().collect();
            let known = backlog.known_paths().filter(|path| gone.contains(&Self::name(path)));
            paths.extend(known.map(Path::to_path_buf));
        }
        paths
    }
}
