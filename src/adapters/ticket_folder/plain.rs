//! Markdown files that lie where tickets lie and have no frontmatter: no tickets and no errors, and yet somebody may have
//! meant one by it.
//!
//! Must not know: who is told of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Of so many the names are kept: a folder of documents is no folder of tickets that somebody got wrong.
const MOST: usize = 1000;

/// Their paths, relative to the workspace, as last read.
#[derive(Debug, Default)]
pub(super) struct Plain(Mutex<BTreeSet<PathBuf>>);

impl Plain {
    /// This file was read and has none, or has some, or is gone.
    pub(super) fn put(&self, path: &Path, is_plain: bool) {
        let mut known = self.known();
        if !is_plain {
            known.remove(path);
        } else if known.len() < MOST {
            known.insert(path.to_owned());
        }
    }

    /// Everything is read anew.
    pub(super) fn forget_all(&self) {
        self.known().clear();
    }

    /// Those that are still there: of a folder that was moved away as a whole nobody tells file by file.
    pub(super) fn there(&self, workspace: &Path) -> Vec<PathBuf> {
        self.known().iter().filter(|path| workspace.join(path).is_file()).cloned().collect()
    }

    fn known(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_number_is_kept() {
        let plain = Plain::default();
        let root = tempfile::tempdir().unwrap();
        for number in 0..=MOST {
            plain.put(Path::new(&format!("{number}.md")), true);
        }
        assert_eq!(plain.known().len(), MOST);
        assert_eq!(plain.there(root.path()), Vec::<PathBuf>::new(), "none of them is there");
        std::fs::write(root.path().join("7.md"), "").unwrap();
        assert_eq!(plain.there(root.path()), ["7.md"].map(PathBuf::from));
        plain.put(Path::new("7.md"), false);
        assert_eq!(plain.there(root.path()), Vec::<PathBuf>::new());
    }
}
