//! Why no workspace was found, in sentences.
//!
//! Must not know: how one is searched for.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::ChosenBy;
use crate::adapters::git_layout::LayoutError;

/// Why there is no workspace to work on.
#[derive(Debug)]
pub enum WorkspaceError {
    /// The folder to start from cannot be entered.
    NoFolder {
        /// As given.
        folder: PathBuf,
        /// Who gave it.
        chosen_by: ChosenBy,
        /// What the system said.
        error: io::Error,
    },
    /// No `.yoi/` at or above the folder.
    NotFound {
        /// Where the search started.
        folder: PathBuf,
        /// Set where the folder lies in a linked worktree: the main one, whose tickets would count.
        main: Option<PathBuf>,
    },
    /// Beside a bare repository several worktrees hold `.yoi/`.
    Several {
        /// The bare repository.
        repository: PathBuf,
        /// Each of them.
        roots: Vec<PathBuf>,
    },
    /// The main worktree of a linked one cannot be told.
    NoMainWorktree {
        /// The linked one.
        linked: PathBuf,
        /// Its repository.
        repository: PathBuf,
    },
    /// A bare repository has no folder for tickets.
    Bare {
        /// The repository.
        repository: PathBuf,
    },
    /// A `.git` file leads nowhere.
    Dangling {
        /// The file.
        file: PathBuf,
        /// Where to.
        target: PathBuf,
    },
    /// The system will not hand over one of git's files.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

impl From<LayoutError> for WorkspaceError {
    fn from(error: LayoutError) -> Self {
        match error {
            LayoutError::Dangling { file, target } => WorkspaceError::Dangling { file, target },
            LayoutError::Unreadable { path, error } => WorkspaceError::Unreadable { path, error },
        }
    }
}

impl fmt::Display for WorkspaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkspaceError::NoFolder { folder, chosen_by, error } => {
                let by = match chosen_by {
                    ChosenBy::Option => " (given by -C)",
                    ChosenBy::Variable => " (given by YOI_WORKSPACE)",
                    ChosenBy::CurrentFolder => "",
                };
                write!(f, "{}{by}: {error}", folder.display())
            }
            WorkspaceError::NotFound { folder, main: None } => {
                write!(f, "no workspace: there is no `.yoi` folder in {} or above it", folder.display())
            }
            WorkspaceError::NotFound { folder, main: Some(main) } => write!(
                f,
                "no workspace: {} lies in a linked worktree, so the tickets of the main one count, and {} has no `.yoi` \
                 folder",
                folder.display(),
                main.display()
            ),
            WorkspaceError::Several { repository, .. } => {
                write!(f, "several worktrees of the bare repository {} hold a `.yoi` folder", repository.display())
            }
            WorkspaceError::NoMainWorktree { linked, repository } => write!(
                f,
                "{} is a linked worktree, and {} does not record where the main one is",
                linked.display(),
                repository.display()
            ),
            WorkspaceError::Bare { repository } => {
                write!(f, "{} is a bare repository: tickets lie in one of its worktrees", repository.display())
            }
            WorkspaceError::Dangling { file, target } => {
                write!(f, "{} leads to {}, which is not there", file.display(), target.display())
            }
            WorkspaceError::Unreadable { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for WorkspaceError {}

impl WorkspaceError {
    /// Evidence, one line each.
    pub fn evidence(&self) -> Vec<String> {
        match self {
            WorkspaceError::Several { roots, .. } => roots.iter().map(|root| root.display().to_string()).collect(),
            _ => Vec::new(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            WorkspaceError::NotFound { main: None, .. } => {
                "`yoi init` makes one in this repository or folder".to_owned()
            }
            WorkspaceError::NotFound { main: Some(main), .. } => format!("`yoi -C {} init` makes one", main.display()),
            WorkspaceError::Several { .. } => "choose one with `-C DIR` or YOI_WORKSPACE".to_owned(),
            WorkspaceError::NoMainWorktree { .. } => "name it with `-C DIR` or YOI_WORKSPACE".to_owned(),
            WorkspaceError::Bare { .. } => "run it inside one of them, or name one with `-C DIR`".to_owned(),
            WorkspaceError::Dangling { .. } => {
                "if the repository was moved, `git worktree repair` there mends the link".to_owned()
            }
            WorkspaceError::NoFolder { .. } | WorkspaceError::Unreadable { .. } => return None,
        })
    }
}
