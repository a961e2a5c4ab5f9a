//! Verbs of a claim's holder, behind its fence, after what was cut off on the ticket has been given back.
//!
//! Must not know: git; what a verb writes.

use super::fence::{Fence, Holder, Released, behind_fence, give_back_by};
use super::mending::mend;
use crate::daemon::{Host, Lending, VerbError};
use crate::domain::claim::{Ending, Outcome, Tip};
use crate::domain::engine::{Actor, ClaimNews};
use crate::domain::ticket::Timestamp;

/// Carries out a verb of a claim's holder. `write` is called with the host when the fence stands, and may refuse; then the
/// claim goes on. With an outcome the claim ends after it. Returns what `write` returned, and remarks.
pub fn fenced<L: Lending, T: Send + 'static>(
    lending: &mut L,
    holder: &Holder,
    outcome: Option<Outcome>,
    write: impl FnOnce(&mut Host, &Fence) -> Result<T, VerbError> + Send + 'static,
) -> Result<(T, Vec<String>), VerbError> {
    fenced_after(lending, holder, outcome, |_| Ok(()), |host, fence, ()| write(host, fence))
}

/// The same with something in between that takes its time, and so is not done with the host: behind the fence, and before
/// anything is written. Where that fails nothing is written, and the claim goes on.
pub fn fenced_after<L: Lending, P: Send + 'static, T: Send + 'static>(
    lending: &mut L,
    holder: &Holder,
    outcome: Option<Outcome>,
    prepare: impl FnOnce(&mut L) -> Result<P, VerbError>,
    write: impl FnOnce(&mut Host, &Fence, P) -> Result<T, VerbError> + Send + 'static,
) -> Result<(T, Vec<String>), VerbError> {
    mend(lending, &holder.id)?;
    behind_fence(lending, (holder, None), outcome, prepare, write)
}

/// A sign of life. Returns when the claim ends now for its holder, and when for others.
pub fn heartbeat<L: Lending>(lending: &mut L, holder: &Holder) -> Result<(Tip, [Timestamp; 2]), VerbError> {
    let (found, _) = fenced(lending, holder, None, |host, fence| {
        let news = ClaimNews::of(fence.tip(), &host.ports.processes.machine(), host.now());
        Ok((fence.tip().clone(), news.ends().unwrap_or([host.now(); 2])))
    })?;
    Ok(found)
}

/// Gives a claim up, with what became of it.
pub fn release<L: Lending>(
    lending: &mut L,
    holder: &Holder,
    (ending, why): (Ending, Option<String>),
    actor: Actor,
) -> Result<Released, VerbError> {
    ending.check()?;
    mend(lending, &holder.id)?;
    give_back_by(lending, (holder, None), (ending, why), actor)
}
