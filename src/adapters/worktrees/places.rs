//! Where new worktrees lie: in the folder that the settings name, and nowhere that a symlink leads to by surprise.
//!
//! Must not know: git.

use std::path::{Path, PathBuf};

use super::GitWorktrees;
use super::trouble::io_at;
use crate::domain::refusal::Refusal;
use crate::ports::worktrees::WorktreesError;

impl GitWorktrees {
    /// The folder that new ones lie in. One that is absolute in the settings is where it is on purpose.
    pub(super) fn root(&self) -> PathBuf {
        self.workspace.join(&self.root)
    }

    /// Where the worktree of this name is made.
    pub(super) fn free_place(&self, name: &str) -> Result<PathBuf, WorktreesError> {
        let root = self.root();
        if self.root.is_relative() {
            self.refuse_outside(&root)?;
        }
        let path = root.join(name);
        let taken = match path.symlink_metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(path),
            Err(error) => return Err(io_at(&path)(error)),
            Ok(_) => format!("{} is there already, and is no worktree of this ticket", path.display()),
        };
        Err(Refusal::new(taken).hint("look what it is, and move it away; yoi does not touch it").into())
    }

    /// Refuses a folder in the workspace that a symlink leads out of it, or into git's own.
    fn refuse_outside(&self, root: &Path) -> Result<(), WorktreesError> {
        let there = root.ancestors().find(|part| part.symlink_metadata().is_ok()).unwrap_or(&self.workspace);
        let real = there.canonicalize().map_err(io_at(there))?;
        let inside = real.starts_with(&self.workspace) && !real.starts_with(self.common()?);
        if inside {
            return Ok(());
        }
        let refusal = format!("{} leads out of the workspace, to {}", root.display(), real.display());
        let hint = "if worktrees are to lie there, write that path, absolute, as `root` under `[worktrees]`";
        Err(Refusal::new(refusal).hint(hint).into())
    }
}
