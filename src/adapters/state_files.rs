//! Small JSON files in the state folder, each replaced as a whole: a crash leaves the old text or the new one.
//!
//! Must not know: what stands in them.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::files::{self, named};

/// How the names of texts begin that are not whole yet.
pub const UNFINISHED: &str = ".new-";

/// Reads one file; None where there is none. A damaged one is an error (`InvalidData`) that names it, line and column;
/// what becomes of it is the caller's choice.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    let text = match files::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(named(path, &error)),
    };
    serde_json::from_slice(&text).map(Some).map_err(|error| {
        let message = format!("{}: damaged: {error}; move it away to go on without it", path.display());
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

/// Writes one file (mode 0600; missing folders 0700): a temporary file beside it, made durable, takes its name.
pub fn write_json<T: Serialize + ?Sized>(path: &Path, value: &T) -> io::Result<()> {
    write(path, value).map_err(|error| named(path, &error))
}

fn write<T: Serialize + ?Sized>(path: &Path, value: &T) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    let folder = path.parent().unwrap_or(Path::new("/"));
    files::own_folder(folder)?;
    // Mode 0600 from the start, and gone again if anything below fails.
    let mut temporary = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    temporary.write_all(&text)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|failed| failed.error)?;
    File::open(folder)?.sync_all()
}

/// Removes one file; it need not be there.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(named(path, &error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn what_was_written_is_read_privately_and_without_leftovers() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("deep/state.json");
        assert_eq!(read_json::<Vec<String>>(&path).unwrap(), None);
        for value in [vec!["a", "ü\n"], vec![], vec!["b"; 1000]] {
            write_json(&path, &value).unwrap();
            assert_eq!(read_json::<Vec<String>>(&path).unwrap().unwrap(), value);
        }
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_damaged_file_is_named_with_its_place_and_kept() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("pods.json");
        for text in ["", "{", "[1,\n2", "{\"a\": 1}", "\u{0}\u{0}"] {
            fs::write(&path, text).unwrap();
            let error = read_json::<Vec<u32>>(&path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            let message = error.to_string();
            assert!(message.starts_with(&path.display().to_string()) && message.contains("line"), "{message}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file_whole() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("state.json");
        write_json(&path, &[1]).unwrap();
        // A map whose keys are lists cannot be written as JSON.
        let odd: std::collections::BTreeMap<Vec<u8>, u8> = [(vec![1], 2)].into();
        assert!(write_json(&path, &odd).is_err());
        // Nor can anything take the name of a folder.
        fs::create_dir(folder.path().join("taken")).unwrap();
        let message = write_json(&folder.path().join("taken"), &[1]).unwrap_err().to_string();
        assert!(message.contains("taken: "), "{message}");
        assert_eq!(read_json::<Vec<u8>>(&path).unwrap(), Some(vec![1]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
