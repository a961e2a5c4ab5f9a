//! `block`, `decompose`, `close`: what they write, behind the fence of the worker's claim; or, where nobody holds the
//! ticket, as a person or the Orchestrator asks.
//!
//! Must not know: git; what each of them demands (`domain::evidence`).

mod looking;
mod place;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

pub use looking::look_at_work;
use place::{fate, retain};

use super::claiming::{Holder, end_stale, fenced_after, stands};
use super::verbs::unchanged;
use super::{Host, Lending, VerbError};
use crate::adapters::fault;
use crate::domain::claim::{Outcome, Stands};
use crate::domain::engine::{Actor, Event};
use crate::domain::evidence::block::{Block, Fate};
use crate::domain::evidence::close::Closing;
use crate::domain::evidence::decompose::{Child, Decomposition};
use crate::domain::evidence::{Placed, Writer, held_by, is_handed_over, place};
use crate::domain::ticket::{State, Ticket, TicketId};
use crate::domain::worktree::Hold;
use crate::ports::{EditError, Entry};
use crate::text::child;
use crate::text::draft::Draft;

/// How often another name is looked for, for a child whose name somebody else was faster with.
const TRIES: usize = 20;

/// What is to end the work on a ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It cannot go on.
    Block(Block),
    /// It becomes several.
    Decompose(Decomposition),
    /// It is done with.
    Close(Closing),
}

impl Ending {
    /// As people call it.
    fn verb(&self) -> &'static str {
        match self {
            Ending::Block(_) => "block",
            Ending::Decompose(_) => "decompose",
            Ending::Close(_) => "close",
        }
    }

    fn retained(&self) -> Option<Hold> {
        if let Ending::Close(closing) = self { closing.retained() } else { None }
    }

    /// What becomes of the claim.
    pub fn outcome(&self) -> Outcome {
        match self {
            Ending::Block(_) => Outcome::Blocked,
            Ending::Decompose(_) => Outcome::Decomposed,
            Ending::Close(_) => Outcome::Done,
        }
    }
}

/// Who wants it, of which ticket.
#[derive(Clone, Debug)]
pub struct EndRequest {
    /// Which ticket.
    pub id: TicketId,
    /// The worker that holds it; None: a person or the Orchestrator asks, of a ticket that nobody holds.
    pub holder: Option<Holder>,
    /// Under whose name, where no worker asks.
    pub by: String,
    /// Who asks.
    pub actor: Actor,
    /// What.
    pub ending: Ending,
}

/// What it did.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The ticket before.
    pub before: Ticket,
    /// The ticket now.
    pub after: Ticket,
    /// What its thread says of it.
    pub note: String,
    /// A claim has ended with it.
    pub holds: bool,
    /// Its children, and whether each was there before.
    pub children: Vec<(Ticket, bool)>,
    /// What did not go as it should, though it is done.
    pub remarks: Vec<String>,
}

/// Carries it out.
pub fn end_work<L: Lending>(lending: &mut L, request: EndRequest) -> Result<Ended, VerbError> {
    let EndRequest { id, holder, by, actor, ending } = request;
    let outcome = ending.outcome();
    let name = holder.as_ref().map_or(by, |holder| holder.worker.clone());
    let retained = (id.clone(), ending.retained());
    // Asking may take its time, and the fence asks too.
    let is_close = matches!(ending, Ending::Close(_));
    let (tip, stands) = if holder.is_none() || is_close { stands(lending, &id)? } else { (None, Stands::Free) };
    let fences = |holder: &Holder| !(is_close && is_handed_over(tip.as_ref(), &holder.worker, holder.generation));
    if let Some(holder) = holder.filter(fences) {
        let (of, blocks, owner) = (id.clone(), matches!(ending, Ending::Block(_)), name.clone());
        let may = ending.clone();
        let look =
            move |lending: &mut L| if blocks { fate(lending, &of, (&owner, true), &may) } else { Ok(Fate::None) };
        let write =
            move |host: &mut Host, _: &_, fate: Fate| host.write_end(&id, (&name, true), (&ending, &fate), &actor);
        let (mut ended, remarks) = fenced_after(lending, &holder, Some(outcome), look, write)?;
        ended.remarks.extend(remarks);
        ended.remarks.extend(retain(lending, &retained));
        return Ok(ended);
    }
    if let Stands::Held(claim) = stands {
        return Err(held_by(&id, ending.verb(), &claim).into());
    }
    let over = if matches!(stands, Stands::Stale(_)) { end_stale(lending, &id)? } else { None };
    let fate =
        if matches!(ending, Ending::Block(_)) { fate(lending, &id, (&name, false), &ending)? } else { Fate::None };
    let mut ended = lending.lend(move |host| {
        let ended = host.write_end(&id, (&name, false), (&ending, &fate), &actor);
        if let Some(over) = over {
            host.tell(over);
        }
        ended
    })??;
    ended.remarks.extend(retain(lending, &retained));
    Ok(ended)
}

impl Host {
    fn write_end(
        &mut self,
        id: &TicketId,
        (by, holds): (&str, bool),
        (ending, fate): (&Ending, &Fate),
        actor: &Actor,
    ) -> Result<Ended, VerbError> {
        let label = self.engine.policy().claims.label.clone();
        let writer = Writer { by: by.to_owned(), holds, label };
        let path = self.writable(id)?;
        let mut ended = match ending {
            Ending::Block(block) => self.write_block(&path, (block, fate), &writer, actor),
            Ending::Decompose(decomposition) => self.write_decomposition(&path, decomposition, &writer, actor),
            Ending::Close(closing) => self.write_closing(&path, closing, &writer, actor),
        }?;
        ended.remarks.extend(self.history.trouble().map(|why| format!("history could not be kept: {why}")));
        Ok(ended)
    }

    /// Refused where the file, as it is now, would refuse it.
    fn may_block(&mut self, id: &TicketId, (by, holds): (String, bool), ending: &Ending) -> Result<(), VerbError> {
        let Ending::Block(block) = ending else { return Ok(()) };
        let path = self.writable(id)?;
        self.look_at(&path);
        let ticket = self.known(id, &path)?;
        let writer = Writer { by, holds, label: None };
        block.changes(&ticket, &writer, self.now())?;
        Ok(())
    }

    fn write_block(
        &mut self,
        path: &Path,
        (block, fate): (&Block, &Fate),
        writer: &Writer,
        actor: &Actor,
    ) -> Result<Ended, VerbError> {
        let now = self.now();
        let (before, after) = self.ports.tickets.edit(path, &mut |fresh| block.changes(fresh, writer, now))?;
        let note = block.note(&before, writer, fate, now);
        let remarks = self.noted(path, &note);
        self.written(after.clone(), actor.clone());
        Ok(Ended { before, after, note, holds: writer.holds, children: Vec::new(), remarks })
    }

    /// Two edits, each with its note: who is interrupted in between finds it done, and closes it with the same evidence.
    fn write_closing(
        &mut self,
        path: &Path,
        closing: &Closing,
        writer: &Writer,
        actor: &Actor,
    ) -> Result<Ended, VerbError> {
        let now = self.now();
        let (before, done) = self.ports.tickets.edit(path, &mut |fresh| Closing::done(fresh, writer, now))?;
        let note = Closing::done_note(&before, writer, now);
        let mut remarks: Vec<_> = note.iter().flat_map(|note| self.noted(path, note)).collect();
        self.written(done, actor.clone());
        fault::point("close", "done");
        let (_, after) = self.ports.tickets.edit(path, &mut |fresh| Ok(Closing::closed(fresh, writer, now)))?;
        let note = closing.note(writer, now);
        remarks.extend(self.noted(path, &note));
        self.written(after.clone(), actor.clone());
        Ok(Ended { before, after, note, holds: writer.holds, children: Vec::new(), remarks })
    }

    /// The children first, then the parent in one edit: who is interrupted in between says the same again, and what is
    /// there already is found.
    fn write_decomposition(
        &mut self,
        path: &Path,
        decomposition: &Decomposition,
        writer: &Writer,
        actor: &Actor,
    ) -> Result<Ended, VerbError> {
        self.look_at(path);
        let Entry::Ticket(parent) = self.ports.tickets.read(path) else {
            return Err(EditError::Absent(path.to_owned()).into());
        };
        Decomposition::allowed(&parent)?;
        let children = self.make_children(&parent, decomposition, actor)?;
        let ids: Vec<_> = children.iter().map(|(child, _)| child.id.clone()).collect();
        let now = self.now();
        let (before, after) =
            self.ports.tickets.edit(path, &mut |fresh| Decomposition::changes(fresh, &ids, writer, now))?;
        fault::point("decompose", "parent");
        let links: Vec<_> = children.iter().map(|(child, _)| (child.title.clone(), child.path.clone())).collect();
        let note = decomposition.note(&before, &links, writer, now);
        let remarks = self.noted(path, &note);
        self.written(after.clone(), actor.clone());
        Ok(Ended { before, after, note, holds: writer.holds, children, remarks })
    }

    fn make_children(
        &mut self,
        parent: &Ticket,
        decomposition: &Decomposition,
        actor: &Actor,
    ) -> Result<Vec<(Ticket, bool)>, VerbError> {
        let mut taken = BTreeSet::new();
        for _ in 0..TRIES {
            let titles = decomposition.children().iter().map(|child| child.title.as_str());
            let placed = place(&parent.id, titles, self.engine.backlog(), &taken);
            let ids: Vec<_> = placed.iter().map(|placed| placed.id().clone()).collect();
            let mut made = Vec::new();
            for (child, placed) in decomposition.children().iter().zip(&placed) {
                match placed {
                    Placed::There(ticket) => made.push((ticket.clone(), true)),
                    Placed::New(id) => {
                        let text = self.child_text(parent, decomposition, child, &ids);
                        match self.create(id, &text, actor.clone()) {
                            Ok(ticket) => {
                                made.push((ticket, false));
                                fault::point("decompose", "child");
                            }
                            // A file that is no ticket, or one that nobody has told of yet.
                            Err(VerbError::Unchanged { kind: io::ErrorKind::AlreadyExists, .. }) => {
                                taken.insert(id.clone());
                                break;
                            }
                            Err(error) => return Err(error),
                        }
                    }
                }
            }
            if made.len() == decomposition.children().len() {
                return Ok(made);
            }
            self.look_at_all()?;
        }
        Err(VerbError::Failed(format!("no free names were found for the children of `{}`", parent.id)))
    }

    fn child_text(&self, parent: &Ticket, decomposition: &Decomposition, child: &Child, ids: &[TicketId]) -> String {
        let draft = Draft {
            title: &child.title,
            state: State::Planning,
            priority: decomposition.priority(parent),
            labels: &child.labels,
            now: self.now(),
            queued_by: "",
            keys: self.ports.tickets.keys(),
        };
        child::text(&draft, child, &decomposition.depends_on(child, ids), &parent.id)
    }

    fn look_at_all(&mut self) -> Result<(), VerbError> {
        let scan = self.ports.tickets.scan();
        let entries = scan.map_err(|error| unchanged("the ticket folder cannot be read", &error))?;
        let event = Event::FilesRead { entries, full: true };
        if self.resident {
            self.tell(event);
        } else {
            let now = self.now();
            // What others did meanwhile is theirs to record.
            drop(self.engine.step(event, now));
        }
        Ok(())
    }
}
