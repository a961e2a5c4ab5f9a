//! Appends audit notes to a ticket's thread.
//!
//! Must not know: what a note says. DESIGN.md 2.1, 2.3.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::super::files;
use super::{TicketFolder, layout};
use crate::text::thread;

/// Appends one line, or nothing; makes the file, with a heading, where it is missing. Never through a symlink out of the
/// workspace.
pub(super) fn append(folder: &TicketFolder, ticket: &Path, note: &str) -> io::Result<()> {
    let path = layout::thread_of(&folder.folder, ticket);
    let target = target(folder, &path)?;
    let _lock = folder.locks.lock(&folder.id(ticket))?;
    let (mut file, size) = open(&target)?;
    let mut text = String::new();
    if size == 0 {
        text.push_str(&thread::heading(folder.id(ticket).as_str()));
    } else if !ends_with_newline(&mut file)? {
        text.push('\n');
    }
    text.push_str(&thread::line(note));
    files::extend(&mut file, size, text.as_bytes()).inspect_err(|_| {
        // An empty thread says nothing to anybody.
        if file.metadata().is_ok_and(|now| now.len() == 0) {
            let _ = fs::remove_file(&target);
        }
    })
}

/// The file to append to: the real one behind a symlink that stays in the workspace.
fn target(folder: &TicketFolder, path: &Path) -> io::Result<PathBuf> {
    let outside = || {
        let message = format!("{}: lies outside the workspace (a symlink); yoi never writes there", path.display());
        io::Error::new(io::ErrorKind::PermissionDenied, message)
    };
    if folder.workspace.join(path).is_symlink() {
        return folder.inside(path)?.ok_or_else(outside);
    }
    let parent = path.parent().unwrap_or(Path::new(""));
    let real = folder.inside(parent)?.ok_or_else(outside)?;
    Ok(real.join(path.file_name().unwrap_or_default()))
}

fn open(path: &Path) -> io::Result<(File, u64)> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::from_raw_mode(0o666))?);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        let message = format!("{}: the thread is not a regular file", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok((file, metadata.len()))
}

fn ends_with_newline(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
