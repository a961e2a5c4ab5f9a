//! What people, the Orchestrator and Pods do to the fake workspace, and what a test asks of it.

use std::path::PathBuf;

use chrono::TimeDelta;

use super::super::{Actor, Event, Kick, Orders, Record, RecordKind};
use super::host::Host;
use crate::domain::backlog::Entry;
use crate::domain::facts::{PodId, PodState};
use crate::domain::gates::holds;
use crate::domain::kick::Boundary;
use crate::domain::refusal::Refusal;
use crate::domain::sample::{id, pod, sealed};
use crate::domain::ticket::{Diagnostic, State, Ticket};

impl Host {
    pub(super) fn ticket(&self, name: &str) -> Ticket {
        let found = self.files.values().find_map(|entry| match entry {
            Entry::Ticket(t) if t.id == id(name) => Some(t.clone()),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("no ticket {name}"))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.files.values().any(|entry| matches!(entry, Entry::Ticket(t) if t.id == id(name)))
    }

    /// A request writes a ticket: the file, then the event; the watcher notices it too.
    pub(super) fn write(&mut self, name: &str, by: Actor, change: impl FnOnce(&mut Ticket)) {
        let ticket = self.put(name, change);
        let path = ticket.path.clone();
        self.inbox.push_back(Event::TicketWritten { ticket, by });
        self.tell(Event::PathsNoticed(vec![path]));
    }

    /// Somebody saves a ticket in an editor; only the watcher sees it.
    pub(super) fn edit(&mut self, name: &str, change: impl FnOnce(&mut Ticket)) {
        let path = self.put(name, change).path.clone();
        self.tell(Event::PathsNoticed(vec![path]));
    }

    /// Somebody writes something into the body of a ticket.
    pub(super) fn reword(&mut self, name: &str) {
        let path = self.ticket(name).path.clone();
        *self.bodies.entry(path).or_default() += 1;
        self.edit(name, |_| {});
    }

    fn put(&mut self, name: &str, change: impl FnOnce(&mut Ticket)) -> Ticket {
        let mut ticket = self.ticket(name);
        change(&mut ticket);
        let body = self.bodies.get(&ticket.path).copied().unwrap_or_default();
        let ticket = sealed(ticket, &body.to_string());
        self.files.insert(ticket.path.clone(), Entry::Ticket(ticket.clone()));
        ticket
    }

    /// What the file at this path is now, or that it is gone.
    pub(super) fn save(&mut self, path: &str, entry: Option<Entry>) {
        let path = PathBuf::from(path);
        match entry {
            Some(entry) => drop(self.files.insert(path.clone(), entry)),
            None => drop(self.files.remove(&path)),
        }
        self.tell(Event::PathsNoticed(vec![path]));
    }

    pub(super) fn add(&mut self, ticket: Ticket) {
        let path = ticket.path.display().to_string();
        self.save(&path, Some(Entry::Ticket(sealed(ticket, "0"))));
    }

    pub(super) fn unreadable(name: &str) -> Entry {
        let error = Diagnostic { line: 2, column: 1, message: "a tab".into() };
        Entry::Unreadable { id: id(name), path: format!("tickets/{name}.md").into(), error }
    }

    pub(super) fn queue(&mut self, name: &str) {
        self.edit(name, |t| t.state = Some(State::Queued));
    }

    pub(super) fn boundary(&mut self, boundary: Boundary) {
        self.tell(Event::BoundaryReached(boundary));
    }

    pub(super) fn order(&mut self, name: &str, orders: Orders) -> Result<(), Refusal> {
        let session = self.session();
        let effects = self.engine.order(&session, &id(name), orders, self.now)?;
        self.perform(effects);
        self.drain();
        Ok(())
    }

    pub(super) fn plan(&mut self, name: &str) {
        self.order(name, Orders::Plan { order: None }).unwrap();
    }

    /// Accepts a ticket as the Orchestrator, unless a gate holds it.
    pub(super) fn accept(&mut self, name: &str) -> bool {
        let ticket = self.ticket(name);
        if !holds(&ticket, self.engine.ground()).is_empty() {
            return false;
        }
        let now = self.now;
        self.write(name, Actor::Orchestrator, |t| {
            t.state = Some(State::Inprogress);
            t.stamps.accepted_by = Some("orchestrator".into());
            t.stamps.accepted_at = Some(now);
        });
        true
    }

    /// A role's Pod registers on a ticket, and ends so many seconds later.
    pub(super) fn delegate(&mut self, name: &str, role: &str, seconds: i64) -> PodId {
        self.count += 1;
        let mut pod = pod(&format!("p{}", self.count), role, name);
        pod.process.pid = 1000 + self.count;
        let id = pod.id.clone();
        self.pod_ends.insert(id.clone(), self.now + TimeDelta::seconds(seconds));
        self.tell(Event::PodReported { pod, state: PodState::Busy });
        id
    }

    pub(super) fn done(&mut self, name: &str) {
        self.write(name, Actor::Orchestrator, |t| t.state = Some(State::Done));
    }

    /// The decisions recorded from the `from`th record on: kicks with their items, suppressions by name.
    pub(super) fn decisions(&self, from: usize) -> Vec<String> {
        let said = |r: &Record| match r.kind {
            RecordKind::KickSent => Some(format!("kick {}", r.data["items"])),
            RecordKind::KickSuppressed => Some(r.data["why"].as_str().unwrap_or_default().to_owned()),
            _ => None,
        };
        self.records[from..].iter().filter_map(said).collect()
    }

    /// The items of each kick, from the `from`th on.
    pub(super) fn handed(&self, from: usize) -> Vec<String> {
        let names = |k: &Kick| k.items.iter().map(|i| i.id.to_string()).collect::<Vec<_>>().join(" ");
        self.kicks[from..].iter().map(|(_, k)| names(k)).collect()
    }

    pub(super) fn count(&self, kind: RecordKind) -> usize {
        self.records.iter().filter(|r| r.kind == kind).count()
    }
}
