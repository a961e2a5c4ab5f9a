//! What faces read of the engine: rows with class and gates, and the engine's own standing.

use super::{Engine, LastDecision, Orchestrator, Reach, Session};
use crate::domain::attention::Item;
use crate::domain::backlog::Backlog;
use crate::domain::claim::EndedClaim;
use crate::domain::classify::{Classified, classify};
use crate::domain::facts::{Claim, Facts};
use crate::domain::gates::{Hold, holds};
use crate::domain::kick::{Boundary, Standing};
use crate::domain::ledger::{Paused, SavedLedger};
use crate::domain::policy::Policy;
use crate::domain::ticket::{State, Ticket, Timestamp};
use crate::domain::workset::{Note, WorkSet};

/// One ticket with everything that is derived of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The ticket.
    pub ticket: &'a Ticket,
    /// Its class, if its state has one.
    pub class: Option<Classified>,
    /// The gates that hold it, if it is queued.
    pub holds: Vec<Hold>,
    /// What the session noted of it.
    pub note: Option<&'a Note>,
    /// Its claim, if somebody holds it, and whether others must respect that.
    pub claim: Option<(&'a Claim, bool)>,
    /// The end of its last claim, where the file says otherwise.
    pub reverted: Option<&'a EndedClaim>,
    /// The label that shows a claim is on it, and there is no fresh one.
    pub stale_label: Option<&'a str>,
}

/// The engine's standing, for `status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary<'a> {
    /// Whether the Orchestrator can be reached.
    pub reach: &'a Reach,
    /// Why nobody can be kicked, if so.
    pub absence: Option<&'a str>,
    /// The registered session, where the Orchestrator is one.
    pub live: Option<&'a Session>,
    /// Wakes that failed since the start.
    pub undelivered: u64,
    /// Where its Pod stands.
    pub orchestrator: &'a Orchestrator,
    /// The current session.
    pub session: &'a str,
    /// What the rows of the decision go by.
    pub standing: Standing,
    /// All kicks are held.
    pub paused: Option<&'a Paused>,
    /// What was last decided.
    pub last_decision: Option<&'a LastDecision>,
    /// The last boundary.
    pub last_boundary: Option<(Boundary, Timestamp)>,
    /// Kicks sent since the start.
    pub kicks_sent: u64,
    /// Boundaries since the start that led to none.
    pub kicks_saved: u64,
}

/// Derives the row of one ticket.
pub fn row<'a>(ticket: &'a Ticket, engine: &'a Engine, now: Timestamp) -> Row<'a> {
    let claim = engine.facts.claims.get(&ticket.id).map(|claim| (claim, claim.fresh_for_others(now)));
    let label = engine.policy.claims.label.as_deref();
    Row {
        claim,
        reverted: engine.reverted(ticket),
        stale_label: label.filter(|label| ticket.has_label(label) && !claim.is_some_and(|(_, fresh)| fresh)),
        ticket,
        class: classify(ticket, &engine.work_set, &engine.facts, now),
        holds: if ticket.state == Some(State::Queued) { holds(ticket, engine.ground()) } else { Vec::new() },
        note: engine.work_set.get(&ticket.id),
    }
}

impl Engine {
    /// All tickets.
    pub fn backlog(&self) -> &Backlog {
        &self.backlog
    }

    /// All that is observed beside them.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The session's notes.
    pub fn work_set(&self) -> &WorkSet {
        &self.work_set
    }

    /// What the running turn was handed, if one is running that was handed something.
    pub fn handed(&self) -> Option<&[Item]> {
        match &self.orchestrator {
            Orchestrator::Busy(turn) if !turn.handed.is_empty() => Some(&turn.handed),
            _ => None,
        }
    }

    /// The policy in force.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whom edits in an editor are taken for.
    pub fn editor_name(&self) -> &str {
        &self.editor_name
    }

    /// The row of one ticket.
    pub fn row<'a>(&'a self, ticket: &'a Ticket, now: Timestamp) -> Row<'a> {
        row(ticket, self, now)
    }

    /// The counts and waits that outlive the daemon.
    pub fn saved_ledger(&self) -> &SavedLedger {
        &self.ledger.saved
    }

    /// The standing.
    pub fn summary(&self, now: Timestamp) -> Summary<'_> {
        Summary {
            reach: &self.reach,
            absence: self.absence(),
            live: self.session.as_ref(),
            undelivered: self.undelivered,
            orchestrator: &self.orchestrator,
            session: &self.work_set.session,
            standing: self.ledger.standing(self.policy.kick.max_per_hour, now),
            paused: self.ledger.saved.paused.as_ref(),
            last_decision: self.boundaries.last.as_ref(),
            last_boundary: self.boundaries.last_boundary,
            kicks_sent: self.boundaries.kicks_sent,
            kicks_saved: self.boundaries.kicks_saved,
        }
    }
}
