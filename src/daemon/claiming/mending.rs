//! Claims and starts that were cut off: whoever comes next for the ticket, or the next daemon, gives their claims back first. Who
//! was killed before it was told that it has the claim does not hold it, and keeps nobody waiting.
//!
//! Must not know: git, files.

use std::thread;
use std::time::{Duration, Instant};

use super::YOI;
use super::fence::{Holder, give_back_by};
use super::marks::{Marks, forgotten};
use crate::daemon::lending::Alone;
use crate::daemon::verbs::unchanged;
use crate::daemon::{Lending, VerbError};
use crate::domain::claim::{Ending, Outcome};
use crate::domain::engine::Actor;
use crate::domain::ticket::TicketId;
use crate::ports::runs::{Standing, Whose};
use crate::ports::starts::{Begun, Marked, StartMark};
use crate::ports::{Runs, Starts};

/// For so long whoever gives a claim back is waited for. Where that takes longer, it asks a remote.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

/// Gives back what was cut off on this ticket.
pub(super) fn mend<L: Lending>(lending: &mut L, id: &TicketId) -> Result<(), VerbError> {
    let marks = Marks::of(lending)?;
    mend_starts(lending, (marks.starts.as_ref(), marks.runs.as_ref()), Some(id))
}

/// The same of every ticket. What cannot be given back now is another ticket's trouble, and is left for later.
pub(super) fn mend_all<L: Lending>(lending: &mut L) -> Result<(), VerbError> {
    let marks = Marks::of(lending)?;
    match mend_starts(lending, (marks.starts.as_ref(), marks.runs.as_ref()), None) {
        Err(error @ VerbError::DaemonEnded { .. }) => Err(error),
        Err(error) => {
            tracing::warn!(%error, "a claim that was cut off");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// Gives back what claims and starts that were cut off have claimed: of this ticket, or of all. A claim that a program works under
/// by now is that one's. What somebody else is giving back just now is waited for: it is held no more in a moment.
pub fn mend_starts<L: Lending>(
    lending: &mut L,
    (starts, runs): (&dyn Starts, &dyn Runs),
    of: Option<&TicketId>,
) -> Result<(), VerbError> {
    let end = Instant::now() + PATIENCE;
    loop {
        let cut_off =
            starts.cut_off(of).map_err(|error| unchanged("starts that were cut off cannot be looked for", &error))?;
        let mut mended = Ok(());
        for marked in cut_off.held {
            mended = mended.and(mend_one(lending, runs, marked));
        }
        if mended.is_err() || !cut_off.is_being_mended || Instant::now() >= end {
            return mended;
        }
        thread::sleep(PAUSE);
    }
}

fn mend_one<L: Lending>(lending: &mut L, runs: &dyn Runs, marked: Box<dyn Marked>) -> Result<(), VerbError> {
    let mark = marked.mark().clone();
    if is_at_work(runs, &mark)? {
        forgotten(marked);
        return Ok(());
    }
    let why = match mark.begun {
        Begun::Start => "the start was cut off",
        Begun::Claim => "the command that claimed it was cut off",
    };
    let (holder, nonce, reason) = (Holder::from(&mark), mark.nonce.as_deref(), (why.into(), Actor::Daemon));
    let given_back = if mark.alone {
        give_back(&mut Alone(lending), &holder, nonce, reason)
    } else {
        give_back(lending, &holder, nonce, reason)
    };
    match given_back {
        // It never came to a claim, or that has ended since.
        Ok(()) | Err(VerbError::Refused(_)) => {
            forgotten(marked);
            Ok(())
        }
        other => other,
    }
}

/// Gives a claim back that leads to nothing any more.
pub(in crate::daemon) fn give_up<L: Lending>(
    lending: &mut L,
    holder: &Holder,
    why: String,
    actor: Actor,
) -> Result<(), VerbError> {
    give_back(lending, holder, None, (why, actor))
}

/// The same; with a nonce only the very claim that has it.
fn give_back<L: Lending>(
    lending: &mut L,
    holder: &Holder,
    nonce: Option<&str>,
    (why, actor): (String, Actor),
) -> Result<(), VerbError> {
    let (mode, label) = lending.lend(|host| {
        let policy = host.engine.policy();
        (policy.mode, policy.claims.label.clone())
    })?;
    let ending = Ending { outcome: Outcome::Abandoned, pr: None, by: YOI.into(), mode, label };
    match give_back_by(lending, (holder, nonce), (ending, Some(why)), actor) {
        // The ticket's file may be what refuses: then the claim stands, and is given back later.
        Err(VerbError::Refused(refusal)) if stands_still(lending, holder, nonce)? => {
            Err(VerbError::Failed(refusal.to_string()))
        }
        given_back => given_back.map(drop),
    }
}

fn stands_still<L: Lending>(lending: &mut L, holder: &Holder, nonce: Option<&str>) -> Result<bool, VerbError> {
    let alone = lending.is_alone();
    let desk = lending.lend(move |host| host.desk(alone))?;
    let tip = desk.claims.read(&holder.id)?;
    Ok(tip.is_some_and(|tip| {
        let step = &tip.step;
        let is_same = holder.generation.is_none_or(|generation| generation == step.generation);
        tip.is_held() && step.worker == holder.worker && is_same && nonce.is_none_or(|nonce| nonce == step.nonce)
    }))
}

impl From<&StartMark> for Holder {
    fn from(mark: &StartMark) -> Self {
        Self { id: mark.ticket.clone(), worker: mark.worker.clone(), generation: None }
    }
}

/// Whether the start that was cut off had got so far as to start its program.
fn is_at_work(runs: &dyn Runs, mark: &StartMark) -> Result<bool, VerbError> {
    let found = runs.found().map_err(|error| unchanged("programs that were started cannot be looked for", &error))?;
    Ok(found.iter().any(|run| match &run.whose {
        Whose::Pod(pod) => run.standing == Standing::Running && pod.ticket == mark.ticket && pod.worker == mark.worker,
        Whose::Turn(_) => false,
    }))
}
