//! A repository's refs and objects by the git program: for what libgit2 cannot open (reftable, sha256, partial clones, ...).
//!
//! Must not know: what a step is.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::library::spread;
use super::refs::{Refs, Set, Target, locked};
use crate::adapters::git_program::{self, GitError, Said, TIME_LIMIT};
use crate::domain::claim::Revision;
use crate::ports::ClaimsError;

/// What git is told each time: everything is synced to the disk, no hook runs, a lock is waited for a moment.
const SETTINGS: [&str; 8] = [
    "-c",
    "core.fsync=committed,loose-object",
    "-c",
    "core.fsyncMethod=fsync",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.filesRefLockTimeout=500",
];
/// Between two tries for a lock.
const PAUSE: Duration = Duration::from_millis(20);

/// One repository, as seen from a folder.
pub(super) struct Program {
    folder: PathBuf,
    common_dir: PathBuf,
    /// Why libgit2 is not asked.
    library_said: String,
}

impl Program {
    pub(super) fn new(folder: &Path, common_dir: &Path, library_said: &str) -> Self {
        Self { folder: folder.into(), common_dir: common_dir.into(), library_said: library_said.into() }
    }

    fn ask(&self, arguments: &[&str], input: &[u8]) -> Result<Said, ClaimsError> {
        let all = [&SETTINGS, arguments].concat();
        let said = git_program::ask(&self.folder, &all, input, TIME_LIMIT);
        said.map_err(|error| match error {
            GitError::NotInstalled => ClaimsError::NoGit(format!(
                "claims are git refs, and this repository cannot be opened: libgit2 says \"{}\", and {error}; install git",
                self.library_said
            )),
            error => ClaimsError::Failed(error.to_string()),
        })
    }

    /// What it wrote, if it ended well.
    fn run(&self, arguments: &[&str], input: &[u8]) -> Result<Said, ClaimsError> {
        let said = self.ask(arguments, input)?;
        if said.success() { Ok(said) } else { Err(self.refused(arguments, &said)) }
    }

    fn refused(&self, arguments: &[&str], said: &Said) -> ClaimsError {
        let err = &said.err;
        let first = err.lines().next().unwrap_or("it says nothing");
        if err.contains("dubious ownership") {
            return ClaimsError::NoGit(format!(
                "git opens no repository of another user's: \"{first}\". If you trust it: \
                 `git config --global --add safe.directory {}`",
                self.common_dir.parent().unwrap_or(&self.common_dir).display()
            ));
        }
        let unopened = ["not a git repository", "unknown repository extension", "expected git repo version"];
        if unopened.iter().any(|text| err.contains(text)) {
            return ClaimsError::NoGit(format!(
                "claims are git refs, and this repository cannot be opened: libgit2 says \"{}\", and git says \"{first}\"",
                self.library_said
            ));
        }
        ClaimsError::Failed(format!("git {} failed: {err}", arguments.first().copied().unwrap_or_default()))
    }

    /// Names and object ids below a prefix or of that one ref, and those of refs that git calls broken.
    fn refs(&self, pattern: &str) -> Result<(BTreeMap<String, String>, Vec<String>), ClaimsError> {
        let said = self.run(&["for-each-ref", "--format=%(objectname) %(refname) %(symref)", "--", pattern], b"")?;
        let listed = String::from_utf8_lossy(&said.out);
        let mut found = BTreeMap::new();
        for line in listed.lines() {
            let mut words = line.split(' ');
            if let (Some(oid), Some(name), symref) = (words.next(), words.next(), words.next()) {
                let symref = symref.filter(|to| !to.is_empty());
                found.insert(name.to_owned(), symref.map_or(oid.to_owned(), |to| format!("it points to the ref {to}")));
            }
        }
        let broken = said.err.lines().filter_map(|line| line.split_once("ignoring broken ref ")).map(|(_, name)| name);
        Ok((found, broken.map(|name| name.trim().to_owned()).collect()))
    }

    /// What these objects are.
    fn targets(&self, refs: BTreeMap<String, String>) -> Result<Vec<(String, Target)>, ClaimsError> {
        let wanted: Vec<&String> = refs.values().filter(|oid| !oid.contains(' ')).collect();
        let input: String = wanted.iter().flat_map(|oid| [oid.as_str(), "\n"]).collect();
        let out =
            if wanted.is_empty() { Vec::new() } else { self.run(&["cat-file", "--batch"], input.as_bytes())?.out };
        let mut rest = out.as_slice();
        let mut all = Vec::new();
        for (name, value) in refs {
            let target = if value.contains(' ') {
                Target::Odd(value)
            } else {
                let cut = || ClaimsError::Failed("git cat-file said less than it was asked for".into());
                next_object(&mut rest, value).ok_or_else(cut)?
            };
            all.push((name, target));
        }
        Ok(all)
    }

    /// Git syncs files, but not the folders in which they got their names.
    fn sync_folders(&self, name: &str) -> Result<(), ClaimsError> {
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        for folder in folder.ancestors().chain([Path::new("reftable")]).filter(|folder| *folder != Path::new("")) {
            let folder = self.common_dir.join(folder);
            let synced =
                if folder.is_dir() { File::open(&folder).and_then(|folder| folder.sync_all()) } else { Ok(()) };
            synced.map_err(|error| ClaimsError::Failed(format!("{} was not synced: {error}", folder.display())))?;
        }
        Ok(())
    }
}

/// The next answer of `cat-file --batch`, which is about this object.
fn next_object(rest: &mut &[u8], oid: String) -> Option<Target> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (head, after) = rest.split_at(end);
    let head = String::from_utf8_lossy(head).into_owned();
    *rest = &after[1..];
    let Some((kind, size)) = head.rsplit(' ').nth(1).zip(head.rsplit(' ').next().and_then(|size| size.parse().ok()))
    else {
        return Some(Target::Odd(format!("its object is gone: {head}")));
    };
    let (text, after): (&[u8], &[u8]) = rest.split_at_checked(size)?;
    *rest = after.strip_prefix(b"\n")?;
    Some(if kind == "commit" {
        Target::Commit(oid, text.to_vec())
    } else {
        Target::Odd(format!("it leads to a {kind}"))
    })
}

impl Refs for Program {
    fn list(&self, prefix: &str, known: &dyn Fn(&str, &str) -> bool) -> Result<Vec<(String, Target)>, ClaimsError> {
        let (found, broken) = self.refs(prefix.trim_end_matches('/'))?;
        let (known, unknown): (BTreeMap<_, _>, _) = found.into_iter().partition(|(name, oid)| known(name, oid));
        let mut all = self.targets(unknown)?;
        all.extend(known.into_keys().map(|name| (name, Target::Known)));
        all.extend(broken.into_iter().map(|name| (name, Target::Broken)));
        all.retain(|(name, _)| name.starts_with(prefix));
        Ok(all)
    }

    fn heads(&self, prefix: &str) -> Result<Vec<(String, String)>, ClaimsError> {
        let (mut found, _) = self.refs(prefix.trim_end_matches('/'))?;
        found.retain(|name, oid| name.starts_with(prefix) && !oid.contains(' '));
        Ok(found.into_iter().collect())
    }

    fn find(&self, name: &str) -> Result<Option<Target>, ClaimsError> {
        let (mut found, broken) = self.refs(name)?;
        found.retain(|other, _| other == name);
        let broken = || broken.iter().any(|other| other == name).then_some(Target::Broken);
        Ok(self.targets(found)?.pop().map(|(_, target)| target).or_else(broken))
    }

    fn object(&self, revision: &Revision) -> Result<Target, ClaimsError> {
        let targets = self.targets(BTreeMap::from([(String::new(), revision.0.clone())]))?;
        Ok(targets.into_iter().next().map_or(Target::Broken, |(_, target)| target))
    }

    fn commit(&self, text: &dyn Fn(&str) -> Vec<u8>) -> Result<String, ClaimsError> {
        let write = |arguments: &[&str], input: &[u8]| {
            let said = self.run(arguments, input)?;
            Ok(String::from_utf8_lossy(&said.out).trim().to_owned())
        };
        let tree = write(&["mktree"], b"")?;
        write(&["hash-object", "-t", "commit", "-w", "--stdin"], &text(&tree))
    }

    fn set(&self, name: &str, expected: Option<&Revision>, new: &Revision, due: Instant) -> Result<Set, ClaimsError> {
        let expected = expected.map_or("", |expected| expected.0.as_str());
        let arguments = ["update-ref", "--no-deref", "-m", "yoi", name, &new.0, expected];
        let began = Instant::now();
        loop {
            let said = self.ask(&arguments, b"")?;
            if said.success() {
                self.sync_folders(name)?;
                return Ok(Set::Done);
            }
            let lock = lock_in(&said.err);
            match lock {
                // Another one, or so it seems.
                None if said.err.contains("cannot lock ref") => return Ok(Set::Other(said.err)),
                None => return Err(self.refused(&arguments, &said)),
                Some(lock) if Instant::now() >= due => return Err(locked(&lock, began.elapsed())),
                Some(_) => thread::sleep(PAUSE.mul_f64(spread())),
            }
        }
    }

    fn put(&self, name: &str, new: &Revision) -> Result<(), ClaimsError> {
        self.run(&["update-ref", "--no-deref", "-m", "yoi", name, &new.0], b"").map(drop)
    }
}

/// The lock that somebody else holds, if that is what git complains of.
fn lock_in(err: &str) -> Option<String> {
    let (before, _) = err.split_once(".lock': File exists")?;
    Some(format!("{}.lock", before.rsplit('\'').next()?))
}
