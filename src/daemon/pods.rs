//! Pods that yoi starts: a role's program in the worktree of a ticket, under a claim and a supervisor (DESIGN.md 6.3, 6.5).
//!
//! Must not know: how a supervisor does its work; who may start one (`domain::roles` says so).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::thread;

use serde_json::json;

use super::claiming::give_up;
use super::{Host, Message, Ports, RoleCommand, VerbError, Visitor};
use crate::adapters::fault;
use crate::domain::brief::{self, Brief};
use crate::domain::claim::{Tip, Upkeep};
use crate::domain::engine::{Actor, Event, Record, RecordKind};
use crate::domain::facts::{Pod, PodId, PodState, ProcessIdentity};
use crate::domain::ticket::{State, Ticket};
use crate::ports::runs::{End, Found, How, OnSign, Order, PodRun, RunId, Sign, Standing, Whose};
use crate::ports::{Acceptance, Launch};

/// How many letters of chance a Pod's name has.
const CHANCE: usize = 10;

/// Where a role's program is to work.
pub(super) struct Place {
    pub(super) worktree: PathBuf,
    pub(super) branch: Option<String>,
    /// The claim is this machine's alone, beside a remote that says who has one.
    pub(super) alone: bool,
}

impl Host {
    /// Hands a ticket over to a role's program, under a supervisor of its own. From then on the claim is that one's to keep,
    /// whatever becomes of this process. `first` is told what the supervisor shows, too.
    pub(super) fn launch_pod(
        &mut self,
        proof: &Acceptance,
        role: &RoleCommand,
        (tip, place): (&Tip, &Place),
        first: Sender<Sign>,
    ) -> Result<(PodRun, PathBuf), VerbError> {
        let id = proof.ticket();
        let path = self.writable(id)?;
        let ticket = self.known(id, &path)?;
        let run = self.pod_run(tip, place.alone);
        let launch = self.pod_launch(&run, role, &ticket, place);
        let program = launch.command.first().cloned().unwrap_or_default();
        let call = self.on_pod_sign(&run, Some(first));
        self.watched_pods.insert(run.id.clone());
        let order = Order { whose: Whose::Pod(run.clone()), launch };
        self.ports.runs.start(&order, call).map_err(|error| {
            VerbError::Failed(format!("`{program}` ([roles.{}] command) cannot be started: {error}", run.role))
        })?;
        Ok((run, order.launch.log))
    }

    fn pod_run(&self, tip: &Tip, alone: bool) -> PodRun {
        let policy = &self.engine.policy().claims;
        let (step, nonce) = (&tip.step, (self.ports.nonce)());
        let ttl = step.ttl.span().to_std().unwrap_or_default();
        // A claim for a shorter time than is usual here is renewed as much more often.
        let every = policy.heartbeat.to_std().unwrap_or_default().min(ttl / 3);
        PodRun {
            id: PodId(format!("{}{}", PodRun::PREFIX, &nonce[nonce.len().saturating_sub(CHANCE)..])),
            role: step.role.clone(),
            ticket: step.ticket.clone(),
            worker: step.worker.clone(),
            generation: step.generation,
            upkeep: Upkeep { ttl, every },
            remote: policy.remote.clone(),
            alone,
            workspace: self.about.workspace.clone(),
            process: None,
            since: self.now(),
        }
    }

    fn pod_launch(&self, run: &PodRun, role: &RoleCommand, ticket: &Ticket, place: &Place) -> Launch {
        let command = &role.command;
        let mut set = command.set.clone();
        for (name, value) in [
            (PodRun::VARIABLE, run.id.0.clone()),
            ("YOI_ROLE", run.role.clone()),
            ("YOI_TICKET", run.ticket.to_string()),
            ("YOI_WORKER", run.worker.clone()),
            ("YOI_GENERATION", run.generation.to_string()),
        ] {
            set.push((name.into(), value.into()));
        }
        let mut unset = command.unset.clone();
        unset.push("YOI_SESSION".into());
        let brief = Brief {
            ticket,
            worker: &run.worker,
            role: &run.role,
            workspace: &run.workspace,
            branch: place.branch.as_deref(),
        };
        Launch {
            command: command.command.clone(),
            folder: place.worktree.clone(),
            set,
            unset,
            input: brief::markdown(&brief),
            log: self.ports.state.pod_log(&run.id),
            timeout: command.timeout,
            stall: command.stall,
            rate_limit: command.rate_limit.clone(),
        }
    }

    /// Puts what a Pod's supervisor shows into the inbox.
    pub(super) fn on_pod_sign(&self, run: &PodRun, first: Option<Sender<Sign>>) -> OnSign {
        let (mail, run) = (self.mail.clone(), run.clone());
        Box::new(move |sign| {
            let _ = mail.send(Message::Pod(Box::new(run.clone()), sign.clone()));
            if let Some(first) = &first {
                let _ = first.send(sign);
            }
        })
    }

    pub(super) fn pod_shown(&mut self, run: &PodRun, sign: Sign) {
        match sign {
            Sign::Started(process) => self.pod_began(run, process),
            Sign::Hangs(what) => self.say_of_pod(run, &what),
            Sign::Ended(end) => self.pod_over(run, &end),
        }
    }

    /// The same, said by whoever started it: it may have ended meanwhile, and that been taken in.
    pub(super) fn pod_begun(&mut self, run: &PodRun, process: ProcessIdentity) {
        if running(&self.ports).iter().any(|other| other.id == run.id) {
            self.pod_began(run, process);
        }
    }

    /// It is live from now on. Fine where that is known.
    fn pod_began(&mut self, run: &PodRun, process: ProcessIdentity) {
        self.tell(Event::PodReported { pod: pod(run, process), state: PodState::Busy });
    }

    fn say_of_pod(&mut self, run: &PodRun, what: &str) {
        let (at, what) = (self.now(), format!("{} ({}) on `{}`: {what}", run.id, run.role, run.ticket));
        self.record(Record {
            kind: RecordKind::Inbox,
            at,
            ticket: Some(run.ticket.clone()),
            data: json!({"what": what}),
        });
    }

    fn pod_over(&mut self, run: &PodRun, end: &End) {
        fault::point("before", "pod-over");
        self.watched_pods.remove(&run.id);
        self.tell(Event::PodEnded(run.id.clone()));
        self.take_in_end(run, end);
    }

    /// What is to be done about a Pod's end beside the end itself.
    pub(super) fn take_in_end(&mut self, run: &PodRun, end: &End) {
        let words = end.how.words();
        if !matches!(end.how, How::Exited(0) | How::Asked | How::Over(_)) {
            self.say_of_pod(run, &words);
        }
        self.give_back_of(run, words);
    }

    /// Gives the claim back, if the supervisor could not, and forgets the run then: until that is done the next daemon finds it.
    fn give_back_of(&self, run: &PodRun, why: String) {
        let (mail, run) = (self.mail.clone(), run.clone());
        let give_back = move || {
            let mut visitor = Visitor::new(mail);
            let ended = give_up(&mut visitor, &(&run).into(), why, Actor::Daemon);
            match ended {
                Ok(()) | Err(VerbError::Refused(_)) => {
                    fault::point("before", "forget-pod");
                    // The host may have ended: the next one does it.
                    let _ = super::Lending::lend(&mut visitor, move |host| host.forget_run(&RunId::from(&run.id)));
                }
                Err(error) => {
                    tracing::warn!(pod = %run.id, %error, "a Pod's claim could not be given back; the next daemon tries again");
                }
            }
        };
        if let Err(error) = thread::Builder::new().name("yoi pod ends".into()).spawn(give_back) {
            tracing::warn!(%error, "a Pod's claim is not given back before the next daemon begins");
        }
    }

    /// What former daemons left of their Pods: those that go on are watched, the ends of the others taken in.
    pub(super) fn find_pods(&mut self, running: Vec<PodRun>, ended: Vec<(PodRun, End)>) {
        for run in running {
            self.watch_pod(run);
        }
        for (run, end) in ended {
            self.take_in_end(&run, &end);
        }
    }

    /// A command that found no daemon starts a Pod by itself, and one may have begun in that very moment. The claim of such a Pod
    /// moves once its run can be found.
    pub(super) fn find_new_pods(&mut self) {
        for run in running(&self.ports) {
            if !self.watched_pods.contains(&run.id) {
                self.watch_pod(run);
            }
        }
    }

    fn watch_pod(&mut self, run: PodRun) {
        self.ports.runs.watch(&RunId::from(&run.id), self.on_pod_sign(&run, None));
        self.watched_pods.insert(run.id);
    }

    /// A command took the ticket out of `inprogress`: whoever yoi started on it has no more to do.
    pub(super) fn call_off(&mut self, before: &Ticket, after: &Ticket, by: &str) {
        if before.state != Some(State::Inprogress) || after.state == before.state {
            return;
        }
        let pods = self.engine.facts().pods_on(&after.id).filter(|pod| pod.supervised);
        let runs: Vec<_> = pods.map(|pod| RunId::from(&pod.id)).collect();
        let to = after.state.map_or("?", State::as_str);
        for run in runs {
            if let Err(error) = self.ports.runs.call_off(&run, &format!("{by} moved the ticket to {to}")) {
                tracing::warn!(run = %run.0, %error, "a Pod whose ticket was taken from it could not be told");
            }
        }
    }
}

/// A run as the engine knows it.
fn pod(run: &PodRun, process: ProcessIdentity) -> Pod {
    Pod {
        id: run.id.clone(),
        role: run.role.clone(),
        ticket: Some(run.ticket.clone()),
        agent: None,
        process,
        state: PodState::Busy,
        since: run.since,
        supervised: true,
    }
}

/// The runs of Pods that go on.
pub(super) fn running(ports: &Ports) -> Vec<PodRun> {
    let found = ports.runs.found().unwrap_or_else(|error| {
        tracing::warn!(%error, "Pods that yoi started cannot be looked for");
        Vec::new()
    });
    let pod = |run: Found| match run.whose {
        Whose::Pod(pod) if run.standing == Standing::Running => Some(pod),
        _ => None,
    };
    found.into_iter().filter_map(pod).collect()
}

/// The live Pods, by the register and by what was found of runs: what is supervised is live as long as its run goes on; one
/// whose run has been lost, as long as its process is alive.
pub(super) fn live(registered: Vec<Pod>, running: &[PodRun]) -> Vec<Pod> {
    let mut pods: BTreeMap<_, _> = registered.into_iter().map(|pod| (pod.id.clone(), pod)).collect();
    for pod in pods.values_mut() {
        pod.supervised &= running.iter().any(|run| run.id == pod.id);
    }
    for run in running {
        if let Some(process) = run.process.clone() {
            pods.entry(run.id.clone()).or_insert_with(|| pod(run, process));
        }
    }
    pods.into_values().collect()
}
