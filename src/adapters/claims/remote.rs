//! Claims in a remote, which arbitrates: a claim is won when the push of its one ref, with a lease, is taken, and only then.
//! What the remote was last seen to have lies in refs of this repository's own.
//!
//! Must not know: who may take which step; how the user's credentials, ssh and proxies work, which are the git program's.

mod alone;
mod looking;
mod sentences;
mod settings;

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use alone::AloneClaims;
use ulid::Ulid;

use super::push::{self, Push, words};
use super::refs::{self, CLAIMS, Refs, Target};
use super::trace::Trace;
use super::{GitClaims, check_wish};
use crate::adapters::git_program::{self, GitError, Said};
use crate::domain::claim::{Revision, Step, Tip};
use crate::domain::ticket::TicketId;
use crate::ports::{AllClaims, Claims, ClaimsError, Swapped};

/// How long one answer of the remote may take.
const LIMIT: Duration = Duration::from_secs(30);
/// How long and how often a remote is tried again that trips over its own locks, or loses connections.
const PATIENCE: Duration = Duration::from_secs(10);
const TRIES: u32 = 3;
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// What every fetch is told: only what is asked for comes, nothing else is updated, pruned, written or collected.
const FETCH: [&str; 16] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "fetch.writeCommitGraph=false",
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-prune-tags",
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--no-show-forced-updates",
    "--refmap=",
];
/// What every push is told: no hook of this side runs, nothing else goes along.
const PUSH: [&str; 8] = [
    "-c",
    "core.hooksPath=/dev/null",
    "push",
    "--porcelain",
    "--no-verify",
    "--no-follow-tags",
    "--no-signed",
    "--recurse-submodules=no",
];

/// The claims that a remote of this repository keeps for everybody who uses it.
#[derive(Clone, Debug)]
pub struct RemoteClaims {
    here: GitClaims,
    remote: String,
    limit: Duration,
}

impl RemoteClaims {
    /// The claims in the remote of this name; the rest as for [`GitClaims::new`].
    pub fn new(root: &Path, common_dir: Option<&Path>, remote: &str) -> Self {
        Self { here: GitClaims::new(root, common_dir), remote: remote.into(), limit: LIMIT }
    }

    /// With another limit for each answer of the remote.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// What the ref looks like from outside by which the ticket's claim was last seen here.
    pub fn trace(&self, id: &TicketId) -> Trace {
        self.here.trace_of(&self.shown(id))
    }

    /// Where the chains lie here, as they were last seen.
    fn seen(&self) -> String {
        format!("refs/yoi/remotes/{}/claims/", self.remote)
    }

    /// Where that lies which is just being read. Each reading has a ref of its own: what another process reads meanwhile
    /// may be older.
    fn reading(&self) -> String {
        format!("refs/yoi/remotes/{}/reading/", self.remote)
    }

    /// Runs git for something that the remote answers; the inner error is that it did not, in time, in words.
    fn ask(&self, arguments: &[&str]) -> Result<Result<Said, String>, ClaimsError> {
        let ssh = settings::check(&self.here, &self.remote)?;
        match git_program::ask_remote(&self.here.root, arguments, ssh.as_deref(), self.limit) {
            Ok(said) => Ok(Ok(said)),
            Err(GitError::TimedOut { limit, .. }) => {
                Ok(Err(format!("it did not answer within {} s", limit.as_secs_f32())))
            }
            Err(error @ GitError::NotInstalled) => {
                Err(ClaimsError::NoGit(format!("claims are kept in the remote `{}`, and {error}", self.remote)))
            }
            Err(error) => Err(ClaimsError::Failed(error.to_string())),
        }
    }

    /// An answer of the remote, whatever it is.
    fn answer(&self, arguments: &[&str]) -> Result<Said, ClaimsError> {
        self.ask(arguments)?.map_err(|why| self.unreachable(&why))
    }

    /// The newest step there, now.
    fn fetch(&self, refs: &dyn Refs, id: &TicketId) -> Result<Option<Tip>, ClaimsError> {
        let (name, seen) = (refs::of(CLAIMS, id), refs::of(&self.seen(), id));
        let reading = format!("{}{}", self.reading(), Ulid::generate());
        let refspec = format!("+{name}:{reading}");
        // What is newer than this answer must not be forgotten for it.
        let before = refs.find(&seen)?.map(|target| target.oid().unwrap_or_default().to_owned());
        let said = self.ask_to_fetch(&["--no-prune", &self.remote, &refspec])?;
        if !said.success() {
            if !said.err.contains("couldn't find remote ref") {
                return Err(self.unreachable(&words(&said.err)));
            }
            if let Some(before) = before {
                self.update(&format!("delete {seen} {before}\n"));
            }
            return Ok(None);
        }
        let target = refs.find(&reading)?.unwrap_or(Target::Broken);
        if let Target::Commit(oid, _) = &target
            && before.as_ref() != Some(oid)
        {
            let zeros = "0".repeat(oid.len());
            let before = before.as_ref().filter(|before| !before.is_empty());
            self.update(&format!("update {seen} {oid} {}\n", before.unwrap_or(&zeros)));
        }
        self.update(&format!("delete {reading}\n"));
        let remedy = format!("`git push {} :{name}` removes it there", self.remote);
        refs::tip(CLAIMS, &name, target).map(Some).map_err(|why| refs::unreadable(&name, &why, &remedy))
    }

    /// Changes refs of our own, which nobody's claim depends on: `refresh` puts right what fails here. Returns whether all of it
    /// was done.
    fn update(&self, what: &str) -> bool {
        let arguments = ["-c", "core.hooksPath=/dev/null", "update-ref", "--no-deref", "--stdin"];
        let said = git_program::ask(&self.here.root, &arguments, what.as_bytes(), LIMIT);
        said.is_ok_and(|said| said.success())
    }

    fn push(&self, name: &str, expected: Option<&Revision>, new: &Revision) -> Result<Push, ClaimsError> {
        let expected = expected.map_or("", |expected| expected.0.as_str());
        let (lease, refspec) = (format!("--force-with-lease={name}:{expected}"), format!("{new}:{name}"));
        // One that mirrors everything takes no single ref.
        let no_mirror = format!("remote.{}.mirror=false", self.remote);
        let arguments = [&["-c", &no_mirror][..], &PUSH, &[&lease, &self.remote, &refspec]].concat();
        Ok(match self.ask(&arguments)? {
            Ok(said) => push::read(name, said.success(), &String::from_utf8_lossy(&said.out), &said.err),
            Err(why) => Push::Unanswered(why),
        })
    }

    /// The newest step that a swap expects, as it is known here: nobody can expect what was never read. Or what came of it.
    fn expected(
        &self,
        refs: &dyn Refs,
        id: &TicketId,
        expected: Option<&Revision>,
    ) -> Result<Result<Option<Tip>, Swapped>, ClaimsError> {
        let Some(expected) = expected else { return Ok(Ok(None)) };
        if refs::is_object_id(&expected.0)
            && let Ok(tip) = refs::tip(CLAIMS, &refs::of(CLAIMS, id), refs.object(expected)?)
        {
            return Ok(Ok(Some(tip)));
        }
        let newest = self.fetch(refs, id)?;
        let as_expected = newest.as_ref().is_some_and(|tip| tip.revision == *expected);
        Ok(if as_expected { Ok(newest) } else { Err(Swapped::Lost(newest)) })
    }
}

impl Claims for RemoteClaims {
    fn all(&self) -> Result<AllClaims, ClaimsError> {
        settings::check_name(&self.remote)?;
        let mut all = self.here.all_below(&self.seen())?;
        let alone = self.all_alone()?;
        if !alone.tips.is_empty() {
            all.tips.retain(|tip| alone.tips.iter().all(|other| other.step.ticket != tip.step.ticket));
            all.tips.extend(alone.tips);
        }
        all.unreadable.extend(alone.unreadable);
        Ok(all)
    }

    fn alone(&self) -> Option<Arc<dyn Claims>> {
        Some(Arc::new(AloneClaims(self.clone())))
    }

    fn refresh(&self) -> Result<bool, ClaimsError> {
        self.look()
    }

    fn read(&self, id: &TicketId) -> Result<Option<Tip>, ClaimsError> {
        let refs = &*self.here.refs()?;
        let Some(alone) = self.alone(refs, id)? else { return self.fetch(refs, id) };
        match self.settle(refs, id, &alone) {
            // Of what only this machine knows it can say how it stands.
            Err(ClaimsError::Unreachable(_)) => Ok(Some(alone.tip)),
            settled => settled,
        }
    }

    fn swap(
        &self,
        id: &TicketId,
        expected: Option<&Revision>,
        on: Option<&Revision>,
        steps: &[Step],
    ) -> Result<Swapped, ClaimsError> {
        let refs = &*self.here.refs()?;
        if let Some(alone) = self.alone(refs, id)? {
            return self.swap_beside(refs, &alone, (expected, on), steps);
        }
        let newest = match self.expected(refs, id, expected)? {
            Ok(newest) => newest,
            Err(lost) => return Ok(lost),
        };
        check_wish(id, newest.as_ref(), on, steps)?;
        let made = refs::write(refs, on, steps)?;
        self.push_until_known(refs, id, expected, &made)
    }
}

impl RemoteClaims {
    /// Pushes a step, and says nothing before it is known what came of it.
    fn push_until_known(
        &self,
        refs: &dyn Refs,
        id: &TicketId,
        expected: Option<&Revision>,
        made: &Tip,
    ) -> Result<Swapped, ClaimsError> {
        let name = refs::of(CLAIMS, id);
        let due = Instant::now() + PATIENCE;
        for tried in 1.. {
            let began = Instant::now();
            let pushed = self.push(&name, expected, &made.revision)?;
            match &pushed {
                Push::Taken => break,
                Push::NotSent(why) => return Err(self.unreachable(why)),
                Push::Refused(_) | Push::Unanswered(_) => {}
            }
            // Nothing is said before the remote was asked again.
            let newest = match (self.fetch(refs, id), &pushed) {
                (Ok(newest), _) => newest,
                (Err(error), Push::Unanswered(why)) => return Err(self.unknown(id, why, &error)),
                (Err(error), _) => return Err(error),
            };
            if newest.as_ref() == Some(made) {
                break;
            }
            if newest.as_ref().map(|tip| &tip.revision) != expected {
                return Ok(Swapped::Lost(newest));
            }
            match pushed {
                Push::Refused(why) if !push::passes(&why) || Instant::now() >= due => {
                    return Err(ClaimsError::Rejected(format!(
                        "the remote `{}` refuses the claim: {why}",
                        self.remote
                    )));
                }
                // It may be at it still.
                Push::Unanswered(why) if began.elapsed() >= self.limit => return Err(self.unfinished(id, &why)),
                Push::Unanswered(why) if tried >= TRIES => return Err(self.unreachable(&why)),
                _ => thread::sleep(PAUSE),
            }
        }
        // What was last seen of the remote is ours. Where that cannot be noted, the next `refresh` does.
        let _ = refs.put(&refs::of(&self.seen(), id), &made.revision);
        Ok(Swapped::Moved(made.clone()))
    }
}
