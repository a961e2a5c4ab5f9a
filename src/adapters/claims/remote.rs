//! Claims in a remote, which arbitrates: a claim is won when the push of its one ref, with a lease, is taken, and only then.
//! What the remote was last seen to have lies in refs of this repository's own.
//!
//! Must not know: who may take which step; how the user's credentials, ssh and proxies work, which are the git program's.

mod settings;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

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
/// When what an interrupted reading left may be removed.
const LEFT: Duration = Duration::from_hours(1);

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

    /// Asks the remote for all chains, so that `all` knows what it knows.
    pub fn refresh(&self) -> Result<(), ClaimsError> {
        let refspec = format!("+{CLAIMS}*:{}*", self.seen());
        let said = self.ask_to_fetch(["--prune", &self.remote, &refspec])?;
        if !said.success() {
            return Err(self.unreachable(&words(&said.err)));
        }
        self.sweep()
    }

    /// Where the chains lie here, as they were last seen.
    /// What the ref looks like from outside by which the ticket's claim was last seen here.
    pub fn trace(&self, id: &TicketId) -> Trace {
        self.here.trace_below(&self.seen(), id)
    }

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

    fn ask_to_fetch(&self, arguments: [&str; 3]) -> Result<Said, ClaimsError> {
        self.ask(&[&FETCH[..], &arguments].concat())?.map_err(|why| self.unreachable(&why))
    }

    fn unreachable(&self, why: &str) -> ClaimsError {
        ClaimsError::Unreachable(format!(
            "the remote `{}`, which keeps the claims, cannot be asked, and nothing was changed: {why}",
            self.remote
        ))
    }

    /// The newest step there, now.
    fn fetch(&self, refs: &dyn Refs, id: &TicketId) -> Result<Option<Tip>, ClaimsError> {
        let (name, seen) = (refs::of(CLAIMS, id), refs::of(&self.seen(), id));
        let reading = format!("{}{}", self.reading(), Ulid::generate());
        let refspec = format!("+{name}:{reading}");
        let said = self.ask_to_fetch(["--no-prune", &self.remote, &refspec])?;
        if !said.success() {
            if !said.err.contains("couldn't find remote ref") {
                return Err(self.unreachable(&words(&said.err)));
            }
            if refs.find(&seen)?.is_some() {
                self.update(&format!("delete {seen}\n"));
            }
            return Ok(None);
        }
        let target = refs.find(&reading)?.unwrap_or(Target::Broken);
        if let Target::Commit(oid, _) = &target {
            self.update(&format!("update {seen} {oid}\ndelete {reading}\n"));
        } else {
            self.update(&format!("delete {reading}\n"));
        }
        let remedy = format!("`git push {} :{name}` removes it there", self.remote);
        refs::tip(CLAIMS, &name, target).map(Some).map_err(|why| refs::unreadable(&name, &why, &remedy))
    }

    /// Changes refs of our own, which nobody's claim depends on: `refresh` puts right what fails here.
    fn update(&self, what: &str) {
        let arguments = ["-c", "core.hooksPath=/dev/null", "update-ref", "--no-deref", "--stdin"];
        let _ = git_program::ask(&self.here.root, &arguments, what.as_bytes(), LIMIT);
    }

    /// Removes what readings left that were interrupted long ago.
    fn sweep(&self) -> Result<(), ClaimsError> {
        let reading = self.reading();
        let is_left = |name: &str| {
            let begun = name.strip_prefix(&reading).and_then(|name| name.parse::<Ulid>().ok());
            begun.is_some_and(|begun| begun.datetime().elapsed().is_ok_and(|age| age > LEFT))
        };
        let left = self.here.refs()?.list(&reading, &|_, _| true)?.into_iter().filter(|(name, _)| is_left(name));
        let deletions: String = left.flat_map(|(name, _)| ["delete ".into(), name, "\n".into()]).collect();
        if !deletions.is_empty() {
            self.update(&deletions);
        }
        Ok(())
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
        self.here.all_below(&self.seen())
    }

    fn read(&self, id: &TicketId) -> Result<Option<Tip>, ClaimsError> {
        self.fetch(&*self.here.refs()?, id)
    }

    fn swap(
        &self,
        id: &TicketId,
        expected: Option<&Revision>,
        on: Option<&Revision>,
        steps: &[Step],
    ) -> Result<Swapped, ClaimsError> {
        let refs = &*self.here.refs()?;
        let newest = match self.expected(refs, id, expected)? {
            Ok(newest) => newest,
            Err(lost) => return Ok(lost),
        };
        check_wish(id, newest.as_ref(), on, steps)?;
        let made = refs::write(refs, on, steps)?;
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
            if newest.as_ref() == Some(&made) {
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
        Ok(Swapped::Moved(made))
    }
}

impl RemoteClaims {
    fn unknown(&self, id: &TicketId, why: &str, error: &ClaimsError) -> ClaimsError {
        ClaimsError::Unknown(format!(
            "whether the claim of `{id}` was moved is not known: the remote `{}` gave no answer ({why}), and then could not \
             be asked ({error})",
            self.remote
        ))
    }

    fn unfinished(&self, id: &TicketId, why: &str) -> ClaimsError {
        ClaimsError::Unknown(format!(
            "whether the claim of `{id}` will be moved is not known: the remote `{}` has not done it, and may be at it \
             still ({why})",
            self.remote
        ))
    }
}
