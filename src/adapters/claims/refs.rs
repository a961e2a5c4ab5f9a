//! Chains in any store of refs: what a commit of one looks like, and what is made of what lies there.
//!
//! Must not know: what moves the refs.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::domain::claim::{Revision, Step, Tip, name};
use crate::domain::ticket::TicketId;
use crate::ports::claims::Unreadable;
use crate::ports::{AllClaims, ClaimsError};
use crate::text::claim_record;

/// Below it lie the chains, each under its ticket's name.
pub(super) const CLAIMS: &str = "refs/yoi/claims/";

/// Who makes the commits. It is not asked who the user is: a claim must not fail for want of a name.
const AUTHOR: &str = "yoi <yoi@localhost>";

/// What a ref leads to.
pub(super) enum Target {
    /// A commit: its object id, and all of its text.
    Commit(String, Vec<u8>),
    /// Something else, in words.
    Odd(String),
    /// Nothing: what keeps the ref is damaged.
    Broken,
    /// A commit whose step was read before, and which was not read again.
    Known,
}

impl Target {
    /// The commit's, where it is one that was read.
    pub(super) fn oid(&self) -> Option<&str> {
        if let Target::Commit(oid, _) = self { Some(oid) } else { None }
    }
}

/// A repository's refs and objects.
pub(super) trait Refs {
    /// All refs whose names begin so, in no order. What `known` says of a name and an object id need not be read.
    fn list(&self, prefix: &str, known: &dyn Fn(&str, &str) -> bool) -> Result<Vec<(String, Target)>, ClaimsError>;

    /// The names that begin so, with the object ids that they lead to; what leads to none is left out.
    fn heads(&self, prefix: &str) -> Result<Vec<(String, String)>, ClaimsError>;

    /// One ref.
    fn find(&self, name: &str) -> Result<Option<Target>, ClaimsError>;

    /// What this object is.
    fn object(&self, revision: &Revision) -> Result<Target, ClaimsError>;

    /// Writes a commit without files, if it is not there; returns its object id.
    fn commit(&self, text: &dyn Fn(&str) -> Vec<u8>) -> Result<String, ClaimsError>;

    /// Makes the ref lead to this commit, if it leads to `expected` now (None: there is none), durably. Waits for locks
    /// until `due`.
    fn set(&self, name: &str, expected: Option<&Revision>, new: &Revision, due: Instant) -> Result<Set, ClaimsError>;

    /// Makes the ref lead to this commit, whatever it led to.
    fn put(&self, name: &str, new: &Revision) -> Result<(), ClaimsError>;
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Set {
    /// It leads there now.
    Done,
    /// It seems to lead somewhere else than expected; in git's words.
    Other(String),
}

/// The ref of a ticket.
pub(super) fn of(prefix: &str, id: &TicketId) -> String {
    format!("{prefix}{}", name::of(id))
}

/// The newest steps as they were last read, by their refs: a commit never changes, and most chains do not move between two
/// looks at all of them.
pub(super) type Known = BTreeMap<String, Tip>;

/// All chains below this prefix.
pub(super) fn all(refs: &dyn Refs, prefix: &str, known: &mut Known) -> Result<AllClaims, ClaimsError> {
    let is_known = |name: &str, oid: &str| known.get(name).is_some_and(|tip| tip.revision.0 == oid);
    let listed = refs.list(prefix, &is_known)?;
    let mut read = Known::new();
    let mut unreadable = Vec::new();
    for (name, target) in listed {
        let kept = if matches!(target, Target::Known) { known.remove(&name) } else { None };
        match kept.map_or_else(|| tip(prefix, &name, target), Ok) {
            Ok(tip) => drop(read.insert(name, tip)),
            Err(why) => unreadable.push(Unreadable { name, why }),
        }
    }
    *known = read;
    Ok(AllClaims { tips: known.values().cloned().collect(), unreadable })
}

/// The newest step of a ticket.
pub(super) fn read(refs: &dyn Refs, prefix: &str, id: &TicketId) -> Result<Option<Tip>, ClaimsError> {
    let name = of(prefix, id);
    let Some(target) = refs.find(&name)? else { return Ok(None) };
    let remedy = match target {
        Target::Broken => format!("the file {name} in git's folder can be removed"),
        _ => format!("`git update-ref --no-deref -d {name}` removes it"),
    };
    tip(prefix, &name, target).map(Some).map_err(|why| unreadable(&name, &why, &remedy))
}

/// What to do about a ref that is no chain.
pub(super) fn unreadable(name: &str, why: &str, remedy: &str) -> ClaimsError {
    ClaimsError::Failed(format!(
        "{name} is no claim that this version of yoi can read: {why}. It is left as it is, and so the ticket cannot be \
         claimed; if nobody needs it, {remedy}"
    ))
}

/// Writes steps on top of a commit, and returns the last.
pub(super) fn write(refs: &dyn Refs, on: Option<&Revision>, steps: &[Step]) -> Result<Tip, ClaimsError> {
    let mut parent = on.cloned();
    let mut last = None;
    for step in steps {
        let refused = |why| ClaimsError::Failed(format!("the claim of `{}` was not moved: {why}", step.ticket));
        let message = claim_record::write(step).map_err(refused)?;
        let text = |tree: &str| text(tree, parent.as_ref(), step.at.timestamp(), &message);
        let revision = Revision(refs.commit(&text)?);
        let tip = Tip { revision: revision.clone(), parent: parent.replace(revision), step: step.clone() };
        last = Some(tip);
    }
    last.ok_or_else(|| ClaimsError::Failed("there is no step to take".into()))
}

/// A commit as git keeps it.
fn text(tree: &str, parent: Option<&Revision>, seconds: i64, message: &str) -> Vec<u8> {
    let parent = parent.map(|parent| format!("parent {parent}\n")).unwrap_or_default();
    // Git's own times begin in 1970.
    let seconds = seconds.max(0);
    format!("tree {tree}\n{parent}author {AUTHOR} {seconds} +0000\ncommitter {AUTHOR} {seconds} +0000\n\n{message}")
        .into_bytes()
}

/// The newest step of a chain, by what its ref leads to.
pub(super) fn tip(prefix: &str, name: &str, target: Target) -> Result<Tip, String> {
    let (revision, text) = match target {
        Target::Commit(revision, text) => (revision, text),
        Target::Odd(why) => return Err(why),
        Target::Broken | Target::Known => return Err("what keeps the ref is damaged".into()),
    };
    let tip = parsed(revision, text)?;
    match name.strip_prefix(prefix) {
        Some(short) if short == name::of(&tip.step.ticket) => Ok(tip),
        _ => Err(format!("it is a step of another ticket, `{}`", tip.step.ticket)),
    }
}

/// The step of this commit, wherever it stands.
pub(super) fn read_step(refs: &dyn Refs, revision: &Revision) -> Result<Tip, String> {
    match refs.object(revision).map_err(|error| error.to_string())? {
        Target::Commit(revision, text) => parsed(revision, text),
        _ => Err("it is no commit".into()),
    }
}

/// The step that a commit is.
pub(super) fn parsed(revision: String, text: Vec<u8>) -> Result<Tip, String> {
    let text = String::from_utf8(text).map_err(|_| "its commit is not in UTF-8".to_owned())?;
    let (head, message) = text.split_once("\n\n").ok_or("its commit has no message")?;
    let mut parents = head.lines().filter_map(|line| line.strip_prefix("parent "));
    let parent = parents.next().map(|parent| Revision(parent.to_owned()));
    if parents.next().is_some() {
        return Err("its commit is a merge".into());
    }
    let step = claim_record::read(message)?;
    Ok(Tip { revision: Revision(revision), parent, step })
}

/// Whether this can be the name of an object at all.
pub(super) fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// What to do about a lock that is not given up.
pub(super) fn locked(lock: &str, waited: std::time::Duration) -> ClaimsError {
    ClaimsError::Failed(format!(
        "git's lock {lock} was held for {} s: another git program is at work there, or one was killed in the middle. \
         If no git program is running, remove that file",
        waited.as_secs()
    ))
}
