//! What is to be written, and what the product decides to write then.

use std::path::Path;

use super::world::World;
use crate::domain::accept::{Way, acceptable};
use crate::domain::backlog::{Backlog, Entry};
use crate::domain::claim::{Ending, back, claimable, label_off, label_on};
use crate::domain::edit::Change;
use crate::domain::facts::Facts;
use crate::domain::gates::Ground;
use crate::domain::lifecycle::{acceptance, plan_move, queue_stamp};
use crate::domain::ticket::{State, Ticket, Timestamp};

/// What is to be written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wish {
    Move(State, String),
    Accept,
    Priority(usize),
    Label(String),
    Stamp {
        by: String,
        since: Timestamp,
        always: bool,
    },
    /// A claim was won: its acceptance, or the label that shows it.
    Claimed {
        number: u64,
        worker: String,
        accepts: bool,
    },
    /// A worker brings something.
    Ended {
        number: u64,
        ending: Ending,
    },
    /// A ticket whose worker is gone enters the queue again.
    Back,
}

impl Wish {
    /// The worker who waits for it.
    pub(super) fn claimer(&self) -> Option<u64> {
        match self {
            Wish::Claimed { number, .. } | Wish::Ended { number, .. } => Some(*number),
            _ => None,
        }
    }
}

impl World {
    pub(super) fn decided(&mut self, path: &Path, wish: &Wish, text: &[u8]) -> Result<Vec<Change>, String> {
        let Entry::Ticket(fresh) = self.read_text(path, text) else { return Err("not a ticket".into()) };
        let now = self.now();
        match wish {
            Wish::Move(to, by) => plan_move(&fresh, *to, by, now, false).map_err(|refusal| refusal.to_string()),
            Wish::Accept => {
                self.may_accept(&fresh, Way::Accept)?;
                Ok(acceptance(&fresh, "orchestrator", now))
            }
            Wish::Claimed { worker, accepts: true, .. } if fresh.state == Some(State::Queued) => {
                self.may_accept(&fresh, Way::Claim)?;
                Ok(acceptance(&fresh, worker, now))
            }
            Wish::Claimed { worker, accepts, .. } => {
                claimable(&fresh, self.policy.mode).map_err(|refusal| refusal.to_string())?;
                let label = self.policy.claims.label.as_deref();
                Ok(if *accepts { acceptance(&fresh, worker, now) } else { label_on(&fresh, label) })
            }
            Wish::Ended { ending, .. } => Ok(ending.changes(&fresh, now)),
            Wish::Back => {
                let Some(from @ State::Inprogress) = fresh.state else { return Ok(Vec::new()) };
                let mut changes = back(&fresh, from, self.policy.mode, "yoi", now);
                changes.extend(label_off(&fresh, self.policy.claims.label.as_deref()));
                Ok(changes)
            }
            Wish::Priority(n) => Ok(vec![Change::text("priority", format!("P{n}"))]),
            Wish::Label(label) => Ok(vec![Change::Add("labels".into(), label.clone().into())]),
            Wish::Stamp { by, since, always } => Ok(queue_stamp(&fresh, by, *since, *always, now)),
        }
    }

    fn may_accept(&mut self, fresh: &Ticket, way: Way) -> Result<(), String> {
        let backlog = Backlog::of(self.entries());
        let claims = self.all_claim_news().into_iter().filter_map(|news| Some((news.ticket, news.stands.ok()?)));
        let facts = Facts { dirty: self.dirty.clone(), claims: claims.collect(), ..Facts::default() };
        let policy = self.policy.clone();
        let ground = Ground { backlog: &backlog, facts: &facts, policy: &policy };
        acceptable(fresh, ground, way).map_err(|refusal| refusal.to_string())
    }
}
