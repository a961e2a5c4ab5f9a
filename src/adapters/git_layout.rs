//! How git's folders hang together, read from its own files: main and linked worktrees, submodules, bare repositories.
//!
//! Must not know: workspaces; libgit2, which does not say which worktree is the main one.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The most that is read of one of git's small files, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// What git sees in one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Top {
    /// The top of a main worktree; a submodule's is one too.
    Main(Repository),
    /// The top of a worktree that `git worktree add` made.
    Linked(Repository),
    /// A bare repository, or the folder beside one that points to it.
    Bare(Repository),
}

/// One repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// The folder that all its worktrees share, canonical.
    pub common_dir: PathBuf,
    bare: bool,
    /// `core.worktree`, as written.
    worktree: Option<PathBuf>,
}

/// Why git's files say nothing.
#[derive(Debug)]
pub(super) enum LayoutError {
    /// A `.git` file names a folder that is not there.
    Dangling {
        /// The `.git` file.
        file: PathBuf,
        /// What it names.
        target: PathBuf,
    },
    /// The system will not hand over the file.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

impl Repository {
    fn open(git_dir: &Path) -> Result<(Self, bool), LayoutError> {
        let pointer = git_dir.join("commondir");
        let linked = pointer.is_file();
        let common = if linked { git_dir.join(path_in(&pointer)?) } else { git_dir.to_owned() };
        let common_dir = common.canonicalize().map_err(|error| LayoutError::Unreadable { path: common, error })?;
        let (mut bare, mut worktree) = (false, None);
        // With `extensions.worktreeConfig` the main worktree's settings lie in the second file.
        for name in ["config", "config.worktree"] {
            for (key, value) in core_settings(&common_dir.join(name))? {
                match key.as_str() {
                    "bare" => bare = matches!(value.to_lowercase().as_str(), "" | "true" | "yes" | "on" | "1"),
                    "worktree" => worktree = Some(PathBuf::from(value)),
                    _ => {}
                }
            }
        }
        Ok((Self { common_dir, bare, worktree }, linked))
    }

    /// Whether it has no main worktree.
    pub(super) fn is_bare(&self) -> bool {
        self.bare
    }

    /// The main worktree; None where git does not record it (`git init --separate-git-dir`).
    pub(super) fn main_worktree(&self) -> Option<PathBuf> {
        let recorded = self.worktree.as_ref().map(|path| self.common_dir.join(path));
        let beside = || self.common_dir.parent().filter(|_| self.common_dir.ends_with(".git")).map(Path::to_owned);
        recorded.or_else(beside)?.canonicalize().ok()
    }

    /// The tops of its linked worktrees that are there, sorted.
    pub(super) fn linked_worktrees(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.common_dir.join("worktrees")) else { return Vec::new() };
        let top = |entry: fs::DirEntry| {
            let file = entry.path().join(path_in(&entry.path().join("gitdir")).ok()?);
            file.parent()?.canonicalize().ok()
        };
        let mut tops: Vec<_> = entries.flatten().filter_map(top).collect();
        tops.sort();
        tops
    }
}

/// What git sees in this folder itself, not above it.
pub(super) fn at(folder: &Path) -> Result<Option<Top>, LayoutError> {
    let dot_git = folder.join(".git");
    let git_dir = match dot_git.metadata() {
        Ok(data) if data.is_dir() && dot_git.join("HEAD").is_file() => dot_git,
        Ok(data) if data.is_file() => match pointed(&dot_git)? {
            Some(target) if target.is_dir() => target,
            Some(target) => return Err(LayoutError::Dangling { file: dot_git, target }),
            None => return Ok(None),
        },
        _ if is_git_dir(folder) => {
            let (repository, _) = Repository::open(folder)?;
            return Ok(repository.bare.then_some(Top::Bare(repository)));
        }
        _ => return Ok(None),
    };
    let (repository, linked) = Repository::open(&git_dir)?;
    Ok(Some(match (linked, repository.bare) {
        (true, _) => Top::Linked(repository),
        (false, true) => Top::Bare(repository),
        (false, false) => Top::Main(repository),
    }))
}

/// The nearest folder, at or above this one, in which git sees something.
pub(super) fn nearest_top(folder: &Path) -> Result<Option<(PathBuf, Top)>, LayoutError> {
    for folder in folder.ancestors() {
        if let Some(top) = at(folder)? {
            return Ok(Some((folder.to_owned(), top)));
        }
    }
    Ok(None)
}

fn is_git_dir(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

/// The target of a `.git` file; None where it is some other file of that name.
fn pointed(file: &Path) -> Result<Option<PathBuf>, LayoutError> {
    let line = read(file)?;
    let target =
        line.strip_prefix(b"gitdir:").map(|rest| PathBuf::from(OsString::from_vec(rest.trim_ascii().to_vec())));
    Ok(target.map(|target| file.parent().unwrap_or(Path::new("/")).join(target)))
}

/// The path that is all of a file's text.
fn path_in(file: &Path) -> Result<PathBuf, LayoutError> {
    Ok(PathBuf::from(OsString::from_vec(read(file)?.trim_ascii_end().to_vec())))
}

fn read(file: &Path) -> Result<Vec<u8>, LayoutError> {
    let unreadable = |error| LayoutError::Unreadable { path: file.to_owned(), error };
    let mut bytes = Vec::new();
    File::open(file).map_err(unreadable)?.take(MOST_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

/// The settings of `[core]`, keys in lower case, in file order. A missing file has none. Includes are not followed:
/// git itself writes both keys into the file.
fn core_settings(file: &Path) -> Result<Vec<(String, String)>, LayoutError> {
    if !file.is_file() {
        return Ok(Vec::new());
    }
    let bytes = read(file)?;
    let mut settings = Vec::new();
    let mut in_core = false;
    for line in bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
        if line.starts_with(b"[") {
            in_core = line.to_ascii_lowercase().starts_with(b"[core]");
        } else if in_core && !line.starts_with(b"#") && !line.starts_with(b";") {
            let line = String::from_utf8_lossy(line);
            let (key, value) = line.split_once('=').unwrap_or((&line, ""));
            settings.push((key.trim().to_lowercase(), unquoted(value)));
        }
    }
    Ok(settings)
}

/// A value as git reads it: quotes and escapes undone, a comment after it cut off.
fn unquoted(written: &str) -> String {
    let mut value = String::new();
    let mut in_quotes = false;
    let mut chars = written.trim().chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => in_quotes = !in_quotes,
            '\\' => value.extend(chars.next()),
            '#' | ';' if !in_quotes => break,
            c => value.push(c),
        }
    }
    value.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_settings_as_git_writes_and_people_edit_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        let text = "[user]\n\tbare = no\n[Core]\n\t# bare = x\n\trepositoryformatversion = 0\n\tBare=true ; yes\n\
                    \tworktree = \"../a #b\" # c\n\tfilemode\n[core \"x\"]\n\tbare = false\n";
        fs::write(&file, text).unwrap();
        let settings = core_settings(&file).unwrap();
        let shown: Vec<_> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(shown, ["repositoryformatversion=0", "bare=true", "worktree=../a #b", "filemode="]);
        assert!(core_settings(&folder.path().join("none")).unwrap().is_empty());
    }

    #[test]
    fn a_git_file_that_is_something_else_or_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".git");
        fs::write(&file, "my notes\n").unwrap();
        assert_eq!(at(folder.path()).unwrap(), None);
        fs::write(&file, "gitdir: ../gone\n").unwrap();
        assert!(matches!(at(folder.path()), Err(LayoutError::Dangling { .. })));
    }
}
