//! The verbs that move a claim: on the asker's own thread, with the host borrowed for moments (DESIGN.md 6.2).
//!
//! Must not know: who may move it (`domain::claim` decides), git, a face.

mod back;
mod desk;
mod fence;
mod fenced;
mod marks;
mod mending;
mod remote;
mod role;
mod seeking;
mod start;
mod taking;
mod undone;
mod unheld;

pub use desk::Desk;
pub use fence::{Fence, Holder, Released, renew};
pub use fenced::{fenced, fenced_after, heartbeat, release};
pub(super) use mending::give_up;
pub use mending::mend_starts;
pub(super) use remote::remote_asked;
pub use seeking::{Next, Seeking, next, offer};
pub use start::{Started, start};
pub use taking::{ClaimRequest, Claimed, claim};
pub use unheld::{end_stale, held, stands};

use chrono::{DateTime, TimeDelta};

use super::{Host, Ports, VerbError};
use crate::domain::claim::{ClaimNews, Refused};
use crate::domain::engine::Event;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{TicketId, Timestamp};
use crate::ports::ClaimsError;

/// How far two clocks may drift apart before claims are read again.
const SLACK: TimeDelta = TimeDelta::seconds(3);
/// How often a step is tried again that others were faster with, before they are told of.
const TRIES: u32 = 50;
/// Who breaks a claim that nobody has challenged.
const YOI: &str = "yoi";

impl From<ClaimsError> for VerbError {
    fn from(error: ClaimsError) -> Self {
        let hint = match &error {
            ClaimsError::Unreachable(_) => "; a worker's commands take `--local` then, for this machine alone",
            _ => "",
        };
        VerbError::Failed(format!("{error}{hint}"))
    }
}

impl From<Refused> for VerbError {
    fn from(refused: Refused) -> Self {
        VerbError::Refused(refused.refusal)
    }
}

fn moved_all_the_time(id: &TicketId) -> VerbError {
    let refusal = Refusal::new(format!("the claim of `{id}` is being moved by others all the time"));
    Refusal { passing: true, ..refusal.hint("try again") }.into()
}

impl Host {
    /// A claim of this machine ages by the time that the machine is awake, and the engine has one clock: after a sleep, or
    /// a jump of that clock, claims are read again before anything is decided on them.
    pub(super) fn claims_after_a_jump(&mut self) -> Option<Event> {
        if !self.resident || self.engine.facts().claims.is_empty() {
            return None;
        }
        let offset = self.now() - DateTime::UNIX_EPOCH - self.ports.processes.machine().awake;
        let before = *self.claims_offset.get_or_insert(offset);
        if (offset - before).abs() <= SLACK {
            return None;
        }
        let news = self.read_claims()?;
        self.claims_offset = Some(offset);
        Some(Event::ClaimsRead { news, full: true })
    }

    /// All claims as they are known here now; None where they cannot be read just now, which the log says.
    pub fn read_claims(&self) -> Option<Vec<ClaimNews>> {
        read_claims(&self.ports, self.now())
    }
}

/// All claims as they are known here; None where they cannot be read just now, which the log says.
pub(super) fn read_claims(ports: &Ports, now: Timestamp) -> Option<Vec<ClaimNews>> {
    let all = match ports.claims.all() {
        Ok(all) => all,
        Err(ClaimsError::NoGit(_)) => return Some(Vec::new()),
        Err(error) => {
            tracing::warn!(%error, "the claims cannot be read");
            return None;
        }
    };
    for unreadable in &all.unreadable {
        tracing::warn!(name = unreadable.name, why = unreadable.why, "a claim cannot be read");
    }
    let machine = ports.processes.machine();
    Some(all.tips.iter().map(|tip| ClaimNews::of(tip, &machine, now)).collect())
}
