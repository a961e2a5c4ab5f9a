//! What git keeps for each linked worktree, read from its small files: cheap enough for every look at the board.
//!
//! Must not know: what is in a worktree.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::GitWorktrees;
use super::occupants;
use super::paths::path_of;
use crate::domain::facts;
use crate::domain::worktree::BRANCHES;
use crate::ports::worktrees::Inside;

/// The most that is read of one of git's small files, in bytes.
const MOST_BYTES: u64 = 1 << 16;

/// The folder in which git keeps what it knows of one linked worktree.
#[derive(Clone, Debug)]
pub(super) struct Admin {
    /// That folder.
    pub folder: PathBuf,
    /// The worktree's folder, as it is on record.
    pub path: PathBuf,
}

impl Admin {
    fn read(folder: PathBuf) -> Option<Self> {
        let file = folder.join(path_of(small(&folder.join("gitdir"))?.trim_ascii_end()));
        Some(Self { path: tidy(file.parent()?), folder })
    }

    /// What its HEAD file says: a branch's whole name, else nothing (reftable keeps it elsewhere).
    fn branch(&self) -> Option<String> {
        let head = small(&self.folder.join("HEAD"))?;
        let branch = head.strip_prefix(b"ref:")?.trim_ascii();
        String::from_utf8(branch.to_vec()).ok()
    }
}

impl GitWorktrees {
    /// Of every linked worktree of the repository.
    pub(super) fn admins(&self) -> Vec<Admin> {
        let folder = self.common.as_ref().map(|common| common.join("worktrees"));
        let entries = folder.and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        let mut admins: Vec<_> = entries.filter_map(|entry| Admin::read(entry.path())).collect();
        admins.sort_by(|one, other| one.path.cmp(&other.path));
        admins
    }

    /// Of the worktree in this folder.
    pub(super) fn admin(&self, path: &Path) -> Option<Admin> {
        self.admins().into_iter().find(|admin| same(&admin.path, path))
    }

    /// The ticket's name, where the worktree is one of a ticket's: by where it lies, else by its branch.
    pub(super) fn name_of(&self, path: &Path, branch: Option<&str>) -> Option<String> {
        let below = |root: &Path| path.parent().is_some_and(|parent| same(parent, root));
        let by_place = || below(&self.root()).then(|| path.file_name()?.to_str().map(str::to_owned)).flatten();
        let by_branch = || branch?.strip_prefix(BRANCHES).map(str::to_owned);
        by_place().or_else(by_branch)
    }

    /// Who else works in one of this name.
    pub(super) fn others_in(&self, name: &str, but: &[u32]) -> Vec<Inside> {
        let of_name = |admin: &Admin| self.name_of(&admin.path, admin.branch().as_deref()).as_deref() == Some(name);
        let paths = self.admins().into_iter().filter(of_name).map(|admin| admin.path);
        paths.flat_map(|path| inside(&path, but)).collect()
    }

    /// Every worktree of a ticket that is there, and a process that works in it.
    pub(super) fn all_standing(&self) -> Vec<(String, facts::Worktree)> {
        let there = self.admins().into_iter().filter(|admin| admin.path.join(".git").exists());
        let named: Vec<_> = there
            .filter_map(|admin| Some((self.name_of(&admin.path, admin.branch().as_deref())?, admin.path)))
            .collect();
        let working = occupants::working_in(named.iter().map(|(_, path)| path.as_path()));
        let fact = |((name, path), live_process): ((String, PathBuf), Option<u32>)| {
            (name, facts::Worktree { path: path.display().to_string(), live_process })
        };
        named.into_iter().zip(working).map(fact).collect()
    }
}

fn inside(path: &Path, but: &[u32]) -> Vec<Inside> {
    let occupants = occupants::others_in(path, but).into_iter();
    occupants.map(|occupant| Inside { path: path.to_owned(), occupant }).collect()
}

/// The same folder, whatever symlinks lead there; by name where it is gone.
pub(super) fn same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Without `.` and `..`, which git's relative paths have, and without asking the file system: the folder may be gone.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(tidy.pop()),
            std::path::Component::CurDir => {}
            part => tidy.push(part),
        }
    }
    tidy
}

fn small(file: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(file).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
