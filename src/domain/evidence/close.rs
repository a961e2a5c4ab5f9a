//! `close`: a ticket is done with, on evidence: what was merged, what was tested, what there is now, what is left over,
//! and what became of the workspace.
//!
//! Must not know: how a branch or a worktree is looked at; how an expiry is written.

use std::fmt;
use std::str::FromStr;

use super::artifact::is_result;
pub use super::looks::{Checks, Standing, Unsaved};
use super::looks::{otherwise, unmerged};
use super::{Lacking, Wanted, Writer, and_also, is_web_address, name_of, quoted, without_state};
use crate::domain::classify::clock;
use crate::domain::edit::Change;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{State, Ticket, TicketId, Timestamp};

const PR: Wanted = ("--pr URL", "the pull request; without one: --no-pr WHY");
const NO_PR: Wanted = ("--no-pr", "why there is no pull request");
const MERGE_STATE: Wanted = ("--merge-state", "what became of the pull request: merged, auto-merge, open or closed");
const TESTS: Wanted = ("--tests", "which tests ran, and what they showed");
const ARTIFACT: Wanted =
    ("--artifact", "what there is now: a path, an address or a few words; without one: --no-artifact WHY");
const NO_ARTIFACT: Wanted = ("--no-artifact", "why nothing is left that somebody could open or use");
const RESIDUAL: Wanted = ("--residual", "what is left to do, or known not to work; may be `none`");
const WORKSPACE: Wanted = ("--workspace", "removed, or retained:OWNER:REASON:EXPIRY");

/// What became of the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeState {
    /// It is in the target branch.
    Merged,
    /// It will be, as soon as the required checks pass.
    AutoMerge,
    /// Somebody else decides.
    Open,
    /// It was turned down, or given up.
    Closed,
}

impl MergeState {
    /// All of them.
    pub const ALL: [MergeState; 4] = [MergeState::Merged, MergeState::AutoMerge, MergeState::Open, MergeState::Closed];

    /// As people say it.
    pub fn as_str(self) -> &'static str {
        match self {
            MergeState::Merged => "merged",
            MergeState::AutoMerge => "auto-merge",
            MergeState::Open => "open",
            MergeState::Closed => "closed",
        }
    }
}

impl fmt::Display for MergeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for MergeState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names = || MergeState::ALL.map(MergeState::as_str).join(", ");
        let found = MergeState::ALL.into_iter().find(|state| state.as_str() == text);
        found.ok_or_else(|| format!("--merge-state is one of {}, not `{text}`", names()))
    }
}

/// What became of the workspace, as whoever closes says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workspace {
    /// It is gone.
    Removed,
    /// It stays for a while.
    Retained {
        /// Whose it is.
        owner: String,
        /// What for.
        reason: String,
        /// How long.
        until: Timestamp,
    },
}

/// What was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the option of the same name")]
pub struct Asked<'a> {
    pub pr: Option<&'a str>,
    pub merge_state: Option<&'a str>,
    pub no_pr: Option<&'a str>,
    pub tests: Option<&'a str>,
    pub artifact: Option<&'a str>,
    pub no_artifact: Option<&'a str>,
    pub residual: Option<&'a str>,
    /// As read, or what is wrong with it, a line each.
    pub workspace: Option<Result<Workspace, Vec<String>>>,
}

/// A reference, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Given {
    Is(String),
    Without(String),
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Is(what) => f.write_str(&quoted(what)),
            Given::Without(why) => write!(f, "none, because {}", quoted(why)),
        }
    }
}

/// The end of a ticket with all that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    pr: Given,
    merge_state: Option<MergeState>,
    tests: String,
    artifact: Given,
    residual: String,
    pub(super) workspace: Workspace,
}

impl Closing {
    /// Refuses where anything is missing, or not as it was looked at, and names all of it.
    pub fn of(id: &TicketId, asked: &Asked<'_>, checks: &Checks, now: Timestamp) -> Result<Self, Refusal> {
        let mut lacking = Lacking::default();
        let pr = reference(&mut lacking, (PR, asked.pr), (NO_PR, asked.no_pr));
        if let Given::Is(url) = &pr
            && !url.is_empty()
            && !is_web_address(url)
        {
            lacking.add(format!("--pr {}: write the whole address, https://..., without blanks", quoted(url)));
        }
        let merge_state = merge_state(&mut lacking, asked);
        let tests = lacking.said(TESTS, asked.tests);
        let artifact = reference(&mut lacking, (ARTIFACT, asked.artifact), (NO_ARTIFACT, asked.no_artifact));
        if let Given::Is(what) = &artifact
            && !what.is_empty()
        {
            lacking.0.extend(odd_artifact(what));
        }
        let residual = lacking.said(RESIDUAL, asked.residual);
        let workspace = workspace(&mut lacking, asked, now);
        lacking.0.extend(unmerged(merge_state, checks));
        lacking.0.extend(workspace.as_ref().and_then(|workspace| otherwise(workspace, &checks.worktree)));
        lacking.refuse(
            format!("`{id}` is not closed: the evidence is not complete"),
            "`yoi close --help` shows all of it; nothing was changed",
        )?;
        let workspace = workspace.unwrap_or(Workspace::Removed);
        Ok(Self { pr, merge_state, tests, artifact, residual, workspace })
    }

    /// The first of the two edits.
    pub fn done(ticket: &Ticket, writer: &Writer, now: Timestamp) -> Result<Vec<Change>, Refusal> {
        let id = &ticket.id;
        match ticket.state {
            Some(State::Inprogress | State::Done) => {}
            // Whoever holds it may have been interrupted before its claim ended.
            Some(State::Closed) if writer.holds => return Ok(and_also_kept(ticket, writer, now)),
            Some(State::Closed) => {
                return Err(Refusal::new(format!("`{id}` is closed already")).hint("nothing is to be done"));
            }
            Some(state) if writer.holds => {
                let refusal = Refusal::new(format!("`{id}` is {state}: somebody took it out of inprogress meanwhile"));
                return Err(refusal.hint("a person decides what comes next; `yoi release` ends the claim"));
            }
            Some(_) => {}
            None => return Err(without_state(ticket)),
        }
        let mut changes = Vec::new();
        if ticket.state != Some(State::Done) {
            changes.push(Change::text("state", State::Done.as_str()));
        }
        changes.extend(and_also_kept(ticket, writer, now));
        Ok(changes)
    }

    /// The second.
    pub fn closed(ticket: &Ticket, writer: &Writer, now: Timestamp) -> Vec<Change> {
        let mut changes = Vec::new();
        if ticket.state != Some(State::Closed) {
            changes.push(Change::text("state", State::Closed.as_str()));
        }
        changes.extend(and_also_kept(ticket, writer, now));
        changes
    }

    /// The note of the first edit; None where it was done already.
    pub fn done_note(before: &Ticket, writer: &Writer, now: Timestamp) -> Option<String> {
        let is_done = matches!(before.state, Some(State::Done | State::Closed));
        let from = name_of(before.state);
        (!is_done).then(|| format!("{} STATE {from} -> done by {}", clock(now), writer.by))
    }

    /// The closing note.
    pub fn note(&self, writer: &Writer, now: Timestamp) -> String {
        let Self { pr, merge_state, tests, artifact, residual, workspace } = self;
        let state = merge_state.map(|state| format!(" ({state})")).unwrap_or_default();
        let workspace = match workspace {
            Workspace::Removed => "removed".to_owned(),
            Workspace::Retained { owner, reason, until } => {
                format!("retained by {} for {} until {}", quoted(owner), quoted(reason), clock(*until))
            }
        };
        format!(
            "{} CLOSED by {}: pr {pr}{state}; tests {}; artifact {artifact}; residual {}; workspace {workspace}",
            clock(now),
            writer.by,
            quoted(tests),
            quoted(residual),
        )
    }
}

/// The acceptance stays: it belongs to what was done.
fn and_also_kept(ticket: &Ticket, writer: &Writer, now: Timestamp) -> Vec<Change> {
    let is_acceptance = |change: &Change| matches!(change.key(), "accepted_by" | "accepted_at");
    and_also(ticket, writer, now).into_iter().filter(|change| !is_acceptance(change)).collect()
}

/// One of the two options, not both.
fn reference(lacking: &mut Lacking, with: (Wanted, Option<&str>), without: (Wanted, Option<&str>)) -> Given {
    match (with.1, without.1) {
        (Some(_), Some(_)) => {
            let name = |wanted: Wanted| wanted.0.split(' ').next().unwrap_or_default();
            lacking.add(format!("{} and {} exclude each other", name(with.0), name(without.0)));
            Given::Is(String::new())
        }
        (None, Some(why)) => Given::Without(lacking.optional(without.0, why)),
        (what, None) => Given::Is(lacking.said(with.0, what)),
    }
}

/// Without a pull request it may be said too: a branch can be merged by hand.
fn merge_state(lacking: &mut Lacking, asked: &Asked<'_>) -> Option<MergeState> {
    let said = match asked.merge_state {
        None if asked.no_pr.is_some() => return None,
        said => lacking.said(MERGE_STATE, said),
    };
    match said.parse() {
        Ok(state) => Some(state),
        Err(_) if said.is_empty() => None,
        Err(why) => {
            lacking.add(why);
            None
        }
    }
}

fn odd_artifact(what: &str) -> Option<String> {
    let says = quoted(&what.chars().take(80).collect::<String>());
    let begins = what.starts_with("http://") || what.starts_with("https://");
    if begins && !is_web_address(what) && !what.contains(char::is_whitespace) {
        return Some(format!("--artifact {says}: write the whole address"));
    }
    is_result(what).then(|| {
        format!(
            "--artifact {says} is the result of a test or a CI run (that is --tests), and no artifact: an artifact is what \
             somebody can open or use, like a file's path, a release, a page, a screenshot, a document; without one say \
             --no-artifact WHY"
        )
    })
}

fn workspace(lacking: &mut Lacking, asked: &Asked<'_>, now: Timestamp) -> Option<Workspace> {
    match &asked.workspace {
        None => {
            lacking.said(WORKSPACE, None);
            None
        }
        Some(Err(lines)) => {
            lacking.0.extend(lines.iter().cloned());
            None
        }
        Some(Ok(workspace)) => {
            if let Workspace::Retained { until, .. } = workspace
                && *until <= now
            {
                lacking.add(format!("--workspace: its expiry {} is not in the future", clock(*until)));
            }
            Some(workspace.clone())
        }
    }
}

#[cfg(test)]
#[path = "close_tests.rs"]
mod tests;
