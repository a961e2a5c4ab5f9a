//! What `block`, `decompose` and `close` demand before they change anything, and what they write then (DESIGN.md 6.4).
//!
//! Must not know: claims' mechanics, files, how an answer is shown.

mod artifact;
pub mod block;
pub mod close;
pub mod decompose;
mod looks;
mod placing;

pub use artifact::is_result;
pub use placing::{Placed, candidate, place};

use super::claim::{Outcome, StepKind, Tip, label_off};
use super::classify::clock;
use super::edit::Change;
use super::facts::Claim;
use super::lifecycle::{updated, without_acceptance};
use super::refusal::Refusal;
use super::ticket::{State, Ticket, TicketId, Timestamp};

/// The most characters of one statement: the thread keeps it as a line.
pub const LONGEST: usize = 2000;

/// Who writes, and by which settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    /// The name to record: the worker's, or the person's.
    pub by: String,
    /// Holds a claim on the ticket. Whoever does may have been interrupted when it wrote the same before.
    pub holds: bool,
    /// The label that shows a claim, if any.
    pub label: Option<String>,
}

/// What a statement is for: the option that takes it, and what it says.
type Wanted = (&'static str, &'static str);

/// All that is lacking, a line each.
#[derive(Debug, Default)]
struct Lacking(Vec<String>);

impl Lacking {
    fn add(&mut self, line: impl Into<String>) {
        self.0.push(line.into());
    }

    /// The statement, if there is one; what is wrong with it otherwise.
    fn said(&mut self, (option, what): Wanted, text: Option<&str>) -> String {
        let Some(text) = text else {
            self.add(format!("{option} is missing: {what}"));
            return String::new();
        };
        self.optional((option, what), text)
    }

    /// The same where it was given.
    fn optional(&mut self, (option, what): Wanted, text: &str) -> String {
        let text = text.trim();
        if text.is_empty() {
            self.add(format!("{option} is blank: {what}"));
        }
        let length = text.chars().count();
        if length > LONGEST {
            let to_do = "put the rest where it can be linked to";
            self.add(format!("{option} has {length} characters, at most {LONGEST} go into the thread: {to_do}"));
        }
        text.to_owned()
    }

    fn refuse(self, message: impl Into<String>, hint: impl Into<String>) -> Result<(), Refusal> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(Refusal::new(message).evidence(self.0).hint(hint))
    }
}

/// An address that a person can open, and that breaks no line.
pub fn is_web_address(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let is_odd = |c: char| c.is_whitespace() || super::harmless::is_harmful(c);
    rest.is_some_and(|rest| !rest.starts_with(['/', '?', '#']) && !rest.is_empty()) && !url.contains(is_odd)
}

/// A statement in a note: quoted, so that nothing in it is taken for what stands beside it.
fn quoted(text: &str) -> String {
    let plain: Vec<_> = text.split_whitespace().collect();
    format!("\"{}\"", plain.join(" ").replace('\\', "\\\\").replace('"', "\\\""))
}

fn name_of(state: Option<State>) -> &'static str {
    state.map_or("an unreadable state", State::as_str)
}

/// What each of the verbs changes beside the state: an acceptance that says nothing any more, the claim's label.
fn and_also(ticket: &Ticket, writer: &Writer, now: Timestamp) -> Vec<Change> {
    let mut changes = without_acceptance(ticket);
    changes.extend(label_off(ticket, writer.label.as_deref()));
    changes.extend(updated(ticket, now));
    changes
}

fn without_state(ticket: &Ticket) -> Refusal {
    Refusal::new(format!("`{}` has no state that can be read", ticket.id))
        .hint(format!("write one of the six states into {}", ticket.path.display()))
}

/// Whoever holds no claim waits for the one who does.
pub fn held_by(id: &TicketId, verb: &str, claim: &Claim) -> Refusal {
    let Claim { worker, role, .. } = claim;
    let until = clock(claim.expires());
    Refusal::new(format!("`{id}` is held by {worker} ({role}) until {until}: to {verb} it is that worker's"))
        .hint(format!("as that worker: --worker {worker}; or wait until the claim has ended (`yoi why {id}`)"))
}

/// Whether the worker has given the ticket up with a result, and nobody has claimed it since: it may be closed by that
/// worker still.
pub fn is_handed_over(tip: Option<&Tip>, worker: &str, generation: Option<u64>) -> bool {
    tip.is_some_and(|tip| {
        let step = &tip.step;
        let with_result = StepKind::Release { outcome: Outcome::PrOpened };
        let done = StepKind::Release { outcome: Outcome::Done };
        let same = step.worker == worker && generation.is_none_or(|generation| generation == step.generation);
        same && (step.kind == with_result || step.kind == done)
    })
}
