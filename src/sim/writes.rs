//! yoi's own writes: read, decide, exchange, look at what came out, step by step, so that anything may come in between.
//! The decision is the product's (`text::merge`).

use std::path::PathBuf;

use super::disk::Inode;
use super::world::{Happening, World};
use crate::domain::accept::{Way, acceptable};
use crate::domain::backlog::{Backlog, Entry};
use crate::domain::edit::Change;
use crate::domain::engine::{Actor, Event};
use crate::domain::facts::Facts;
use crate::domain::gates::Ground;
use crate::domain::lifecycle::{acceptance, plan_move, queue_stamp};
use crate::domain::ticket::{State, Ticket, Timestamp};
use crate::text::merge::{CameOut, Exchange, Failure, Step, Swapped};

/// What is to be written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wish {
    Move(State, String),
    Accept,
    Priority(usize),
    Label(String),
    Stamp { by: String, since: Timestamp, always: bool },
}

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
    /// The file that came out last.
    came_out: Option<Inode>,
    put: Option<Step>,
}

impl World {
    /// Begins a write; the next steps come by themselves. A command waits while the ticket is locked.
    pub(super) fn begin_write(&mut self, path: PathBuf, wish: Wish, by: Writer) {
        self.count += 1;
        let number = self.count;
        self.say(|| format!("write {number}: {by:?} wants {wish:?} of {}", path.display()));
        self.writes.push(Write { number, path, wish, by, exchange: None, came_out: None, put: None });
        self.at(0, Happening::Write(number));
    }

    /// The next step of a write.
    pub(super) fn write_step(&mut self, number: u64) {
        let Some(at) = self.writes.iter().position(|write| write.number == number) else { return };
        let mut write = self.writes.remove(at);
        if write.exchange.is_none() {
            // The kernel lock: one of yoi's writers at a time.
            if self.writes.iter().any(|other| other.path == write.path && other.exchange.is_some()) {
                self.writes.insert(at, write);
                return self.at(20, Happening::Write(number));
            }
            let Some(text) = self.disk.read(&write.path).cloned() else { return self.write_ended(&write, None) };
            write.exchange = Some(Exchange::begin(text));
        } else if let Some(step) = write.put.take()
            && !self.put(&mut write, step)
        {
            return self.write_ended(&write, None);
        }
        let Some(mut exchange) = write.exchange.take() else { return };
        let wish = write.wish.clone();
        let path = write.path.clone();
        let step = exchange.next(&mut |text| self.decided(&path, &wish, text));
        if step == Step::End {
            return self.write_ended(&write, Some(exchange));
        }
        (write.put, write.exchange) = (Some(step), Some(exchange));
        self.writes.push(write);
        let gap = if self.faults { self.dice.of(&[0, 0, 1, 3, 40, 300]) } else { 0 };
        self.at(gap, Happening::Write(number));
    }

    /// Exchanges, and looks at what came out. False where the file is gone.
    fn put(&mut self, write: &mut Write, step: Step) -> bool {
        let inode = match (step, write.came_out) {
            (Step::Put(text), _) => self.disk.new_file(&text),
            (Step::PutBack, Some(inode)) => inode,
            _ => return false,
        };
        let Some(came_out) = self.disk.exchange(inode, &write.path) else { return false };
        for list in [&mut self.disk.kept, &mut self.disk.displaced] {
            list.retain(|known| *known != inode);
            list.push(came_out);
        }
        if write.came_out == Some(inode) {
            self.put_back(inode);
        }
        write.came_out = Some(came_out);
        self.changed_on_disk(&write.path.clone());
        let text = self.disk.text(came_out).to_vec();
        if let Some(exchange) = &mut write.exchange {
            let expected = exchange.expected() == text;
            if !expected {
                self.say(|| format!("write {}: somebody wrote in between", write.number));
            }
            exchange.tell(if expected { CameOut::Expected } else { CameOut::Other(text) });
        }
        true
    }

    fn decided(&mut self, path: &std::path::Path, wish: &Wish, text: &[u8]) -> Result<Vec<Change>, String> {
        let Entry::Ticket(fresh) = self.read_text(path, text) else { return Err("not a ticket".into()) };
        let now = self.now();
        match wish {
            Wish::Move(to, by) => plan_move(&fresh, *to, by, now, false).map_err(|refusal| refusal.to_string()),
            Wish::Accept => {
                self.may_accept(&fresh)?;
                Ok(acceptance(&fresh, "orchestrator", now))
            }
            Wish::Priority(n) => Ok(vec![Change::text("priority", format!("P{n}"))]),
            Wish::Label(label) => Ok(vec![Change::Add("labels".into(), label.clone().into())]),
            Wish::Stamp { by, since, always } => Ok(queue_stamp(&fresh, by, *since, *always, now)),
        }
    }

    fn may_accept(&mut self, fresh: &Ticket) -> Result<(), String> {
        let backlog = Backlog::of(self.entries());
        let facts = Facts { dirty: self.dirty.clone(), ..Facts::default() };
        let policy = self.policy.clone();
        let ground = Ground { backlog: &backlog, facts: &facts, policy: &policy };
        acceptable(fresh, ground, Way::Accept).map_err(|refusal| refusal.to_string())
    }

    /// A write is over; None where there was no file to write.
    fn write_ended(&mut self, write: &Write, exchange: Option<Exchange<String>>) {
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
            self.acknowledge(write, &changes, swapped);
        }
        if let Writer::Daemon(by) = write.by.clone() {
            let event = self.written_event(write, by, outcome);
            self.daemon_goes_on(event);
        }
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
