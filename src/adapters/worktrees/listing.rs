//! The worktrees that git has on record, and the branches of tickets.
//!
//! Must not know: what is in a worktree.

use super::GitWorktrees;
use super::admin::same;
use super::asking::text;
use super::paths::{path_of, shown};
use crate::domain::refusal::Refusal;
use crate::domain::worktree::{Lock, Tree, branch_of};
use crate::ports::worktrees::WorktreesError;

/// One worktree of git's list.
#[derive(Debug, Default)]
struct Listed {
    path: Vec<u8>,
    head: Option<String>,
    branch: Option<String>,
    lock: Lock,
    gone: Option<String>,
}

impl GitWorktrees {
    /// Those of tickets.
    pub(super) fn listed(&self) -> Result<Vec<Tree>, WorktreesError> {
        let all = self.every_one()?;
        let tree = |listed: Listed| {
            let path = path_of(&listed.path);
            // The workspace's own worktree is nobody's to remove, wherever it lies and whatever it is on.
            if same(&path, &self.workspace) || self.workspace.starts_with(&path) {
                return None;
            }
            let name = self.name_of(&path, listed.branch.as_deref())?;
            // Git says so of none that is locked.
            let missing = || path.symlink_metadata().is_err().then(|| "there is no such folder".to_owned());
            let gone = listed.gone.or_else(missing);
            Some(Tree { name, path, head: listed.head, branch: listed.branch, lock: listed.lock, gone })
        };
        // The first is the main one, or the bare repository.
        Ok(all.into_iter().skip(1).filter_map(tree).collect())
    }

    fn every_one(&self) -> Result<Vec<Listed>, WorktreesError> {
        self.common()?;
        let said = self.ask(&["worktree", "list", "--porcelain", "-z"])?;
        Ok(read(&said))
    }

    /// Refuses where a worktree has the ticket's branch checked out.
    pub(super) fn refuse_checked_out(&self, name: &str) -> Result<(), WorktreesError> {
        let branch = branch_of(name);
        let other = self.every_one()?.into_iter().find(|listed| listed.branch.as_deref() == Some(&branch));
        let Some(other) = other else { return Ok(()) };
        let short = branch.trim_start_matches("refs/heads/").to_owned();
        let refusal = Refusal::new(format!("the branch {short} is checked out already, in {}", shown(&other.path)));
        Err(refusal.hint("check out another branch there").into())
    }

    /// The commit of the workspace's own worktree.
    pub(super) fn head_commit(&self) -> Result<String, WorktreesError> {
        let none =
            || Refusal::new("the repository has no commit yet, so there is nothing that a worktree could begin with");
        let commit = self.line(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"])?;
        commit.ok_or_else(|| none().hint("`git commit` makes the first").into())
    }

    /// The commit of a ticket's branch.
    pub(super) fn branch_commit(&self, name: &str) -> Result<Option<String>, WorktreesError> {
        self.commit_of(&branch_of(name))
    }

    /// The commit of a ref.
    pub(super) fn commit_of(&self, reference: &str) -> Result<Option<String>, WorktreesError> {
        self.line(&["rev-parse", "--quiet", "--verify", &format!("{reference}^{{commit}}")])
    }
}

/// Reads `git worktree list --porcelain -z`.
fn read(said: &[u8]) -> Vec<Listed> {
    let mut all: Vec<Listed> = Vec::new();
    for field in said.split(|byte| *byte == 0).filter(|field| !field.is_empty()) {
        let (key, value) = match field.iter().position(|byte| *byte == b' ') {
            Some(at) => (&field[..at], &field[at + 1..]),
            None => (field, &b""[..]),
        };
        if key == b"worktree" {
            all.push(Listed { path: value.to_vec(), ..Listed::default() });
            continue;
        }
        let Some(listed) = all.last_mut() else { continue };
        match key {
            // A branch without a commit is shown with a row of zeros.
            b"HEAD" => listed.head = Some(text(value)).filter(|head| head.bytes().any(|byte| byte != b'0')),
            b"branch" => listed.branch = Some(text(value)),
            b"locked" => listed.lock = Lock::of(&text(value)),
            b"prunable" => listed.gone = Some(text(value)),
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gits_list_is_read_with_every_odd_path_and_reason() {
        let said = b"worktree /w\0HEAD 12ab\0branch refs/heads/main\0\0worktree /w/a \n b\xff\0HEAD 0000\0branch refs/heads/yoi/a\0\
                     locked\0\0worktree /w/c\0HEAD 34cd\0detached\0locked yoi: held by w until 2026-11-30T10:00:00Z\0\
                     prunable gitdir file points to non-existent location\0\0";
        let all = read(said);
        assert_eq!(all.len(), 3);
        assert_eq!((all[0].head.as_deref(), all[0].branch.as_deref()), (Some("12ab"), Some("refs/heads/main")));
        assert_eq!((all[1].path.as_slice(), &all[1].head), (&b"/w/a \n b\xff"[..], &None));
        assert_eq!(all[1].lock, Lock::Foreign(String::new()));
        assert_eq!(all[2].lock.hold().map(|hold| hold.worker.as_str()), Some("w"));
        assert!(all[2].branch.is_none() && all[2].gone.is_some());
    }
}
