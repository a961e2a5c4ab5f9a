//! Refs as they lie in a repository's files, read in one pass: libgit2 looks each of them up again, and that is most of what
//! looking at ten thousand takes. Only for repositories that keep refs in files, which are those that libgit2 opens.
//!
//! Must not know: objects; what a claim is.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use walkdir::WalkDir;

use super::refs::is_object_id;

/// What a ref's file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// This object id.
    Oid(String),
    /// Anything else.
    Odd,
}

/// All refs whose names begin with this prefix, which ends with a slash. A lock of git's is none.
pub(super) fn below(common_dir: &Path, prefix: &str) -> io::Result<BTreeMap<String, Head>> {
    // In this order: one that is being packed lies in the packed file before its own is gone.
    let mut found = loose(common_dir, prefix)?;
    let packed = match fs::read(common_dir.join("packed-refs")) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        packed => packed?,
    };
    for line in String::from_utf8_lossy(&packed).lines() {
        let Some((oid, name)) = line.split_once(' ') else { continue };
        if name.starts_with(prefix) && is_object_id(oid) && !found.contains_key(name) {
            found.insert(name.to_owned(), Head::Oid(oid.to_owned()));
        }
    }
    Ok(found)
}

fn loose(common_dir: &Path, prefix: &str) -> io::Result<BTreeMap<String, Head>> {
    let mut found = BTreeMap::new();
    for entry in WalkDir::new(common_dir.join(prefix)) {
        let entry = match entry {
            Ok(entry) => entry,
            // A folder that is emptied goes.
            Err(error) if error.io_error().is_some_and(|error| error.kind() == ErrorKind::NotFound) => continue,
            Err(error) => return Err(error.into()),
        };
        let name = entry.path().strip_prefix(common_dir).ok().and_then(Path::to_str);
        let Some(name) = name.filter(|name| !entry.file_type().is_dir() && name.rsplit('.').next() != Some("lock"))
        else {
            continue;
        };
        match fs::read(entry.path()) {
            Ok(text) => drop(found.insert(name.to_owned(), head(&text))),
            // It was packed, or deleted, just now.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => drop(found.insert(name.to_owned(), Head::Odd)),
        }
    }
    Ok(found)
}

fn head(text: &[u8]) -> Head {
    match std::str::from_utf8(text).map(str::trim_ascii_end) {
        Ok(oid) if is_object_id(oid) => Head::Oid(oid.to_owned()),
        _ => Head::Odd,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loose_ones_count_more_than_packed_ones_and_locks_count_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path();
        let (one, two) = ("1".repeat(40), "2".repeat(64));
        assert_eq!(below(git, "refs/x/").unwrap(), BTreeMap::new());
        let packed = format!(
            "# pack-refs with: peeled fully-peeled sorted \n{one} refs/x/packed\n^{two}\n{one} refs/x/both\n{one} refs/xy/z\n"
        );
        fs::write(git.join("packed-refs"), packed).unwrap();
        fs::create_dir_all(git.join("refs/x/deep")).unwrap();
        for (name, text) in [
            ("both", format!("{two}\n")),
            ("deep/er", one.clone()),
            ("a.lock", one.clone()),
            ("link", "ref: refs/heads/main\n".into()),
            ("empty", String::new()),
        ] {
            fs::write(git.join("refs/x").join(name), text).unwrap();
        }
        std::os::unix::fs::symlink("nowhere", git.join("refs/x/gone")).unwrap();
        let found = below(git, "refs/x/").unwrap();
        let oid = |oid: &String| Head::Oid(oid.clone());
        let expected = [
            ("both", oid(&two)),
            ("deep/er", oid(&one)),
            ("empty", Head::Odd),
            ("link", Head::Odd),
            ("packed", oid(&one)),
        ];
        assert_eq!(found, expected.map(|(name, head)| (format!("refs/x/{name}"), head)).into());
    }
}
