//! The verbs that write ticket files: read fresh, decide by the core, compare and swap, tell the engine. One path for
//! the daemon and for a command's own host.

use std::io;
use std::path::{Path, PathBuf};

use crate::domain::accept::{Way, acceptable};
use crate::domain::classify::clock;
use crate::domain::edit::Change;
use crate::domain::engine::{Actor, Event};
use crate::domain::gates::Ground;
use crate::domain::lifecycle::{plan_move, queue_stamp, settable};
use crate::domain::policy::DirtyGate;
use crate::domain::refusal::{Refusal, no_ticket};
use crate::domain::ticket::{State, Ticket, TicketId};
use crate::ports::{Acceptance, EditError, Entry, Held};

use super::Host;

/// Why a verb did nothing.
#[derive(Debug, thiserror::Error)]
pub enum VerbError {
    /// A rule.
    #[error("{0}")]
    Refused(Refusal),
    /// The file.
    #[error(transparent)]
    Edit(EditError),
    /// The world outside, before anything was written.
    #[error("{message}")]
    Unchanged {
        /// What could not be done.
        message: String,
        /// In the system's terms.
        kind: io::ErrorKind,
    },
    /// The world outside.
    #[error("{0}")]
    Failed(String),
    /// There is no host any more.
    #[error("the daemon ended before it answered")]
    DaemonEnded {
        /// Something may have been carried out.
        begun: bool,
    },
}

impl VerbError {
    /// What went wrong besides.
    pub(super) fn and(self, line: String) -> Self {
        match self {
            VerbError::Refused(refusal) => VerbError::Refused(refusal.evidence([line])),
            VerbError::Unchanged { message, kind } => {
                VerbError::Unchanged { message: format!("{message}; {line}"), kind }
            }
            VerbError::DaemonEnded { begun } => VerbError::DaemonEnded { begun },
            other => VerbError::Failed(format!("{other}; {line}")),
        }
    }
}

pub(super) fn unchanged(what: &str, error: &io::Error) -> VerbError {
    VerbError::Unchanged { message: format!("{what}: {error}"), kind: error.kind() }
}

impl From<EditError> for VerbError {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Refused(refusal) => VerbError::Refused(refusal),
            other => VerbError::Edit(other),
        }
    }
}

/// Somebody who is just accepting holds it for moments.
fn no_accept_lock(error: &io::Error) -> VerbError {
    if error.kind() == io::ErrorKind::TimedOut {
        let refusal = Refusal::new(format!("another process is just accepting a ticket: {error}"));
        return Refusal { passing: true, ..refusal.hint("try again") }.into();
    }
    unchanged("the accept lock could not be taken", error)
}

impl From<Refusal> for VerbError {
    fn from(refusal: Refusal) -> Self {
        VerbError::Refused(refusal)
    }
}

/// A move to another state.
#[derive(Clone, Debug)]
pub struct MoveRequest {
    /// Which ticket.
    pub id: TicketId,
    /// Where to.
    pub to: State,
    /// Under whose name.
    pub by: String,
    /// Past the rules.
    pub force: bool,
    /// Why, in the mover's words.
    pub reason: Option<String>,
    /// Who asks.
    pub actor: Actor,
}

/// An acceptance.
#[derive(Clone, Debug)]
pub struct AcceptRequest {
    /// Which ticket.
    pub id: TicketId,
    /// Under whose name.
    pub by: String,
    /// By which command.
    pub way: Way,
    /// Who asks.
    pub actor: Actor,
}

/// What a move or an acceptance did.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The ticket before.
    pub before: Ticket,
    /// The ticket now.
    pub after: Ticket,
    /// What did not go as it should, though the move is made.
    pub remarks: Vec<String>,
}

impl Host {
    /// Moves a ticket by the lifecycle's rules. To `inprogress` without force it is [`Host::accept`].
    pub fn move_ticket(&mut self, request: &MoveRequest) -> Result<Moved, VerbError> {
        if request.to == State::Inprogress && !request.force {
            let accept = AcceptRequest {
                id: request.id.clone(),
                by: request.by.clone(),
                way: Way::Move,
                actor: request.actor.clone(),
            };
            return self.accept(&accept).map(|(moved, _)| moved);
        }
        let path = self.writable(&request.id)?;
        let now = self.now();
        let (before, after) = self
            .ports
            .tickets
            .edit(&path, &mut |fresh| plan_move(fresh, request.to, &request.by, now, request.force))?;
        let from = before.state.map_or("an unreadable state", State::as_str);
        let forced = if request.force { " (forced)" } else { "" };
        let reason = request.reason.as_deref().map(|r| format!(": {r}")).unwrap_or_default();
        let note = format!("{} STATE {from} -> {} by {}{forced}{reason}", clock(now), request.to, request.by);
        let remarks = self.noted(&path, &note);
        self.written(after.clone(), request.actor.clone());
        self.call_off(&before, &after, &request.by);
        Ok(Moved { before, after, remarks })
    }

    /// Accepts a ticket: under the accept lock every gate is judged on fresh data, then the acceptance is recorded.
    pub fn accept(&mut self, request: &AcceptRequest) -> Result<(Moved, Acceptance), VerbError> {
        let path = self.writable(&request.id)?;
        let _lock = self.accept_lock()?;
        self.freshen(&path)?;
        let now = self.now();
        let before = self.engine.backlog().get(&request.id).cloned();
        let ground =
            Ground { backlog: self.engine.backlog(), facts: self.engine.facts(), policy: self.engine.policy() };
        let mut judge = |fresh: &Ticket| acceptable(fresh, ground, request.way);
        // An acceptance that is on record already is a refusal here, and a confirmation only for a start.
        if let Some(known) = &before {
            judge(known)?;
        }
        let (proof, after) = Acceptance::record(self.ports.tickets.as_ref(), &path, &request.by, now, &mut judge)?;
        let before = before.unwrap_or_else(|| after.clone());
        let from = before.state.map_or("an unreadable state", State::as_str);
        let note = format!("{} STATE {from} -> inprogress by {}: accepted", clock(now), request.by);
        let remarks = self.noted(&path, &note);
        self.written(after.clone(), request.actor.clone());
        Ok((Moved { before, after, remarks }, proof))
    }

    /// Sets frontmatter keys other than the state.
    pub fn set_keys(&mut self, id: &TicketId, changes: &[Change], actor: Actor) -> Result<(Ticket, Ticket), VerbError> {
        let state_key = self.ports.tickets.keys().state_key.as_str();
        changes.iter().try_for_each(|change| settable(change.key(), state_key))?;
        let path = self.writable(id)?;
        let (before, after) = self.ports.tickets.edit(&path, &mut |_| Ok(changes.to_vec()))?;
        self.written(after.clone(), actor);
        Ok((before, after))
    }

    /// Stamps every queued ticket that has no `queued_at`. Returns them as they read now.
    pub fn stamp_unstamped(&mut self, by: &str) -> Result<Vec<Ticket>, VerbError> {
        self.refuse_while_obstructed()?;
        let backlog = self.engine.backlog();
        let queued = backlog.queued().iter().filter_map(|id| backlog.get(id));
        let unstamped: Vec<_> = queued.filter(|t| t.stamps.queued_at.is_none()).map(|t| t.path.clone()).collect();
        let mut stamped = Vec::new();
        for path in unstamped {
            let now = self.now();
            let mut stamp = |fresh: &Ticket| match fresh.stamps.queued_at {
                None => Ok(queue_stamp(fresh, by, now, true, now)),
                Some(_) => Ok(Vec::new()),
            };
            let (_, after) = self.ports.tickets.edit(&path, &mut stamp)?;
            self.written(after.clone(), Actor::Somebody(by.to_owned()));
            stamped.push(after);
        }
        Ok(stamped)
    }

    /// Nobody else accepts as long as it is held.
    pub(super) fn accept_lock(&self) -> Result<Box<dyn Held>, VerbError> {
        self.ports.state.accept_lock().map_err(|error| no_accept_lock(&error))
    }

    /// The path of the one readable ticket with this id.
    pub(super) fn writable(&mut self, id: &TicketId) -> Result<PathBuf, VerbError> {
        self.refuse_while_obstructed()?;
        let backlog = self.engine.backlog();
        if let Some(ticket) = backlog.get(id) {
            return Ok(ticket.path.clone());
        }
        let faults = backlog.faults().into_iter().filter(|fault| fault.id == *id);
        let lines: Vec<_> = faults.map(|fault| fault.to_string()).collect();
        if lines.is_empty() {
            let begins = |ticket: &&Ticket| !id.as_str().is_empty() && ticket.id.as_str().starts_with(id.as_str());
            let alike: Vec<_> = backlog.tickets().filter(begins).take(6).map(|ticket| ticket.id.to_string()).collect();
            let hint = match alike.as_slice() {
                [] => "`yoi list --all` shows every id".to_owned(),
                ids => format!("where something is written it takes the whole id: {}", ids.join(", ")),
            };
            return Err(Refusal::new(no_ticket(id.as_str())).hint(hint).into());
        }
        Err(Refusal::new(format!("`{id}` cannot be changed as long as its file is at fault")).evidence(lines).into())
    }

    pub(super) fn refuse_while_obstructed(&mut self) -> Result<(), VerbError> {
        match self.obstacle_now() {
            Some(obstruction) => Err(obstruction.refuse_write().into()),
            None => Ok(()),
        }
    }

    /// Fresh data for a decision under the accept lock. A daemon looks at what the watcher has reported meanwhile, at the
    /// ticket and at what its gates rest on; a command's own host walks the folder again, because what it read before it
    /// had the lock may have changed while it waited for it.
    pub(super) fn freshen(&mut self, path: &Path) -> Result<(), VerbError> {
        if self.resident {
            let mut paths = self.reported();
            paths.extend(self.gates_rest_on(path));
            paths.push(path.to_owned());
            let entries = paths.into_iter().map(|path| (path.clone(), self.ports.tickets.read(&path))).collect();
            self.tell(Event::FilesRead { entries, full: false });
        } else {
            let scan = self.ports.tickets.scan();
            let entries = scan.map_err(|error| unchanged("the ticket folder cannot be read", &error))?;
            let now = self.now();
            // What others did meanwhile is theirs to record.
            drop(self.engine.step(Event::FilesRead { entries, full: true }, now));
        }
        if self.engine.policy().dirty_workspace != DirtyGate::Off {
            let dirty = self.ports.worktree.dirty();
            self.tell(Event::Probed(dirty));
        }
        Ok(())
    }

    /// Reads one file again.
    pub(super) fn look_at(&mut self, path: &Path) {
        let entries = vec![(path.to_owned(), self.ports.tickets.read(path))];
        self.tell(Event::FilesRead { entries, full: false });
    }

    /// The files of the ticket's dependencies, and of all that is in progress.
    fn gates_rest_on(&self, path: &Path) -> Vec<PathBuf> {
        let backlog = self.engine.backlog();
        let depends_on = match backlog.at(path) {
            Some(Entry::Ticket(ticket)) => ticket.depends_on.clone(),
            _ => Vec::new(),
        };
        let others = depends_on.iter().chain(backlog.inprogress());
        others.flat_map(|id| backlog.paths_of(id)).cloned().collect()
    }

    /// Frontmatter first, thread after: a crash between the two leaves a missing note, never a false one. A note that
    /// cannot be written undoes nothing, but whoever asked is told.
    pub(super) fn noted(&self, path: &Path, note: &str) -> Vec<String> {
        let failed = |error| format!("the note could not be added to the thread of {}: {error}", path.display());
        self.ports.tickets.note(path, note).err().map(failed).into_iter().collect()
    }

    pub(super) fn written(&mut self, ticket: Ticket, by: Actor) {
        self.review_soon();
        self.tell(Event::TicketWritten { ticket, by });
    }
}
