//! Reads back what was saved, or restored, and compares every byte, path and mode with the files.
//!
//! Must not know: which of the two it is.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::super::git_program;
use super::asking::text;
use super::paths::{bytes_of, path_of, shown};
use super::printing::{Entry, Kind};
use super::trouble::failed;
use super::{GitWorktrees, LONG};
use crate::ports::worktrees::{Salvage, WorktreesError};

/// How much of two files is compared at once.
const AT_ONCE: usize = 64 << 10;

/// One entry of a tree that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Saved {
    pub mode: String,
    pub object: String,
    pub path: PathBuf,
}

impl Saved {
    fn kind(&self) -> Kind {
        match self.mode.as_str() {
            "120000" => Kind::Link,
            "160000" => Kind::Repository,
            _ => Kind::File,
        }
    }
}

impl GitWorktrees {
    /// Everything in a tree, folders left out.
    pub(super) fn saved_in(&self, tree: &str) -> Result<Vec<Saved>, WorktreesError> {
        let said = self.ask(&["ls-tree", "-r", "-z", "--full-tree", tree])?;
        let read = |entry: &[u8]| {
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            let what = text(&entry[..tab]);
            let mut words = what.split(' ');
            let (mode, object) = (words.next()?.to_owned(), words.nth(1)?.to_owned());
            Some(Saved { mode, object, path: path_of(&entry[tab + 1..]) })
        };
        Ok(said.split(|byte| *byte == 0).filter_map(read).collect())
    }

    /// Whether what was saved is these entries, byte for byte.
    pub(super) fn verify(&self, salvage: &Salvage, folder: &Path, entries: &[Entry]) -> Result<(), WorktreesError> {
        let saved = self.saved_in(&salvage.commit)?;
        let wanted: BTreeMap<_, _> = entries
            .iter()
            .filter(|entry| entry.kind != Kind::Folder)
            .map(|entry| (entry.path.as_path(), entry))
            .collect();
        let differs =
            |path: &Path| failed(format!("{} is not as it was saved ({})", path.display(), salvage.reference));
        for one in &saved {
            let entry = wanted.get(one.path.as_path()).ok_or_else(|| differs(&one.path))?;
            let executable = entry.kind == Kind::File && entry.mode & 0o100 != 0;
            if entry.kind != one.kind() || executable != (one.mode == "100755") {
                return Err(differs(&one.path));
            }
        }
        if saved.len() != wanted.len() {
            let found: Vec<_> = saved.iter().map(|one| one.path.as_path()).collect();
            let missing = wanted.keys().find(|path| !found.contains(path)).copied().unwrap_or(folder);
            return Err(differs(missing));
        }
        self.each(&saved, |one, content| is_same(&folder.join(&one.path), one.kind(), content))
            .and_then(|differing| differing.map_or(Ok(()), |path| Err(differs(&path))))
    }

    /// Goes through the contents in order; the first for which `look` says no.
    pub(super) fn each(
        &self,
        saved: &[Saved],
        mut look: impl FnMut(&Saved, &mut dyn Read) -> io::Result<bool>,
    ) -> Result<Option<PathBuf>, WorktreesError> {
        let blobs: Vec<_> = saved.iter().filter(|one| one.kind() != Kind::Repository).collect();
        let feed = |out: &mut dyn Write| blobs.iter().try_for_each(|one| writeln!(out, "{}", one.object));
        let take = |said: &mut dyn Read| {
            let mut said = BufReader::new(said);
            let mut first = None;
            for one in &blobs {
                let length = length(&mut said, one)?;
                let mut content = Read::take(&mut said, length);
                if !look(one, &mut content)? {
                    first.get_or_insert_with(|| one.path.clone());
                }
                io::copy(&mut content, &mut io::sink())?;
                said.read_exact(&mut [0])?;
            }
            io::copy(&mut said, &mut io::sink())?;
            Ok(first)
        };
        let arguments = ["cat-file", "--batch"].map(OsStr::new);
        Ok(git_program::stream(&self.workspace, &arguments, LONG, feed, take)?)
    }
}

/// `OBJECT blob LENGTH`.
fn length(said: &mut impl BufRead, one: &Saved) -> io::Result<u64> {
    let mut line = String::new();
    said.read_line(&mut line)?;
    let length = line.trim_end().rsplit_once(" blob ").or_else(|| line.trim_end().split_once(" blob "));
    let number = length.and_then(|(_, number)| number.parse().ok());
    number.ok_or_else(|| io::Error::other(format!("git said `{}` of {}", line.trim_end(), shown(bytes_of(&one.path)))))
}

/// Whether the file, or symlink, holds exactly this.
fn is_same(place: &Path, kind: Kind, content: &mut dyn Read) -> io::Result<bool> {
    if kind == Kind::Link {
        let mut target = Vec::new();
        content.read_to_end(&mut target)?;
        return Ok(fs::read_link(place)?.as_os_str().as_bytes() == target);
    }
    let mut file = File::open(place)?;
    let (mut one, mut other) = (vec![0; AT_ONCE], vec![0; AT_ONCE]);
    loop {
        let read = content.read(&mut one)?;
        if read == 0 {
            return Ok(file.read(&mut other)? == 0);
        }
        if let Err(error) = file.read_exact(&mut other[..read]) {
            return if error.kind() == io::ErrorKind::UnexpectedEof { Ok(false) } else { Err(error) };
        }
        if one[..read] != other[..read] {
            return Ok(false);
        }
    }
}
