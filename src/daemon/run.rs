//! The daemon's loop: one message at a time, due times between them.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use serde_json::json;

use super::{Host, Message};
use crate::domain::engine::{Event, Record, RecordKind};

/// Why the daemon ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// `yoi down`, or a signal.
    Asked,
    /// Its lock file is no longer the one it holds.
    LockLost,
}

/// The longest sleep; a due time further away is slept towards in several steps, so that a sleep of the whole machine
/// is noticed.
const LONGEST_SLEEP: Duration = Duration::from_hours(1);
/// How many messages are taken in one go before due times are looked at again.
const BATCH: usize = 1000;

impl Host {
    /// Runs until told to stop. Finishes the message in hand, ends the turn's process group, and returns why.
    pub fn run(&mut self) -> Stop {
        loop {
            let message = match self.waiting.pop_front() {
                Some(message) => Ok(message),
                None => self.inbox.recv_timeout(self.sleep()),
            };
            match message {
                Ok(Message::Stop(why)) => {
                    self.finish(why);
                    return why;
                }
                Ok(message) => self.take_batch(message),
                Err(RecvTimeoutError::Timeout) => self.tell(Event::Ticked),
                // Cannot be: the host holds a sender itself.
                Err(RecvTimeoutError::Disconnected) => return Stop::Asked,
            }
            self.resume_put_off();
        }
    }

    fn sleep(&self) -> Duration {
        let until = self.engine.next_wake().map_or(LONGEST_SLEEP, |wake| {
            // A millisecond more than needed: waking just before a due time would spin until it comes.
            (wake - self.now()).to_std().map_or(Duration::ZERO, |left| left + Duration::from_millis(1))
        });
        let until = until.min(LONGEST_SLEEP);
        self.look_again().map_or(until, |soon| until.min(soon))
    }

    /// Takes a message, and joins the path notices that are waiting behind it: a checkout is one event.
    fn take_batch(&mut self, first: Message) {
        let mut paths = Vec::new();
        let mut next = Some(first);
        for _ in 0..BATCH {
            match next.take() {
                Some(Message::Paths(more)) => paths.extend(more),
                Some(other) => {
                    self.notice(&mut paths);
                    self.receive(other);
                    return;
                }
                None => break,
            }
            next = self.waiting.pop_front().or_else(|| self.inbox.try_recv().ok());
        }
        self.notice(&mut paths);
        if let Some(message) = next {
            self.waiting.push_front(message);
        }
    }

    fn notice(&mut self, paths: &mut Vec<std::path::PathBuf>) {
        if paths.is_empty() {
            return;
        }
        paths.sort();
        paths.dedup();
        self.tell(Event::PathsNoticed(std::mem::take(paths)));
    }

    fn receive(&mut self, message: Message) {
        match message {
            Message::Paths(mut paths) => self.notice(&mut paths),
            Message::Everything(why) => self.tell(Event::EverythingNoticed(why)),
            Message::Git => self.tell(Event::GitNoticed),
            Message::PodEnded(id) => self.tell(Event::PodEnded(id)),
            Message::TurnEnded(kick, outcome) => self.turn_over(kick, outcome),
            Message::Visit(visit) => visit(self),
            // Handled by `run`; put back so that it is.
            Message::Stop(why) => self.waiting.push_front(Message::Stop(why)),
        }
    }

    fn finish(&mut self, why: Stop) {
        self.end_turn();
        let at = self.now();
        let data =
            json!({"why": match why { Stop::Asked => "asked to", Stop::LockLost => "its lock file was replaced" }});
        self.record(Record { kind: RecordKind::DaemonStopped, at, ticket: None, data });
        // What was seen until now was seen by this daemon: an entry into the queue after it is the next one's.
        if let Some(store) = &mut self.ports.store {
            let _ = store.save_seen(&[], at);
        }
    }
}
