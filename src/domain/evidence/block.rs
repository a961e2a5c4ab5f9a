//! `block`: a worker cannot go on. What stands in the way, how it knows, what would clear it, and what then.
//!
//! Must not know: how a worktree is looked at.

use std::fmt;
use std::str::FromStr;

use super::close::{Checks, Standing};
use super::{Lacking, Wanted, Writer, and_also, name_of, quoted, without_state};
use crate::domain::classify::clock;
use crate::domain::edit::Change;
use crate::domain::lifecycle::entry_stamps;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{State, Ticket, TicketId, Timestamp};

/// The label of a blocked ticket: a human gate.
pub const LABEL: &str = "blocked";

const BLOCKER: Wanted = ("--blocker", "what stands in the way");
const EVIDENCE: Wanted = ("--evidence", "what was tried and seen, so that nobody has to find it out again");
const UNBLOCK: Wanted = ("--unblock", "what would clear it, and who can do that");
const THEN: Wanted = ("--then", "what is to happen when it is cleared: retry, decompose or reassign");

/// What is to happen when the blocker is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The same work again.
    Retry,
    /// Smaller tickets.
    Decompose,
    /// Somebody else.
    Reassign,
}

impl Then {
    /// All of them.
    pub const ALL: [Then; 3] = [Then::Retry, Then::Decompose, Then::Reassign];

    /// As people say it.
    pub fn as_str(self) -> &'static str {
        match self {
            Then::Retry => "retry",
            Then::Decompose => "decompose",
            Then::Reassign => "reassign",
        }
    }
}

impl fmt::Display for Then {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Then {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Then::ALL.into_iter().find(|then| then.as_str() == text);
        found.ok_or_else(|| format!("--then is one of {}, not `{text}`", Then::ALL.map(Then::as_str).join(", ")))
    }
}

/// What was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the option of the same name")]
pub struct Asked<'a> {
    pub blocker: Option<&'a str>,
    pub evidence: Option<&'a str>,
    pub unblock: Option<&'a str>,
    pub then: Option<&'a str>,
}

/// What became of the ticket's worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// There was none.
    None,
    /// It was clean, and is gone.
    Removed {
        /// Where it lay.
        path: String,
    },
    /// It stays.
    Kept {
        /// Where it lies.
        path: String,
        /// Whose it is.
        owner: String,
        /// What is in it that is nowhere else: `clean`, `dirty: 2 files untracked`.
        state: String,
        /// Until when it is to be kept; None: nobody has said.
        until: Option<Timestamp>,
    },
}

impl Fate {
    /// It stays, for these reasons; `until` as its lock says.
    pub fn kept(found: Checks, owner: &str, reasons: &[String], until: Option<Timestamp>) -> Self {
        match found.worktree {
            Standing::Gone | Standing::Unknown => Fate::None,
            Standing::There(path) => {
                let state = format!("{} ({})", found.unsaved, reasons.join("; "));
                Fate::Kept { path, owner: owner.to_owned(), state, until }
            }
        }
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fate::None => f.write_str("none"),
            Fate::Removed { path } => write!(f, "removed (it was clean, at {})", quoted(path)),
            Fate::Kept { path, owner, state, until } => {
                let until = until.map_or_else(|| "no expiry set".into(), |until| format!("until {}", clock(until)));
                write!(f, "kept at {}, owner {}, {}, {until}", quoted(path), quoted(owner), quoted(state))
            }
        }
    }
}

/// A block with all that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    blocker: String,
    evidence: String,
    unblock: String,
    then: Then,
}

impl Block {
    /// Refuses where anything is missing, and names all of it.
    pub fn of(id: &TicketId, asked: &Asked<'_>) -> Result<Self, Refusal> {
        let mut lacking = Lacking::default();
        let blocker = lacking.said(BLOCKER, asked.blocker);
        let evidence = lacking.said(EVIDENCE, asked.evidence);
        let unblock = lacking.said(UNBLOCK, asked.unblock);
        let then = lacking.said(THEN, asked.then);
        let then = match then.parse() {
            Ok(then) => then,
            Err(why) => {
                if !then.is_empty() {
                    lacking.add(why);
                }
                Then::Retry
            }
        };
        lacking.refuse(
            format!("`{id}` is not blocked: whoever takes it up next needs to know more"),
            "`yoi block --help` shows all four; nothing was changed",
        )?;
        Ok(Self { blocker, evidence, unblock, then })
    }

    /// What it changes in the file as it is now: every entry into the queue is stamped anew.
    pub fn changes(&self, ticket: &Ticket, writer: &Writer, now: Timestamp) -> Result<Vec<Change>, Refusal> {
        let mut changes = Vec::new();
        match ticket.state {
            Some(State::Queued) => {}
            Some(State::Inprogress) => changes.push(Change::text("state", State::Queued.as_str())),
            Some(state) => {
                let id = &ticket.id;
                let refusal = Refusal::new(format!("`{id}` is {state}: only what is queued or inprogress is blocked"));
                return Err(refusal.hint(format!("`yoi why {id}` says what comes next")));
            }
            None => return Err(without_state(ticket)),
        }
        changes.extend(entry_stamps(ticket, &writer.by, now));
        if !ticket.has_label(LABEL) {
            changes.push(Change::Add("labels".into(), LABEL.into()));
        }
        changes.extend(and_also(ticket, writer, now));
        Ok(changes)
    }

    /// The note for the thread.
    pub fn note(&self, before: &Ticket, writer: &Writer, fate: &Fate, now: Timestamp) -> String {
        let Self { blocker, evidence, unblock, then } = self;
        let (at, from, by) = (clock(now), name_of(before.state), &writer.by);
        format!(
            "{at} BLOCKED {from} -> queued by {by}: blocker {}; evidence {}; unblock {}; then {then}; worktree {fate}",
            quoted(blocker),
            quoted(evidence),
            quoted(unblock),
        )
    }
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;
