//! Asking the remote that says who has a claim for all of them: on a thread of its own, for it may take as long as it likes.
//!
//! Must not know: when it is asked, what is said where it does not answer (the engine decides); git.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;

use super::TimeDelta;
use crate::daemon::launch::jitter;
use crate::daemon::{Host, Lending, Message, VerbError};
use crate::domain::engine::Event;

/// How old what was last heard of the remote may be for a worker that looks for a ticket.
const FRESH: TimeDelta = TimeDelta::seconds(10);

/// Its answer, for the engine.
pub(in crate::daemon) fn remote_asked(answer: Result<bool, String>) -> Event {
    Event::RemoteAsked { answer, jitter: jitter() }
}

impl Host {
    pub(in crate::daemon) fn ask_remote(&self, events: &mut VecDeque<Event>) {
        let (claims, mail) = (Arc::clone(&self.ports.claims), self.mail.clone());
        let ask = move || {
            let answer = claims.refresh().map_err(|error| error.to_string());
            let _ = mail.send(Message::RemoteAsked(answer));
        };
        if let Err(error) = thread::Builder::new().name("yoi asks remote".into()).spawn(ask) {
            events.push_back(remote_asked(Err(format!("no thread could be started: {error}"))));
        }
    }
}

/// A worker that looks for a ticket is not offered what another clone has claimed long ago.
pub(super) fn look_at_remote<L: Lending>(lending: &mut L) -> Result<(), VerbError> {
    if lending.is_alone() {
        return Ok(());
    }
    let claims = lending.lend(|host| {
        let seen_at = host.engine.remote_summary()?.seen_at;
        let is_fresh = seen_at.is_some_and(|at| (TimeDelta::zero()..FRESH).contains(&(host.now() - at)));
        (!is_fresh).then(|| Arc::clone(&host.ports.claims))
    })?;
    let Some(claims) = claims else { return Ok(()) };
    let answer = claims.refresh();
    let told = answer.as_ref().map(|changed| *changed).map_err(ToString::to_string);
    lending.lend(move |host| {
        host.tell(remote_asked(told));
        // A host for one command does not read claims for the engine.
        if !host.resident {
            let news = host.read_claims();
            if let Some(news) = news {
                host.tell(Event::ClaimsRead { news, full: true });
            }
        }
    })?;
    Ok(answer.map(drop)?)
}
