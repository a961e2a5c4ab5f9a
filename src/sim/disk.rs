//! The ticket folder as the kernel keeps it: names, and what they stand for. An editor that has a file open goes on
//! writing into it whatever name it has by then.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a name stands for.
pub(super) type Inode = u64;

/// All files.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    pub(super) names: BTreeMap<PathBuf, Inode>,
    texts: BTreeMap<Inode, Vec<u8>>,
    next: Inode,
}

impl Disk {
    pub(super) fn read(&self, path: &Path) -> Option<&Vec<u8>> {
        self.names.get(path).and_then(|inode| self.texts.get(inode))
    }

    pub(super) fn text(&self, inode: Inode) -> &[u8] {
        self.texts.get(&inode).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn new_file(&mut self, text: &[u8]) -> Inode {
        self.next += 1;
        self.texts.insert(self.next, text.to_vec());
        self.next
    }

    /// Renames a file to this name, over whatever it stood for.
    pub(super) fn rename(&mut self, inode: Inode, path: &Path) {
        self.names.insert(path.to_owned(), inode);
    }

    /// Writes into an open file.
    pub(super) fn write(&mut self, inode: Inode, text: &[u8]) {
        self.texts.insert(inode, text.to_vec());
    }

    pub(super) fn remove(&mut self, path: &Path) {
        self.names.remove(path);
    }

    /// Exchanges a file for the one of this name; None where there is none.
    pub(super) fn exchange(&mut self, inode: Inode, path: &Path) -> Option<Inode> {
        let there = self.names.get_mut(path)?;
        Some(std::mem::replace(there, inode))
    }
}
