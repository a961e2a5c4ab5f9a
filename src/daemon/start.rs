//! The beginning of a host: what it finds, as the engine's first event.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};

use super::claiming::read_claims;
use super::launch::FormerRuns;
use super::pods;
use super::registers::Registers;
use super::trees::LookNumber;
use super::{About, History, Host, Message, Ports, Reread, Settings};
use crate::domain::engine::{ClaimNews, Engine, Event, Reach, Start};
use crate::domain::facts::{Dirty, Pod};
use crate::domain::policy::{DirtyGate, Policy};
use crate::domain::ticket::{State, Ticket};
use crate::ports::runs::PodRun;
use crate::ports::{Entry, Reviewing};

/// What a host is begun with.
pub struct Beginning {
    /// As they are now.
    pub settings: Settings,
    /// Reads them again.
    pub reread: Reread,
    /// Names a new session.
    pub sessions: Box<dyn Fn() -> String + Send>,
}

/// What a command's own host starts from.
pub enum Found {
    /// All files.
    All,
    /// These files only: the command is about nothing else.
    Only(Vec<(PathBuf, Entry)>),
    /// These files only, and the command writes nothing: nobody's name and no gate is asked for.
    Shown(Vec<(PathBuf, Entry)>),
}

impl Host {
    /// A daemon's host. Scans, finds what the last daemon left, and takes its first decisions. What the watcher reports
    /// into the inbox from before the scan on is looked at afterwards, so that nothing falls between.
    pub fn daemon(
        beginning: Beginning,
        ports: Ports,
        mut history: History,
        (mail, inbox): (Sender<Message>, Receiver<Message>),
        about: About,
    ) -> io::Result<Self> {
        let files = scanned(&ports, true)?;
        let (recorded, ledger) = history.left();
        let now = (ports.clock)();
        let former = FormerRuns::find(&ports, &history);
        let (pods, ended_pods) = registered_pods(&ports, &former.pods);
        if let Err(error) = ports.state.forget_kicks(former.running.as_ref().map(|turn| &turn.kick)) {
            tracing::warn!(%error, "kick files of a former daemon could not be removed");
        }
        let whom = beginning.settings.whom();
        let Settings { policy, reach, .. } = beginning.settings.clone();
        let start = Start {
            dirty: probe(&ports, &policy),
            claims: read_claims(&ports, now).unwrap_or_default(),
            worktrees: beginning.settings.worktrees.standing(),
            policy,
            reach,
            whom,
            session: (beginning.sessions)(),
            files,
            recorded_at: recorded.as_ref().map(|r| r.at),
            recorded: recorded.map(|r| r.seen),
            ledger,
            adopted: former.running,
            ended_turns: former.ended,
            pods,
            ended_pods,
            editor_name: ports.worktree.user_name().unwrap_or_else(|| "somebody".into()),
        };
        // From here on this workspace has been watched once, whatever tickets it has.
        history.save_seen(Vec::new(), now);
        let mut host = Self::new(ports, history, beginning, (mail, inbox));
        host.resident = true;
        host.about = about;
        host.tell(Event::Started(Box::new(start)));
        for kick in &former.foreign {
            host.say_foreign(kick);
        }
        for kick in &former.over {
            host.forget_run(kick);
        }
        host.find_session();
        host.find_pods(former.pods, former.ended_pods);
        host.tell_review(Reviewing::Everything);
        Ok(host)
    }

    /// The host of one command, in process: the same engine, no Orchestrator, nothing done on its own.
    pub fn once(settings: Settings, ports: Ports, history: History, found: Found) -> io::Result<Self> {
        let policy = settings.policy.clone();
        // Git is asked only for what the command can be about: each question takes longer than reading a ticket.
        let name = || ports.worktree.user_name();
        let (files, dirty, name) = match found {
            Found::All => (scanned(&ports, false)?, probe(&ports, &policy), name()),
            Found::Only(files) => (files, Dirty::NotProbed, name()),
            Found::Shown(files) => (files, Dirty::NotProbed, None),
        };
        let (pods, ended_pods) = registered_pods(&ports, &pods::running(&ports));
        let reach = Reach::No("the daemon is not running (start it with `yoi up`)".into());
        let start = Start {
            dirty,
            claims: claims_on(&ports, &files, policy.claims.label.as_deref()),
            worktrees: if in_progress(&files) { settings.worktrees.standing() } else { Vec::new() },
            policy,
            reach,
            whom: None,
            session: String::new(),
            files,
            recorded: None,
            recorded_at: None,
            ledger: crate::domain::ledger::SavedLedger::default(),
            adopted: None,
            ended_turns: Vec::new(),
            pods,
            ended_pods,
            editor_name: name.unwrap_or_else(|| "somebody".into()),
        };
        let same = settings.clone();
        let beginning =
            Beginning { settings, reread: Box::new(move || Ok(same.clone())), sessions: Box::new(String::new) };
        let mut host = Self::new(ports, history, beginning, mpsc::channel());
        let now = host.now();
        // What a daemon would do at its start is a daemon's to do.
        drop(host.engine.step(Event::Started(Box::new(start)), now));
        Ok(host)
    }

    fn new(
        ports: Ports,
        history: History,
        beginning: Beginning,
        (mail, inbox): (Sender<Message>, Receiver<Message>),
    ) -> Self {
        let now = (ports.clock)();
        Self {
            engine: Engine::new(now),
            ports,
            settings: beginning.settings,
            reread: beginning.reread,
            sessions: beginning.sessions,
            settings_trouble: None,
            inbox,
            mail,
            waiting: VecDeque::new(),
            resident: false,
            obstruction: None,
            put_off: BTreeSet::new(),
            put_off_stamps: Vec::new(),
            put_off_refresh: None,
            handed_over: None,
            unprinted: None,
            stream: None,
            claims_offset: None,
            tree_looks: LookNumber::default(),
            watched_pods: BTreeSet::new(),
            review_at: None,
            reports: super::kept::Reports::default(),
            registers: Registers::default(),
            stamps_at: None,
            history,
            folder_trouble: None,
            failed_deliveries: 0,
            started: now,
            about: super::About::default(),
            listeners: Vec::new(),
        }
    }
}

/// All files. A folder that git took with its last ticket is an empty one; a daemon makes it, to watch it.
fn scanned(ports: &Ports, make: bool) -> io::Result<Vec<(PathBuf, Entry)>> {
    match ports.tickets.scan() {
        Err(error) if error.kind() == io::ErrorKind::NotFound && ports.worktree.emptied_tickets() => {
            if make {
                ports.tickets.make_folder()?;
            }
            Ok(Vec::new())
        }
        scanned => scanned,
    }
}

/// Nothing but what is in progress, or carries the label of a claim, is shown with its claim.
fn claims_on(ports: &Ports, files: &[(PathBuf, Entry)], label: Option<&str>) -> Vec<ClaimNews> {
    let shows =
        |ticket: &Ticket| ticket.state == Some(State::Inprogress) || label.is_some_and(|label| ticket.has_label(label));
    let any = files.iter().any(|(_, entry)| matches!(entry, Entry::Ticket(ticket) if shows(ticket)));
    any.then(|| read_claims(ports, (ports.clock)())).flatten().unwrap_or_default()
}

/// Of nothing else a worktree is shown.
fn in_progress(files: &[(PathBuf, Entry)]) -> bool {
    files.iter().any(|(_, entry)| matches!(entry, Entry::Ticket(ticket) if ticket.state == Some(State::Inprogress)))
}

fn probe(ports: &Ports, policy: &Policy) -> Dirty {
    if policy.dirty_workspace == DirtyGate::Off { Dirty::NotProbed } else { ports.worktree.dirty() }
}

/// The Pods, registered or found at work by their runs: those whose processes are still alive, and the others.
fn registered_pods(ports: &Ports, running: &[PodRun]) -> (Vec<Pod>, Vec<Pod>) {
    let registered = ports.state.pods().unwrap_or_else(|error| {
        tracing::warn!(%error, "the register of Pods cannot be read; it starts empty");
        Vec::new()
    });
    pods::live(registered, running).into_iter().partition(|pod| ports.processes.is_alive(&pod.process))
}
