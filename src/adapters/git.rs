//! The main worktree as git sees it: libgit2 first, the git program for what libgit2 cannot open or cannot know.
//!
//! Must not know: what a dirty worktree or an obstacle holds up. DESIGN.md 2.3 and 6.1.

mod of_ticket;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use git2::{FileMode, ObjectType, Repository, Status, StatusEntry, StatusOptions, Tree};

use super::git_program::{self, GitError};
use super::git_under_way::{CHANGING, INDEX_LOCK};
use crate::domain::evidence::close::Checks;
use crate::domain::facts::Dirty;
use crate::ports::{MainWorktree, Obstacle};

/// How many changed paths are named.
const NAMED: usize = 5;

/// How long git may look for a commit that knew the ticket folder.
const LOOKING_BACK: Duration = Duration::from_secs(2);

/// The worktree that a workspace lies in.
#[derive(Clone, Debug)]
pub struct GitWorktree {
    root: PathBuf,
    /// The git directory of this very worktree; None without git.
    git_dir: Option<PathBuf>,
    /// The ticket folder, absolute.
    tickets: PathBuf,
    /// What does not count, absolute.
    excluded: Vec<PathBuf>,
}

impl GitWorktree {
    /// The worktree around the workspace `root`; `common_dir` is its repository's common directory, None without git.
    /// `ticket_folder` is relative to the workspace, or absolute.
    pub fn new(root: &Path, common_dir: Option<&Path>, ticket_folder: &Path) -> Self {
        // Canonical, as git names its worktree; a ticket folder that is a symlink counts as itself and as its target.
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        let tickets: PathBuf = root.join(ticket_folder).components().collect();
        let target = tickets.canonicalize().ok().filter(|target| *target != tickets);
        let excluded = [Some(root.join(".yoi")), Some(tickets.clone()), target].into_iter().flatten().collect();
        let git_dir = common_dir.map(|common| own_git_dir(&root).unwrap_or_else(|| common.to_path_buf()));
        Self { root, git_dir, tickets, excluded }
    }

    /// Asks libgit2. The paths are relative to the top of the worktree.
    fn changed_by_library(&self) -> Result<Option<Changed>, git2::Error> {
        let repository = Repository::discover(&self.root)?;
        let Some(top) = repository.workdir().map(Path::to_path_buf) else { return Ok(None) };
        let parts = self.parts_that_count(&repository, &top)?;
        if parts.is_empty() {
            return Ok(Some(Changed { paths: Vec::new() }));
        }
        let mut options = StatusOptions::new();
        // Each file of what is asked for is looked at: not thousands of tickets that do not count.
        options.disable_pathspec_match(true);
        for part in parts {
            options.pathspec(part);
        }
        // Without the flag it would take the user's index lock for itself, to note which files it found unchanged.
        options.include_untracked(false).include_ignored(false).include_unreadable(true).update_index(false);
        let statuses = repository.statuses(Some(&mut options))?;
        let changed = statuses.iter().filter(counts).map(|entry| path_of(entry.path_bytes()));
        let changed = Changed { paths: changed.filter(|path| !self.is_excluded(&top.join(path))).collect() };
        Ok(Some(changed))
    }

    /// Asks the git program, which knows every kind of repository, filter, sparse checkout and submodule.
    fn changed_by_program(&self) -> Result<Changed, GitError> {
        let top = git_program::run(&self.root, &["rev-parse", "--show-toplevel"])?;
        let top = path_of(top.strip_suffix(b"\n").unwrap_or(&top));
        let arguments =
            ["status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=dirty", "--no-renames"];
        let listed = git_program::run(&self.root, &arguments)?;
        // Two letters and a blank before each path.
        let paths = listed.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..)).map(path_of);
        Ok(Changed { paths: paths.filter(|path| !self.is_excluded(&top.join(path))).collect() })
    }

    /// Files and folders that git tracks, relative to the top, and that hold nothing but what counts: all of that is in
    /// one of them.
    fn parts_that_count(&self, repository: &Repository, top: &Path) -> Result<BTreeSet<Vec<u8>>, git2::Error> {
        let mut parts = BTreeSet::new();
        let mut last = Vec::new();
        for entry in repository.index()?.iter() {
            // In order: what lies below what was just met is no news.
            if !last.is_empty() && entry.path.starts_with(&last) {
                continue;
            }
            let (part, counts) = self.part(top, &entry.path);
            last = [part, b"/"].concat();
            if counts {
                parts.insert(part.to_vec());
            }
        }
        // What the index has no more; of a branch without a commit there is nothing.
        if let Ok(tree) = repository.head().and_then(|head| head.peel_to_tree()) {
            self.add_parts(repository, top, (&tree, b""), &mut parts)?;
        }
        Ok(parts)
    }

    /// The shortest beginning of a path that holds only what counts, or only what does not; and which of it.
    fn part<'p>(&self, top: &Path, path: &'p [u8]) -> (&'p [u8], bool) {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
        for end in ends.chain([path.len()]) {
            let place = top.join(path_of(&path[..end]));
            if self.is_excluded(&place) {
                return (&path[..end], false);
            }
            if !self.is_around_excluded(&place) {
                return (&path[..end], true);
            }
        }
        (path, true)
    }

    fn add_parts(
        &self,
        repository: &Repository,
        top: &Path,
        (tree, below): (&Tree<'_>, &[u8]),
        parts: &mut BTreeSet<Vec<u8>>,
    ) -> Result<(), git2::Error> {
        for entry in tree {
            let path = [below, entry.name_bytes()].concat();
            let place = top.join(path_of(&path));
            if self.is_around_excluded(&place) && entry.kind() == Some(ObjectType::Tree) {
                let inside = repository.find_tree(entry.id())?;
                self.add_parts(repository, top, (&inside, &[path.as_slice(), b"/"].concat()), parts)?;
            } else if !self.is_excluded(&place) {
                parts.insert(path);
            }
        }
        Ok(())
    }

    fn is_around_excluded(&self, path: &Path) -> bool {
        self.excluded.iter().any(|folder| folder != path && folder.starts_with(path))
    }

    fn is_excluded(&self, path: &Path) -> bool {
        self.excluded.iter().any(|folder| path.starts_with(folder))
    }

    fn name_by_library(&self) -> Result<String, git2::Error> {
        Repository::discover(&self.root)?.config()?.snapshot()?.get_str("user.name").map(str::to_owned)
    }

    /// What git says of the past; None where it does not, or not in time.
    fn looking_back(&self, arguments: &[&str]) -> Option<String> {
        let arguments = [&["--literal-pathspecs"], arguments].concat();
        let said = git_program::run_within_limit(&self.root, &arguments, LOOKING_BACK).ok()?;
        Some(String::from_utf8_lossy(&said).into_owned())
    }

    /// Whether git keeps one of these Markdown files (`ls-tree`) somewhere else in the workspace now: then `git mv` took them.
    fn lies_elsewhere(&self, lay: &str) -> bool {
        let Some(kept) = self.looking_back(&["ls-files", "--stage"]) else { return true };
        let word = |line: &'_ str, at: usize| line.split_ascii_whitespace().nth(at).map(str::to_owned);
        let kept: BTreeSet<String> = kept.lines().filter_map(|line| word(line, 1)).collect();
        let markdown = lay.lines().filter(|line| Path::new(line).extension().is_some_and(|end| end == "md"));
        markdown.filter_map(|line| word(line, 2)).any(|blob| kept.contains(&blob))
    }

    fn name_by_program(&self) -> Result<String, GitError> {
        let said = git_program::run(&self.root, &["config", "--get", "user.name"])?;
        Ok(String::from_utf8_lossy(&said).into_owned())
    }
}

impl MainWorktree for GitWorktree {
    fn dirty(&self) -> Dirty {
        if self.git_dir.is_none() {
            return Dirty::NotProbed;
        }
        let library = self.changed_by_library();
        match library {
            Ok(None) => return Dirty::NotProbed,
            Ok(Some(changed)) if changed.paths.is_empty() => return Dirty::Clean,
            _ => {}
        }
        // Changed, says libgit2; but it knows no filter programs and no sparse checkout, and so may be wrong.
        match (self.changed_by_program(), library) {
            (Ok(changed), _) | (Err(_), Ok(Some(changed))) => changed.into(),
            (Err(_), Ok(None)) => Dirty::NotProbed,
            (Err(GitError::NotInstalled), Err(error)) => Dirty::Failed(format!(
                "libgit2 cannot read the repository ({}), and the git program was not found on PATH",
                error.message()
            )),
            (Err(error), Err(_)) => Dirty::Failed(error.to_string()),
        }
    }

    fn obstacle(&self) -> Option<Obstacle> {
        let git_dir = self.git_dir.as_ref()?;
        CHANGING.iter().find_map(|(name, what)| {
            let path = git_dir.join(name);
            let shown = path.strip_prefix(&self.root).unwrap_or(&path).display();
            let passing = *name == INDEX_LOCK;
            path.symlink_metadata().is_ok().then(|| Obstacle { what: format!("{what} ({shown})"), passing })
        })
    }

    fn emptied_tickets(&self) -> bool {
        let Some(folder) = self.tickets.to_str().filter(|_| self.git_dir.is_some()) else { return false };
        let of_folder = |arguments: &[&str]| self.looking_back(&[arguments, &["--", folder]].concat());
        // In the index there is nothing of it, and in the history there is.
        let nothing_kept = of_folder(&["ls-files", "--cached"]).is_some_and(|files| files.is_empty());
        let last = || of_folder(&["rev-list", "--max-count=1", "HEAD"]).filter(|commit| !commit.is_empty());
        let Some(last) = nothing_kept.then(last).flatten() else { return false };
        // Either the next commit takes it, or that one did.
        let before = format!("{}^", last.trim());
        let lay = ["HEAD", &before]
            .into_iter()
            .find_map(|tree| of_folder(&["ls-tree", "-r", tree]).filter(|l| !l.is_empty()));
        !self.lies_elsewhere(&lay.unwrap_or_default())
    }

    fn of_ticket(&self, name: &str) -> Checks {
        self.git_dir.as_ref().map_or_else(Checks::default, |_| of_ticket::look(&self.root, name))
    }

    fn user_name(&self) -> Option<String> {
        let name = self.name_by_library().ok().or_else(|| self.name_by_program().ok())?;
        Some(name.trim().to_owned()).filter(|name| !name.is_empty())
    }
}

/// Changed paths outside what is excluded.
struct Changed {
    paths: Vec<PathBuf>,
}

impl From<Changed> for Dirty {
    fn from(changed: Changed) -> Self {
        let mut paths: Vec<String> = changed.paths.iter().map(|path| path.display().to_string()).collect();
        paths.sort();
        paths.dedup();
        paths.truncate(NAMED);
        if paths.is_empty() { Dirty::Clean } else { Dirty::Changed(paths) }
    }
}

/// Of a submodule only another commit counts, not what lies changed inside it.
fn counts(entry: &StatusEntry<'_>) -> bool {
    let only_in_worktree = !entry.status().intersects(
        Status::INDEX_NEW
            | Status::INDEX_MODIFIED
            | Status::INDEX_DELETED
            | Status::INDEX_TYPECHANGE
            | Status::INDEX_RENAMED,
    );
    let same_commit = entry.index_to_workdir().is_some_and(|delta| {
        let (old, new) = (delta.old_file(), delta.new_file());
        old.mode() == FileMode::Commit && new.mode() == FileMode::Commit && old.id() == new.id()
    });
    !(only_in_worktree && same_commit)
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// The git directory of the worktree that this folder lies in: a linked worktree's own, where git keeps what it is in the
/// middle of there.
fn own_git_dir(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find_map(|folder| {
        let dot_git = folder.join(".git");
        if dot_git.is_dir() {
            return Some(dot_git);
        }
        let text = std::fs::read(&dot_git).ok()?;
        let target = text.strip_prefix(b"gitdir:")?.trim_ascii();
        Some(folder.join(path_of(target)))
    })
}
