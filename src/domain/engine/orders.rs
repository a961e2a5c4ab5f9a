//! The Orchestrator's own notes: plan, wait, await. Each carries the session, and is refused from another one
//! (DESIGN.md section 4).

use chrono::TimeDelta;

use super::{Effect, Engine};
use crate::domain::gates::holds;
use crate::domain::ledger::{Attempt, Reached};
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{State, Ticket, TicketId, Timestamp};
use crate::domain::workset::{Awaited, MAX_AWAIT, MAX_DETAIL, MAX_STEP, WaitKind, Waiting};

/// What the Orchestrator notes of a ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Orders {
    /// Take it into the work set, with an order or without.
    Plan {
        /// Lower comes first.
        order: Option<i64>,
    },
    /// Let a queued ticket wait.
    Wait {
        /// Which gate, or `other`.
        kind: WaitKind,
        /// In the Orchestrator's words.
        detail: String,
    },
    /// A delegated step of an `inprogress` ticket is awaited.
    Await {
        /// In a few words.
        step: String,
        /// How long at most.
        span: TimeDelta,
    },
}

fn refuse<T>(message: impl Into<String>, hint: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(message).hint(hint))
}

impl Engine {
    /// Takes a note of the Orchestrator's. Returns what follows from it.
    pub fn order(
        &mut self,
        session: &str,
        id: &TicketId,
        orders: Orders,
        now: Timestamp,
    ) -> Result<Vec<Effect>, Refusal> {
        self.mend_clock(now);
        self.check_session(session)?;
        let Some(ticket) = self.backlog.get(id).cloned() else {
            return refuse(
                format!("`{id}` is no ticket that can be read here"),
                "`yoi list --all` shows every id, and every file that cannot be read",
            );
        };
        match orders {
            Orders::Plan { order } => self.plan(&ticket, order, now)?,
            Orders::Wait { kind, detail } => self.wait(&ticket, kind, detail)?,
            Orders::Await { step, span } => self.await_step(&ticket, step, span, now)?,
        }
        self.settle(now);
        Ok(std::mem::take(&mut self.out))
    }

    fn check_session(&self, session: &str) -> Result<(), Refusal> {
        if let Some(why) = self.absence() {
            return refuse(
                format!("there is no Orchestrator whose work set this could be: {why}"),
                "`yoi status` shows the Orchestrator",
            );
        }
        if session != self.work_set.session {
            return refuse(
                format!(
                    "session `{session}` is not the Orchestrator's current one, `{}`; its notes are gone with it",
                    self.work_set.session
                ),
                "a turn has the current one in YOI_SESSION, or in its agent's own variable; nothing is lost: every queued ticket \
                 is handed over anew",
            );
        }
        Ok(())
    }

    fn plan(&mut self, ticket: &Ticket, order: Option<i64>, now: Timestamp) -> Result<(), Refusal> {
        if !matches!(ticket.state, Some(State::Queued | State::Inprogress)) {
            return refuse(
                format!("`{}` is {}: only queued and inprogress tickets are planned", ticket.id, state(ticket)),
                queue_first(ticket),
            );
        }
        self.take_in(&ticket.id);
        if order.is_some() {
            self.work_set.entry(&ticket.id).order = order;
        }
        // A plan is a decision to go on with it: a former reason to wait is over.
        if self.work_set.entry(&ticket.id).waiting.take().is_some() {
            // It may be on the list again: that is nobody else's boundary, and from now on it lies there.
            self.stirred = true;
            self.timers.lies_anew(&ticket.id, now);
        }
        Ok(())
    }

    fn wait(&mut self, ticket: &Ticket, kind: WaitKind, detail: String) -> Result<(), Refusal> {
        if ticket.state != Some(State::Queued) {
            let message = format!("`{}` is {}: only queued tickets wait", ticket.id, state(ticket));
            return refuse(message, queue_first(ticket));
        }
        let length = detail.chars().count();
        if length > MAX_DETAIL {
            return refuse(
                format!("the detail has {length} characters; at most {MAX_DETAIL} are kept"),
                "say it shorter, or write it into the ticket",
            );
        }
        let found = holds(ticket, self.ground());
        if kind != WaitKind::Other && !found.iter().any(|hold| hold.gate == kind) {
            return Err(Refusal::new(format!("`{}` does not wait for {kind}: that gate does not hold it", ticket.id))
                .evidence(found.into_iter().map(|hold| format!("{}: {}", hold.gate, hold.evidence)))
                .hint("name a gate that holds it; or `--kind other`, which yoi cannot check"));
        }
        self.take_in(&ticket.id);
        self.work_set.entry(&ticket.id).waiting = Some(Waiting { kind, detail });
        Ok(())
    }

    fn await_step(&mut self, ticket: &Ticket, step: String, span: TimeDelta, now: Timestamp) -> Result<(), Refusal> {
        if ticket.state != Some(State::Inprogress) {
            return refuse(
                format!("`{}` is {}: steps are awaited of inprogress tickets", ticket.id, state(ticket)),
                format!("`yoi accept {}` comes first", ticket.id),
            );
        }
        let length = step.chars().count();
        if step.trim().is_empty() || length > MAX_STEP {
            return refuse(
                format!("the step has {length} characters; it takes 1 to {MAX_STEP}"),
                "name it in a few words: coder, reviewer, merge",
            );
        }
        if span <= TimeDelta::zero() || span > MAX_AWAIT {
            return refuse("a step is awaited for more than nothing and at most 24h", "await it anew before it is due");
        }
        self.take_in(&ticket.id);
        self.attempted(&ticket.id, Attempt::Awaited);
        self.work_set.entry(&ticket.id).awaited = Some(Awaited { step, due: now + span });
        Ok(())
    }

    /// Being taken into the work set is a change; the Orchestrator's own wording is none.
    fn take_in(&mut self, id: &TicketId) {
        if self.work_set.get(id).is_none() {
            self.work_set.entry(id);
            self.no_longer_seen(id);
            self.got(id, Reached::InWorkSet);
        }
    }
}

fn state(ticket: &Ticket) -> &'static str {
    ticket.state.map_or("without a readable state", State::as_str)
}

fn queue_first(ticket: &Ticket) -> String {
    match ticket.state {
        Some(State::Planning) => "it goes planning -> ready -> queued first".into(),
        Some(State::Ready) => format!("`yoi move {} queued` comes first", ticket.id),
        _ => format!("`yoi why {}` says where it stands", ticket.id),
    }
}
