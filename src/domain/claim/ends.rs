//! What a claim writes into the ticket: when it is won, and when it ends (the table in DESIGN.md 2.4).
//!
//! Must not know: the swap; how a file is changed.

use super::step::Outcome;
use crate::domain::classify::clock;
use crate::domain::edit::Change;
use crate::domain::evidence::is_web_address;
use crate::domain::harmless::quoted;
use crate::domain::lifecycle::{Verb, entry_stamps, state_after, without_acceptance};
use crate::domain::policy::Mode;
use crate::domain::refusal::Refusal;
use crate::domain::ticket::{State, Ticket, Timestamp};

/// Whether anybody may claim the ticket as it is; of a queued one in pull mode the gates are judged too, elsewhere.
pub fn claimable(ticket: &Ticket, mode: Mode) -> Result<(), Refusal> {
    let id = &ticket.id;
    let refuse = |message: String, hint: String| Err(Refusal::new(message).hint(hint));
    if let Some(pr) = open_pull_request(ticket) {
        let hint = "it goes on when that is merged (`yoi close`), or when `pr` is taken out of the file".to_owned();
        return refuse(format!("`{id}` waits for its pull request: {pr}"), hint);
    }
    match (ticket.state, mode) {
        (Some(State::Queued), Mode::Orchestrated) => refuse(
            format!("`{id}` is queued: in orchestrated mode only an accepted ticket is claimed"),
            format!("`yoi accept {id}` is the Orchestrator's, or a person's, to say"),
        ),
        (Some(State::Inprogress), _) if !ticket.acceptance_recorded() => refuse(
            format!("`{id}` is inprogress without a recorded acceptance"),
            format!("`yoi accept {id}` records it, if every gate lets it pass"),
        ),
        (Some(State::Inprogress), _) if ticket.is_human_gated() => {
            refuse(format!("`{id}` waits for a person"), format!("`yoi why {id}` says for what"))
        }
        (Some(State::Queued), Mode::Pull) | (Some(State::Inprogress), _) => Ok(()),
        (Some(state), _) => refuse(
            format!("`{id}` is {state}: nothing is to be worked on"),
            format!("`yoi why {id}` says what comes next"),
        ),
        (None, _) => refuse(
            format!("`{id}` has no state that can be read"),
            format!("write one of the six states into {}", ticket.path.display()),
        ),
    }
}

/// The pull request that a ticket waits for which could be worked on otherwise, quoted: it supersedes every claim.
pub fn open_pull_request(ticket: &Ticket) -> Option<String> {
    let is_open = matches!(ticket.state, Some(State::Queued | State::Inprogress));
    ticket.pr.as_ref().filter(|_| is_open).map(quoted)
}

/// The label that shows a claim.
pub fn label_on(ticket: &Ticket, label: Option<&str>) -> Vec<Change> {
    let missing = label.filter(|label| !ticket.has_label(label));
    missing.map(|label| Change::Add("labels".into(), label.into())).into_iter().collect()
}

/// That label taken off.
pub fn label_off(ticket: &Ticket, label: Option<&str>) -> Vec<Change> {
    let there = label.filter(|label| ticket.has_label(label));
    there.map(|label| Change::Remove("labels".into(), label.into())).into_iter().collect()
}

/// How a claim ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// What became of it.
    pub outcome: Outcome,
    /// The pull request, with `pr-opened`.
    pub pr: Option<String>,
    /// Who says so.
    pub by: String,
    /// By the mode.
    pub mode: Mode,
    /// The label that shows a claim, if any.
    pub label: Option<String>,
}

impl Ending {
    /// Refuses an end that is not a release's, or lacks what it needs. For whoever asks, before anything is moved.
    pub fn check(&self) -> Result<(), Refusal> {
        let other = |verb: &str| {
            Err(Refusal::new(format!(
                "a claim ends as {} by `yoi {verb}`, which asks for what belongs to it",
                self.outcome
            ))
            .hint(format!("yoi {verb} --help")))
        };
        match (self.outcome, &self.pr) {
            (Outcome::Blocked, _) => other("block"),
            (Outcome::Decomposed, _) => other("decompose"),
            (Outcome::LostRace, _) => Err(Refusal::new("`lost-race` is what somebody is told who never had the claim")
                .hint("whoever gives up a claim releases it as abandoned")),
            (Outcome::PrOpened, None) => {
                Err(Refusal::new("--outcome pr-opened needs --pr URL: the pull request supersedes the claim"))
            }
            (Outcome::PrOpened, Some(url)) => web_address(url),
            (_, Some(_)) => Err(Refusal::new(format!("--pr belongs to --outcome pr-opened, not to {}", self.outcome))),
            (Outcome::Abandoned | Outcome::Done, None) => Ok(()),
        }
    }

    /// What it changes in the file as it is now. Whoever worked on a ticket that has moved on meanwhile leaves its state
    /// alone.
    pub fn changes(&self, ticket: &Ticket, now: Timestamp) -> Vec<Change> {
        let mut changes = label_off(ticket, self.label.as_deref());
        match (self.outcome, ticket.state) {
            (Outcome::PrOpened, _) => changes.extend(self.pr.as_deref().map(|url| Change::text("pr", url))),
            (Outcome::Done, Some(State::Inprogress)) => changes.push(Change::text("state", State::Done.as_str())),
            (Outcome::Abandoned, Some(from)) => changes.extend(back(ticket, from, self.mode, &self.by, now)),
            _ => {}
        }
        if !changes.is_empty() && ticket.stamps.updated_at.is_some() {
            changes.push(Change::text("updated_at", clock(now)));
        }
        changes
    }
}

impl Ending {
    /// What is to be said of the ticket as the end has left it, where it does not say so itself.
    pub fn remark(&self, after: &Ticket) -> Option<String> {
        let state = after.state.filter(|state| !matches!(state, State::Done | State::Closed))?;
        (self.outcome == Outcome::Done).then(|| {
            format!(
                "`{0}` is {state}, not done: somebody has moved it since it was claimed, and only what is inprogress becomes \
                 done; `yoi why {0}` says what comes next",
                after.id
            )
        })
    }
}

/// What a claim that ends without a result does to the state: in pull mode the ticket enters the queue again.
pub fn back(ticket: &Ticket, from: State, mode: Mode, by: &str, now: Timestamp) -> Vec<Change> {
    let to = state_after(Verb::ReleaseAbandoned, from, mode);
    if to != Some(State::Queued) {
        return Vec::new();
    }
    let mut changes = Vec::new();
    if from != State::Queued {
        changes.push(Change::text("state", State::Queued.as_str()));
    }
    changes.extend(entry_stamps(ticket, by, now));
    changes.extend(without_acceptance(ticket));
    changes
}

/// An address that a person can open, and that breaks no line.
pub fn web_address(url: &str) -> Result<(), Refusal> {
    if is_web_address(url) {
        return Ok(());
    }
    Err(Refusal::new(format!("{} is no address of a pull request", quoted(url)))
        .hint("write it whole, like https://example.org/acme/web/pull/7"))
}
