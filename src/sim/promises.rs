//! The promises, judged after every step by an observer who sees files, processes and records.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_yaml::Value;

use super::lost::Owed;
use super::people::Editor;
use super::workers::Seen;
use super::world::World;
use super::writes::Write;
use crate::domain::backlog::{Backlog, Entry};
use crate::domain::classify::Class;
use crate::domain::edit::Change;
use crate::domain::engine::{Kick, Record, RecordKind};
use crate::domain::ticket::State;
use crate::text::merge::{Swapped, values};

/// After the last change of a file, all that is put off, doubted and joined is over by then.
const QUIET: i64 = 3_000;

/// What an observer writes down.
#[derive(Clone, Debug, Default)]
pub(super) struct Observer {
    /// What was acknowledged, by file and key, and has not been changed by anybody since.
    acknowledged: BTreeMap<(PathBuf, String), Option<Value>>,
    /// The text that a person last saved, by file.
    saved: BTreeMap<PathBuf, Vec<u8>>,
    /// When that was.
    saved_at: BTreeMap<PathBuf, u64>,
    pub(super) alerts: u32,
    pub(super) kicks: u32,
    pub(super) boards: u32,
    pub(super) acks: u32,
    pub(super) saved_over: u32,
    /// Saves into files that had been displaced, and what became of them.
    pub(super) kept: u32,
    pub(super) merged: u32,
    pub(super) conflicts: u32,
    pub(super) reports: Owed,
    pub(super) workers: Seen,
}

impl World {
    /// What is told to people.
    pub(super) fn told(&mut self, record: &Record) {
        self.pay(record);
        self.observer.alerts += u32::from(record.kind == RecordKind::Alert);
    }

    /// What must hold of a kick at the moment at which it is delivered.
    pub(super) fn judge_launch(&mut self, kick: &Kick) {
        self.observer.kicks += 1;
        assert!(self.turn.is_none(), "two turns at once: {}", kick.id.0);
        assert!(self.store.running.is_none(), "a turn is on record already");
        assert!(self.store.ledger.paused.is_none(), "a kick although all kicks are held");
        assert!(!kick.items.is_empty() && kick.items.len() <= self.policy.kick.max_items);
        assert!(!kick.causes.is_empty(), "every kick has a cause");
        let Some(daemon) = &self.daemon else { panic!("nobody is there to deliver it") };
        let active = &daemon.engine.attention(false, self.now()).active;
        for item in &kick.items {
            let read = daemon.fresh.iter().rfind(|(path, _)| path.ends_with(format!("{}.md", item.id.as_str())));
            let Some((_, Entry::Ticket(read))) = read else { panic!("{} was not read anew: {read:?}", item.id) };
            let expected = match item.class {
                Class::ActionableInprogress => State::Inprogress,
                Class::NewQueued | Class::PlannedQueued => State::Queued,
                Class::ActiveInprogress => panic!("active work needs nobody: {}", item.id),
            };
            assert_eq!(read.state, Some(expected), "{} was announced as what it is no more", item.id);
            assert!(expected == State::Inprogress || active.is_empty(), "queued {} while {active:?}", item.id);
            let held = daemon.engine.facts().claims.get(&item.id).filter(|claim| claim.fresh_for_others(self.now()));
            assert!(expected == State::Queued || held.is_none(), "{} is announced, and {held:?}", item.id);
        }
        self.say(|| format!("kick {}: {:?}", kick.id.0, kick.items.iter().map(|i| i.id.as_str()).collect::<Vec<_>>()));
    }

    /// A write was said to be done.
    pub(super) fn acknowledge(&mut self, write: &Write, changes: &[Change], swapped: &Swapped) {
        let mut keys: Vec<_> = changes.iter().map(|change| change.key().to_owned()).collect();
        keys.extend(write.before.keys().cloned());
        keys.sort();
        keys.dedup();
        self.to_judge.insert(write.path.clone());
        self.observer.acks += u32::from(!keys.is_empty());
        // An editor that has saved since the exchange has perhaps taken it back before it was said.
        let since = self.observer.saved_at.get(&write.path).is_some_and(|at| *at > write.exchanged_at);
        let there = self.disk.read(&write.path).filter(|_| since).map(|text| values(text, keys.clone()));
        let after = values(&swapped.after, keys.clone());
        let stands = |key: &String| there.as_ref().is_none_or(|there| there.get(key) == after.get(key));
        let standing: Vec<_> = keys.iter().filter(|key| stands(key)).cloned().collect();
        self.note_changes(write, swapped, &standing);
        for (key, value) in values(&swapped.after, keys) {
            if there.as_ref().is_some_and(|there| there.get(&key) != Some(&value)) {
                self.observer.saved_over += 1;
                continue;
            }
            self.observer.acknowledged.insert((write.path.clone(), key), value);
        }
    }

    /// An editor has saved: its text is now what a person last wrote there. What was acknowledged and is not in it was
    /// saved over, if the editor had read before it, or changed by the person.
    pub(super) fn saved(&mut self, editor: &Editor) {
        self.observer.saved.insert(editor.path.clone(), editor.text.clone());
        self.count += 1;
        self.observer.saved_at.insert(editor.path.clone(), self.count);
        let now = values(&editor.text, self.keys_of(&editor.path));
        for (key, value) in now {
            let known = self.observer.acknowledged.get(&(editor.path.clone(), key.clone()));
            if known.is_some_and(|known| *known != value) {
                self.observer.saved_over += 1;
                self.observer.acknowledged.remove(&(editor.path.clone(), key));
            }
        }
    }

    /// These keys may have been changed by a write that came to no end: nobody was told anything about them.
    pub(super) fn unsaid(&mut self, path: &Path, keys: &[String]) {
        self.observer.acknowledged.retain(|(of, key), _| of != path || !keys.contains(key));
    }

    /// Another program has put another text there.
    pub(super) fn forget_writes(&mut self, path: &Path) {
        self.observer.acknowledged.retain(|(of, _), _| of != path);
        self.observer.saved.remove(path);
        self.owe_nothing(path);
        self.count += 1;
        self.observer.saved_at.insert(path.to_owned(), self.count);
    }

    fn keys_of(&self, path: &Path) -> Vec<String> {
        self.observer.acknowledged.keys().filter(|(of, _)| of == path).map(|(_, key)| key.clone()).collect()
    }

    /// Judges all that can be judged now.
    pub(super) fn judge(&mut self) {
        for path in std::mem::take(&mut self.to_judge) {
            let writing = self.writes.iter().any(|write| write.path == path);
            let saving = self.editors.iter().any(|editor| editor.path == path && editor.is_saving());
            if writing || saving || self.is_pending(&path) {
                self.to_judge.insert(path);
            } else {
                self.judge_file(&path);
            }
        }
        self.judge_board();
    }

    /// All that was acknowledged is there, and all that a person wrote.
    fn judge_file(&mut self, path: &Path) {
        let Some(text) = self.disk.read(path).cloned() else { return };
        let keys = self.keys_of(path);
        let found = if keys.is_empty() { BTreeMap::new() } else { values(&text, keys) };
        for (key, value) in found {
            let known = self.observer.acknowledged.get(&(path.to_owned(), key.clone()));
            assert!(
                known.is_none_or(|known| *known == value),
                "{}: {key} is {value:?}, said was {known:?}",
                path.display()
            );
        }
        if let Some(saved) = self.observer.saved.get(path) {
            assert_eq!(body(&text), body(saved), "{}: what a person wrote is lost", path.display());
        }
    }

    /// All notices have come, and all that is put off by them is over.
    fn is_quiet(&self) -> bool {
        let Some(daemon) = &self.daemon else { return false };
        let since = |at: i64| self.clock - at > QUIET;
        let idle = !daemon.writing && daemon.inbox.is_empty() && self.in_flight == 0;
        since(self.disk_changed_at) && since(daemon.started_at) && idle && !self.lost
    }

    /// Whenever all notices have come, the board is what a fresh start would show.
    fn judge_board(&mut self) {
        let quiet = self.is_quiet();
        self.judge_reports(quiet);
        if !quiet {
            return;
        }
        if self.clock - self.claims.changed_at > QUIET {
            self.judge_claims();
        }
        if self.boards_judged_at == self.disk_changed_at {
            return;
        }
        self.boards_judged_at = self.disk_changed_at;
        self.observer.boards += 1;
        let fresh = Backlog::of(self.entries());
        if let Some(daemon) = &self.daemon {
            assert_eq!(*daemon.engine.backlog(), fresh, "the board is not what a fresh start shows");
        }
    }
}

/// What follows the frontmatter, found by its lines alone: this is asked at every change, and reading YAML is what a run
/// spends its time on.
fn body(text: &[u8]) -> &[u8] {
    let mut lines = text.split_inclusive(|byte| *byte == b'\n');
    if lines.next().is_none_or(|first| first.trim_ascii_end() != b"---") {
        return text;
    }
    let head = lines.take_while(|line| !matches!(line.trim_ascii_end(), b"---" | b"..."));
    let head: usize = head.map(<[u8]>::len).sum();
    let rest = text.splitn(2, |byte| *byte == b'\n').last().and_then(|rest| rest.get(head..)).unwrap_or_default();
    rest.splitn(2, |byte| *byte == b'\n').nth(1).unwrap_or_default()
}
