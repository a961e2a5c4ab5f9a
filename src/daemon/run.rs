//! The daemon's loop: one message at a time, due times between them.

use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use serde_json::json;

use super::claiming::remote_asked;
use super::{Host, Message};
use crate::domain::engine::{Event, Record, RecordKind};

/// Why the daemon ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// `yoi down`, or a signal.
    Asked,
    /// Its lock file is no longer the one it holds.
    LockLost,
    /// Settings changed that only a fresh start takes.
    Reopen,
}

/// The longest sleep; a due time further away is slept towards in several steps, so that a sleep of the whole machine
/// is noticed.
const LONGEST_SLEEP: Duration = Duration::from_hours(1);

/// What was noticed and not looked at yet. All of it together is one look: what is read now is newer than any of it.
#[derive(Default)]
struct Hints {
    paths: Vec<PathBuf>,
    everything: bool,
    /// Why everything, if there is more reason than that it is time.
    why: Option<String>,
    git: bool,
}

impl Host {
    /// Runs until told to stop. Finishes the message in hand, leaves a running turn to the next daemon, and returns why.
    pub fn run(&mut self) -> Stop {
        loop {
            if self.waiting.is_empty() {
                match self.inbox.recv_timeout(self.sleep()) {
                    Ok(message) => self.waiting.push_back(message),
                    Err(RecvTimeoutError::Timeout) => self.tell(Event::Ticked),
                    // Cannot be: the host holds a sender itself.
                    Err(RecvTimeoutError::Disconnected) => return Stop::Asked,
                }
            }
            if let Some(why) = self.take_turn() {
                self.finish(why);
                return why;
            }
            self.resume_put_off();
            self.review_if_due();
            let now = self.now();
            self.history.retry(now);
            self.note_reports();
            self.keep_registers_if_due();
            self.miss_print();
            self.tell_listeners();
            // However many messages wait: what is due is not kept waiting by them.
            if self.engine.next_wake().is_some_and(|due| due <= self.now()) {
                self.tell(Event::Ticked);
            }
        }
    }

    fn sleep(&self) -> Duration {
        let due = self.engine.next_wake().into_iter().chain(self.history.retry_at()).chain(self.review_at);
        let due = due.chain(self.registers.retry_at()).chain(self.unprinted.as_ref().map(|(_, until)| *until)).min();
        let until = due.map_or(LONGEST_SLEEP, |wake| {
            // A millisecond more than needed: waking just before a due time would spin until it comes.
            (wake - self.now()).to_std().map_or(Duration::ZERO, |left| left + Duration::from_millis(1))
        });
        let until = until.min(LONGEST_SLEEP);
        self.look_again().map_or(until, |soon| until.min(soon))
    }

    /// Looks at all that was noticed, then takes one other message. A checkout is one look, and a walk that takes longer
    /// than the next notices are away is not followed by one for each of them. Says why to end, if told to.
    pub(super) fn take_turn(&mut self) -> Option<Stop> {
        self.empty_inbox();
        let hints = self.take_hints();
        // Who is to end does not begin another walk.
        if !self.waiting.iter().any(|message| matches!(message, Message::Stop(_))) {
            self.look(hints);
        }
        match self.waiting.pop_front()? {
            Message::Stop(why) => return Some(why),
            Message::Compared(found) => self.tell(Event::Compared(Some(found))),
            Message::Worktrees(number, standing) => self.worktrees_shown(number, standing),
            Message::PodEnded(id) => self.tell(Event::PodEnded(id)),
            Message::Turn(kick, sign) => self.turn_shown(kick, sign),
            Message::Pod(run, sign) => self.pod_shown(&run, sign),
            Message::SessionEnded(process) => self.tell(Event::SessionProcessEnded(process)),
            Message::WakeEnded(number, failed) => self.tell(Event::WakeEnded { number, failed }),
            Message::Visit(visit) => visit(self),
            Message::Probed(dirty) => {
                let newest = self.ports.worktree.newest().unwrap_or(dirty);
                self.tell(Event::Probed(newest));
            }
            Message::RemoteAsked(answer) => self.tell(remote_asked(answer)),
            Message::Reload => {
                // What is wrong is kept, and shown.
                let _ = self.reload();
            }
            // None is left among those that wait, but taken it would be as good as any.
            hint @ (Message::Paths(_) | Message::Everything(_) | Message::Git) => {
                let mut hints = Hints::default();
                hints.add(hint);
                self.look(hints);
            }
        }
        None
    }

    fn take_hints(&mut self) -> Hints {
        let mut hints = Hints::default();
        let messages = std::mem::take(&mut self.waiting);
        self.waiting = messages.into_iter().filter_map(|message| hints.add(message)).collect();
        hints
    }

    fn look(&mut self, hints: Hints) {
        let Hints { mut paths, everything, why, git } = hints;
        if !paths.is_empty() {
            paths.sort();
            paths.dedup();
            self.tell(Event::PathsNoticed(paths));
        }
        if everything {
            self.tell(Event::EverythingNoticed(why));
        }
        if git {
            // Before git itself is looked at, which takes long after a checkout: it may have ended what files waited for.
            self.resume_put_off();
            self.find_new_pods();
            self.tell(Event::GitNoticed);
        }
    }

    pub(super) fn finish(&mut self, why: Stop) {
        let why = match why {
            Stop::Asked => "asked to",
            // What lies in the state folder may be another daemon's by now, and the folder may be gone, with its
            // workspace: nothing is written there any more. A running turn is found, and adopted, by the next one.
            Stop::LockLost => return,
            Stop::Reopen => "it starts anew, to take settings that everything rests on",
        };
        let at = self.now();
        self.record(Record { kind: RecordKind::DaemonStopped, at, ticket: None, data: json!({"why": why}) });
        // What was seen until now was seen by this daemon: an entry into the queue after it is the next one's.
        self.history.save_seen(Vec::new(), at);
        self.insist();
        for lost in self.unkept() {
            tracing::warn!(%lost, "not everything was kept");
        }
    }
}

impl Hints {
    /// Takes in what a message hints at; gives back one that is no hint.
    fn add(&mut self, message: Message) -> Option<Message> {
        match message {
            Message::Paths(more) => self.paths.extend(more),
            Message::Everything(why) => {
                self.everything = true;
                self.why = both(self.why.take(), why);
            }
            Message::Git => self.git = true,
            other => return Some(other),
        }
        None
    }
}

/// Reasons that came together; of very many the first are enough.
fn both(known: Option<String>, more: Option<String>) -> Option<String> {
    const MOST: usize = 400;
    match (known, more) {
        (Some(known), Some(more)) if known.len() < MOST && !known.contains(&more) => Some(format!("{known}; {more}")),
        (known, more) => known.or(more),
    }
}
