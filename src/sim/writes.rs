//! yoi's own writes: read, decide, exchange, look at what came out, step by step, so that anything may come in between.
//! The decision is the product's (`text::merge`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_yaml::Value;

use super::disk::Inode;
use super::kept::{LATER, Noted};
use super::wishes::Wish;
use super::world::{Happening, World};
use crate::domain::backlog::Entry;
use crate::domain::engine::{Actor, Event};
use crate::text::merge::{CameOut, Edit, Exchange, Failure, Step, Swapped, is_whole};

/// Who writes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Writer {
    /// The daemon, for somebody.
    Daemon(Actor),
    /// A command without a daemon.
    Command,
}

/// One write under way.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) number: u64,
    pub(super) path: PathBuf,
    pub(super) wish: Wish,
    pub(super) by: Writer,
    /// None until the file is read.
    exchange: Option<Exchange<String>>,
    phase: Phase,
    /// The exchange on whose outcome the next one is made.
    follows: Option<String>,
    /// The first one that was made.
    first: Option<String>,
    /// What the keys that it has set held before, and the last exchange that has set some and came out otherwise.
    pub(super) before: BTreeMap<String, Option<Value>>,
    unsettled: Option<String>,
    /// When the last one was made.
    pub(super) exchanged_at: u64,
    /// When what is there was found half written.
    waits_since: Option<i64>,
}

/// How far a write is with one exchange.
#[derive(Clone, Debug, PartialEq)]
enum Phase {
    /// Nothing is under way.
    None,
    /// Whether what is to be displaced is still there is looked at first.
    Check(Vec<u8>),
    /// The exchange is made.
    Exchange(Vec<u8>),
    /// What came out of the exchange of this name is looked at.
    Look(String, Inode),
}

/// What came of a phase.
enum Went {
    /// The write goes on.
    On,
    /// Somebody is just writing what is to be looked at.
    Waits,
    /// The file is gone.
    Gone,
}

impl Write {
    /// It has read the file, under the ticket's lock.
    pub(super) fn has_begun(&self) -> bool {
        self.exchange.is_some()
    }

    /// What it may have changed without having said so: the exchange is made.
    pub(super) fn unsaid(&self) -> Vec<String> {
        let made = matches!(self.phase, Phase::Look(..)) || self.follows.is_some();
        let changes = self.exchange.iter().filter(|_| made).flat_map(Exchange::changes);
        changes.map(|change| change.key().to_owned()).collect()
    }
}

impl World {
    /// Begins a write; the next steps come by themselves. A command waits while the ticket is locked.
    pub(super) fn begin_write(&mut self, path: PathBuf, wish: Wish, by: Writer) {
        self.count += 1;
        let number = self.count;
        self.say(|| format!("write {number}: {by:?} wants {wish:?} of {}", path.display()));
        self.writes.push(Write {
            number,
            path,
            wish,
            by,
            exchange: None,
            phase: Phase::None,
            follows: None,
            first: None,
            before: BTreeMap::new(),
            unsettled: None,
            exchanged_at: 0,
            waits_since: None,
        });
        self.at(0, Happening::Write(number));
    }

    /// The next step of a write.
    pub(super) fn write_step(&mut self, number: u64) {
        let Some(at) = self.writes.iter().position(|write| write.number == number) else { return };
        let mut write = self.writes.remove(at);
        if write.exchange.is_none() {
            // The kernel lock: one of yoi's writers at a time.
            if self.writes.iter().any(|other| other.path == write.path && other.has_begun()) {
                self.writes.insert(at, write);
                return self.at(20, Happening::Write(number));
            }
            let saving = self.editors.iter().any(|editor| editor.path == write.path && editor.is_saving());
            if !saving {
                self.review(&write.path);
            }
            let Some(text) = self.disk.read(&write.path).cloned() else { return self.write_ended(&write, None) };
            if self.waits_for(&mut write, &text) {
                return self.write_goes_on(write, 20);
            }
            self.meet(&write.path, &text, None);
            write.exchange = Some(Exchange::begin(text));
        } else {
            match self.phase(&mut write) {
                Went::On => {}
                Went::Waits => return self.write_goes_on(write, 20),
                Went::Gone => return self.write_ended(&write, None),
            }
        }
        if write.phase == Phase::None {
            let Some(mut exchange) = write.exchange.take() else { return };
            let (wish, path) = (write.wish.clone(), write.path.clone());
            match exchange.next(&mut |text| self.decided(&path, &wish, text)) {
                Step::End => return self.write_ended(&write, Some(exchange)),
                Step::Put(text) => write.phase = Phase::Check(text),
            }
            write.exchange = Some(exchange);
        }
        let gap = if self.faults { self.dice.of(&[0, 0, 1, 3, 40, 300]) } else { 0 };
        self.write_goes_on(write, gap);
    }

    fn write_goes_on(&mut self, write: Write, after: i64) {
        let number = write.number;
        self.writes.push(write);
        self.at(after, Happening::Write(number));
    }

    /// The next phase of an exchange.
    fn phase(&mut self, write: &mut Write) -> Went {
        match write.phase.clone() {
            Phase::None => {}
            Phase::Check(ours) => {
                let Some(there) = self.disk.read(&write.path).cloned() else { return Went::Gone };
                if is_expected(write, &there) {
                    write.phase = Phase::Exchange(ours);
                } else if self.waits_for(write, &there) {
                    return Went::Waits;
                } else {
                    self.came_out(write, &CameOut::NotPut(there));
                }
            }
            Phase::Exchange(ours) => {
                let Some(exchange) = &write.exchange else { return Went::Gone };
                let (base, expected) = (exchange.newest().to_vec(), exchange.expected().to_vec());
                let edits = exchange.edits(&ours);
                let effects = edits.iter().flat_map(Edit::effects);
                for (key, before, _) in effects {
                    write.before.entry(key.to_owned()).or_insert_with(|| before.clone());
                }
                let sets_some = !edits.is_empty();
                let follows = write.follows.clone();
                let own = write.by == Writer::Daemon(Actor::Daemon);
                let noted = Noted { follows, base: &base, expected: &expected, placed: &ours, edits, own };
                let Some((name, came_out)) = self.exchange(&write.path, noted) else { return Went::Gone };
                write.first.get_or_insert_with(|| name.clone());
                write.unsettled = sets_some.then(|| name.clone()).or(write.unsettled.take());
                write.exchanged_at = self.count;
                write.phase = Phase::Look(name, came_out);
            }
            Phase::Look(name, came_out) => {
                let text = self.disk.text(came_out).to_vec();
                if is_expected(write, &text) {
                    self.settle(&write.path, &name);
                    write.unsettled.take_if(|last| *last == name);
                    write.follows = None;
                    self.came_out(write, &CameOut::Expected);
                } else if self.waits_for(write, &text) {
                    return Went::Waits;
                } else {
                    self.came_to_light(&write.path, &name);
                    write.follows = Some(name);
                    self.came_out(write, &CameOut::Other(text));
                }
            }
        }
        Went::On
    }

    fn came_out(&mut self, write: &mut Write, came_out: &CameOut) {
        if let CameOut::Other(theirs) | CameOut::NotPut(theirs) = came_out {
            self.meet(&write.path, theirs, write.first.as_deref());
            let how = if matches!(came_out, CameOut::NotPut(_)) { "before" } else { "during" };
            self.say(|| format!("write {}: somebody wrote {how} the exchange", write.number));
        }
        write.exchange.iter_mut().for_each(|exchange| exchange.tell(came_out.clone()));
        (write.phase, write.waits_since) = (Phase::None, None);
    }

    /// Half a text is waited for, a moment.
    fn waits_for(&mut self, write: &mut Write, text: &[u8]) -> bool {
        let since = *write.waits_since.get_or_insert(self.clock);
        let waits = !is_whole(text) && self.clock - since < 300;
        if !waits {
            write.waits_since = None;
        }
        waits
    }

    /// A write is over; None where there was no file to write.
    fn write_ended(&mut self, write: &Write, exchange: Option<Exchange<String>>) {
        self.look(write.path.clone());
        if write.by == Writer::Command {
            self.command_has_told(&write.path);
        }
        self.at(LATER, Happening::Look(write.path.clone()));
        let changes = exchange.as_ref().map(|exchange| exchange.changes().to_vec()).unwrap_or_default();
        let outcome = exchange.map(Exchange::end);
        self.say(|| {
            let said = match &outcome {
                Some(Ok(_)) => format!("is done: {changes:?}"),
                Some(Err(why)) => format!("is not done: {why:?}"),
                None => "finds no file".into(),
            };
            format!("write {} {said}", write.number)
        });
        if let Some(Ok(swapped)) = &outcome {
            self.settle_without_exchange(write, swapped);
            self.acknowledge(write, &changes, swapped);
        }
        if let Some(claimer) = write.wish.claimer() {
            self.claim_written(claimer, matches!(outcome, Some(Ok(_))));
        }
        if let Writer::Daemon(by) = write.by.clone() {
            if self.owes_a_report() && self.dies_once_in(2) {
                return self.kill_daemon("after it has found what was saved over");
            }
            let event = self.written_event(write, by, outcome);
            self.daemon_goes_on(event);
        }
    }

    /// It is said to be done, and what somebody has saved since the last exchange holds it already.
    fn settle_without_exchange(&mut self, write: &Write, swapped: &Swapped) {
        let journal = self.journal.get_mut(&write.path).into_iter().flatten();
        let last = journal.filter(|displaced| Some(&displaced.made.name) == write.unsettled.as_ref());
        last.for_each(|displaced| displaced.made.acknowledge(&swapped.after));
    }

    fn written_event(
        &mut self,
        write: &Write,
        by: Actor,
        outcome: Option<Result<Swapped, Failure<String>>>,
    ) -> Option<Event> {
        match outcome? {
            Ok(swapped) => match self.read_text(&write.path, &swapped.after) {
                Entry::Ticket(ticket) => Some(Event::TicketWritten { ticket, by }),
                _ => None,
            },
            Err(why) if matches!(write.wish, Wish::Stamp { .. }) => {
                let id = match self.daemon.as_ref()?.engine.backlog().at(&write.path) {
                    Some(Entry::Ticket(ticket)) => ticket.id.clone(),
                    _ => return None,
                };
                Some(Event::StampFailed { id, why: format!("{why:?}") })
            }
            Err(_) => None,
        }
    }
}

fn is_expected(write: &Write, text: &[u8]) -> bool {
    write.exchange.as_ref().is_some_and(|exchange| exchange.expected() == text)
}
