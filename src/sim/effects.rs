//! Carries out effects, as the host does.

use std::path::PathBuf;

use super::messages::Message;
use super::wishes::Wish;
use super::world::World;
use crate::domain::backlog::Entry;
use crate::domain::differences::Differences;
use crate::domain::engine::{Actor, Effect, Event, Kick, KickId, RunningTurn, TurnOutcome};
use crate::domain::facts::ProcessIdentity;

impl World {
    pub(super) fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Read(paths) => self.read(paths),
            Effect::ReadAll => {
                let entries = self.entries();
                self.lost = false;
                self.answer(Event::FilesRead { entries, full: true });
                for path in self.paths() {
                    self.look_for_lost(&path);
                }
            }
            Effect::Compare => self.compare(),
            Effect::StampQueued { path, by, since, always, .. } => {
                self.write_for(path, Wish::Stamp { by, since, always }, Actor::Daemon);
            }
            Effect::ReadClaims => {
                let news = self.all_claim_news();
                self.answer(Event::ClaimsRead { news, full: true });
            }
            Effect::ReadWorktrees => self.answer(Event::WorktreesRead(Vec::new())),
            Effect::BringBack(id) => self.bring_back(&id),
            Effect::AskRemote => panic!("no remote keeps the claims of this world"),
            Effect::Probe => self.probe(),
            Effect::Refresh { kick, paths } => self.refresh(kick, paths),
            Effect::Launch(kick) => self.launch(kick),
            // Ends are told by the world itself.
            Effect::WatchPod(..) | Effect::WatchTurn(..) | Effect::DoubtWatcher => {}
            Effect::HandOver(_) | Effect::Wake(_) | Effect::WatchSession(_) | Effect::SaveSession(_) => {
                panic!("no session registers in this world: {effect:?}")
            }
            Effect::Record(record) => {
                self.say(|| format!("  {} {:?} {}", record.kind.as_str(), record.ticket, record.data));
                self.told(&record);
                self.store.at = Some(self.now());
                self.store.history.push(record);
            }
            Effect::SaveLedger(ledger) => self.store.ledger = ledger,
            Effect::SaveSeen(seen) => {
                for (id, seen) in seen {
                    match seen {
                        Some(seen) => drop(self.store.seen.insert(id, seen)),
                        None => drop(self.store.seen.remove(&id)),
                    }
                }
                self.store.at = Some(self.now());
            }
            Effect::SavePods(pods) => self.store.pods = pods,
        }
    }

    pub(super) fn answer(&mut self, event: Event) {
        if let Some(daemon) = &mut self.daemon {
            daemon.events.push_back(event);
        }
    }

    fn probe(&mut self) {
        let dirty = self.dirty.clone();
        self.answer(Event::Probed(dirty));
    }

    fn read(&mut self, paths: Vec<PathBuf>) {
        let entries: Vec<_> = paths.iter().map(|path| (path.clone(), self.entry(path))).collect();
        self.answer(Event::FilesRead { entries, full: false });
        for path in paths {
            self.look_for_lost(&path);
        }
    }

    /// By content, which finds no less than sizes and times.
    fn compare(&mut self) {
        let entries = self.entries();
        let Some(daemon) = &self.daemon else { return };
        let backlog = daemon.engine.backlog();
        let differs = |(path, entry): &&(PathBuf, Entry)| match backlog.at(path) {
            Some(known) => known != *entry,
            None => !matches!(entry, Entry::NotATicket),
        };
        let changed = entries.iter().filter(differs).map(|(path, _)| path.clone()).collect();
        let gone = backlog.known_paths().filter(|path| self.disk.read(path).is_none());
        let gone = gone.map(Differences::name).collect();
        self.answer(Event::Compared(Some(Ok(Differences { changed, gone }))));
    }

    /// Everything a kick rests on, anew: what is reported already, the items' files, the main worktree.
    fn refresh(&mut self, kick: KickId, paths: Vec<PathBuf>) {
        let Some(daemon) = &mut self.daemon else { return };
        let mut reported = Vec::new();
        daemon.inbox.retain_mut(|message| match message {
            Message::Paths(paths) => {
                reported.append(paths);
                false
            }
            _ => true,
        });
        reported.extend(paths);
        let fresh = reported.iter().map(|path| (path.clone(), self.entry(path))).collect();
        if let Some(daemon) = &mut self.daemon {
            daemon.fresh = fresh;
        }
        self.read(reported);
        self.probe();
        self.answer(Event::Refreshed(kick));
    }

    fn launch(&mut self, kick: Kick) {
        self.judge_launch(&kick);
        if self.faults && self.dice.once_in(12) {
            self.say(|| format!("kick {} is not delivered", kick.id.0));
            let outcome = TurnOutcome::NotDelivered("no such program".into());
            return self.answer(Event::TurnEnded { kick: kick.id, outcome, jitter: 0 });
        }
        self.count += 1;
        let pid = u32::try_from(self.count).unwrap();
        let process = ProcessIdentity { host: "h".into(), boot_id: "b".into(), pid, started: 1 };
        let since = self.now();
        let (id, session) = (kick.id.clone(), kick.session.clone());
        self.store.running = Some(RunningTurn { kick: id.clone(), session, process: Some(process.clone()), since });
        self.begin_turn(kick);
        self.answer(Event::TurnStarted { kick: id, process });
    }
}
