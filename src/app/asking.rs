//! Asks the daemon where one runs, and this process's own host where none does.
//!
//! Must not know: what is asked for.

use std::io;
use std::mem::ManuallyDrop;
use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::App;
use crate::adapters::daemon_lock::DaemonLock;
use crate::api;
use crate::api::failure::{Failure, NOT_KNOWN};
use crate::api::listing::{Lines, Listed, listed, text};
use crate::api::request::{ListRequest, Request, SessionRequest};
use crate::api::view::{EventView, FaultView, ListView, StatusView};
use crate::daemon::Host;
use crate::domain::classify::clock;
use crate::http::client::Client;
use crate::ports::{Query, Store};

/// How long a refusal that will pass by itself is waited out.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a daemon that holds its lock may take to answer.
const LISTENING: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);

/// Where a list came from.
enum Answered<T> {
    There(T),
    /// The process ends with it: to give back the memory of each ticket takes longer than to print it.
    Here(Box<ManuallyDrop<Host>>),
}

impl App {
    /// Carries out a request: through the daemon where one runs, else in this process.
    pub fn call(&self, request: &Request) -> Result<Value, Failure> {
        let answer = Self::patiently(|| match self.client()? {
            Some(mut client) => client.call(request),
            None => self.once(request),
        });
        answer.map_err(|failure| self.completed(failure, request))
    }

    /// With what can be done about it here.
    fn completed(&self, failure: Failure, request: &Request) -> Failure {
        match request.ticket() {
            Some(id) if failure.hint.as_deref() == Some(NOT_KNOWN) => failure.hint(not_known(id)),
            id => self.meant(failure, id.unwrap_or_default()),
        }
    }

    /// Lists tickets. In this process nothing is made of them but what `show` asks for.
    pub fn list<T>(
        &self,
        request: &ListRequest,
        show: impl FnOnce(&[Listed<'_>], &[FaultView]) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match self.listed::<Lines<'_>>(request, ListRequest { brief: true, ..request.clone() })? {
            Answered::There(answer) => {
                let tickets: Vec<_> = answer.lines.iter().map(Listed::There).collect();
                show(&tickets, &answer.errors)
            }
            Answered::Here(host) => {
                let (tickets, errors) = listed(request, &host)?;
                show(&tickets, &errors)
            }
        }
    }

    /// The same as JSON.
    pub fn list_json(&self, request: &ListRequest) -> Result<String, Failure> {
        match self.listed::<ListView>(request, request.clone())? {
            Answered::There(view) => serde_json::to_string_pretty(&view)
                .map_err(|error| Failure::failed(format!("the list is no JSON: {error}"))),
            Answered::Here(host) => text(request, &host, true),
        }
    }

    /// The daemon's answer to `there`, or what this process read for the request.
    fn listed<T: DeserializeOwned>(&self, here: &ListRequest, there: ListRequest) -> Result<Answered<T>, Failure> {
        let (here, there) = (Request::List(here.clone()), Request::List(there));
        Self::patiently(|| match self.client()? {
            Some(mut client) => client.call_for(&there).map(Answered::There),
            None => self.host(&here).map(|host| Answered::Here(Box::new(ManuallyDrop::new(host)))),
        })
    }

    /// Carries out a request that only a daemon can.
    pub fn call_daemon(&self, request: &Request) -> Result<Value, Failure> {
        let answer = self.with_daemon(|client| client.call(request));
        answer.map_err(|failure| self.completed(failure, request))
    }

    /// What only a daemon can do.
    fn with_daemon<T>(&self, mut call: impl FnMut(&mut Client) -> Result<T, Failure>) -> Result<T, Failure> {
        Self::patiently(|| call(&mut self.client()?.ok_or_else(|| self.not_running())?))
    }

    pub(super) fn not_running(&self) -> Failure {
        let place = self.workspace.root.display();
        Failure::daemon_needed(format!("this needs the daemon of {place}, and it is not running"))
    }

    /// A refusal that will pass by itself within moments is waited out.
    pub(super) fn patiently<T>(mut call: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
        let end = Instant::now() + PATIENCE;
        loop {
            match call() {
                Err(failure) if failure.passing && Instant::now() < end => thread::sleep(PAUSE),
                other => return other,
            }
        }
    }

    /// A connection to the daemon; None where none runs. A daemon that holds its lock and does not answer is a
    /// failure: going the direct way beside it could lose a write.
    pub(super) fn client(&self) -> Result<Option<Client>, Failure> {
        self.client_within(LISTENING)
    }

    /// The same with a bound of its own for a daemon that has its lock and does not listen yet.
    pub(super) fn client_within(&self, limit: Duration) -> Result<Option<Client>, Failure> {
        let end = Instant::now() + limit;
        loop {
            match Client::connect(&self.socket) {
                Ok(client) => return Ok(Some(client)),
                // So many wait to be let in that the system keeps no more waiting.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < end => {
                    thread::sleep(PAUSE);
                    continue;
                }
                Err(error) if !nobody_was_reached(error.kind()) => {
                    return Err(Failure::failed(format!(
                        "{}: the daemon cannot be reached: {error}",
                        self.socket.display()
                    )));
                }
                Err(_) => {}
            }
            if !DaemonLock::is_held(&self.state.daemon_lock()) {
                return Ok(None);
            }
            if Instant::now() >= end {
                let message = format!("{}: the daemon runs and does not listen", self.socket.display());
                return Err(Failure::failed(message).hint("`yoi logs` may say why; `yoi down` ends it"));
            }
            thread::sleep(PAUSE);
        }
    }

    /// Whether a daemon answers.
    pub fn daemon_is_running(&self) -> bool {
        matches!(self.client(), Ok(Some(_)))
    }

    /// The status, whether a daemon runs or not.
    pub fn status(&self) -> Result<StatusView, Failure> {
        let answer = self.call(&Request::Status)?;
        serde_json::from_value(answer).map_err(|error| Failure::failed(format!("the daemon's answer: {error}")))
    }

    /// A part of the history, read from the store itself.
    pub fn events(&self, query: &Query) -> Result<Vec<EventView>, Failure> {
        let records = self.store().records(query).map_err(|error| Failure::failed(error.to_string()))?;
        Ok(records.into_iter().map(api::event).collect())
    }

    /// The number of the newest record.
    pub fn newest_event(&self) -> Result<i64, Failure> {
        let newest = self.events(&Query { newest: Some(1), ..Query::default() })?;
        Ok(newest.last().map_or(0, |event| event.seq))
    }

    /// Registers a session, and streams its kicks, a JSON text each, until `line` returns false or the session is gone;
    /// false where the daemon ended.
    pub fn watch(&self, session: &SessionRequest, mut line: impl FnMut(&str) -> bool) -> Result<bool, Failure> {
        self.with_daemon(|client| client.watch(session, &mut line))
    }

    /// Keeps a line about an agent's hook that came to nothing; where that is not possible it is let be.
    pub fn note_hook(&self, what: &str) {
        self.state.note_hook(&format!("{} {what}", clock(self.now())));
    }

    /// Streams what happens after a record, until `line` returns false.
    pub fn follow(&self, after: i64, ticket: Option<&str>, mut line: impl FnMut(&str) -> bool) -> Result<(), Failure> {
        self.with_daemon(|client| client.follow(after, ticket, &mut line))
    }
}

/// Nobody listens any more, or not yet, or whoever did was about to end: nothing was asked of anybody.
fn nobody_was_reached(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, NotConnected, NotFound};
    matches!(kind, NotFound | ConnectionRefused | ConnectionReset | ConnectionAborted | BrokenPipe | NotConnected)
}

/// What to do where the answer about a ticket got lost.
fn not_known(id: &str) -> String {
    format!("whether it was carried out is not known: `yoi show {id}` and `yoi events --ticket {id}` say what stands")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_that_is_about_to_end_is_none() {
        use io::ErrorKind::{
            BrokenPipe, ConnectionRefused, ConnectionReset, InvalidInput, NotFound, PermissionDenied, TimedOut,
            WouldBlock,
        };
        for (kind, expected) in [
            (NotFound, true),
            (ConnectionRefused, true),
            (ConnectionReset, true),
            (BrokenPipe, true),
            (WouldBlock, false),
            (TimedOut, false),
            (PermissionDenied, false),
            (InvalidInput, false),
        ] {
            assert_eq!(nobody_was_reached(kind), expected, "{kind:?}");
        }
    }
}
