//! Who keeps a worktree: the reason that git's own lock on it gives.
//!
//! Must not know: how git keeps it.

use chrono::SecondsFormat;

use crate::domain::ticket::Timestamp;

/// How the reason of yoi's own locks begins.
const OWN: &str = "yoi: held by ";
/// What stands between the holder and the time.
const UNTIL: &str = " until ";

/// A worker keeps a worktree for as long as its claim may last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Who.
    pub worker: String,
    /// Until when.
    pub until: Timestamp,
}

impl Hold {
    /// The reason as git keeps it, on one line: a person reads it in `git worktree list`.
    pub fn reason(&self) -> String {
        let worker: String = self.worker.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        format!("{OWN}{worker}{UNTIL}{}", self.until.to_rfc3339_opts(SecondsFormat::Secs, true))
    }
}

/// Git's lock on a worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lock {
    /// None.
    #[default]
    Open,
    /// Yoi's, for a worker.
    Held(Hold),
    /// Somebody else's, with the reason they gave (which may be empty).
    Foreign(String),
}

impl Lock {
    /// Reads a reason.
    pub fn of(reason: &str) -> Self {
        let reason = reason.trim();
        let held = reason.strip_prefix(OWN).and_then(|rest| rest.rsplit_once(UNTIL));
        let hold = held
            .and_then(|(worker, until)| Some(Hold { worker: worker.into(), until: until.parse::<Timestamp>().ok()? }));
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
