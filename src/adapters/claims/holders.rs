//! Which living processes may hold a lock of git's that says nothing.
//!
//! A git program may have closed the lock while it holds it: so every one counts that may move refs at all, wherever it is at
//! work. Of other programs those count that have the lock open, as libgit2 has while there is nothing in it.
//!
//! Must not know: what the lock is for.

use std::fs;
use std::path::Path;

use crate::adapters::files::FileId;
use crate::adapters::processes::proc_files::{Stat, pids};

/// Programs that move refs and close their locks meanwhile, but for those whose names begin with `git`.
const OTHERS: [&str; 4] = ["java", "jj", "gix", "ein"];
/// What git starts that lives long and moves no ref.
const SERVANTS: [&str; 3] = ["fsmonitor--daemon", "credential-cache--daemon", "daemon"];

/// A process as it is looked at here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    pid: u32,
    /// In clock ticks since boot.
    started: u64,
    /// Its own name for itself, and that of its file.
    names: [String; 2],
    /// The first word after its name on the command line.
    verb: String,
    has_it_open: bool,
}

/// Now, in clock ticks since boot.
pub(super) fn ticks_now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let per_second = rustix::param::clock_ticks_per_second();
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    let rest = u64::try_from(now.tv_nsec).unwrap_or_default() * per_second / 1_000_000_000;
    seconds.saturating_mul(per_second).saturating_add(rest)
}

/// Those of this machine that may hold the lock, which was there at `met` (in ticks) already; those first that have it open.
pub(super) fn holders(lock: FileId, met: u64) -> Vec<String> {
    let seen = pids().filter_map(|pid| look(pid, lock));
    let mut found: Vec<_> = seen.filter(|process| may_hold(process, met)).collect();
    found.sort_by_key(|process| !process.has_it_open);
    found.iter().map(words).collect()
}

fn look(pid: u32, lock: FileId) -> Option<Seen> {
    let stat = Stat::of(pid).ok().filter(|stat| !stat.ended)?;
    let text = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let own = String::from_utf8_lossy(&text("comm")).trim_end().to_owned();
    let file = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let line = text("cmdline");
    let verb = line.split(|byte| *byte == 0).nth(1).unwrap_or_default();
    Some(Seen {
        pid,
        started: stat.started,
        names: [own, file],
        verb: String::from_utf8_lossy(verb).into_owned(),
        has_it_open: has_open(pid, lock),
    })
}

fn has_open(pid: u32, lock: FileId) -> bool {
    let open = fs::read_dir(Path::new("/proc").join(pid.to_string()).join("fd")).into_iter().flatten().flatten();
    open.filter_map(|entry| fs::metadata(entry.path()).ok()).any(|found| FileId::of(&found) == lock)
}

/// One that began after the lock was there does not hold it.
fn may_hold(process: &Seen, met: u64) -> bool {
    let is_git = process.names.iter().any(|name| {
        let name = name.trim_end_matches(" (deleted)");
        name.starts_with("git") && !name.starts_with("git-credential") || OTHERS.contains(&name)
    });
    let serves = SERVANTS.contains(&process.verb.as_str());
    process.started <= met && (process.has_it_open || is_git && !serves)
}

fn words(process: &Seen) -> String {
    format!("process {} ({})", process.pid, process.names[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_program_may_hold_any_lock_and_another_one_what_it_has_open() {
        let may = |names: [&str; 2], verb: &str, started, has_it_open| {
            let names = names.map(str::to_owned);
            may_hold(&Seen { pid: 7, started, names, verb: verb.into(), has_it_open }, 100)
        };
        for (names, verb, expected) in [
            (["git", "git"], "pack-refs", true),
            (["git", "git"], "-C", true),
            (["git", ""], "", true),
            (["main", "git (deleted)"], "gc", true),
            (["git-receive-pac", "git"], "x", true),
            (["gitui", "gitui"], "", true),
            (["java", "java"], "-jar", true),
            (["jj", "jj"], "git", true),
            (["git", "git"], "fsmonitor--daemon", false),
            (["git-credential-", "git-credential-cache"], "", false),
            (["git-daemon", "git"], "daemon", false),
            (["bash", "bash"], "git", false),
            (["javac", "javac"], "", false),
            (["legit", "legit"], "", false),
            (["yoi", "yoi"], "claim", false),
        ] {
            assert_eq!(may(names, verb, 100, false), expected, "{names:?} {verb}");
            assert!(may(names, verb, 100, true), "{names:?} has it open");
            assert!(!may(names, verb, 101, true), "{names:?} began later");
        }
    }

    #[test]
    fn who_has_a_file_open_is_found_as_long_as_it_does() {
        let folder = tempfile::tempdir().unwrap();
        let file = fs::File::create(folder.path().join("x.lock")).unwrap();
        let lock = FileId::of(&file.metadata().unwrap());
        let me = format!("process {} (", std::process::id());
        let found = || holders(lock, ticks_now()).iter().any(|words| words.starts_with(&me));
        assert!(found());
        assert!(!holders(lock, 0).iter().any(|words| words.starts_with(&me)), "it was there before this process");
        drop(file);
        assert!(!found());
    }
}
