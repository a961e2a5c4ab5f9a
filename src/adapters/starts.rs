//! Claims and starts that are under way, a file each in the state folder, held by a kernel lock on it.
//!
//! Must not know: what a start does; when one is mended.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::files::{self, FileId, Text, named};
use crate::domain::ticket::TicketId;
use crate::ports::starts::{Begun, CutOff, Marked, StartMark, Starts};

/// How the name of a mark's file ends: as long as nobody has found it cut off,
const END: &str = "start";
/// and from then on.
const MENDED: &str = "mending";

/// The marks in one folder.
#[derive(Clone, Debug)]
pub struct StartFolder {
    folder: PathBuf,
}

impl StartFolder {
    /// The folder is made with the first mark.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }
}

struct Mark {
    path: PathBuf,
    file: File,
    whose: StartMark,
}

impl Marked for Mark {
    fn mark(&self) -> &StartMark {
        &self.whose
    }

    fn forget(self: Box<Self>) -> io::Result<()> {
        fs::remove_file(&self.path).map_err(|error| named(&self.path, &error))
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        // Not by closing alone: a child between fork and exec may have it open too.
        let _ = self.file.unlock();
    }
}

impl Starts for StartFolder {
    fn begin(&self, mark: &StartMark) -> io::Result<Box<dyn Marked>> {
        files::own_folder(&self.folder)?;
        loop {
            let name = format!("{}.{END}", ulid::Ulid::generate().to_string().to_lowercase());
            let path = self.folder.join(name);
            let mut file = files::open_own(&path, Text::Kept).map_err(|error| named(&path, &error))?;
            file.lock().map_err(|error| named(&path, &error))?;
            // Whoever looked for cut-off ones in this very moment has taken it for one.
            if !is_there(&file, &path) {
                continue;
            }
            let written = serde_json::to_vec(mark).map_err(io::Error::other)?;
            let synced = |file: &File| if mark.begun == Begun::Start { file.sync_all() } else { Ok(()) };
            file.write_all(&written).and_then(|()| synced(&file)).map_err(|error| {
                let _ = fs::remove_file(&path);
                named(&path, &error)
            })?;
            return Ok(Box::new(Mark { path, file, whose: mark.clone() }));
        }
    }

    fn cut_off(&self, of: Option<&TicketId>) -> io::Result<CutOff> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(CutOff::default()),
            Err(error) => return Err(named(&self.folder, &error)),
        };
        let mut found = CutOff::default();
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_found = path.extension().is_some_and(|end| end == MENDED);
            if !is_found && path.extension().is_none_or(|end| end != END) || is_anothers(&path, of) {
                continue;
            }
            match taken(&path)? {
                Some(mark) => found.held.push(Box::new(mark)),
                // It is there still: somebody has it, and nobody but a mender gives it that name.
                None => found.is_being_mended |= is_found && path.exists(),
            }
        }
        Ok(found)
    }
}

/// Whether it says that it is another ticket's: nobody holds that for a moment who does not mend it.
fn is_anothers(path: &Path, of: Option<&TicketId>) -> bool {
    let Some(of) = of else { return false };
    let whose = fs::read(path).ok().and_then(|text| serde_json::from_slice::<StartMark>(&text).ok());
    whose.is_some_and(|whose| whose.ticket != *of)
}

/// A mark whose start is not under way any more. One that says nothing was cut off before anything was done.
fn taken(path: &Path) -> io::Result<Option<Mark>> {
    let mut file = match files::open_own(path, Text::Kept) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(named(path, &error)),
    };
    match file.try_lock() {
        Ok(()) if is_there(&file, path) => {}
        Ok(()) | Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(named(path, &error)),
    }
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(|error| named(path, &error))?;
    if let Ok(whose) = serde_json::from_slice(&text) {
        let found = path.with_extension(MENDED);
        fs::rename(path, &found).map_err(|error| named(path, &error))?;
        return Ok(Some(Mark { path: found, file, whose }));
    }
    fs::remove_file(path).map_err(|error| named(path, &error))?;
    Ok(None)
}

fn is_there(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), path.metadata()) else { return false };
    FileId::of(&open) == FileId::of(&there)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(ticket: &str) -> StartMark {
        let begun = if ticket == "a" { Begun::Claim } else { Begun::Start };
        StartMark { ticket: ticket.into(), worker: "w".into(), begun, nonce: Some("n".into()), alone: false }
    }

    fn cut_off(starts: &StartFolder) -> Vec<String> {
        starts.cut_off(None).unwrap().held.iter().map(|marked| marked.mark().ticket.to_string()).collect()
    }

    /// How many of this ticket were cut off, and whether somebody else mends one.
    fn of(starts: &StartFolder, ticket: &str) -> (usize, bool) {
        let found = starts.cut_off(Some(&ticket.into())).unwrap();
        (found.held.len(), found.is_being_mended)
    }

    #[test]
    fn a_start_is_cut_off_when_its_holder_is_gone_and_it_was_not_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let starts = StartFolder::new(folder.path().join("starts"));
        assert!(cut_off(&starts).is_empty());
        let (one, two) = (starts.begin(&mark("a")).unwrap(), starts.begin(&mark("b")).unwrap());
        assert!(cut_off(&starts).is_empty(), "both are under way");
        two.forget().unwrap();
        drop(one);
        assert_eq!(cut_off(&starts), ["a"]);
        let mut held = starts.cut_off(None).unwrap().held;
        assert!(cut_off(&starts).is_empty(), "somebody mends it");
        assert_eq!((of(&starts, "a"), of(&starts, "b")), ((0, true), (0, false)));
        // Whoever mends it is killed, or could not do it.
        drop(held.pop());
        assert_eq!((of(&starts, "b"), of(&starts, "a")), ((0, false), (1, false)));
        held = starts.cut_off(None).unwrap().held;
        held.pop().unwrap().forget().unwrap();
        assert_eq!(of(&starts, "a"), (0, false));
    }

    #[test]
    fn a_mark_of_a_former_version_is_one_of_a_start() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("x.start"), r#"{"ticket":"a","worker":"w"}"#).unwrap();
        let found = StartFolder::new(folder.path()).cut_off(None).unwrap();
        let expected = StartMark { begun: Begun::Start, nonce: None, ..mark("a") };
        assert_eq!(found.held.iter().map(|marked| marked.mark()).collect::<Vec<_>>(), [&expected]);
    }

    #[test]
    fn one_that_says_nothing_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("x.start"), "{").unwrap();
        fs::write(folder.path().join("note.txt"), "mine").unwrap();
        assert!(cut_off(&StartFolder::new(folder.path())).is_empty());
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["note.txt"]);
    }
}
