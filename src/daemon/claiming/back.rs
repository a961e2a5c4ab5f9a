//! In pull mode: a ticket whose worker is gone is brought back to the queue. The claim is broken first, so that a worker who
//! wakes up is refused by every verb; then the file is written.
//!
//! Must not know: git; when a ticket counts as lost (the engine says so).

use std::thread;

use super::YOI;
use super::unheld::broken;
use crate::daemon::{Host, Lending, VerbError, Visitor};
use crate::domain::claim::{StepKind, Tip, back, label_off};
use crate::domain::classify::clock;
use crate::domain::engine::{Actor, ClaimNews, Event};
use crate::domain::policy::Mode;
use crate::domain::ticket::{State, TicketId};

impl Host {
    /// On a thread of its own: a remote that arbitrates may take seconds.
    pub(in crate::daemon) fn bring_back(&self, id: TicketId) {
        let mail = self.mail.clone();
        let work = move || {
            let mut visitor = Visitor::new(mail);
            if let Err(error) = bring_back(&mut visitor, &id) {
                tracing::warn!(ticket = %id, %error, "a ticket whose worker is gone could not be brought back to the queue");
            }
        };
        if let Err(error) = thread::Builder::new().name("yoi brings back".into()).spawn(work) {
            tracing::error!("a ticket cannot be brought back to the queue, no thread could be started: {error}");
        }
    }

    fn write_back(&mut self, id: &TicketId, tip: &Tip) -> Result<(), VerbError> {
        let path = self.writable(id)?;
        let now = self.now();
        let label = self.engine.policy().claims.label.clone();
        let (before, after) = self.ports.tickets.edit(&path, &mut |fresh| {
            // Whatever somebody has made of it meanwhile stands.
            let Some(from @ State::Inprogress) = fresh.state else { return Ok(Vec::new()) };
            let mut changes = back(fresh, from, Mode::Pull, YOI, now);
            changes.extend(label_off(fresh, label.as_deref()));
            Ok(changes)
        })?;
        if before.state != after.state {
            let worker = match &tip.step.kind {
                StepKind::StaleBreak { prior } => prior,
                _ => &tip.step.worker,
            };
            let note =
                format!("{} STALE-BREAK by {YOI}: {worker} has not been heard of; inprogress -> queued", clock(now));
            if let Some(remark) = self.noted(&path, &note).pop() {
                tracing::warn!(remark, "a note is missing");
            }
        }
        self.written(after, Actor::Daemon);
        Ok(())
    }
}

fn bring_back<L: Lending>(lending: &mut L, id: &TicketId) -> Result<(), VerbError> {
    let desk = lending.lend(|host| host.desk(false))?;
    let Some(tip) = desk.claims.read(id)? else { return Ok(()) };
    let tip = broken(&desk, id, tip)?;
    let news = ClaimNews::of(&tip, &desk.machine(), desk.now());
    let id = id.clone();
    lending.lend(move |host| {
        // Somebody may have claimed it since.
        let other = host.engine.facts().claims.get(&id).is_some_and(|claim| claim.fresh_for_others(host.now()));
        let gone = !other && news.stands.as_ref().is_err_and(|ended| ended.end.is_without_result());
        let written = if gone { host.write_back(&id, &tip) } else { Ok(()) };
        host.tell(Event::ClaimsRead { news: vec![news], full: false });
        written
    })?
}
