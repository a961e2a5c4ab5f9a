//! May a worktree be removed, and what has to be saved first (DESIGN.md 6.3; FAULTS kind 10).
//!
//! Must not know: how it is removed, or saved.

use super::probe::{Commits, Named, Occupant, Probe};
use super::{Lock, Tree};
use crate::domain::refusal::Refusal;
use crate::domain::ticket::Timestamp;

/// Why a worktree stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Changes to tracked files.
    Changed(Named),
    /// Untracked files.
    Untracked(Named),
    /// Ignored files that are no caches.
    Ignored(Named),
    /// Entries of the stash.
    Stash(usize),
    /// Git is in the middle of something.
    UnderWay(String),
    /// Commits that are nowhere else; whether HEAD is detached.
    Alone(Named, bool),
    /// Submodules with something in them.
    Submodule(Named),
    /// Repositories of their own.
    Nested(Named),
    /// What no commit can hold.
    Odd(Named),
    /// Somebody's lock, in words.
    Locked(String),
    /// Whoever has a fresh claim on its ticket.
    Claimed(String),
    /// A process works in it.
    Occupied(Occupant),
    /// It could not be looked at.
    Unreadable(String),
}

impl Reason {
    /// In words.
    pub fn text(&self) -> String {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        match self {
            Reason::Changed(named) => format!("uncommitted changes: {named}"),
            Reason::Untracked(named) => format!("untracked: {named}"),
            Reason::Ignored(named) => format!("ignored by git, and perhaps nowhere else: {named}"),
            Reason::Stash(count) => {
                format!("{count} stash entr{} of its branch", if *count == 1 { "y" } else { "ies" })
            }
            Reason::UnderWay(what) => what.clone(),
            Reason::Alone(named, detached) => {
                let head = if *detached { "HEAD is detached, and " } else { "" };
                let verb = if named.count == 1 { "is" } else { "are" };
                format!("{head}{} commit{} {verb} neither merged nor pushed: {named}", named.count, plural(named.count))
            }
            Reason::Submodule(named) => format!("changes or unpushed commits in a submodule: {named}"),
            Reason::Nested(named) => format!("a repository of its own inside: {named}"),
            Reason::Odd(named) => format!("no commit can hold a socket, a pipe or a device: {named}"),
            Reason::Locked(why) => why.clone(),
            Reason::Claimed(worker) => format!("`{worker}` holds its ticket"),
            Reason::Occupied(occupant) => {
                let Occupant { pid, program, open } = occupant;
                match open {
                    None => format!("process {pid} (`{program}`) works in it"),
                    Some(file) => format!("process {pid} (`{program}`) has {file} open"),
                }
            }
            Reason::Unreadable(why) => format!("it cannot be looked at as a whole: {why}"),
        }
    }

    /// Whether what is behind it can be saved, or stays, so that `--force` may pass it over.
    pub fn can_be_saved(&self) -> bool {
        match self {
            Reason::Changed(_)
            | Reason::Untracked(_)
            | Reason::Ignored(_)
            | Reason::Stash(_)
            | Reason::UnderWay(_)
            | Reason::Alone(..) => true,
            Reason::Submodule(_)
            | Reason::Nested(_)
            | Reason::Odd(_)
            | Reason::Locked(_)
            | Reason::Claimed(_)
            | Reason::Occupied(_)
            | Reason::Unreadable(_) => false,
        }
    }

    /// What to do about one that `--force` does not pass over.
    fn way_out(&self) -> &'static str {
        match self {
            Reason::Locked(_) => "`git worktree unlock PATH` takes away a lock",
            Reason::Claimed(_) => "its holder removes it (`--worker`), or releases the ticket first",
            Reason::Occupied(_) => "end the process, or have it leave the folder",
            Reason::Submodule(_) | Reason::Nested(_) => {
                "commit and push what lies in the inner repository, or move it away"
            }
            Reason::Odd(_) => "remove what can be made anew",
            _ => "mend what cannot be read, or copy what is worth keeping",
        }
    }
}

/// What removing it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// All it holds is saved first.
    pub salvage: bool,
    /// Its branch goes too: everything on it is merged.
    pub drop_branch: bool,
    /// What is passed over by force, in words.
    pub passed_over: Vec<String>,
}

/// Every reason why a worktree stays, for whoever asks under this worker's name.
pub fn reasons(tree: &Tree, probe: &Probe, asker: Option<&str>, now: Timestamp) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut list = |named: &Named, reason: fn(Named) -> Reason| {
        if !named.is_empty() {
            reasons.push(reason(named.clone()));
        }
    };
    list(&probe.changed, Reason::Changed);
    list(&probe.untracked, Reason::Untracked);
    list(&probe.ignored, Reason::Ignored);
    list(&probe.submodules, Reason::Submodule);
    list(&probe.nested, Reason::Nested);
    list(&probe.odd, Reason::Odd);
    if probe.stashes > 0 {
        reasons.push(Reason::Stash(probe.stashes));
    }
    reasons.extend(probe.under_way.iter().cloned().map(Reason::UnderWay));
    match &probe.commits {
        // The branch stays, and with it the commits; of a detached HEAD nothing would.
        Commits::Alone(_) if tree.gone.is_some() && tree.branch.is_some() => {}
        Commits::Alone(commits) if tree.gone.is_some() => reasons.push(Reason::Unreadable(format!(
            "its folder is gone, and only its HEAD has {}: `git branch NAME {}` keeps them",
            commits,
            tree.head.as_deref().unwrap_or("COMMIT")
        ))),
        Commits::Alone(commits) => reasons.push(Reason::Alone(commits.clone(), tree.branch.is_none())),
        // What cannot be told is no good news; where nothing can be, that is said once.
        Commits::Unknown(why) if !probe.unreadable.contains(why) => reasons.push(Reason::Unreadable(why.clone())),
        Commits::Merged | Commits::Pushed | Commits::Unknown(_) => {}
    }
    reasons.extend(locked(&tree.lock, asker, now));
    reasons.extend(probe.occupants.iter().cloned().map(Reason::Occupied));
    reasons.extend(probe.unreadable.iter().cloned().map(Reason::Unreadable));
    reasons
}

/// A lock of yoi's holds until its time, and never against whoever it is for.
fn locked(lock: &Lock, asker: Option<&str>, now: Timestamp) -> Option<Reason> {
    match lock {
        Lock::Held(hold) if now < hold.until && asker != Some(hold.worker.as_str()) => {
            Some(Reason::Locked(hold.words()))
        }
        Lock::Open | Lock::Held(_) => None,
        Lock::Foreign(why) if why.is_empty() => Some(Reason::Locked("somebody locked it".into())),
        Lock::Foreign(why) => Some(Reason::Locked(format!("somebody locked it: {why}"))),
    }
}

/// May it be removed? Without force only where nothing speaks against it; with force where all that does can be saved.
pub fn may_remove(
    tree: &Tree,
    probe: &Probe,
    (asker, holder): (Option<&str>, Option<&str>),
    force: bool,
    now: Timestamp,
) -> Result<Removal, Refusal> {
    let mut reasons = reasons(tree, probe, asker, now);
    // Its lock's time is that of the start, and no beat moves it: what counts is the claim.
    let others = holder.filter(|holder| asker != Some(*holder));
    let says_so = |reason: &Reason| matches!(reason, Reason::Locked(_));
    if let Some(holder) = others.filter(|_| !reasons.iter().any(says_so)) {
        reasons.push(Reason::Claimed(holder.to_owned()));
    }
    let drop_branch = probe.branch_merged == Some(true);
    if reasons.is_empty() {
        return Ok(Removal { salvage: false, drop_branch, passed_over: Vec::new() });
    }
    let stays = |why: &str| Refusal::new(format!("the worktree {} stays: {why}", tree.path.display()));
    let lost: Vec<_> = reasons.iter().filter(|reason| !reason.can_be_saved()).collect();
    let texts = || reasons.iter().map(Reason::text);
    match (force, lost.first()) {
        (true, None) => Ok(Removal { salvage: true, drop_branch, passed_over: texts().collect() }),
        (true, Some(first)) => Err(stays("not even `--force` could save all of it")
            .evidence(lost.iter().map(|reason| reason.text()))
            .hint(first.way_out())),
        (false, None) => Err(stays("there is something in it that would be lost")
            .evidence(texts())
            .hint("`--force` saves all of it first; `yoi worktree restore` brings that back")),
        (false, Some(first)) => Err(stays("there is something in it").evidence(texts()).hint(first.way_out())),
    }
}
