//! What is to be written, and what the product decides to write then.

use std::path::Path;

use super::world::World;
use crate::domain::accept::{Way, acceptable};
use crate::domain::backlog::{Backlog, Entry};
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
    Stamp { by: String, since: Timestamp, always: bool },
}

impl World {
    pub(super) fn decided(&mut self, path: &Path, wish: &Wish, text: &[u8]) -> Result<Vec<Change>, String> {
        let Entry::Ticket(fresh) = self.read_text(path, text) else { return Err("not a ticket".into()) };
        let now = self.now();
        match wish {
            Wish::Move(to, by) => plan_move(&fresh, *to, by, now, false).map_err(|refusal| refusal.to_string()),
            Wish::Accept => {
                self.may_accept(&fresh)?;
                Ok(acceptance(&fresh, "orchestrator", now))
            }
            Wish::Priority(n) => Ok(vec![Change::text("priority", format!("P{n}"))]),
            Wish::Label(label) => Ok(vec![Change::Add("labels".into(), label.clone().into())]),
            Wish::Stamp { by, since, always } => Ok(queue_stamp(&fresh, by, *since, *always, now)),
        }
    }

    fn may_accept(&mut self, fresh: &Ticket) -> Result<(), String> {
        let backlog = Backlog::of(self.entries());
        let facts = Facts { dirty: self.dirty.clone(), ..Facts::default() };
        let policy = self.policy.clone();
        let ground = Ground { backlog: &backlog, facts: &facts, policy: &policy };
        acceptable(fresh, ground, Way::Accept).map_err(|refusal| refusal.to_string())
    }
}
