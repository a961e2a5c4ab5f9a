//! The beginning of a host: what it finds, as the engine's first event.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::mpsc::{self, Receiver, Sender};

use super::{About, Command, Host, Message, Ports};
use chrono::TimeDelta;

use crate::domain::engine::{Engine, Event, Reach, RunningTurn, Start};
use crate::domain::facts::{Dirty, Pod};
use crate::domain::policy::{DirtyGate, Policy};
use crate::ports::Entry;

/// What a host is begun with.
pub struct Beginning {
    /// Settings.
    pub policy: Policy,
    /// Whether an Orchestrator can be reached, and if not, why.
    pub reach: Reach,
    /// How it is run.
    pub command: Option<Command>,
    /// The id of the session that begins.
    pub session: String,
}

/// What a command's own host starts from.
pub enum Found {
    /// All files.
    All,
    /// These files only: the command is about nothing else.
    Only(Vec<(std::path::PathBuf, Entry)>),
}

impl Host {
    /// A daemon's host. Scans, finds what the last daemon left, and takes its first decisions. What the watcher reports
    /// into the inbox from before the scan on is looked at afterwards, so that nothing falls between.
    pub fn daemon(
        beginning: Beginning,
        mut ports: Ports,
        (mail, inbox): (Sender<Message>, Receiver<Message>),
        about: About,
    ) -> io::Result<Self> {
        let files = ports.tickets.scan()?;
        let mut trouble = None;
        let (recorded, ledger) = match &ports.store {
            Some(store) => match (store.last_seen(), store.ledger()) {
                (Ok(recorded), Ok(ledger)) => (recorded, ledger),
                (Err(error), _) | (_, Err(error)) => {
                    trouble = Some(error.to_string());
                    (None, crate::domain::ledger::SavedLedger::default())
                }
            },
            None => (None, crate::domain::ledger::SavedLedger::default()),
        };
        let now = (ports.clock)();
        let (pods, ended_pods) = registered_pods(&ports);
        let adopted = running_turn(&ports);
        if let Err(error) = ports.state.forget_kicks(adopted.as_ref().map(|turn| &turn.kick)) {
            tracing::warn!(%error, "kick files of a former daemon could not be removed");
        }
        let timeout = beginning.command.as_ref().and_then(|command| TimeDelta::from_std(command.timeout).ok());
        let adopted_until = adopted.as_ref().zip(timeout).map(|(turn, timeout)| turn.since + timeout);
        let start = Start {
            dirty: probe(&ports, &beginning.policy),
            policy: beginning.policy,
            reach: beginning.reach,
            session: beginning.session,
            files,
            recorded_at: recorded.as_ref().map(|r| r.at),
            recorded: recorded.map(|r| r.seen),
            ledger,
            adopted,
            pods,
            ended_pods,
            editor_name: ports.worktree.user_name().unwrap_or_else(|| "somebody".into()),
        };
        // From here on this workspace has been watched once, whatever tickets it has.
        if let Some(store) = &mut ports.store
            && let Err(error) = store.save_seen(&[], now)
        {
            trouble = Some(error.to_string());
        }
        let mut host = Self::new(ports, beginning.command, true, mail, inbox);
        host.store_trouble = trouble;
        host.about = about;
        host.adopted_until = adopted_until;
        host.tell(Event::Started(Box::new(start)));
        host.find_session();
        Ok(host)
    }

    /// The host of one command, in process: the same engine, no Orchestrator, nothing done on its own.
    pub fn once(policy: Policy, ports: Ports, found: Found) -> io::Result<Self> {
        let files = match found {
            Found::All => ports.tickets.scan()?,
            Found::Only(files) => files,
        };
        let (pods, ended_pods) = registered_pods(&ports);
        let start = Start {
            dirty: probe(&ports, &policy),
            policy,
            reach: Reach::No("the daemon is not running (start it with `yoi up`)".into()),
            session: String::new(),
            files,
            recorded: None,
            recorded_at: None,
            ledger: crate::domain::ledger::SavedLedger::default(),
            adopted: None,
            pods,
            ended_pods,
            editor_name: ports.worktree.user_name().unwrap_or_else(|| "somebody".into()),
        };
        let (mail, inbox) = mpsc::channel();
        let mut host = Self::new(ports, None, false, mail, inbox);
        let now = host.now();
        // What a daemon would do at its start is a daemon's to do.
        drop(host.engine.step(Event::Started(Box::new(start)), now));
        Ok(host)
    }

    fn new(
        ports: Ports,
        command: Option<Command>,
        resident: bool,
        mail: Sender<Message>,
        inbox: Receiver<Message>,
    ) -> Self {
        let now = (ports.clock)();
        Self {
            engine: Engine::new(now),
            ports,
            command,
            inbox,
            mail,
            waiting: VecDeque::new(),
            resident,
            obstruction: None,
            put_off: BTreeSet::new(),
            put_off_stamps: Vec::new(),
            put_off_refresh: None,
            handed_over: None,
            stream: None,
            waker: None,
            turn: None,
            adopted_until: None,
            store_trouble: None,
            failed_deliveries: 0,
            started: now,
            about: super::About::default(),
            listeners: Vec::new(),
        }
    }
}

fn probe(ports: &Ports, policy: &Policy) -> Dirty {
    if policy.dirty_workspace == DirtyGate::Off { Dirty::NotProbed } else { ports.worktree.dirty() }
}

/// The turn of a former daemon, if exactly its process is still alive.
fn running_turn(ports: &Ports) -> Option<RunningTurn> {
    match ports.state.turn() {
        Ok(turn) => turn.filter(|turn| ports.processes.is_alive(&turn.process)),
        Err(error) => {
            tracing::warn!(%error, "the record of a running turn cannot be read; none is adopted");
            None
        }
    }
}

/// The registered Pods: those whose processes are still alive, and the others.
fn registered_pods(ports: &Ports) -> (Vec<Pod>, Vec<Pod>) {
    match ports.state.pods() {
        Ok(pods) => pods.into_iter().partition(|pod| ports.processes.is_alive(&pod.process)),
        Err(error) => {
            tracing::warn!(%error, "the register of Pods cannot be read; it starts empty");
            (Vec::new(), Vec::new())
        }
    }
}
