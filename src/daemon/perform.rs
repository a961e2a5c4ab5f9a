//! Carries out effects through the ports; each answer is the next event. Makes no choices.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use chrono::TimeDelta;

use super::{Host, Message};
use crate::adapters::fault;
use crate::domain::classify::clock;
use crate::domain::engine::{Actor, Effect, Event, KickId, Record, RecordKind, Stamp};
use crate::domain::lifecycle::queue_stamp;
use crate::domain::policy::DirtyGate;
use crate::domain::ticket::Timestamp;
use crate::ports::{EditError, Reviewing};

/// How soon a ticket is tried again that another process was just writing.
const STAMP_AGAIN: TimeDelta = TimeDelta::seconds(4);

impl Host {
    pub(super) fn perform_all(&mut self, effects: Vec<Effect>, events: &mut VecDeque<Event>) {
        // History goes in one transaction, before anything else that the same step wants.
        let (records, rest): (Vec<_>, Vec<_>) = effects.into_iter().partition(|e| matches!(e, Effect::Record(_)));
        let records: Vec<Record> =
            records.into_iter().filter_map(|e| if let Effect::Record(r) = e { Some(r) } else { None }).collect();
        // Without a daemon nobody is kicked anyway: that it would not be is no history.
        let of_interest = |record: &Record| self.resident || record.kind != RecordKind::KickSuppressed;
        let records: Vec<Record> = records.into_iter().filter(of_interest).collect();
        fault::point("before", "record");
        self.append(records);
        fault::point("after", "record");
        for effect in rest {
            self.perform(effect, events);
        }
    }

    fn perform(&mut self, effect: Effect, events: &mut VecDeque<Event>) {
        // A host for one command records history, and leaves everything else to a daemon.
        if !self.resident {
            return;
        }
        let name = name(&effect);
        fault::point("before", name);
        self.carry_out(effect, events);
        fault::point("after", name);
    }

    fn carry_out(&mut self, effect: Effect, events: &mut VecDeque<Event>) {
        match effect {
            Effect::Read(paths) => self.read(&paths, events),
            Effect::ReadAll => self.read_all(events),
            Effect::Compare => self.compare(events),
            Effect::DoubtWatcher => self.about.watcher.iter().for_each(|w| w.doubt("changes were missed")),
            Effect::StampQueued { .. } => self.stamp(effect, events),
            Effect::Probe => events.extend(self.ports.worktree.dirty_in_time().map(Event::Probed)),
            Effect::ReadClaims => {
                let news = self.read_claims();
                events.extend(news.map(|news| Event::ClaimsRead { news, full: true }));
            }
            Effect::ReadWorktrees => self.ask_for_worktrees(events),
            Effect::AskRemote => self.ask_remote(events),
            Effect::BringBack(id) => self.bring_back(id),
            Effect::Refresh { kick, paths } => self.refresh(kick, paths, events),
            Effect::Launch(kick) => self.launch(&kick, events),
            Effect::HandOver(kick) => self.hand_over(kick, events),
            Effect::Wake(number) => self.wake(number),
            Effect::WatchSession(process) => self.watch_session(process),
            Effect::SaveSession(session) => self.keep_session(session.as_ref()),
            Effect::WatchPod(id, process) => {
                let mail = self.mail.clone();
                self.ports.processes.when_ended(
                    &process,
                    Box::new(move || {
                        let _ = mail.send(Message::PodEnded(id));
                    }),
                );
            }
            Effect::WatchTurn(kick) => {
                let call = self.on_sign(&kick);
                self.ports.runs.watch(&(&kick).into(), call);
            }
            Effect::Record(record) => self.append(vec![record]),
            Effect::SaveLedger(ledger) => {
                let now = self.now();
                self.history.save_ledger(ledger, now);
            }
            Effect::SaveSeen(seen) => {
                let now = self.now();
                self.history.save_seen(seen, now);
            }
            Effect::SavePods(pods) => self.keep_pods(pods),
        }
    }

    pub(super) fn read(&mut self, paths: &[std::path::PathBuf], events: &mut VecDeque<Event>) {
        if self.reading_is_put_off(paths) {
            return;
        }
        for path in paths {
            tracing::debug!(path = %path.display(), "a ticket file is read");
        }
        let entries = self.ports.tickets.read_many(paths);
        events.push_back(Event::FilesRead { entries, full: false });
        self.review(Reviewing::Paths(paths), events);
    }

    fn read_all(&mut self, events: &mut VecDeque<Event>) {
        // The empty path stands for all of them.
        if self.reading_is_put_off(&[std::path::PathBuf::new()]) {
            return;
        }
        match self.ports.tickets.scan() {
            Ok(entries) => {
                self.folder_trouble = None;
                events.push_back(Event::FilesRead { entries, full: true });
                self.review(Reviewing::Everything, events);
            }
            // The folder itself is gone or unreadable: what was known stays until it can be read again.
            Err(error) => {
                tracing::warn!(%error, "the ticket folder cannot be read");
                self.folder_trouble = Some(error.to_string());
            }
        }
    }

    /// On a thread of its own: a slow file system must not hold up anything else.
    fn compare(&mut self, events: &mut VecDeque<Event>) {
        if self.conclusions_are_put_off() {
            return events.push_back(Event::Compared(None));
        }
        let (tickets, mail) = (Arc::clone(&self.ports.tickets), self.mail.clone());
        let walk = move || {
            let found = tickets.differences().map_err(|error| error.to_string());
            let _ = mail.send(Message::Compared(found));
        };
        if let Err(error) = thread::Builder::new().name("yoi compare".into()).spawn(walk) {
            events.push_back(Event::Compared(Some(Err(format!("no thread could be started: {error}")))));
        }
    }

    fn stamp(&mut self, effect: Effect, events: &mut VecDeque<Event>) {
        if self.obstacle_now().is_some() {
            self.put_off_stamps.push(effect);
            return;
        }
        let Effect::StampQueued { path, by, since, always, insist } = effect.clone() else { return };
        if !insist && let Some(mark) = self.ports.tickets.editor_on(&path) {
            let stamp = Stamp { path, by, since, always };
            return events.push_back(Event::EditorSeen { stamp, mark });
        }
        let now = self.now();
        let result = self.ports.tickets.stamp(&path, &mut |fresh| Ok(queue_stamp(fresh, &by, since, always, now)));
        self.review_soon();
        match result {
            Ok((before, ticket)) => {
                if before.stamps.queued_at != ticket.stamps.queued_at {
                    self.note_stamp(&path, &by, now);
                }
                events.push_back(Event::TicketWritten { ticket, by: Actor::Daemon });
            }
            Err(EditError::Absent(_)) => {}
            // Another process is just writing it.
            Err(EditError::Refused(refusal)) if refusal.passing => {
                self.stamps_at = Some(now + STAMP_AGAIN);
                self.put_off_stamps.push(effect);
            }
            Err(error) => {
                let id = match self.engine.backlog().at(&path) {
                    Some(crate::ports::Entry::Ticket(ticket)) => ticket.id.clone(),
                    _ => return,
                };
                events.push_back(Event::StampFailed { id, why: error.to_string() });
            }
        }
    }

    /// Frontmatter first, thread after; nobody waits for this note, so that a failure is told in the log.
    fn note_stamp(&self, path: &Path, by: &str, now: Timestamp) {
        let note = format!("{} QUEUED by {by}, seen in the file", clock(now));
        if let Err(error) = self.ports.tickets.note(path, &note) {
            tracing::warn!(path = %path.display(), %error, "the entry into the queue could not be noted in the thread");
        }
    }

    /// Everything a kick rests on, anew: what the watcher has reported meanwhile, the items' files, the main
    /// worktree, and who works in the tickets'.
    pub(super) fn refresh(&mut self, kick: KickId, paths: Vec<std::path::PathBuf>, events: &mut VecDeque<Event>) {
        if self.conclusions_are_put_off() {
            self.put_off_refresh = Some((kick, paths));
            return;
        }
        let mut reported = self.reported();
        reported.extend(paths);
        self.read(&reported, events);
        if self.engine.policy().dirty_workspace != DirtyGate::Off {
            events.push_back(Event::Probed(self.ports.worktree.dirty()));
        }
        events.push_back(self.worktrees_now());
        events.push_back(Event::Refreshed(kick));
    }

    pub(super) fn empty_inbox(&mut self) {
        while let Ok(message) = self.inbox.try_recv() {
            self.waiting.push_back(message);
        }
    }

    /// Takes the watcher's notices out of the inbox, ahead of what else is waiting there.
    pub(super) fn reported(&mut self) -> Vec<std::path::PathBuf> {
        self.empty_inbox();
        let mut reported = Vec::new();
        self.waiting.retain_mut(|message| match message {
            Message::Paths(paths) => {
                reported.append(paths);
                false
            }
            _ => true,
        });
        reported
    }
}

/// What an effect is called at the fault points around it.
fn name(effect: &Effect) -> &'static str {
    match effect {
        Effect::Read(_) => "read",
        Effect::ReadAll => "read-all",
        Effect::Compare => "compare",
        Effect::DoubtWatcher => "doubt-watcher",
        Effect::StampQueued { .. } => "stamp",
        Effect::ReadClaims => "read-claims",
        Effect::ReadWorktrees => "read-worktrees",
        Effect::AskRemote => "ask-remote",
        Effect::BringBack(_) => "bring-back",
        Effect::Probe => "probe",
        Effect::Refresh { .. } => "refresh",
        Effect::Launch(_) => "launch",
        Effect::HandOver(_) => "hand-over",
        Effect::Wake(_) => "wake",
        Effect::WatchSession(_) => "watch-session",
        Effect::SaveSession(_) => "save-session",
        Effect::WatchPod(..) => "watch-pod",
        Effect::WatchTurn(_) => "watch-turn",
        Effect::Record(_) => "record",
        Effect::SaveLedger(_) => "save-ledger",
        Effect::SaveSeen(_) => "save-seen",
        Effect::SavePods(_) => "save-pods",
    }
}
