//! Paths and names as git and the file system have them: bytes.
//!
//! Must not know: what they are the paths of.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

pub(super) fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// As a person may read it.
pub(super) fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An argument list from words of both kinds.
pub(super) fn words<'a>(plain: &[&'a str], path: &'a Path) -> Vec<&'a OsStr> {
    plain.iter().map(|word| OsStr::new(*word)).chain([path.as_os_str()]).collect()
}

/// A path in quotes, as git's streams take it whatever its bytes are.
pub(super) fn quoted(path: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            0x20..=0x7e => quoted.push(*byte),
            _ => quoted.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    quoted.push(b'"');
    quoted
}

/// Whether a path lies in a folder, or is it.
pub(super) fn is_in(path: &[u8], folder: &Path) -> bool {
    let folder = bytes_of(folder);
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
