//! Where the commits of a worktree are besides in it.
//!
//! Must not know: what follows from that.

use super::super::asking::text;
use super::super::paths::shown;
use super::Look;
use crate::adapters::trunk;
use crate::domain::worktree::{Commits, Named, branch_of};
use crate::ports::worktrees::WorktreesError;

impl Look<'_> {
    pub(super) fn commits(&mut self) -> Result<(), WorktreesError> {
        // Refs of this worktree alone go with it.
        let own =
            self.ask(&["for-each-ref", "--format=%(objectname)", "refs/worktree", "refs/bisect", "refs/rewritten"])?;
        let own = text(&own);
        let own: Vec<_> = own.lines().collect();
        self.commits_from(&own)
    }

    pub(super) fn commits_of_gone(&mut self) -> Result<(), WorktreesError> {
        self.commits_from(&[])
    }

    fn commits_from(&mut self, more: &[&str]) -> Result<(), WorktreesError> {
        let trunk = self.trunk()?;
        let tips: Vec<&str> = self.tree.head.as_deref().into_iter().chain(more.iter().copied()).collect();
        // A detached HEAD's commits are safe on any branch; those of a branch where they do not go with it.
        let mut safe = trunk.clone();
        safe.push("--remotes".into());
        if self.tree.branch.is_none() {
            safe.push("--branches".into());
        }
        self.probe.commits = match () {
            () if tips.is_empty() || self.beyond(&tips, &trunk)?.is_empty() => Commits::Merged,
            () => match self.beyond(&tips, &safe)? {
                alone if alone.is_empty() => Commits::Pushed,
                alone => Commits::Alone(alone),
            },
        };
        let branch = branch_of(&self.tree.name);
        if let Some(at) = self.trees.commit_of(&branch)? {
            self.probe.branch_merged = Some(self.beyond(&[&at], &trunk)?.is_empty());
        }
        Ok(())
    }

    fn trunk(&self) -> Result<Vec<String>, WorktreesError> {
        let listed = self.trees.ask(&trunk::REFS)?;
        Ok(trunk::targets(&text(&listed), self.trees.line(&trunk::OWN)?.as_deref()))
    }

    /// The commits that can be reached from the first, and from none of the others.
    fn beyond(&self, tips: &[&str], others: &[String]) -> Result<Named, WorktreesError> {
        let mut arguments = vec!["log", "-z", "--format=%h %s", "--max-count=1000"];
        arguments.extend(tips);
        arguments.push("--not");
        arguments.extend(others.iter().map(String::as_str));
        arguments.push("--");
        let said = self.trees.ask(&arguments)?;
        Ok(said.split(|byte| *byte == 0).filter(|line| !line.is_empty()).map(shown).collect())
    }
}
