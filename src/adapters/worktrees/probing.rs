//! Looks for everything in a worktree that removing it could destroy (FAULTS kind 10). What cannot be looked at is said.
//!
//! Must not know: what follows from what is found.

mod commits;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::super::git_under_way::{CHANGING, REMEMBERED};
use super::asking::{ask, text};
use super::paths::{bytes_of, path_of, shown, words};
use super::printing::{Kind, walk};
use super::{GitWorktrees, occupants};
use crate::domain::worktree::{Named, Probe, Tree};
use crate::ports::worktrees::WorktreesError;

/// How a file begins by which a folder says that it can be made anew (bford.info/cachedir).
const CACHE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// One look at one worktree.
struct Look<'a> {
    trees: &'a GitWorktrees,
    tree: &'a Tree,
    probe: Probe,
    /// Ignored folders that can be made anew, relative.
    caches: Vec<PathBuf>,
}

impl GitWorktrees {
    /// Everything that is found in it.
    pub(super) fn probed(&self, tree: &Tree) -> Probe {
        if let Some(why) = &tree.gone {
            return self.of_gone(tree, why);
        }
        let mut look = Look { trees: self, tree, probe: Probe::default(), caches: Vec::new() };
        let looks = [look.status(), look.hidden(), look.own_folder(), look.stashes(), look.commits(), look.inside()];
        for error in looks.into_iter().filter_map(Result::err) {
            let why = error.to_string();
            // Git says the same to each question.
            if !look.probe.unreadable.contains(&why) {
                look.probe.unreadable.push(why);
            }
        }
        look.inner_repositories();
        look.probe.occupants = occupants::all_in(&tree.path);
        look.probe
    }

    /// Its folder is not there: what is left are its commits, and what was staged.
    fn of_gone(&self, tree: &Tree, why: &str) -> Probe {
        let mut look = Look { trees: self, tree, probe: Probe::default(), caches: Vec::new() };
        let folder = self.admin(&tree.path).map(|admin| admin.folder);
        let staged = folder.filter(|_| tree.head.is_some()).is_some_and(|folder| {
            let folder = format!("--git-dir={}", folder.display());
            ask(&self.workspace, &[folder.as_str(), "diff-index", "--cached", "--quiet", "HEAD"]).is_err()
        });
        if staged {
            look.probe
                .unreadable
                .push(format!("its folder is gone ({why}), and what was staged in it is not committed"));
        }
        if let Err(error) = look.commits_of_gone() {
            look.probe.unreadable.push(error.to_string());
        }
        look.probe
    }
}

impl Look<'_> {
    fn ask(&self, arguments: &[&str]) -> Result<Vec<u8>, WorktreesError> {
        ask(&self.tree.path, arguments)
    }

    fn status(&mut self) -> Result<(), WorktreesError> {
        let said = status(&self.tree.path)?;
        for entry in said.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            match entry[0] {
                b'1' => self.tracked(entry, 8),
                b'u' => self.tracked(entry, 10),
                b'?' => self.probe.untracked.add(|| shown(&entry[2..])),
                b'!' => self.ignored(&entry[2..]),
                _ => {}
            }
        }
        Ok(())
    }

    /// After so many blanks comes the path.
    fn tracked(&mut self, entry: &[u8], blanks: usize) {
        let mut fields = entry.splitn(blanks + 1, |byte| *byte == b' ');
        let submodule = fields.nth(2).is_some_and(|field| field.starts_with(b"S"));
        let path = fields.nth(blanks - 3).unwrap_or(entry);
        if submodule {
            self.probe.submodules.add(|| shown(path));
        } else {
            self.probe.changed.add(|| shown(path));
        }
    }

    fn ignored(&mut self, path: &[u8]) {
        if is_cache(&self.tree.path.join(path_of(path))) {
            self.caches.push(path_of(path));
            self.probe.caches.add(|| shown(path));
        } else {
            self.probe.ignored.add(|| shown(path));
        }
    }

    /// Changes in files that git was told not to look at.
    fn hidden(&mut self) -> Result<(), WorktreesError> {
        let said = self.ask(&["ls-files", "-v", "-z"])?;
        let flagged = said.split(|byte| *byte == 0).filter(|entry| entry.len() > 2);
        let flagged =
            flagged.filter(|entry| entry[0].is_ascii_lowercase() || entry[0] == b'S').map(|entry| &entry[2..]);
        for path in flagged {
            let file = self.tree.path.join(path_of(path));
            let assumed = file.symlink_metadata();
            // One that is left out on purpose (a sparse checkout) is not there.
            let Ok(there) = assumed else { continue };
            if there.is_dir() || !self.is_as_in_index(&path_of(path)) {
                self.probe.changed.add(|| shown(path));
            }
        }
        Ok(())
    }

    fn is_as_in_index(&self, path: &Path) -> bool {
        let staged = ask(&self.tree.path, &words(&["--literal-pathspecs", "ls-files", "--stage", "-z", "--"], path));
        let hash = ask(&self.tree.path, &words(&["hash-object", "--"], path));
        match (staged, hash) {
            (Ok(staged), Ok(hash)) => text(&staged).split(' ').nth(1).is_some_and(|staged| staged == text(&hash)),
            _ => false,
        }
    }

    fn own_folder(&mut self) -> Result<(), WorktreesError> {
        let folder = self.ask(&["rev-parse", "--absolute-git-dir"])?;
        let folder = path_of(folder.strip_suffix(b"\n").unwrap_or(&folder));
        let there = CHANGING.iter().chain(&REMEMBERED).filter(|(name, _)| folder.join(name).symlink_metadata().is_ok());
        self.probe.under_way = there.map(|(name, what)| format!("{what} ({name})")).collect();
        Ok(())
    }

    /// The stash is one for all worktrees: an entry says on which branch it was made.
    fn stashes(&mut self) -> Result<(), WorktreesError> {
        if self.trees.commit_of("refs/stash")?.is_none() {
            return Ok(());
        }
        let said = self.ask(&["log", "--walk-reflogs", "-z", "--format=%gs", "refs/stash", "--"])?;
        let on = self.tree.short_branch().unwrap_or("(no branch)");
        let begins = [format!("WIP on {on}:"), format!("On {on}:")];
        let of_it = |line: &&[u8]| begins.iter().any(|begin| line.starts_with(begin.as_bytes()));
        self.probe.stashes = said.split(|byte| *byte == 0).filter(of_it).count();
        Ok(())
    }

    /// What git does not tell of: repositories inside, sockets and pipes, what cannot be read.
    fn inside(&mut self) -> Result<(), WorktreesError> {
        let submodules = self.submodules()?;
        for entry in walk(&self.tree.path, &self.caches) {
            let entry = match entry {
                Ok(entry) => entry,
                Err(why) => {
                    self.probe.unreadable.push(why);
                    continue;
                }
            };
            let path = bytes_of(&entry.path);
            match entry.kind {
                Kind::Repository if submodules.iter().all(|submodule| submodule != path) => {
                    self.probe.nested.add(|| shown(path));
                }
                Kind::Odd => self.probe.odd.add(|| shown(path)),
                Kind::File if !entry.readable => {
                    self.probe.unreadable.push(format!("{} may not be read", shown(path)));
                }
                _ => {}
            }
        }
        self.probe.unreadable.truncate(Named::MOST);
        Ok(())
    }

    /// The paths of submodules, as the index has them.
    fn submodules(&self) -> Result<Vec<Vec<u8>>, WorktreesError> {
        let said = self.ask(&["ls-files", "--stage", "-z"])?;
        let entries = said.split(|byte| *byte == 0).filter(|entry| entry.starts_with(b"160000 "));
        Ok(entries.filter_map(|entry| Some(entry.splitn(2, |byte| *byte == b'\t').nth(1)?.to_vec())).collect())
    }

    /// Repositories of submodules lie in the worktree's own git folder, and go with it.
    fn inner_repositories(&mut self) {
        let Some(admin) = self.trees.admin(&self.tree.path) else { return };
        let modules = admin.folder.join("modules");
        if !modules.is_dir() {
            return;
        }
        let found = walkdir::WalkDir::new(&modules).min_depth(1).max_depth(6).into_iter().flatten();
        let repositories =
            found.filter(|entry| entry.path().join("HEAD").is_file() && entry.path().join("objects").is_dir());
        for repository in repositories {
            let folder = format!("--git-dir={}", repository.path().display());
            let alone = ["rev-list", "--max-count=1", "--all", "HEAD", "--not", "--remotes"];
            let arguments = [&[folder.as_str(), "-c", "core.worktree=/"], &alone[..]].concat();
            let name = repository.path().strip_prefix(&modules).unwrap_or(repository.path()).display().to_string();
            // One that cannot be asked counts as one with something in it.
            if ask(&self.trees.workspace, &arguments).map_or(true, |said| !said.is_empty())
                && !self.probe.submodules.first.contains(&name)
            {
                self.probe.submodules.add(|| name);
            }
        }
    }
}

/// Git's own account of a worktree, whatever the settings say of what to leave out.
fn status(folder: &Path) -> Result<Vec<u8>, WorktreesError> {
    let fixed = ["--untracked-files=normal", "--ignored=matching", "--ignore-submodules=none", "--no-renames"];
    ask(folder, &[&["-c", "status.relativePaths=false", "status", "--porcelain=v2", "-z"], &fixed[..]].concat())
}

/// The ignored folders of a worktree that can be made anew, relative: they are saved by nobody.
pub(super) fn caches(folder: &Path) -> Result<Vec<PathBuf>, WorktreesError> {
    let said = status(folder)?;
    let ignored = said.split(|byte| *byte == 0).filter_map(|entry| entry.strip_prefix(b"! ")).map(path_of);
    Ok(ignored.filter(|path| is_cache(&folder.join(path))).collect())
}

/// Whether a folder says of itself that it can be made anew.
fn is_cache(folder: &Path) -> bool {
    let mut begin = Vec::new();
    let tag = folder.join("CACHEDIR.TAG");
    let regular = tag.symlink_metadata().is_ok_and(|tag| tag.is_file());
    regular
        && fs::File::open(tag).and_then(|file| file.take(CACHE.len() as u64).read_to_end(&mut begin)).is_ok()
        && begin == CACHE
}
