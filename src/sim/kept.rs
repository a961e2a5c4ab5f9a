//! What exchanges displaced, and the later look at it. What becomes of it is the product's decision (`text::lineage`).

use std::path::{Path, PathBuf};

use super::disk::Inode;
use super::people::Editor;
use super::world::{Happening, World};
use crate::domain::ticket::Digest;
use crate::text::lineage::{Later, Made, judge};
use crate::text::merge::Edit;

/// The later look comes so much later.
pub(super) const LATER: i64 = 1_000;

/// One exchange, and the file that it displaced.
#[derive(Clone, Debug)]
pub(super) struct Displaced {
    pub(super) made: Made,
    inode: Inode,
    /// An editor has written into it since, who had it open.
    by: Option<Editor>,
}

/// One exchange as it is noted.
#[derive(Clone, Debug)]
pub(super) struct Noted<'n> {
    pub(super) follows: Option<String>,
    pub(super) base: &'n [u8],
    pub(super) expected: &'n [u8],
    pub(super) placed: &'n [u8],
    pub(super) edits: Vec<Edit>,
    pub(super) own: bool,
}

impl World {
    /// Exchanges a file for a new one with the placed text. Returns the name of the exchange and what came out; None where
    /// there is no file.
    pub(super) fn exchange(&mut self, path: &Path, noted: Noted<'_>) -> Option<(String, Inode)> {
        let placed = self.disk.new_file(noted.placed);
        let inode = self.disk.exchange(placed, path)?;
        self.count += 1;
        let name = format!("{:08}", self.count);
        self.say(|| format!("exchange {name} of {}: file {inode} comes out, {placed} is in its place", path.display()));
        let made = Made {
            name: name.clone(),
            at: self.now(),
            follows: noted.follows,
            base: Digest::of(noted.base),
            expected: Digest::of(noted.expected),
            placed: Digest::of(noted.placed),
            edits: noted.edits,
            own: noted.own,
            dealt_with: None,
            settled: false,
            acknowledged: false,
            told: false,
        };
        let journal = self.journal.entry(path.to_owned()).or_default();
        if let Some(followed) = &made.follows {
            deal_with(journal, followed, made.base);
        }
        journal.push(Displaced { made, inode, by: None });
        self.forget_lost(path);
        self.changed_on_disk(path);
        Some((name, inode))
    }

    /// What came out of an exchange was what was expected.
    pub(super) fn settle(&mut self, path: &Path, name: &str) {
        let journal = self.journal.get_mut(path).into_iter().flatten();
        journal.filter(|displaced| displaced.made.name == name).for_each(|displaced| displaced.made.settled = true);
    }

    /// An editor has written into a file that has no name any more. If an exchange took it away, it must be kept, and what
    /// was written will be found there.
    pub(super) fn saved_elsewhere(&mut self, editor: Editor, inode: Inode) {
        let path = editor.path.clone();
        let mut found = self.journal.values_mut().flatten().filter(|displaced| displaced.inode == inode);
        if let Some(displaced) = found.next() {
            displaced.by = Some(editor);
            self.observer.kept += 1;
            self.at(LATER, Happening::Look(path));
        }
    }

    /// What an editor wrote into a file just displaced is seen there at once: it goes into the ticket like any other save.
    pub(super) fn came_to_light(&mut self, path: &Path, name: &str) {
        let displaced = self.journal.get(path).into_iter().flatten().find(|displaced| displaced.made.name == name);
        if let Some(editor) = displaced.and_then(|displaced| displaced.by.clone()) {
            self.saved(&editor);
        }
    }

    /// Whether something that others wrote lies in a displaced file, and nothing has become of it yet.
    pub(super) fn is_pending(&self, path: &Path) -> bool {
        self.journal.get(path).into_iter().flatten().any(|displaced| self.is_changed(displaced))
    }

    fn is_changed(&self, displaced: &Displaced) -> bool {
        let untouched = displaced.made.settled && displaced.by.is_none();
        !untouched && Digest::of(self.disk.text(displaced.inode)) != displaced.made.known()
    }

    /// Looks at everything that was displaced.
    pub(super) fn look_at_all(&mut self) {
        for path in self.journal.keys().cloned().collect::<Vec<_>>() {
            self.look_for_lost(&path);
            self.look(path);
        }
    }

    /// The later look, under the ticket's lock.
    pub(super) fn look(&mut self, path: PathBuf) {
        if self.daemon.is_none() || !self.is_pending(&path) {
            return;
        }
        let is_locked = self.writes.iter().any(|write| write.path == path && write.has_begun());
        let is_saving = self.editors.iter().any(|editor| editor.path == path && editor.is_saving());
        if is_locked || is_saving {
            return self.at(LATER / 10, Happening::Look(path));
        }
        self.review(&path);
    }

    /// What becomes of what lies there.
    pub(super) fn review(&mut self, path: &Path) {
        let journal = self.journal.get(path).cloned().unwrap_or_default();
        for displaced in journal {
            if !self.is_changed(&displaced) {
                continue;
            }
            let text = self.disk.text(displaced.inode).to_vec();
            let current = self.disk.read(path).cloned().unwrap_or_default();
            let journal = self.journal.get(path).cloned().unwrap_or_default();
            let made: Vec<Made> = journal.into_iter().map(|displaced| displaced.made).collect();
            let name = &displaced.made.name;
            match judge(&made, name, &text, &current) {
                Later::Merge(merged, edits) => {
                    self.meet(path, &text, Some(name));
                    let (follows, own) = (Some(name.clone()), false);
                    let noted = Noted { follows, base: &text, expected: &current, placed: &merged, edits, own };
                    if let Some((name, _)) = self.exchange(path, noted) {
                        self.say(|| format!("what was written into a displaced file is merged: {}", path.display()));
                        self.settle(path, &name);
                        self.observer.merged += 1;
                        displaced.by.iter().for_each(|editor| self.saved(editor));
                    }
                }
                Later::AlreadyThere => {
                    deal_with(self.journal.entry(path.to_owned()).or_default(), name, Digest::of(&text));
                }
                Later::Conflict(why) | Later::Unfinished(why) => {
                    self.say(|| format!("a displaced file is kept for good: {}: {why}", path.display()));
                    self.observer.conflicts += 1;
                    deal_with(self.journal.entry(path.to_owned()).or_default(), name, Digest::of(&text));
                }
            }
        }
    }
}

fn deal_with(journal: &mut [Displaced], name: &str, digest: Digest) {
    journal.iter_mut().filter(|d| d.made.name == name).for_each(|d| d.made.dealt_with = Some(digest));
}
