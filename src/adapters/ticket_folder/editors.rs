//! The marks that editors leave beside a file that they have open, or have not saved.
//!
//! JetBrains' editors and VS Code leave none beside the file: nobody can wait for them. Must not know: what the mark is
//! asked for.

use std::path::Path;

/// The name of an editor's mark beside this file, if there is one. It may be a dead editor's.
pub(super) fn mark_beside(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?;
    let marks = [
        // vim, and nano with locking.
        format!(".{name}.swp"),
        format!(".{name}.swo"),
        format!(".{name}.swn"),
        // Emacs: a symlink to nowhere while there are unsaved changes, and what it saves by itself.
        format!(".#{name}"),
        format!("#{name}#"),
        // LibreOffice, and others that follow it.
        format!(".~lock.{name}#"),
        // Kate.
        format!(".{name}.kate-swp"),
    ];
    marks.into_iter().find(|mark| file.with_file_name(mark).symlink_metadata().is_ok())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn each_editors_mark_is_seen_and_nobody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.md");
        let marks = [".t.md.swp", ".t.md.swo", "#t.md#", ".~lock.t.md#", ".t.md.kate-swp"];
        assert_eq!(mark_beside(&file), None);
        for mark in marks {
            fs::write(folder.path().join(mark), "").unwrap();
            assert_eq!(mark_beside(&file).as_deref(), Some(mark));
            fs::remove_file(folder.path().join(mark)).unwrap();
        }
        symlink("ana@host.123:1", folder.path().join(".#t.md")).unwrap();
        assert_eq!(mark_beside(&file).as_deref(), Some(".#t.md"));
        for other in [".u.md.swp", "t.md~", ".t.md.yoi-aaaaaa.tmp"] {
            fs::write(folder.path().join(other), "").unwrap();
        }
        fs::remove_file(folder.path().join(".#t.md")).unwrap();
        assert_eq!(mark_beside(&file), None);
    }
}
