//! Which files any process has open, as far as this process may know.
//!
//! Must not know: why it matters.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The files that processes have open: device and inode.
#[derive(Clone, Debug, Default)]
pub struct Openness {
    open: BTreeSet<(u64, u64)>,
}

impl Openness {
    /// Looks through all processes but this one; those of other people cannot be looked into.
    pub fn now() -> Self {
        let own = std::process::id().to_string();
        let mut open = BTreeSet::new();
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let name = process.file_name();
            let is_other = name != *own && name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
            if !is_other {
                continue;
            }
            for descriptor in fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten() {
                if let Ok(metadata) = fs::metadata(descriptor.path())
                    && metadata.is_file()
                {
                    open.insert((metadata.dev(), metadata.ino()));
                }
            }
        }
        Self { open }
    }

    /// Whether somebody is known to have this file open.
    pub fn is_open(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|metadata| self.open.contains(&(metadata.dev(), metadata.ino())))
    }
}
