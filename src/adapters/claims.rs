//! Claims as git refs, one a ticket: each step a commit on the one before it (DESIGN.md 6.2). The refs are this
//! repository's own here, moved by libgit2, or by the git program where libgit2 cannot open it.
//!
//! Must not know: who may take which step (`domain::claim` decides), how a step is written down (`text::claim_record`).

#[cfg(test)]
pub(crate) mod contract;
mod holders;
mod leftover;
mod library;
mod lying;
mod program;
mod push;
mod refs;
pub mod remote;
#[cfg(test)]
mod tests;
pub mod trace;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use leftover::{InTheWay, Moving, SEEN};
use library::Library;
use program::Program;
use refs::{CLAIMS, Known, Refs, Set};
use trace::Trace;

use crate::domain::claim::{Revision, Step, StepKind, Tip};
use crate::domain::ticket::TicketId;
use crate::ports::{AllClaims, Claims, ClaimsError, Swapped};

/// How long a lock of git's that somebody else holds is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long after a try that nobody else was the reason for the next one comes.
const PAUSE: Duration = Duration::from_millis(10);

/// The claims of one repository, for all its worktrees.
#[derive(Clone, Debug)]
pub struct GitClaims {
    /// Where the git program runs: a folder of a worktree.
    root: PathBuf,
    common_dir: Option<PathBuf>,
    patience: Duration,
    /// How long one must have stayed as it is before it may be taken for left.
    seen: Duration,
    /// Whether libgit2 is left out.
    program_only: bool,
    known: Arc<Mutex<Known>>,
}

impl GitClaims {
    /// The claims of the repository around the workspace `root`; `common_dir` is its common directory, None without git.
    /// Nothing is opened before something is asked.
    pub fn new(root: &Path, common_dir: Option<&Path>) -> Self {
        let common_dir = common_dir.map(Path::to_owned);
        Self {
            root: root.to_owned(),
            common_dir,
            patience: PATIENCE,
            seen: SEEN,
            program_only: false,
            known: Arc::default(),
        }
    }

    /// What the ref of this ticket's claim looks like from outside.
    pub fn trace(&self, id: &TicketId) -> Trace {
        self.trace_of(&refs::of(CLAIMS, id))
    }

    fn trace_of(&self, name: &str) -> Trace {
        self.common_dir.as_deref().map(|common| Trace::of(common, name)).unwrap_or_default()
    }

    fn all_below(&self, prefix: &str) -> Result<AllClaims, ClaimsError> {
        // One that comes at the same time waits, and has less to read then.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        refs::all(&*self.refs()?, prefix, &mut known)
    }

    fn common(&self) -> Result<&Path, ClaimsError> {
        self.common_dir.as_deref().ok_or_else(|| {
            let message = "claims are kept in git, and this workspace is in no git repository (`git init` makes one)";
            ClaimsError::NoGit(message.into())
        })
    }

    /// The repository, opened afresh: it may have become one of another kind since the last time.
    fn refs(&self) -> Result<Box<dyn Refs>, ClaimsError> {
        let common_dir = self.common()?;
        if self.program_only {
            return Ok(Box::new(Program::new(&self.root, common_dir, "it was not asked")));
        }
        match Library::open(common_dir) {
            Ok(library) => Ok(Box::new(library)),
            Err(error) => Ok(Box::new(Program::new(&self.root, common_dir, error.message()))),
        }
    }
}

impl Claims for GitClaims {
    fn all(&self) -> Result<AllClaims, ClaimsError> {
        self.all_below(CLAIMS)
    }

    fn read(&self, id: &TicketId) -> Result<Option<Tip>, ClaimsError> {
        refs::read(&*self.refs()?, CLAIMS, id)
    }

    fn swap(
        &self,
        id: &TicketId,
        expected: Option<&Revision>,
        on: Option<&Revision>,
        steps: &[Step],
    ) -> Result<Swapped, ClaimsError> {
        let refs = &*self.refs()?;
        let newest = refs::read(refs, CLAIMS, id)?;
        if newest.as_ref().map(|tip| &tip.revision) != expected {
            return Ok(Swapped::Lost(newest));
        }
        check_wish(id, newest.as_ref(), on, steps)?;
        let made = refs::write(refs, on, steps)?;
        let name = refs::of(CLAIMS, id);
        let began = Instant::now();
        let due = began + self.patience;
        loop {
            let in_the_way = InTheWay::now(self.common()?, &name);
            let until = if in_the_way.is_some() { due.min(Instant::now() + self.seen) } else { due };
            let moving = Moving::begin(self.common()?);
            let set = refs.set(&name, expected, &made.revision, until);
            drop(moving);
            if set == Ok(Set::Done) {
                return Ok(Swapped::Moved(made));
            }
            if let Ok(Set::Locked(lock)) = set {
                let kept = match in_the_way {
                    Some(lock) => lock.take_away(self.common()?, &name, id, refs),
                    None => Err(None),
                };
                match kept {
                    Err(why) if Instant::now() >= due => {
                        return Err(refs::locked(&lock, began.elapsed(), why.as_deref()));
                    }
                    _ => continue,
                }
            }
            let newest = refs::read(refs, CLAIMS, id)?;
            let is_ours = newest.as_ref().is_some_and(|tip| tip.revision == made.revision);
            match set {
                Err(error) if is_ours => {
                    return Err(ClaimsError::Unknown(format!(
                        "the claim of `{id}` was moved, but may get lost: {error}"
                    )));
                }
                Err(error) => return Err(error),
                Ok(_) if newest.as_ref().map(|tip| &tip.revision) != expected => return Ok(Swapped::Lost(newest)),
                Ok(Set::Other(why)) if Instant::now() >= due => {
                    return Err(ClaimsError::Failed(format!(
                        "git did not move {name}, which nobody else moved: {why}"
                    )));
                }
                // Somebody moved it to and fro, or held a lock that git calls otherwise.
                Ok(_) => thread::sleep(PAUSE),
            }
        }
    }
}

/// Refuses what no caller may ask for, whatever the race: no step, another ticket's, or one on top of something else than
/// the newest, or than what a newest heartbeat stood on.
pub(super) fn check_wish(
    id: &TicketId,
    newest: Option<&Tip>,
    on: Option<&Revision>,
    steps: &[Step],
) -> Result<(), ClaimsError> {
    let refuse = |why: &str| Err(ClaimsError::Failed(format!("the claim of `{id}` was not moved: {why}")));
    if steps.is_empty() {
        return refuse("there is no step to take");
    }
    if steps.iter().any(|step| step.ticket != *id) {
        return refuse("a step is another ticket's");
    }
    let fits = match (newest, on) {
        (None, None) => true,
        (Some(newest), Some(on)) => {
            let stood_in = matches!(newest.step.kind, StepKind::Heartbeat) && newest.parent.as_ref() == Some(on);
            newest.revision == *on || stood_in
        }
        _ => false,
    };
    if fits { Ok(()) } else { refuse("the step does not follow the newest one") }
}
