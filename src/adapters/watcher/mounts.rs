//! Notices that a file system was mounted or unmounted over, above or below what is watched. The kernel's watches do not
//! tell: no folder has changed, another one lies in its place. The table of mounts does, and costs nothing while it is
//! as it was.
//!
//! Must not know: what is done about it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};

use super::Shared;
use super::sorting::Places;

/// The mounts of this process, as the kernel shows them; polling it tells of a change.
const TABLE: &str = "/proc/self/mountinfo";

/// A mount: its number, which no other has as long as it is there, and where.
type Mount = (u64, PathBuf);

/// Looks out for mounts until it is dropped.
#[derive(Debug)]
pub(super) struct Mounts {
    over: Arc<OwnedFd>,
}

impl Mounts {
    /// None where the system shows no table.
    pub(super) fn look_out(places: Places, shared: &Arc<Shared>) -> Option<Self> {
        let mut table = File::open(TABLE).ok()?;
        let over = Arc::new(eventfd(0, EventfdFlags::CLOEXEC).ok()?);
        let (ended, shared) = (Arc::clone(&over), Arc::downgrade(shared));
        let mut known = relevant(&read(&mut table)?, &places);
        let look_out = move || {
            loop {
                let mut watched =
                    [PollFd::new(&table, PollFlags::PRI | PollFlags::ERR), PollFd::new(&*ended, PollFlags::IN)];
                let interrupted = poll(&mut watched, None).is_err();
                let is_over = !interrupted && watched[1].revents().contains(PollFlags::IN);
                let Some(shared) = shared.upgrade().filter(|_| !is_over) else { return };
                let Some(now) = File::open(TABLE).ok().and_then(|mut table| read(&mut table)) else { return };
                let now = relevant(&now, &places);
                if let Some((_, at)) = now.symmetric_difference(&known).next() {
                    let why = format!("a file system was mounted or unmounted at {}", at.display());
                    shared.add(|pile| {
                        pile.root = true;
                        pile.lose(why);
                    });
                }
                known = now;
            }
        };
        thread::Builder::new().name("yoi mounts".into()).spawn(look_out).ok()?;
        Some(Self { over })
    }
}

impl Drop for Mounts {
    fn drop(&mut self) {
        let _ = rustix::io::write(&*self.over, &1_u64.to_ne_bytes());
    }
}

fn read(table: &mut File) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    table.read_to_end(&mut text).ok()?;
    Some(text)
}

/// The mounts on the way to the tickets and to git, and those inside the ticket folder.
fn relevant(table: &[u8], places: &Places) -> BTreeSet<Mount> {
    let on_the_way = |at: &PathBuf| {
        places.tickets.starts_with(at)
            || at.starts_with(&places.tickets)
            || places.git.as_ref().is_some_and(|git| git.starts_with(at))
    };
    table.split(|byte| *byte == b'\n').filter_map(mount).filter(|(_, at)| on_the_way(at)).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`: number, parent, device, root, where.
fn mount(line: &[u8]) -> Option<Mount> {
    let mut words = line.split(|byte| *byte == b' ');
    let number = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
    Some((number, unescaped(words.nth(3)?)))
}

/// Blanks and backslashes are written as `\040`, in octal digits.
fn unescaped(word: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        path.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[3..] } else { after };
    }
    PathBuf::from(std::ffi::OsString::from_vec(path))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_lies_over_above_or_in_the_tickets_or_over_git_matters() {
        let places = Places::new(Path::new("/no where/work"), Path::new("tickets"), Some(Path::new("/no where/w.git")));
        let table = "22 1 0:20 / / rw - ext4 /dev/sda rw\n\
                     23 22 0:21 / /proc rw - proc proc rw\n\
                     24 22 0:22 / /no\\040where rw shared:1 - tmpfs tmpfs rw\n\
                     25 24 0:23 / /no\\040where/work/tickets rw - tmpfs tmpfs rw\n\
                     26 25 0:24 / /no\\040where/work/tickets/deep rw - tmpfs tmpfs rw\n\
                     27 24 0:25 / /no\\040where/work/target rw - tmpfs tmpfs rw\n\
                     28 24 0:26 / /no\\040where/w.git rw - tmpfs tmpfs rw\n\
                     29 24 0:27 / /no\\040where/work/tickets2 rw - tmpfs tmpfs rw\n\
                     broken\n\n";
        let numbers: Vec<_> = relevant(table.as_bytes(), &places).into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, [22, 24, 25, 26, 28]);
    }

    #[test]
    fn names_are_read_as_they_are() {
        for (written, name) in
            [("/a\\040b", "/a b"), ("/a\\134b", "/a\\b"), ("/a\\9", "/a\\9"), ("/a\\", "/a\\"), ("/ü", "/ü")]
        {
            assert_eq!(unescaped(written.as_bytes()), Path::new(name));
        }
    }

    #[test]
    fn this_machine_shows_its_table() {
        let places = Places::new(Path::new("/"), Path::new("tickets"), None);
        let table = read(&mut File::open(TABLE).unwrap()).unwrap();
        assert!(!relevant(&table, &places).is_empty());
    }
}
