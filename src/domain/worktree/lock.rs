//! Who keeps a worktree: the reason that git's own lock on it gives.
//!
//! Must not know: how git keeps it.

use chrono::SecondsFormat;

use crate::domain::classify::clock;
use crate::domain::ticket::Timestamp;

/// How the reason of yoi's own locks begins: of a worker's,
const OWN: &str = "yoi: held by ";
/// and of one that outlasts the work.
const RETAINED: &str = "yoi: retained by ";
/// What stands between the holder and the time,
const UNTIL: &str = " until ";
/// and between the time and what it is kept for.
const FOR: &str = ": ";

/// A worker keeps a worktree for as long as its claim may last; or whoever closed the ticket said who keeps it, and what for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Who.
    pub worker: String,
    /// Until when.
    pub until: Timestamp,
    /// What it is retained for, after the work; None: a worker's own, for its claim.
    pub retained_for: Option<String>,
}

impl Hold {
    /// The reason as git keeps it, on one line: a person reads it in `git worktree list`.
    pub fn reason(&self) -> String {
        let plain = |text: &str| text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
        let (worker, until) = (plain(&self.worker), self.until.to_rfc3339_opts(SecondsFormat::Secs, true));
        match &self.retained_for {
            None => format!("{OWN}{worker}{UNTIL}{until}"),
            Some(why) => format!("{RETAINED}{worker}{UNTIL}{until}{FOR}{}", plain(why)),
        }
    }

    /// In a sentence.
    pub fn words(&self) -> String {
        let (worker, until) = (&self.worker, clock(self.until));
        match &self.retained_for {
            None => format!("`{worker}` holds it until {until}"),
            Some(why) => format!("`{worker}` retains it until {until}, for: {why}"),
        }
    }

    /// Of a worker, whose claim says more.
    pub fn is_of_a_claim(&self) -> bool {
        self.retained_for.is_none()
    }
}

/// Names and reasons may have anything in them: the first time that is one says where the name ends.
fn retained(text: &str) -> Option<Hold> {
    text.match_indices(UNTIL).find_map(|(at, _)| {
        let (until, why) = text[at + UNTIL.len()..].split_once(FOR)?;
        Some(Hold { worker: text[..at].into(), until: until.parse().ok()?, retained_for: Some(why.into()) })
    })
}

/// Git's lock on a worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lock {
    /// None.
    #[default]
    Open,
    /// Yoi's, for a worker, or for whoever is to keep it.
    Held(Hold),
    /// Somebody else's, with the reason they gave (which may be empty).
    Foreign(String),
}

impl Lock {
    /// Reads a reason.
    pub fn of(reason: &str) -> Self {
        let reason = reason.trim();
        let held = reason.strip_prefix(OWN).and_then(|rest| rest.rsplit_once(UNTIL));
        let hold = held.and_then(|(worker, until)| {
            Some(Hold { worker: worker.into(), until: until.parse().ok()?, retained_for: None })
        });
        let hold = hold.or_else(|| reason.strip_prefix(RETAINED).and_then(retained));
        hold.map_or_else(|| Lock::Foreign(reason.into()), Lock::Held)
    }

    /// The holder, where it is a worker's.
    pub fn hold(&self) -> Option<&Hold> {
        match self {
            Lock::Held(hold) => Some(hold),
            Lock::Open | Lock::Foreign(_) => None,
        }
    }
}
