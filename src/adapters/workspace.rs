//! Which folder is the workspace, and where its state lies (DESIGN.md 6.6 and 9).
//!
//! Must not know: what a workspace is used for; libgit2.

mod create;
mod error;
#[cfg(test)]
mod tests;

use std::fs::DirBuilder;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::files::{named, own_folder};
use super::git_layout::{self, Repository, Top};
use crate::domain::ticket::Digest;
pub use create::{CreateError, create, ignore, not_ignored};
pub use error::WorkspaceError;

/// The longest socket path that every system takes, in bytes.
const LONGEST_SOCKET: usize = 100;

/// How many repositories the search goes through (upwards, and from linked to main worktrees) before git's files are
/// taken to lead in a circle.
const MOST_REPOSITORIES: usize = 64;

/// One workspace: a folder with `.yoi/`, and the tenant (DESIGN.md 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// The folder that holds `.yoi/`, canonical.
    pub root: PathBuf,
    /// The folder that all worktrees of its repository share; None without git.
    pub git_common_dir: Option<PathBuf>,
    /// Locks, socket, store, logs. Made by [`Workspace::create_state_dir`].
    pub state_dir: PathBuf,
    /// What the search started from.
    pub chosen_by: ChosenBy,
}

/// What a search for the workspace starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenBy {
    /// `-C DIR`.
    Option,
    /// `YOI_WORKSPACE`.
    Variable,
    /// The current folder.
    CurrentFolder,
}

/// Finds the workspace: from `directory` (`-C`), else `YOI_WORKSPACE`, else the current folder, upwards.
pub fn find(environment: &Environment, directory: Option<&Path>) -> Result<Workspace, WorkspaceError> {
    let (start, chosen_by) = start(environment, directory)?;
    search(&start, chosen_by)
}

/// Where a new workspace would be made: the top of the main worktree, or the folder itself where there is no git.
pub fn place_for_new(environment: &Environment, directory: Option<&Path>) -> Result<Workspace, WorkspaceError> {
    let (start, chosen_by) = start(environment, directory)?;
    let Some((folder, top)) = git_layout::nearest_top(&start)? else {
        return Ok(Workspace::at(start, None, chosen_by));
    };
    match top {
        Top::Main(repository) => Ok(Workspace::at(folder, Some(&repository), chosen_by)),
        Top::Linked(repository) if repository.is_bare() => Ok(Workspace::at(folder, Some(&repository), chosen_by)),
        Top::Linked(repository) => match repository.main_worktree() {
            Some(main) => Ok(Workspace::at(main, Some(&repository), chosen_by)),
            None => Err(WorkspaceError::NoMainWorktree { linked: folder, repository: repository.common_dir }),
        },
        Top::Bare(repository) => Err(WorkspaceError::Bare { repository: repository.common_dir }),
    }
}

fn start(environment: &Environment, directory: Option<&Path>) -> Result<(PathBuf, ChosenBy), WorkspaceError> {
    let (folder, chosen_by) = match (directory, &environment.workspace) {
        (Some(directory), _) => (directory, ChosenBy::Option),
        (None, Some(workspace)) => (workspace.as_path(), ChosenBy::Variable),
        (None, None) => (environment.current.as_path(), ChosenBy::CurrentFolder),
    };
    let entered =
        environment.current.join(folder).canonicalize().and_then(|start| {
            if start.is_dir() { Ok(start) } else { Err(io::Error::from(io::ErrorKind::NotADirectory)) }
        });
    let error = |error| WorkspaceError::NoFolder { folder: folder.to_owned(), chosen_by, error };
    entered.map(|start| (start, chosen_by)).map_err(error)
}

/// Looks upwards, one repository at a time: whether a `.yoi/` counts depends on the checkout that it lies in.
fn search(start: &Path, chosen_by: ChosenBy) -> Result<Workspace, WorkspaceError> {
    let mut from = start.to_owned();
    let mut main_of_start = None;
    for _ in 0..MOST_REPOSITORIES {
        let nearest = git_layout::nearest_top(&from)?;
        let (top_folder, repository) = match nearest {
            None => {
                return upwards(&from, Path::new("/"), None, chosen_by).ok_or_else(|| not_found(start, main_of_start));
            }
            Some((folder, Top::Linked(repository) | Top::Bare(repository))) if repository.is_bare() => {
                if let Some(root) = beside_bare(&repository, start, chosen_by)? {
                    return Ok(Workspace::at(root, Some(&repository), chosen_by));
                }
                from.clone_from(&folder);
                (folder, repository)
            }
            Some((folder, Top::Linked(repository))) => {
                let Some(main) = repository.main_worktree().filter(|main| *main != folder) else {
                    return Err(WorkspaceError::NoMainWorktree { linked: folder, repository: repository.common_dir });
                };
                from = counterpart(&from, &folder, &main);
                main_of_start.get_or_insert(main);
                continue;
            }
            Some((folder, Top::Main(repository) | Top::Bare(repository))) => (folder, repository),
        };
        if let Some(found) = upwards(&from, &top_folder, Some(&repository), chosen_by) {
            return Ok(found);
        }
        let Some(above) = top_folder.parent() else { break };
        above.clone_into(&mut from);
    }
    Err(not_found(start, main_of_start))
}

fn not_found(start: &Path, main: Option<PathBuf>) -> WorkspaceError {
    WorkspaceError::NotFound { folder: start.to_owned(), main }
}

/// The first folder with `.yoi/` from here up to `last`.
fn upwards(from: &Path, last: &Path, repository: Option<&Repository>, chosen_by: ChosenBy) -> Option<Workspace> {
    let within = from.ancestors().take_while(|folder| folder.starts_with(last));
    let root = within.into_iter().find(|folder| holds_yoi(folder))?;
    Some(Workspace::at(root.to_owned(), repository, chosen_by))
}

fn holds_yoi(folder: &Path) -> bool {
    folder.join(".yoi").is_dir()
}

/// The same folder in the main worktree, or the nearest one above it that is there.
fn counterpart(folder: &Path, linked: &Path, main: &Path) -> PathBuf {
    let inside = folder.strip_prefix(linked).unwrap_or(Path::new(""));
    // Joined part by part: joining an empty path would leave a `/` at the end, and the root is compared as a path's bytes.
    let mut same = main.to_owned();
    for part in inside {
        let deeper = same.join(part);
        if !deeper.is_dir() {
            break;
        }
        same = deeper;
    }
    same
}

/// The worktree of a bare repository that is the workspace, if one is.
fn beside_bare(repository: &Repository, start: &Path, chosen_by: ChosenBy) -> Result<Option<PathBuf>, WorkspaceError> {
    let all: Vec<_> = repository.linked_worktrees().into_iter().filter(|top| holds_yoi(top)).collect();
    // Where `.yoi/` is tracked, the worktree of each ticket has a copy of it, and is no workspace: by default it lies inside one.
    let is_inside = |top: &PathBuf| all.iter().any(|other| other != top && top.starts_with(other));
    let mut roots: Vec<_> = all.iter().filter(|top| !is_inside(top)).cloned().collect();
    if roots.len() > 1 {
        let chosen = |root: &&PathBuf| chosen_by != ChosenBy::CurrentFolder && start.starts_with(root);
        match roots.iter().find(chosen) {
            Some(root) => return Ok(Some(root.clone())),
            None => return Err(WorkspaceError::Several { repository: repository.common_dir.clone(), roots }),
        }
    }
    Ok(roots.pop())
}

impl Workspace {
    fn at(root: PathBuf, repository: Option<&Repository>, chosen_by: ChosenBy) -> Self {
        let state_dir = match repository {
            None => root.join(".yoi/run"),
            Some(repository) if !repository.is_bare() && repository.main_worktree().is_none_or(|main| main == root) => {
                repository.common_dir.join("yoi")
            }
            // One repository may hold several workspaces (worktrees of a bare one, a folder inside a checkout): each
            // has its own state.
            Some(repository) => repository.common_dir.join("yoi").join(short_name(&root)),
        };
        let git_common_dir = repository.map(|repository| repository.common_dir.clone());
        Self { root, git_common_dir, state_dir, chosen_by }
    }

    /// Makes the state folder, readable by its owner only; one that is there stays as it is.
    pub fn create_state_dir(&self) -> io::Result<()> {
        own_folder(&self.state_dir)
    }

    /// Where the daemon's socket lies: in the state folder, or in the user's runtime folder where that path would be too
    /// long. The runtime folder is made, and refused if it is not this user's alone.
    pub fn socket_path(&self, environment: &Environment) -> io::Result<PathBuf> {
        let socket = self.state_dir.join("yoi.sock");
        if socket.as_os_str().len() <= LONGEST_SOCKET {
            return Ok(socket);
        }
        let name = format!("{}.sock", short_name(&self.root));
        let runtime = environment.runtime.as_ref().map(|folder| folder.join("yoi"));
        let short = |folder: &PathBuf| folder.as_os_str().len() + 1 + name.len() <= LONGEST_SOCKET;
        let folder = runtime.filter(short).unwrap_or_else(|| PathBuf::from(format!("/tmp/yoi-{}", environment.user)));
        create_private(&folder)?;
        check_private(&folder, environment.user)?;
        Ok(folder.join(name))
    }
}

/// A short name for a path, the same on every run.
fn short_name(path: &Path) -> String {
    format!("{:016x}", Digest::of(path.as_os_str().as_bytes()).0)
}

fn create_private(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(|error| named(parent, &error))?;
    }
    own_folder(folder)
}

fn check_private(folder: &Path, user: u32) -> io::Result<()> {
    let data = folder.symlink_metadata()?;
    if data.is_dir() && data.uid() == user && data.mode() & 0o777 == 0o700 {
        return Ok(());
    }
    let message = format!("{}: has to be a folder that belongs to you alone (mode 0700)", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}
