//! What an editor saved over without having seen it: found by the product (`text::lineage`), told to the engine as the host
//! does it, and owed to whoever was told that it was done.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_yaml::Value;

use super::people::Editor;
use super::world::World;
use super::writes::{Write, Writer};
use crate::domain::engine::{Actor, Event, Record, RecordKind};
use crate::domain::finding::Finding;
use crate::domain::ticket::{TicketId, Timestamp};
use crate::text::lineage::{SavedOver, saved_over};
use crate::text::merge::{Swapped, values};

/// What came to light, as the journals of displaced texts keep it.
#[derive(Clone, Debug, Default)]
pub(super) struct Lost {
    /// What was lost last of each file, until yoi writes it again.
    known: BTreeMap<PathBuf, (Timestamp, Vec<String>, bool)>,
    /// Of what it is not on record that somebody was told, by file and by the exchange that was lost.
    owed: BTreeMap<(PathBuf, String), Finding>,
    /// What of that this daemon has told.
    said: BTreeSet<String>,
}

/// What an observer knows of acknowledged changes, and of what is owed.
#[derive(Clone, Debug, Default)]
pub(super) struct Owed {
    changes: Vec<Change>,
    debts: Vec<Debt>,
    pub(super) paid: u32,
}

/// One acknowledged change of one key.
#[derive(Clone, Debug)]
struct Change {
    path: PathBuf,
    key: String,
    before: Option<Value>,
    after: Option<Value>,
    exchanged_at: u64,
    /// A stamp of yoi's own, that is set again.
    own: bool,
}

/// A report that somebody has to be given.
#[derive(Clone, Debug)]
struct Debt {
    path: PathBuf,
    ticket: TicketId,
    /// What was said of an earlier loss.
    said_before: Option<String>,
}

fn id_of(path: &Path) -> TicketId {
    TicketId::new(path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default())
}

impl World {
    /// Looks whether this text has taken back what was acknowledged before the exchange of this name.
    pub(super) fn meet(&mut self, path: &Path, theirs: &[u8], up_to: Option<&str>) {
        let Some(journal) = self.journal.get_mut(path) else { return };
        let made: Vec<_> = journal.iter().map(|displaced| displaced.made.clone()).collect();
        let end = up_to.and_then(|name| made.iter().position(|made| made.name == name)).unwrap_or(made.len());
        let Some(SavedOver { names, at, keys, own }) = saved_over(&made[..end], theirs) else { return };
        let taken = journal.iter_mut().filter(|displaced| names.contains(&displaced.made.name));
        taken.for_each(|displaced| displaced.made.told = true);
        let keys: Vec<String> = keys.into_iter().collect();
        self.say(|| format!("{}: {keys:?} were saved over", path.display()));
        self.taken_back.known.insert(path.to_owned(), (at, keys.clone(), own));
        let finding = Finding::SavedOver { ticket: id_of(path), keys, at, own, news: true };
        let Some(name) = names.into_iter().next() else { return };
        self.taken_back.owed.insert((path.to_owned(), name), finding);
    }

    /// The daemon looks at the file itself, and tells the engine what has come to light.
    pub(super) fn look_for_lost(&mut self, path: &Path) {
        let locked = self.writes.iter().any(|write| write.path == path && write.has_begun());
        if self.daemon.is_none() || locked {
            return;
        }
        if let Some(text) = self.disk.read(path).cloned() {
            self.meet(path, &text, None);
        }
        let Lost { owed, said, .. } = &mut self.taken_back;
        let is_owed = owed.keys().any(|(of, _)| of == path);
        let new = owed.iter().filter(|((of, name), _)| of == path && said.insert(name.clone()));
        let mut found: Vec<_> = new.map(|(_, finding)| finding.clone()).collect();
        if let (false, Some((at, keys, own))) = (is_owed, self.taken_back.known.get(path).cloned()) {
            found.push(Finding::SavedOver { ticket: id_of(path), keys, at, own, news: false });
        }
        if !found.is_empty() {
            self.answer(Event::Reviewed(found));
        }
    }

    /// yoi writes the file: what was known to be lost of it is the past.
    pub(super) fn forget_lost(&mut self, path: &Path) {
        self.taken_back.known.remove(path);
    }

    /// A command has ended, and what it has found is on record; unless the store could not take it, or it died.
    pub(super) fn command_has_told(&mut self, path: &Path) {
        if !self.faults || !self.dice.once_in(3) {
            self.taken_back.owed.retain(|(of, _), _| of != path);
            self.observer.reports.debts.retain(|debt| debt.path != path);
        }
    }

    /// Whether something was found that is not on record.
    pub(super) fn owes_a_report(&self) -> bool {
        !self.taken_back.owed.is_empty()
    }

    /// The daemon has done everything that it had to do: what it told is on record.
    pub(super) fn reports_are_on_record(&mut self) {
        let Lost { owed, said, .. } = &mut self.taken_back;
        owed.retain(|(_, name), _| !said.contains(name));
        said.clear();
    }

    /// What a daemon that died has told is not known to anybody.
    pub(super) fn nobody_has_told(&mut self) {
        self.taken_back.said.clear();
    }

    /// A write was said to be done.
    pub(super) fn note_changes(&mut self, write: &Write, swapped: &Swapped, keys: &[String]) {
        let mut before = values(&swapped.before, keys.iter().cloned());
        // Also what an exchange has changed out of which something else came that held it already.
        before.extend(write.before.clone());
        let own = write.by == Writer::Daemon(Actor::Daemon);
        for (key, after) in values(&swapped.after, keys.iter().cloned()) {
            let before = before.get(&key).cloned().flatten();
            if before != after {
                let (path, exchanged_at) = (write.path.clone(), write.exchanged_at);
                self.observer.reports.changes.push(Change { path, key, before, after, exchanged_at, own });
            }
        }
    }

    /// An editor has saved. What was acknowledged since it had read, and is in its text as it was before, is lost.
    pub(super) fn owe(&mut self, editor: &Editor) {
        let changes = &mut self.observer.reports.changes;
        let of_it = |change: &mut Change| change.path == editor.path;
        let changes: Vec<Change> = changes.extract_if(.., of_it).collect();
        self.observer.reports.debts.retain(|debt| debt.path != editor.path);
        let unseen = || changes.iter().filter(|change| change.exchanged_at > editor.read_at);
        let now = values(&editor.text, unseen().map(|change| change.key.clone()));
        let is = |change: &Change, value: &Option<Value>| now.get(&change.key) == Some(value);
        // A person who happens to write the same as yoi has written looks like one who has seen it.
        let stands = unseen().any(|change| is(change, &change.after));
        if !stands && unseen().any(|change| !change.own && is(change, &change.before)) {
            let ticket = id_of(&editor.path);
            let daemon = self.daemon.as_ref();
            let said_before = daemon.and_then(|daemon| daemon.engine.saved_over(&ticket)).map(str::to_owned);
            self.observer.reports.debts.push(Debt { path: editor.path.clone(), ticket, said_before });
        }
    }

    /// Another program has put another text there.
    pub(super) fn owe_nothing(&mut self, path: &Path) {
        self.observer.reports.changes.retain(|change| change.path != path);
        self.observer.reports.debts.retain(|debt| debt.path != path);
    }

    /// An entry in the inbox is a report.
    pub(super) fn pay(&mut self, record: &Record) {
        let says = record.data["what"].as_str().is_some_and(|what| what.contains("was saved over"));
        if record.kind == RecordKind::Inbox && says {
            let before = self.observer.reports.debts.len();
            self.observer.reports.debts.retain(|debt| record.ticket.as_ref() != Some(&debt.ticket));
            self.observer.reports.paid += u32::try_from(before - self.observer.reports.debts.len()).unwrap();
        }
    }

    /// What `yoi why` says is one too. When all is quiet nothing is owed.
    pub(super) fn judge_reports(&mut self, quiet: bool) {
        if self.observer.reports.debts.is_empty() {
            return;
        }
        let Some(daemon) = &self.daemon else { return };
        let says = |debt: &Debt| daemon.engine.saved_over(&debt.ticket).map(str::to_owned);
        self.observer.reports.debts.retain(|debt| says(debt).is_none_or(|said| debt.said_before == Some(said)));
        let owed: Vec<_> =
            self.observer.reports.debts.iter().filter(|debt| self.disk.read(&debt.path).is_some()).collect();
        assert!(!quiet || owed.is_empty(), "an editor saved over what was acknowledged, and nobody was told: {owed:?}");
    }
}
