//! What is looked at where the kernel does not report changes: which file systems those are, and git's marks.
//!
//! Must not know: how often somebody looks. FAULTS kind 23.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use walkdir::WalkDir;

use super::sorting::{GIT_NAMES, Places};

/// File systems on which changes made elsewhere (another machine, a host, a server process) are never reported:
/// magic number (statfs(2)) and name.
const SILENT: [(u64, &str); 14] = [
    (0x6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x517b, "SMB"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x7375_7245, "Coda"),
    (0x564c, "NCP"),
    (0x786f_4256, "a VirtualBox shared folder"),
    (0xbacb_acbc, "a VMware shared folder"),
    (0x7461_636f, "OCFS2"),
];

/// Why the places cannot be watched, if they cannot.
pub(super) fn unsupported(places: &Places) -> Option<String> {
    let tickets = places.tickets.ancestors().find(|path| path.exists());
    tickets.into_iter().chain(places.git.as_deref()).find_map(|path| {
        let name = silent(file_system(path)?)?;
        Some(format!("{} lies on {name}, which does not report changes", path.display()))
    })
}

/// The name of the file system on which this lies, if others than this machine may be at work on it.
pub(in crate::adapters) fn shared_with_others(path: &Path) -> Option<&'static str> {
    silent(file_system(path)?)
}

fn file_system(path: &Path) -> Option<u64> {
    // The kernel's number is 32 bits wide, and sign-extended on some architectures.
    rustix::fs::statfs(path).ok().and_then(|found| u64::try_from(found.f_type & 0xffff_ffff).ok())
}

fn silent(magic: u64) -> Option<&'static str> {
    SILENT.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name)
}

/// Size, inode and change time of each thing in git that a notice would come from.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GitMarks(Vec<(u64, u64, i64, i64)>);

impl GitMarks {
    pub(super) fn of(places: &Places) -> Self {
        let Some(git) = &places.git else { return Self::default() };
        let names = GIT_NAMES.iter().chain(&["index.lock", "logs/HEAD", "reftable/tables.list"]);
        let fixed = names.map(|name| git.join(name).metadata().ok());
        let refs = WalkDir::new(git.join("refs/yoi")).sort_by_file_name().into_iter().flatten();
        let refs = refs.map(|entry| entry.metadata().ok());
        let mark = |found: Option<std::fs::Metadata>| {
            found.map_or((0, 0, 0, 0), |m| (m.size(), m.ino(), m.mtime(), m.mtime_nsec()))
        };
        Self(fixed.chain(refs).map(mark).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silent_file_systems_are_named() {
        for (magic, name) in [(0x6969, "NFS"), (0xff53_4d42, "CIFS"), (0x0102_1997, "9p"), (0x6573_5546, "FUSE")] {
            assert_eq!(silent(magic), Some(name));
        }
        // ext4, tmpfs, btrfs, xfs, overlayfs
        for magic in [0xef53, 0x0102_1994, 0x9123_683e, 0x5846_5342, 0x794c_7630] {
            assert_eq!(silent(magic), None, "{magic:#x}");
        }
    }

    #[test]
    fn the_file_system_of_this_machine_has_a_number() {
        assert!(file_system(Path::new("/proc")).is_some_and(|magic| magic == 0x9fa0));
    }
}
