//! Whether the ticket folder is there, and can be read and written; and making it.
//!
//! Must not know: what lies in it.

use std::fs;
use std::io::{self, ErrorKind};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;

use super::super::files;
use super::TicketFolder;

impl TicketFolder {
    /// Why it cannot be read as a whole, if it cannot.
    pub fn readable(&self) -> io::Result<()> {
        self.workspace_is_there()?;
        let folder = self.workspace.join(&self.folder);
        let said = |kind, what: &str| Err(io::Error::new(kind, format!("{}: {what}", folder.display())));
        match fs::metadata(&folder) {
            Ok(found) if !found.is_dir() => said(ErrorKind::NotADirectory, "this is no folder"),
            Err(error) if error.kind() == ErrorKind::NotFound => said(error.kind(), "there is no such folder"),
            _ => fs::read_dir(&folder).map(drop).map_err(|error| files::named(&folder, &error)),
        }
    }

    /// Why nothing can be written in it, if nothing can.
    pub(super) fn writable(&self) -> io::Result<()> {
        let folder = self.workspace.join(&self.folder);
        match accessat(CWD, &folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS) {
            Err(error @ (Errno::ROFS | Errno::ACCESS | Errno::PERM)) => {
                Err(io::Error::other(format!("{}: nothing can be written there: {error}", folder.display())))
            }
            // Any other answer says nothing of that.
            _ => Ok(()),
        }
    }

    /// Makes it, in a workspace that is there.
    pub(super) fn make(&self) -> io::Result<()> {
        self.workspace_is_there()?;
        let folder = self.workspace.join(&self.folder);
        fs::create_dir_all(&folder).map_err(|error| files::named(&folder, &error))
    }

    fn workspace_is_there(&self) -> io::Result<()> {
        if self.workspace.is_dir() {
            return Ok(());
        }
        let message = "the workspace is not there any more: was it moved, or removed?";
        Err(files::named(&self.workspace, &io::Error::new(ErrorKind::NotFound, message)))
    }
}
