//! The world: what there is, what happens next, and when.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use chrono::TimeDelta;

use super::chance::Dice;
use super::claims::Claims;
use super::daemon::{Daemon, Store};
use super::disk::{Disk, Inode};
use super::kept::Displaced;
use super::lost::Lost;
use super::messages::Message;
use super::orchestrator::{Nature, Turn, Worker};
use super::people::Editor;
use super::promises::Observer;
use super::story::ticket_text;
use super::workers::{Claimer, Fate};
use super::writes::Write;
use crate::domain::backlog::Entry;
use crate::domain::claim::Outcome;
use crate::domain::facts::{Dirty, PodId};
use crate::domain::policy::{Capacity, KickPolicy, Mode, Policy};
use crate::domain::sample::at;
use crate::domain::ticket::{State, TicketId, Timestamp};

/// What is due at some moment.
#[derive(Clone, Debug)]
pub(super) enum Happening {
    /// To the daemon of this number.
    Notice(u64, Message),
    Wake(u64),
    StartDaemon,
    SomebodyActs,
    Editor(u64),
    Write(u64),
    /// The later look at what this file's exchanges displaced.
    Look(PathBuf),
    Turn(u64),
    PodEnds(PodId),
    FolderBack,
    Cleaned,
    WorkerComes,
    Claimer(u64),
}

/// Everything.
pub(super) struct World {
    pub(super) dice: Dice,
    pub(super) aloud: bool,
    /// Milliseconds since the beginning, by a clock that nobody sets.
    pub(super) clock: i64,
    /// By how much people have set the clock on the wall.
    pub(super) set_by: i64,
    due: BTreeMap<(i64, u64), Happening>,
    pub(super) count: u64,
    pub(super) faults: bool,
    /// One notice in so many is lost.
    pub(super) loss: usize,
    pub(super) crashes: u32,
    pub(super) acts_left: u32,
    pub(super) policy: Policy,
    pub(super) disk: Disk,
    pub(super) disk_changed_at: i64,
    pub(super) store: Store,
    pub(super) daemon: Option<Daemon>,
    /// The number of the daemon that runs, or that ended last.
    pub(super) generation: u64,
    /// Notices that are still to reach it.
    pub(super) in_flight: u32,
    /// Something happened that it will not be told.
    pub(super) lost: bool,
    pub(super) dirty: Dirty,
    pub(super) nature: Nature,
    pub(super) turn: Option<Turn>,
    pub(super) turns: u64,
    pub(super) pods: BTreeMap<PodId, Worker>,
    pub(super) steps: BTreeMap<TicketId, u32>,
    pub(super) editors: Vec<Editor>,
    pub(super) writes: Vec<Write>,
    /// What exchanges displaced, by file, oldest first.
    pub(super) journal: BTreeMap<PathBuf, Vec<Displaced>>,
    pub(super) taken_back: Lost,
    pub(super) tickets: Vec<TicketId>,
    /// Queued without a stamp when a daemon started, and queued when the last one ended: no entry that anybody saw.
    pub(super) unstamped: BTreeSet<TicketId>,
    pub(super) deleted: Vec<(PathBuf, Vec<u8>)>,
    pub(super) away: Vec<(PathBuf, Inode)>,
    /// What git keeps.
    pub(super) claims: Claims,
    pub(super) claimers: BTreeMap<u64, Claimer>,
    pub(super) observer: Observer,
    /// Files that changed, and are to be judged when nobody is writing them.
    pub(super) to_judge: BTreeSet<PathBuf>,
    pub(super) boards_judged_at: i64,
    pub(super) read_before: BTreeMap<(PathBuf, Vec<u8>), Entry>,
}

impl World {
    pub(super) fn new(seed: u64, aloud: bool) -> Self {
        let mut dice = Dice::new(seed);
        let reoffer_idle = dice.once_in(4).then(|| TimeDelta::minutes(10));
        let kick = KickPolicy {
            max_items: dice.of(&[1, 2, 10]),
            max_per_hour: dice.of(&[3, 20]),
            max_attempts: dice.of(&[2, 10]),
            reoffer_idle,
        };
        let capacity = Capacity { max_inprogress: dice.of(&[None, Some(1), Some(2)]) };
        let verify_every = Some(TimeDelta::hours(12));
        let nature = dice.of(&[Nature::Diligent, Nature::Lazy, Nature::Fickle, Nature::Fickle]);
        let policy = Policy { kick, capacity, verify_every, ..Policy::default() };
        let (loss, crashes) = (dice.of(&[12, 40, 1_000_000]), dice.of(&[0, 1, 3]));
        let names = &["a", "b", "c", "d"][..dice.of(&[2, 3, 4])];
        let mut world = Self {
            dice,
            aloud,
            clock: 0,
            set_by: 0,
            due: BTreeMap::new(),
            count: 0,
            faults: true,
            loss,
            crashes,
            acts_left: 36,
            policy,
            disk: Disk::default(),
            disk_changed_at: 0,
            store: Store::default(),
            daemon: None,
            generation: 0,
            in_flight: 0,
            lost: false,
            dirty: Dirty::Clean,
            nature,
            turn: None,
            turns: 0,
            pods: BTreeMap::new(),
            steps: BTreeMap::new(),
            editors: Vec::new(),
            writes: Vec::new(),
            journal: BTreeMap::new(),
            taken_back: Lost::default(),
            tickets: names.iter().map(|name| TicketId::new(*name)).collect(),
            unstamped: BTreeSet::new(),
            deleted: Vec::new(),
            away: Vec::new(),
            claims: Claims::default(),
            claimers: BTreeMap::new(),
            observer: Observer::default(),
            to_judge: BTreeSet::new(),
            boards_judged_at: -1,
            read_before: BTreeMap::new(),
        };
        world.begin(names);
        world
    }

    fn begin(&mut self, names: &[&str]) {
        for name in names {
            let state = self.dice.of(&[State::Queued, State::Queued, State::Ready, State::Planning]);
            let style = self.dice.roll(3);
            let inode = self.disk.new_file(&ticket_text(name, state, style));
            self.disk.rename(inode, &PathBuf::from(format!("tickets/{name}.md")));
        }
        self.at(0, Happening::StartDaemon);
        self.at(500, Happening::SomebodyActs);
    }

    /// The same with workers who claim tickets, in either mode.
    pub(super) fn with_workers(seed: u64, aloud: bool) -> Self {
        let mut world = Self::new(seed, aloud);
        if world.dice.once_in(2) {
            world.policy.mode = Mode::Pull;
        }
        world.at(1_000, Happening::WorkerComes);
        world
    }

    fn some_worker_comes(&mut self) {
        let outcome = self.dice.of(&[Outcome::Done, Outcome::Done, Outcome::Abandoned, Outcome::PrOpened]);
        let fate = self.dice.of(&[Fate::Ends(outcome), Fate::Ends(outcome), Fate::Dies, Fate::Sleeps]);
        self.worker_comes(fate);
        if self.acts_left > 0 {
            // Several at once, now and then.
            let gap = if self.dice.once_in(3) { self.dice.of(&[0, 3, 200]) } else { self.dice.span() / 8 };
            self.at(gap, Happening::WorkerComes);
        }
    }

    /// What the clock on the wall says.
    pub(super) fn now(&self) -> Timestamp {
        at(0) + TimeDelta::milliseconds(self.clock + self.set_by)
    }

    /// So many milliseconds from now.
    pub(super) fn at(&mut self, after: i64, what: Happening) {
        self.count += 1;
        self.due.insert((self.clock + after.max(0), self.count), what);
    }

    /// The next thing happens; false where nothing is due before this time.
    pub(super) fn happen(&mut self, until: i64) -> bool {
        let Some(next) = self.due.first_entry().filter(|next| next.key().0 <= until) else { return false };
        let ((at, _), what) = next.remove_entry();
        self.clock = at;
        match what {
            Happening::Notice(to, message) => self.notice(to, message),
            Happening::Wake(to) => {
                if to == self.generation {
                    self.run_daemon();
                }
            }
            Happening::StartDaemon => self.start_daemon(),
            Happening::SomebodyActs => {
                self.somebody_acts();
                self.acts_left -= 1;
                if self.acts_left > 0 {
                    let gap = self.dice.span();
                    self.at(gap, Happening::SomebodyActs);
                }
            }
            Happening::Editor(number) => self.editor_step(number),
            Happening::Write(number) => self.write_step(number),
            Happening::Turn(number) => self.turn_step(number),
            Happening::PodEnds(id) => self.pod_ends(id),
            Happening::Look(path) => {
                self.look_for_lost(&path);
                self.look(path);
                self.run_daemon();
            }
            Happening::FolderBack => self.folder_back(),
            Happening::Cleaned => self.clean(),
            Happening::WorkerComes => self.some_worker_comes(),
            Happening::Claimer(number) => self.claimer_step(number),
        }
        self.judge();
        true
    }

    /// Lets everything happen for as long as people act.
    pub(super) fn live(&mut self) {
        while self.acts_left > 0 && self.happen(i64::MAX) {}
    }
}
