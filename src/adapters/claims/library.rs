//! A repository's refs and objects by libgit2.
//!
//! Creating a ref is `reference_matching` with a zero id as well: its `reference` with `force = false` looks before it takes
//! the lock, and then two of many racing creators win. No ref is ever deleted through libgit2, which is not safe for
//! packed ones.
//!
//! Must not know: what a step is.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use git2::{ConfigLevel, ErrorClass, ErrorCode, ObjectType, Oid, Reference, Repository};
use rustix::fs::{MemfdFlags, memfd_create};

use super::lying::{self, Head};
use super::refs::{Refs, Set, Target};
use crate::domain::claim::Revision;
use crate::ports::ClaimsError;

/// How often an object is looked for afresh, because a `git gc` may be moving it from one pack to another.
pub(super) const LOOKS: u32 = 4;
/// The shortest and the longest pause between two tries for a lock.
const PAUSES: [Duration; 2] = [Duration::from_micros(100), Duration::from_millis(20)];

/// One repository, opened for one call: so it is never older than the repository's configuration and packs.
pub(super) struct Library {
    repository: Repository,
    common_dir: PathBuf,
}

impl Library {
    pub(super) fn open(common_dir: &Path) -> Result<Self, git2::Error> {
        let repository = Repository::open(common_dir)?;
        // Claims survive a power cut: on top of what the user's files say, and before the first object or ref is touched.
        let settings = settings().map_err(|error| git2::Error::from_str(&error.to_string()))?;
        repository.config()?.add_file(settings, ConfigLevel::App, false)?;
        Ok(Self { repository, common_dir: common_dir.to_owned() })
    }

    fn target(&self, reference: &Reference<'_>) -> Target {
        let to = || String::from_utf8_lossy(reference.symbolic_target_bytes().unwrap_or_default()).into_owned();
        match reference.target() {
            Some(oid) => self.target_of(oid),
            None => Target::Odd(format!("it points to the ref {}", to())),
        }
    }

    fn target_of(&self, oid: Oid) -> Target {
        match self.commit_text(oid) {
            Ok(text) => Target::Commit(oid.to_string(), text),
            Err(why) => Target::Odd(why),
        }
    }

    fn commit_text(&self, oid: Oid) -> Result<Vec<u8>, String> {
        let read = |repository: &Repository| -> Result<_, git2::Error> {
            let odb = repository.odb()?;
            let object = odb.read(oid)?;
            Ok((object.kind(), object.data().to_vec()))
        };
        let mut found = read(&self.repository);
        for look in 1..LOOKS {
            if found.is_ok() {
                break;
            }
            thread::sleep(PAUSES[1] * (look - 1));
            found = Repository::open(&self.common_dir).and_then(|repository| read(&repository));
        }
        match found {
            Ok((ObjectType::Commit, text)) => Ok(text),
            Ok((kind, _)) => Err(format!("it leads to a {kind}, {oid}")),
            Err(error) => Err(format!("its object {oid} cannot be read: {}", error.message())),
        }
    }

    /// One whose ref itself cannot be read is odd too; a disk that does not answer is not.
    fn found(&self, reference: Result<Reference<'_>, git2::Error>, name: &str) -> Result<Option<Target>, ClaimsError> {
        match reference {
            Ok(reference) => Ok(Some(self.target(&reference))),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) if error.class() == ErrorClass::Os => Err(failed(name, &error)),
            Err(_) => Ok(Some(Target::Broken)),
        }
    }

    /// What lies in files below this prefix.
    fn lying(&self, prefix: &str) -> Result<BTreeMap<String, Head>, ClaimsError> {
        let failed = |error| ClaimsError::Failed(format!("git's refs below {prefix} cannot be read: {error}"));
        lying::below(&self.common_dir, prefix).map_err(failed)
    }

    fn try_set(&self, name: &str, expected: Option<Oid>, new: Oid) -> Result<(), git2::Error> {
        let expected = expected.unwrap_or(Oid::ZERO_SHA1);
        self.repository.reference_matching(name, new, true, expected, "yoi").map(drop)
    }
}

impl Refs for Library {
    fn list(&self, prefix: &str, known: &dyn Fn(&str, &str) -> bool) -> Result<Vec<(String, Target)>, ClaimsError> {
        let mut found = Vec::new();
        for (name, head) in self.lying(prefix)? {
            let target = match head {
                Head::Oid(oid) if known(&name, &oid) => Some(Target::Known),
                Head::Oid(id) => Some(Oid::from_str(&id).map_or(Target::Broken, |oid| self.target_of(oid))),
                Head::Odd => self.find(&name)?,
            };
            found.extend(target.map(|target| (name, target)));
        }
        Ok(found)
    }

    fn heads(&self, prefix: &str) -> Result<Vec<(String, String)>, ClaimsError> {
        let oid = |(name, head)| if let Head::Oid(oid) = head { Some((name, oid)) } else { None };
        Ok(self.lying(prefix)?.into_iter().filter_map(oid).collect())
    }

    fn find(&self, name: &str) -> Result<Option<Target>, ClaimsError> {
        self.found(self.repository.find_reference(name), name)
    }

    fn object(&self, revision: &Revision) -> Result<Target, ClaimsError> {
        Ok(self.target_of(oid(revision)?))
    }

    fn commit(&self, text: &dyn Fn(&str) -> Vec<u8>) -> Result<String, ClaimsError> {
        let write = || -> Result<Oid, git2::Error> {
            let odb = self.repository.odb()?;
            let tree = odb.write(ObjectType::Tree, &[])?;
            odb.write(ObjectType::Commit, &text(&tree.to_string()))
        };
        let mut written = write();
        for look in 1..LOOKS {
            if written.is_ok() {
                break;
            }
            // `git gc` removes a folder of objects that it has emptied.
            thread::sleep(PAUSES[1] * (look - 1));
            written = write();
        }
        written.map(|oid| oid.to_string()).map_err(|error| failed("a claim's commit", &error))
    }

    fn set(&self, name: &str, expected: Option<&Revision>, new: &Revision, due: Instant) -> Result<Set, ClaimsError> {
        let (expected, new) = (expected.map(oid).transpose()?, oid(new)?);
        let mut pause = PAUSES[0];
        loop {
            match self.try_set(name, expected, new) {
                Ok(()) => return Ok(Set::Done),
                // Not there at all is another one, too.
                Err(error) if !passes(&error) && is_other(&error) => return Ok(Set::Other(error.message().to_owned())),
                Err(error) if !passes(&error) => return Err(failed(name, &error)),
                Err(_) if Instant::now() >= due => {
                    let lock = self.common_dir.join(format!("{name}.lock"));
                    return Ok(Set::Locked(lock.display().to_string()));
                }
                Err(_) => {
                    thread::sleep(pause.mul_f64(spread()));
                    pause = (pause * 2).min(PAUSES[1]);
                }
            }
        }
    }

    fn put(&self, name: &str, new: &Revision) -> Result<(), ClaimsError> {
        let put = self.repository.reference(name, oid(new)?, true, "yoi");
        put.map(drop).map_err(|error| failed(name, &error))
    }
}

fn oid(revision: &Revision) -> Result<Oid, ClaimsError> {
    Oid::from_str(&revision.0).map_err(|error| failed(&format!("the commit {revision}"), &error))
}

/// Whether it may go well a moment later: somebody holds the lock, or `git pack-refs` took the empty folder just now.
fn passes(error: &git2::Error) -> bool {
    let folder_gone = error.code() == ErrorCode::NotFound && error.message().contains("failed to create");
    error.code() == ErrorCode::Locked || folder_gone
}

fn is_other(error: &git2::Error) -> bool {
    matches!(error.code(), ErrorCode::Modified | ErrorCode::NotFound)
}

fn failed(what: &str, error: &git2::Error) -> ClaimsError {
    ClaimsError::Failed(format!("git cannot get at {what}: {}", error.message()))
}

/// Spreads the tries of several processes, from a half to one and a half.
pub(super) fn spread() -> f64 {
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
    0.5 + f64::from(nanos % 1000) / 1000.0
}

/// A file with what libgit2 takes from a configuration only: that objects and refs are synced to the disk. It lies in memory,
/// where nobody changes or removes it.
fn settings() -> io::Result<&'static Path> {
    static SETTINGS: OnceLock<(File, PathBuf)> = OnceLock::new();
    if let Some((_, path)) = SETTINGS.get() {
        return Ok(path);
    }
    let mut file = File::from(memfd_create("yoi git settings", MemfdFlags::CLOEXEC)?);
    file.write_all(b"[core]\n\tfsyncObjectFiles = true\n")?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd()).into();
    Ok(&SETTINGS.get_or_init(|| (file, path)).1)
}
