//! What a ref looks like from outside, to see without opening the repository that it has not moved.
//!
//! Must not know: what the ref says.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Inode, size and times of whatever a ref's value may lie in. Equal: it has not moved. Different: it may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace([Option<[i64; 6]>; 3]);

impl Trace {
    /// Of the ref with this full name.
    pub(super) fn of(common_dir: &Path, name: &str) -> Self {
        let look = |path: &str| {
            let found = fs::metadata(common_dir.join(path)).ok()?;
            let inode = found.ino().cast_signed();
            let size = found.size().cast_signed();
            Some([inode, size, found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()])
        };
        match look(name) {
            // A loose one counts, whatever else there is.
            Some(loose) => Self([Some(loose), None, None]),
            None => Self([None, look("packed-refs"), look("reftable/tables.list")]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_differs_after_each_way_of_moving_a_ref_and_after_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path();
        let trace = || Trace::of(git, "refs/yoi/claims/a");
        fs::create_dir_all(git.join("refs/yoi/claims")).unwrap();
        fs::create_dir(git.join("reftable")).unwrap();
        let mut before = trace();
        let moved = |path: &str, text: &str| {
            // As git writes: another file takes the place.
            fs::write(git.join("new"), text).unwrap();
            fs::rename(git.join("new"), git.join(path)).unwrap();
        };
        for path in ["packed-refs", "reftable/tables.list", "refs/yoi/claims/a", "refs/yoi/claims/a"] {
            moved(path, "0123");
            assert_ne!(trace(), before, "{path}");
            before = trace();
        }
        moved("packed-refs", "4567");
        moved("refs/yoi/claims/b", "4567");
        assert_eq!(trace(), before, "a loose one counts");
        fs::remove_file(git.join("refs/yoi/claims/a")).unwrap();
        assert_ne!(trace(), before, "packed away");
    }
}
