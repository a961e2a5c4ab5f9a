//! Folders that need not be listed: a folder with an `item.md` and no folder below it holds one ticket and nothing else.
//! Whether there is a folder below it says the number of its links, on the file systems that count them.
//!
//! Must not know: what a file says; what is hidden in a folder.

use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Stat, statat};

use super::layout::ITEM;

/// File systems on which each folder has two links of its own and one of every folder in it: magic number (statfs(2)).
const COUNTING: [u64; 3] = [0xef53, 0x5846_5342, 0x0102_1994];

/// Tells such folders below one ticket folder.
pub(super) struct Leaves {
    /// The device that the ticket folder lies on; None where links say nothing. Another file system may be mounted below.
    device: Option<u64>,
}

impl Leaves {
    /// For this ticket folder.
    pub(super) fn of(root: &Path) -> Self {
        // The kernel's number is 32 bits wide, and sign-extended on some architectures.
        let magic = rustix::fs::statfs(root).ok().and_then(|found| u64::try_from(found.f_type & 0xffff_ffff).ok());
        let counts = magic.is_some_and(|magic| COUNTING.contains(&magic));
        Self { device: root.metadata().ok().filter(|_| counts).map(|found| found.dev()) }
    }

    /// The looks of the one ticket file in this folder, symlinks resolved; None where the folder has to be listed. The
    /// path begins at `from`.
    pub(super) fn item(&self, from: impl AsFd, folder: &Path) -> Option<Stat> {
        let device = self.device?;
        let found = statat(&from, folder, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_folder = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        // Its own name and its `.`: nothing below names it as `..`.
        if !is_folder || found.st_dev != device || found.st_nlink != 2 {
            return None;
        }
        let item = statat(&from, folder.join(ITEM), AtFlags::empty()).ok()?;
        (FileType::from_raw_mode(item.st_mode) != FileType::Directory).then_some(item)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn only_a_folder_with_an_item_and_no_folder_below_is_one() {
        let root = TempDir::new().unwrap();
        let make = |path: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        };
        for file in ["leaf/item.md", "leaf/notes.md", "deep/item.md", "deep/below/item.md", "none/notes.md"] {
            make(file);
        }
        fs::create_dir_all(root.path().join("odd/item.md")).unwrap();
        symlink("leaf", root.path().join("link")).unwrap();
        fs::create_dir(root.path().join("dangling")).unwrap();
        symlink("nowhere", root.path().join("dangling/item.md")).unwrap();
        fs::create_dir(root.path().join("linked")).unwrap();
        symlink("../leaf/item.md", root.path().join("linked/item.md")).unwrap();

        let (leaves, open) = (Leaves::of(root.path()), File::open(root.path()).unwrap());
        let is_leaf = |folder: &str| leaves.item(&open, Path::new(folder)).is_some();
        if !is_leaf("leaf") {
            eprintln!("SKIPPED: {} lies on a file system that does not count links", root.path().display());
            return;
        }
        assert!(is_leaf("linked"));
        for folder in ["deep", "none", "odd", "link", "dangling", "nothing"] {
            assert!(!is_leaf(folder), "{folder}");
        }
        fs::create_dir(root.path().join("leaf/new")).unwrap();
        assert!(!is_leaf("leaf"), "a folder appeared in it");
    }
}
