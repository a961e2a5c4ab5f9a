//! Reading whole files, bounded, and only regular ones: a pipe or device in the ticket folder must not hang anybody.
//! And the files and folders of yoi's own, which come with the workspace where there is no git (`.yoi/run`): never made,
//! written, emptied or removed through a symlink, never waited for.
//!
//! Must not know: tickets; what a file is for.

use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// Files are read up to this many bytes and one more, so that the reader sees that there is more.
const LIMIT: usize = crate::text::document::MAX_FILE + 1;

/// Which file it is, whatever its names: the same after a move, another in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct FileId {
    dev: u64,
    ino: u64,
}

impl FileId {
    pub(super) fn of(file: &Metadata) -> Self {
        Self { dev: file.dev(), ino: file.ino() }
    }
}

/// The bytes of a regular file, symlinks followed, at most one more than [`crate::text::document::MAX_FILE`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_with_metadata(path).map(|(bytes, _)| bytes)
}

/// The same, with the metadata of the file that was read.
pub(super) fn read_with_metadata(path: &Path) -> io::Result<(Vec<u8>, Metadata)> {
    read_open(open(path)?)
}

/// The same of a path that begins at an open folder: the way to the folder is not gone for each file in it.
pub(super) fn read_from(folder: impl AsFd, path: &Path) -> io::Result<(Vec<u8>, Metadata)> {
    read_open(File::from(rustix::fs::openat(folder, path, READING, Mode::empty())?))
}

fn read_open(mut file: File) -> io::Result<(Vec<u8>, Metadata)> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(not_regular());
    }
    let size = usize::try_from(metadata.len()).unwrap_or(LIMIT).min(LIMIT);
    // All of it and nothing after it, at one stroke, is the end; whatever else comes is asked for again.
    let mut bytes = vec![0; (size + 1).min(LIMIT)];
    let read = file.read(&mut bytes)?;
    bytes.truncate(read);
    if read == 0 || read != size {
        file.take((LIMIT - read) as u64).read_to_end(&mut bytes)?;
    }
    Ok((bytes, metadata))
}

/// All bytes of a regular file, however many: for a text that will stand in the file again, and must not be shorter then.
pub(super) fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    if !file.metadata()?.is_file() {
        return Err(not_regular());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "this is not a regular file")
}

const READING: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

/// Opens to read, without waiting for the other end of a pipe.
pub(super) fn open(path: &Path) -> io::Result<File> {
    Ok(File::from(rustix::fs::open(path, READING, Mode::empty())?))
}

/// What becomes of the text that a file of yoi's own has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// It stays: a lock.
    Kept,
    /// More is added to it: a log.
    Extended,
    /// It goes.
    Replaced,
}

/// Opens a file of yoi's own to write (to read too where its text is kept); it is made where it is missing (mode 0600).
/// What is no regular file, a symlink to one included, is refused.
pub fn open_own(path: &Path, text: Text) -> io::Result<File> {
    let how = match text {
        Text::Kept => OFlags::RDWR,
        Text::Extended => OFlags::WRONLY | OFlags::APPEND,
        Text::Replaced => OFlags::WRONLY | OFlags::TRUNC,
    };
    let flags = how | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = match rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::LOOP) => return Err(foreign("a symlink", "file")),
        // A pipe that nobody reads, a socket.
        Err(rustix::io::Errno::NXIO) => return Err(foreign("not a regular file", "file")),
        Err(error) => return Err(error.into()),
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(foreign("not a regular file", "file")) }
}

/// Adds a text to a file of `size` bytes that is open to append: all of it, or on a full disk nothing.
pub(super) fn extend(file: &mut File, size: u64, text: &[u8]) -> io::Result<()> {
    let wanted = text.len() as u64;
    // Room first, where the file system can be asked for it.
    let room = rustix::fs::fallocate(&*file, FallocateFlags::KEEP_SIZE, size, wanted);
    if let Err(full @ (Errno::NOSPC | Errno::DQUOT)) = room {
        return Err(full.into());
    }
    file.write_all(text).inspect_err(|_| {
        // Ours is cut off again; what somebody else has added meanwhile is not.
        if file.metadata().is_ok_and(|now| now.len() > size && now.len() < size + wanted) {
            let _ = file.set_len(size);
        }
    })
}

/// Makes a folder of yoi's own (mode 0700). What is missing above it is made too as far as it is yoi's own: the git
/// directory and the workspace never are, so that a workspace that was moved or removed does not come back as an empty
/// folder. A symlink in its place is refused. Errors name the path.
pub fn own_folder(path: &Path) -> io::Result<()> {
    make_own(path).map_err(|error| named(path, &error))
}

fn make_own(path: &Path) -> io::Result<()> {
    // A folder elsewhere is its caller's business.
    let existing = || path.ancestors().skip(1).find(|folder| folder.is_dir());
    let ground = ground_of(path).or_else(existing).unwrap_or(path);
    if let Err(error) = ground.metadata()
        && error.kind() == io::ErrorKind::NotFound
    {
        let gone = "is not there, and yoi does not make it anew: was the workspace moved, or removed?";
        return Err(io::Error::new(error.kind(), format!("{} {gone}", ground.display())));
    }
    let missing: Vec<_> = path.ancestors().take_while(|folder| *folder != ground).collect();
    for folder in missing.into_iter().rev() {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match folder.symlink_metadata()? {
                there if there.is_dir() => {}
                there if there.is_symlink() => return Err(foreign("a symlink", "folder")),
                _ => return Err(foreign("a file", "folder")),
            },
            made => made?,
        }
    }
    Ok(())
}

/// The folder that yoi's own folders lie in: the git directory for `<git directory>/yoi`, or `yoi/<16 hex digits>`;
/// `.yoi` for `.yoi/run`; None for a folder that lies nowhere of the kind (DESIGN.md 9).
fn ground_of(path: &Path) -> Option<&Path> {
    let is = |folder: &Path, name: &str| folder.file_name().is_some_and(|found| found == name);
    path.ancestors().find_map(|state| {
        let above = state.parent()?;
        let short = state.file_name()?.to_str()?;
        let short = short.len() == 16 && short.bytes().all(|byte| byte.is_ascii_hexdigit());
        if short && is(above, "yoi") {
            return above.parent();
        }
        (is(state, "yoi") || (is(state, "run") && is(above, ".yoi"))).then_some(above)
    })
}

/// The same error with its path before it, unless that is there already.
pub fn named(path: &Path, error: &io::Error) -> io::Error {
    let (path, said) = (path.display().to_string(), error.to_string());
    if said.contains(&path) {
        return io::Error::new(error.kind(), said);
    }
    let to_do = match error.kind() {
        io::ErrorKind::PermissionDenied => "; look at its owner and mode",
        io::ErrorKind::NotADirectory => "; something above it is no folder: move that away",
        io::ErrorKind::IsADirectory => "; this is a folder where a file should be: move it away",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; make room",
        io::ErrorKind::ReadOnlyFilesystem => "; it can only be read there",
        _ => "",
    };
    io::Error::new(error.kind(), format!("{path}: {said}{to_do}"))
}

/// Whether the path is a folder itself, and no symlink to one: what lies in it may be yoi's own.
pub fn is_own_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

fn foreign(what: &str, wanted: &str) -> io::Error {
    let message = format!("this is {what}, no {wanted} of yoi's own; move it away");
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn an_own_file_is_never_somebody_elses() {
        let folder = TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("precious"), "text").unwrap();
        symlink(path("precious"), path("link")).unwrap();
        symlink(path("nowhere"), path("dangling")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        fs::create_dir(path("folder")).unwrap();
        for text in [Text::Kept, Text::Extended, Text::Replaced] {
            for name in ["link", "dangling", "pipe", "folder"] {
                assert!(open_own(&path(name), text).is_err(), "{name} {text:?}");
            }
            open_own(&path("own"), text).unwrap();
        }
        assert_eq!(fs::read_to_string(path("precious")).unwrap(), "text");
        assert!(!path("nowhere").exists());
        assert_eq!(fs::metadata(path("own")).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn an_own_folder_is_never_a_link_to_another() {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        symlink(folder.path().join("home"), folder.path().join("link")).unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        for (name, what) in [("link", "this is a symlink, no folder"), ("file", "this is a file, no folder")] {
            let path = folder.path().join(name);
            let error = own_folder(&path).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{}: {what}", path.display())) && !is_own_folder(&path), "{error}");
        }
        own_folder(&folder.path().join("own")).unwrap();
        own_folder(&folder.path().join("own")).unwrap();
        assert!(is_own_folder(&folder.path().join("own")));
    }

    #[test]
    fn only_what_is_yois_own_is_made_where_it_is_missing() {
        let ground = |path: &str| ground_of(Path::new(path)).map(|ground| ground.to_str().unwrap().to_owned());
        for (path, expected) in [
            ("/home/yoi/w/.git/yoi", Some("/home/yoi/w/.git")),
            ("/home/yoi/w/.git/yoi/locks", Some("/home/yoi/w/.git")),
            ("/srv/yoi/yoi/0123456789abcdef/kicks", Some("/srv/yoi")),
            ("/w/.yoi/run/runs", Some("/w/.yoi")),
            ("/w/run/runs", None),
            ("/tmp/deep/own", None),
        ] {
            assert_eq!(ground(path).as_deref(), expected, "{path}");
        }
        let folder = TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name);
        for deep in ["work/.git/yoi/locks", "work/.git/yoi/0123456789abcdef/locks", "work/.yoi/run/kicks"] {
            let error = own_folder(&path(deep)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            assert!(error.to_string().contains("is not there, and yoi does not make it anew"), "{error}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fs::create_dir_all(path("work/.git")).unwrap();
        own_folder(&path("work/.git/yoi/0123456789abcdef/locks")).unwrap();
        own_folder(&path("work/.git/yoi/locks")).unwrap();
        assert!(is_own_folder(&path("work/.git/yoi/locks")));
    }

    #[test]
    fn an_error_names_its_path_once_and_what_to_do() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let once = named(Path::new("/a/b"), &full);
        assert_eq!((once.kind(), once.to_string()), (full.kind(), format!("/a/b: {full}; make room")));
        assert_eq!(named(Path::new("/a/b"), &once).to_string(), once.to_string());
    }
}
