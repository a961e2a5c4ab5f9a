//! What counts as merged, wherever that is asked: in the branch that the workspace is on, or in the default branch, here or as a
//! remote has it. Not in another ticket's, and not in a HEAD that no branch holds.
//!
//! Must not know: how git is asked.

use std::collections::BTreeSet;

use crate::domain::worktree::BRANCHES;

/// What git is to be asked for the refs.
pub(super) const REFS: [&str; 4] = ["for-each-ref", "--format=%(refname)%00%(symref)", "refs/heads", "refs/remotes"];
/// And for what the workspace is on; where no branch is, it exits with 1.
pub(super) const OWN: [&str; 3] = ["symbolic-ref", "--quiet", "HEAD"];

/// Names of default branches that are usual, beside those that remotes name.
const USUAL: [&str; 3] = ["main", "master", "trunk"];

/// The refs whose commits are merged, of those that git has listed. `own`: the branch that the workspace is on.
pub(super) fn targets(listed: &str, own: Option<&str>) -> Vec<String> {
    let refs: Vec<_> = listed.lines().filter_map(|line| line.split_once('\0')).collect();
    let defaults = refs.iter().filter(|(name, _)| name.starts_with("refs/remotes/") && name.ends_with("/HEAD"));
    let mut names: BTreeSet<&str> = defaults.filter_map(|(_, target)| target.splitn(4, '/').nth(3)).collect();
    names.extend(USUAL);
    let is_target = |name: &str| match name.strip_prefix("refs/heads/") {
        Some(short) => names.contains(short) || own == Some(name) && !name.starts_with(BRANCHES),
        None => name.splitn(4, '/').nth(3).is_some_and(|short| names.contains(short)),
    };
    refs.iter().map(|(name, _)| *name).filter(|name| is_target(name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_workspace_is_on_and_every_default_branch_count_and_nobody_elses_work() {
        let refs = [
            ("refs/heads/develop", ""),
            ("refs/heads/feature", ""),
            ("refs/heads/main", ""),
            ("refs/heads/yoi/a", ""),
            ("refs/remotes/origin/HEAD", "refs/remotes/origin/develop"),
            ("refs/remotes/origin/develop", ""),
            ("refs/remotes/origin/feature", ""),
            ("refs/remotes/fork/main", ""),
        ];
        let listed = refs.map(|(name, target)| format!("{name}\0{target}\n")).concat();
        let of = |own: Option<&str>| targets(&listed, own).join(" ").replace("refs/", "");
        let always = "heads/develop heads/main remotes/origin/develop remotes/fork/main";
        assert_eq!(of(None), always);
        assert_eq!(of(Some("refs/heads/yoi/a")), always);
        assert_eq!(of(Some("refs/heads/feature")), always.replace("develop heads", "develop heads/feature heads"));
    }
}
