//! Asking the remote for all chains: its list of them, and then no more than what has changed since it was last asked.
//!
//! Nothing that somebody else has read, or pushed, meanwhile is forgotten for an answer that is older: each ref of ours is moved
//! only where it is as it was when the question was asked.
//!
//! Must not know: steps.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use ulid::Ulid;

use super::super::library::spread;
use super::{CLAIMS, FETCH, PATIENCE, PAUSE, RemoteClaims, push, words};
use crate::adapters::git_program::Said;
use crate::ports::ClaimsError;

/// When what an interrupted reading left may be removed.
const LEFT: Duration = Duration::from_hours(1);
/// So many chains are asked for by name; where more have changed, all are.
const NAMED: usize = 200;
/// How often it is tried to note what was read, where others move our refs meanwhile.
const TRIES: u32 = 3;

/// Object ids by the names of chains.
type Heads = BTreeMap<String, String>;

impl RemoteClaims {
    /// Whether anything is another than it was.
    pub(super) fn look(&self) -> Result<bool, ClaimsError> {
        let settled = self.settle_all()?;
        let before = self.heads(&self.seen())?;
        let there = self.list()?;
        let changed: Vec<&String> =
            there.iter().filter(|(name, oid)| before.get(*name) != Some(*oid)).map(|(name, _)| name).collect();
        let gone: Heads = before.iter().filter(|(name, _)| !there.contains_key(*name)).map(owned).collect();
        let mut reading = None;
        let mut new = Heads::new();
        if !changed.is_empty() {
            let folder = format!("{}{}/", self.reading(), Ulid::generate());
            self.read_into(&folder, &changed)?;
            new = self.heads(&folder)?;
            // One that went in between is found gone the next time.
            new.retain(|name, oid| before.get(name) != Some(oid));
            reading = Some(folder);
        }
        let any = !new.is_empty() || !gone.is_empty();
        if any {
            self.note(&before, new, gone)?;
        }
        if let Some(folder) = reading {
            self.remove_all(&folder, &|_| true)?;
        }
        self.sweep()?;
        Ok(any || settled)
    }

    /// Whoever else moves refs here holds this repository's own locks for a moment: that is no answer of the remote.
    pub(super) fn ask_to_fetch(&self, arguments: &[&str]) -> Result<Said, ClaimsError> {
        let end = Instant::now() + PATIENCE;
        loop {
            let said = self.answer(&[&FETCH[..], arguments].concat())?;
            if said.success() || !push::passes(&said.err) || Instant::now() >= end {
                return Ok(said);
            }
            thread::sleep(PAUSE.mul_f64(spread()));
        }
    }

    /// What the remote has.
    fn list(&self) -> Result<Heads, ClaimsError> {
        let said = self.answer(&["ls-remote", "--quiet", "--refs", &self.remote, &format!("{CLAIMS}*")])?;
        if !said.success() {
            return Err(self.unreachable(&words(&said.err)));
        }
        let out = String::from_utf8_lossy(&said.out);
        let head = |line: &str| {
            let (oid, name) = line.split_once('\t')?;
            Some((name.strip_prefix(CLAIMS)?.to_owned(), oid.to_owned()))
        };
        Ok(out.lines().filter_map(head).collect())
    }

    fn read_into(&self, folder: &str, changed: &[&String]) -> Result<(), ClaimsError> {
        let refspecs: Vec<String> = if changed.len() > NAMED {
            vec![format!("+{CLAIMS}*:{folder}*")]
        } else {
            changed.iter().map(|name| format!("+{CLAIMS}{name}:{folder}{name}")).collect()
        };
        let mut arguments = vec!["--no-prune", &self.remote];
        arguments.extend(refspecs.iter().map(String::as_str));
        let said = self.ask_to_fetch(&arguments)?;
        if said.success() { Ok(()) } else { Err(self.unreachable(&words(&said.err))) }
    }

    /// The chains below one of our prefixes.
    fn heads(&self, prefix: &str) -> Result<Heads, ClaimsError> {
        let heads = self.here.refs()?.heads(prefix)?;
        Ok(heads.into_iter().filter_map(|(name, oid)| Some((name.strip_prefix(prefix)?.to_owned(), oid))).collect())
    }

    /// Moves our refs, but for those that somebody else has moved since.
    fn note(&self, before: &Heads, mut new: Heads, mut gone: Heads) -> Result<(), ClaimsError> {
        let seen = self.seen();
        for _ in 0..TRIES {
            let updates = new.iter().map(|(name, oid)| {
                let zeros = "0".repeat(oid.len());
                format!("update {seen}{name} {oid} {}\n", before.get(name).unwrap_or(&zeros))
            });
            let deletions = gone.iter().map(|(name, oid)| format!("delete {seen}{name} {oid}\n"));
            if self.update(&updates.chain(deletions).collect::<String>()) {
                break;
            }
            let now = self.heads(&seen)?;
            new.retain(|name, _| now.get(name) == before.get(name));
            gone.retain(|name, oid| now.get(name) == Some(oid));
        }
        Ok(())
    }

    /// Removes what readings left that were interrupted long ago.
    fn sweep(&self) -> Result<(), ClaimsError> {
        let is_left = |name: &str| {
            let begun = name.split('/').next().and_then(|name| name.parse::<Ulid>().ok());
            begun.is_some_and(|begun| begun.datetime().elapsed().is_ok_and(|age| age > LEFT))
        };
        self.remove_all(&self.reading(), &is_left)
    }

    fn remove_all(&self, prefix: &str, is_meant: &dyn Fn(&str) -> bool) -> Result<(), ClaimsError> {
        let meant = self.heads(prefix)?.into_keys().filter(|name| is_meant(name));
        let deletions = meant.fold(String::new(), |all, name| all + "delete " + prefix + &name + "\n");
        if !deletions.is_empty() {
            self.update(&deletions);
        }
        Ok(())
    }
}

fn owned((name, oid): (&String, &String)) -> (String, String) {
    (name.clone(), oid.clone())
}
