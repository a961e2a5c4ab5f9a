//! One host, its fake ports, and the messages it is sent: everything happens when a test says so.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use chrono::TimeDelta;

use super::super::history::tests::Shared;
use super::super::{About, Beginning, History, Host, Message, Ports, Settings, Stop};
use crate::adapters::fakes::MemoryClaims;
use crate::adapters::worktrees::{GitWorktrees, Hooks};
use crate::domain::claim::Standing;
use crate::domain::differences::Differences;
use crate::domain::edit::Change;
use crate::domain::engine::{KickId, Reach, SavedSession};
use crate::domain::facts::{Dirty, Pod, PodId, ProcessIdentity};
use crate::domain::finding::Finding;
use crate::domain::policy::Policy;
use crate::domain::refusal::Refusal;
use crate::domain::sample::at;
use crate::domain::ticket::{State, Ticket, TicketId, Timestamp};
use crate::ports::runs::{Found, OnSign, Order, RunId};
use crate::ports::starts::{CutOff, Marked, StartMark};
use crate::ports::{
    EditError, Entry, Held, MainWorktree, Obstacle, Processes, Review, Reviewing, Runs, Starts, StateFolder, Tickets,
    Wake, Waker, Woken,
};
use crate::text::keys::KeyMap;

/// What all ports share.
pub(super) struct World {
    files: Mutex<BTreeMap<PathBuf, Entry>>,
    keys: KeyMap,
    obstacle: Mutex<Option<String>>,
    pub(super) now: Mutex<Timestamp>,
    scans: AtomicUsize,
    probes: AtomicUsize,
    /// Runs that were ended.
    pub(super) ended: AtomicUsize,
    /// How many hold the accept lock.
    accepting: AtomicUsize,
    /// Somebody else holds it.
    pub(super) accept_lock_is_held: AtomicBool,
    /// For each edit, whether the accept lock was held.
    pub(super) edited_accepting: Mutex<Vec<bool>>,
    /// Notes fail, as on a full disk.
    pub(super) notes_fail: Mutex<bool>,
    /// All notes.
    pub(super) notes: Mutex<Vec<String>>,
    /// No edit reaches its file.
    pub(super) forgetful: AtomicBool,
    /// The store's disk is full.
    pub(super) store: Shared,
    /// What the next look finds, and how often what was found was noted to be on record.
    pub(super) found: Mutex<Vec<Finding>>,
    pub(super) on_record: AtomicUsize,
    /// Claims.
    pub(super) claims: MemoryClaims,
    /// How long this machine has been awake.
    pub(super) awake: Mutex<TimeDelta>,
    /// What is written as settings now.
    pub(super) settings: Mutex<Result<Settings, Vec<String>>>,
}

/// Fake ports are one value behind several names.
#[derive(Clone)]
struct Fake(Arc<World>);

pub(super) struct Bench {
    pub(super) host: Host,
    pub(super) world: Arc<World>,
    mail: mpsc::Sender<Message>,
}

impl Bench {
    /// A daemon without an Orchestrator that has started on these tickets.
    pub(super) fn new(tickets: impl IntoIterator<Item = Ticket>) -> Self {
        Self::with(Policy::default(), tickets)
    }

    /// The same under this policy.
    pub(super) fn with(policy: Policy, tickets: impl IntoIterator<Item = Ticket>) -> Self {
        let files = tickets.into_iter().map(|t| (t.path.clone(), Entry::Ticket(t))).collect();
        let world = Arc::new(World {
            files: Mutex::new(files),
            keys: KeyMap { state_key: "status".into(), ..KeyMap::default() },
            obstacle: Mutex::new(None),
            now: Mutex::new(at(0)),
            scans: AtomicUsize::new(0),
            probes: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            accepting: AtomicUsize::new(0),
            accept_lock_is_held: AtomicBool::new(false),
            edited_accepting: Mutex::default(),
            notes_fail: Mutex::new(false),
            notes: Mutex::default(),
            forgetful: AtomicBool::new(false),
            store: Shared::default(),
            found: Mutex::default(),
            on_record: AtomicUsize::new(0),
            settings: Mutex::new(Err(Vec::new())),
            claims: MemoryClaims::default(),
            awake: Mutex::new(TimeDelta::hours(1)),
        });
        let (mail, inbox) = mpsc::channel();
        let reach = Reach::No("none is needed here".into());
        let nowhere = std::path::Path::new("/no-such-folder");
        let worktrees = Arc::new(GitWorktrees::new(nowhere, None, nowhere, nowhere.into(), Hooks::default()));
        let settings = Settings {
            policy,
            reach,
            command: None,
            roles: BTreeMap::new(),
            wake: None,
            obstacles: Vec::new(),
            worktrees,
            listed: Vec::new(),
        };
        let written = Arc::clone(&world);
        let reread = Box::new(move || written.settings.lock().unwrap().clone());
        let beginning = Beginning { settings, reread, sessions: Box::new(|| "s".into()) };
        let clock = Arc::clone(&world);
        let nonces = AtomicUsize::new(0);
        let fake = || Fake(Arc::clone(&world));
        let ports = Ports {
            tickets: Arc::new(fake()),
            claims: Arc::new(world.claims.clone()),
            starts: Arc::new(fake()),
            processes: Arc::new(fake()),
            runs: Arc::new(fake()),
            worktree: Arc::new(fake()),
            waker: Arc::new(fake()),
            state: Arc::new(fake()),
            clock: Arc::new(move || *clock.now.lock().unwrap()),
            nonce: Arc::new(move || format!("n{}", nonces.fetch_add(1, Ordering::Relaxed))),
        };
        let host = {
            let history = History::new(Box::new(world.store.clone()));
            Host::daemon(beginning, ports, history, (mail.clone(), inbox), About::default())
        }
        .unwrap();
        Self { host, world, mail }
    }

    pub(super) fn obstacle(&self, what: Option<&str>) {
        *self.world.obstacle.lock().unwrap() = what.map(str::to_owned);
    }

    /// Somebody saves a file, and the watcher notices.
    pub(super) fn save(&mut self, ticket: Ticket) {
        let path = ticket.path.clone();
        self.world.files.lock().unwrap().insert(path.clone(), Entry::Ticket(ticket));
        self.mail(Message::Paths(vec![path]));
        self.work();
        self.pass(1);
    }

    /// The same, and nobody has noticed yet.
    pub(super) fn save_unnoticed(&self, ticket: Ticket) {
        self.world.files.lock().unwrap().insert(ticket.path.clone(), Entry::Ticket(ticket));
    }

    pub(super) fn mail(&self, message: Message) {
        self.mail.send(message).unwrap();
    }

    /// Everything that is in the inbox; says why the daemon ends, if it was told to.
    pub(super) fn work(&mut self) -> Option<Stop> {
        self.host.empty_inbox();
        while !self.host.waiting.is_empty() {
            if let Some(why) = self.host.take_turn() {
                return Some(why);
            }
            self.host.resume_put_off();
        }
        None
    }

    pub(super) fn pass(&mut self, seconds: i64) {
        for _ in 0..seconds {
            *self.world.now.lock().unwrap() += TimeDelta::seconds(1);
            *self.world.awake.lock().unwrap() += TimeDelta::seconds(1);
            self.host.tell(crate::domain::engine::Event::Ticked);
            self.host.resume_put_off();
            self.work();
        }
    }

    /// Until something shows that another thread does.
    pub(super) fn until(&mut self, shows: impl Fn(&Bench) -> bool) {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !shows(self) {
            assert!(std::time::Instant::now() < end, "it does not show");
            std::thread::yield_now();
            self.work();
        }
    }

    pub(super) fn state(&self, id: &str) -> Option<State> {
        self.host.engine().backlog().get(&TicketId::from(id)).and_then(|ticket| ticket.state)
    }

    pub(super) fn scans(&self) -> usize {
        self.world.scans.load(Ordering::Relaxed)
    }

    pub(super) fn probes(&self) -> usize {
        self.world.probes.load(Ordering::Relaxed)
    }
}

impl Tickets for Fake {
    fn scan(&self) -> io::Result<Vec<(PathBuf, Entry)>> {
        self.0.scans.fetch_add(1, Ordering::Relaxed);
        Ok(self.0.files.lock().unwrap().clone().into_iter().collect())
    }

    fn read(&self, path: &Path) -> Entry {
        self.0.files.lock().unwrap().get(path).cloned().unwrap_or(Entry::Absent)
    }

    fn differences(&self) -> io::Result<Differences> {
        Ok(Differences::default())
    }

    fn text(&self, path: &Path) -> io::Result<String> {
        Err(io::Error::other(path.display().to_string()))
    }

    /// What claims and acceptances change is made; nothing else.
    fn edit(
        &self,
        path: &Path,
        decide: &mut dyn FnMut(&Ticket) -> Result<Vec<Change>, Refusal>,
    ) -> Result<(Ticket, Ticket), EditError> {
        let Entry::Ticket(before) = self.read(path) else { return Err(EditError::Absent(path.to_owned())) };
        let changes = decide(&before).map_err(EditError::Refused)?;
        self.0.edited_accepting.lock().unwrap().push(self.0.accepting.load(Ordering::Relaxed) > 0);
        let mut after = before.clone();
        if !self.0.forgetful.load(Ordering::Relaxed) {
            for change in &changes {
                make(&mut after, change);
            }
        }
        self.0.files.lock().unwrap().insert(path.to_owned(), Entry::Ticket(after.clone()));
        Ok((before, after))
    }

    fn review(&self, _which: Reviewing<'_>) -> Review {
        Review { findings: std::mem::take(&mut *self.0.found.lock().unwrap()), again_in: None }
    }

    fn on_record(&self) -> bool {
        self.0.on_record.fetch_add(1, Ordering::Relaxed);
        true
    }

    fn keys(&self) -> &KeyMap {
        &self.0.keys
    }

    fn create(&self, id: &TicketId, _text: &str) -> io::Result<PathBuf> {
        Err(io::Error::other(id.to_string()))
    }

    fn note(&self, _path: &Path, note: &str) -> io::Result<()> {
        if *self.0.notes_fail.lock().unwrap() {
            return Err(io::Error::other("the disk is full"));
        }
        self.0.notes.lock().unwrap().push(note.to_owned());
        Ok(())
    }
}

fn make(ticket: &mut Ticket, change: &Change) {
    let text = |value: &serde_yaml::Value| value.as_str().map(str::to_owned);
    let time = |value: &serde_yaml::Value| Some(value.as_str()?.parse().unwrap());
    match change {
        Change::Set(key, value) => match key.as_str() {
            "state" => ticket.state = text(value).map(|state| state.parse().unwrap()),
            "queued_by" => ticket.stamps.queued_by = text(value),
            "queued_at" => ticket.stamps.queued_at = time(value),
            "accepted_by" => ticket.stamps.accepted_by = text(value),
            "accepted_at" => ticket.stamps.accepted_at = time(value),
            "pr" => ticket.pr = text(value),
            _ => {}
        },
        Change::Unset(key) if key == "accepted_by" => ticket.stamps.accepted_by = None,
        Change::Unset(key) if key == "accepted_at" => ticket.stamps.accepted_at = None,
        Change::Add(_, label) => ticket.labels.extend(text(label)),
        Change::Remove(_, label) => ticket.labels.retain(|there| Some(there) != text(label).as_ref()),
        _ => {}
    }
}

impl MainWorktree for Fake {
    fn dirty(&self) -> Dirty {
        self.0.probes.fetch_add(1, Ordering::Relaxed);
        Dirty::Clean
    }

    fn obstacle(&self) -> Option<Obstacle> {
        self.0.obstacle.lock().unwrap().clone().map(|what| Obstacle { what, passing: false })
    }

    fn user_name(&self) -> Option<String> {
        Some("alice".into())
    }
}

impl Waker for Fake {
    fn wake(&self, _wake: Wake, call: Woken) {
        call(Some("nobody is woken here".into()));
    }
}

impl Processes for Fake {
    fn machine(&self) -> Standing {
        Standing { boot_id: "boot".into(), awake: *self.0.awake.lock().unwrap() }
    }

    fn identify(&self, _pid: u32) -> io::Result<ProcessIdentity> {
        Err(io::Error::other("there are no processes here"))
    }

    fn is_alive(&self, _process: &ProcessIdentity) -> bool {
        false
    }

    fn when_ended(&self, _process: &ProcessIdentity, call: Box<dyn FnOnce() + Send>) {
        call();
    }
}

/// Nothing is cut off here.
struct NoMark(StartMark);

impl Marked for NoMark {
    fn mark(&self) -> &StartMark {
        &self.0
    }

    fn forget(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

impl Starts for Fake {
    fn begin(&self, mark: &StartMark) -> io::Result<Box<dyn Marked>> {
        Ok(Box::new(NoMark(mark.clone())))
    }

    fn cut_off(&self, _of: Option<&TicketId>) -> io::Result<CutOff> {
        Ok(CutOff::default())
    }
}

impl Runs for Fake {
    fn start(&self, _order: &Order, _call: OnSign) -> io::Result<()> {
        Err(io::Error::other("nothing is started here"))
    }

    fn watch(&self, _run: &RunId, _call: OnSign) {}

    fn found(&self) -> io::Result<Vec<Found>> {
        Ok(Vec::new())
    }

    fn forget(&self, _run: &RunId) -> io::Result<()> {
        Ok(())
    }

    fn tidy(&self) {}

    fn call_off(&self, _run: &RunId, _why: &str) -> io::Result<()> {
        Ok(())
    }

    fn end(&self, _run: &RunId) -> io::Result<()> {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl StateFolder for Fake {
    fn pods(&self) -> io::Result<Vec<Pod>> {
        Ok(Vec::new())
    }

    fn save_pods(&self, _pods: &[Pod]) -> io::Result<()> {
        Ok(())
    }

    fn session(&self) -> io::Result<Option<SavedSession>> {
        Ok(None)
    }

    fn save_session(&self, _session: Option<&SavedSession>) -> io::Result<()> {
        Ok(())
    }

    fn write_kick(&self, kick: &KickId, _json: &str) -> io::Result<PathBuf> {
        Ok(PathBuf::from(&kick.0))
    }

    fn remove_kick(&self, _kick: &KickId) -> io::Result<()> {
        Ok(())
    }

    fn forget_kicks(&self, _but: Option<&KickId>) -> io::Result<()> {
        Ok(())
    }

    fn kick_log(&self, kick: &KickId) -> PathBuf {
        PathBuf::from(&kick.0)
    }

    fn pod_log(&self, pod: &PodId) -> PathBuf {
        PathBuf::from(&pod.0)
    }

    fn role_lock(&self) -> io::Result<Box<dyn Held>> {
        self.accept_lock()
    }

    fn accept_lock(&self) -> io::Result<Box<dyn Held>> {
        if self.0.accept_lock_is_held.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.0.accepting.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Accepting(Arc::clone(&self.0))))
    }
}

struct Accepting(Arc<World>);

impl Held for Accepting {}

impl Drop for Accepting {
    fn drop(&mut self) {
        self.0.accepting.fetch_sub(1, Ordering::Relaxed);
    }
}
