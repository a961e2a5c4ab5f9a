//! Delivers a kick by running the Orchestrator's command, and takes in the end of a turn (DESIGN.md 5.1, `exec`; 6.5).

use std::collections::VecDeque;
use std::io;

use serde_json::json;

use super::{History, Host, Message, Ports};
use crate::adapters::fault;
use crate::domain::engine::{EndedTurn, Event, Kick, KickId, Record, RecordKind, RunningTurn, TurnOutcome};
use crate::domain::worklist;
use crate::ports::runs::{End, Found, How, OnSign, Order, PodRun, RunId, Sign, Standing, Whose};
use crate::ports::{Launch, Query};

/// How far back it is looked whether a turn's end was taken in before.
const RECENT: usize = 200;

impl Host {
    pub(super) fn launch(&mut self, kick: &Kick, events: &mut VecDeque<Event>) {
        if let Err(outcome) = self.start_turn(kick) {
            self.failed_deliveries += 1;
            let _ = self.ports.state.remove_kick(&kick.id);
            events.push_back(Event::TurnEnded { kick: kick.id.clone(), outcome, jitter: jitter() });
        }
    }

    /// Hands the kick over to a supervisor. From then on it is the turn's, whatever becomes of this daemon.
    fn start_turn(&mut self, kick: &Kick) -> Result<(), TurnOutcome> {
        let Some(command) = self.settings.command.clone() else {
            return Err(TurnOutcome::NotDelivered("no Orchestrator command is configured".into()));
        };
        let file = self
            .ports
            .state
            .write_kick(&kick.id, &worklist::json(kick).to_string())
            .map_err(|error| not_delivered("the kick file could not be written", &error))?;
        let mut set = command.set.clone();
        set.push(("YOI_SESSION".into(), kick.session.clone().into()));
        set.push(("YOI_ROLE".into(), "orchestrator".into()));
        set.push(("YOI_KICK_FILE".into(), file.into()));
        let launch = Launch {
            command: command.command.clone(),
            folder: command.folder.clone(),
            set,
            unset: command.unset.clone(),
            input: worklist::markdown(kick),
            log: self.ports.state.kick_log(&kick.id),
            timeout: command.timeout,
            stall: command.stall,
            rate_limit: command.rate_limit,
        };
        let turn =
            RunningTurn { kick: kick.id.clone(), session: kick.session.clone(), process: None, since: self.now() };
        let call = self.on_sign(&kick.id);
        let program = command.command.first().cloned().unwrap_or_default();
        self.ports
            .runs
            .start(&Order { whose: Whose::Turn(turn), launch }, call)
            .map_err(|error| not_delivered(&format!("`{program}` cannot be started"), &error))
    }

    /// Puts what a turn's supervisor shows into the inbox.
    pub(super) fn on_sign(&self, kick: &KickId) -> OnSign {
        let (mail, kick) = (self.mail.clone(), kick.clone());
        Box::new(move |sign| drop(mail.send(Message::Turn(kick.clone(), sign))))
    }

    pub(super) fn turn_shown(&mut self, kick: KickId, sign: Sign) {
        match sign {
            Sign::Started(process) => self.tell(Event::TurnStarted { kick, process }),
            Sign::Hangs(what) => self.say_of_turn(&kick, &what),
            Sign::Ended(end) => self.turn_over(&kick, &end),
        }
    }

    /// Puts something about a turn into the inbox.
    fn say_of_turn(&mut self, kick: &KickId, what: &str) {
        let (at, what) = (self.now(), format!("the turn of kick {}: {what}", kick.0));
        self.record(Record { kind: RecordKind::Inbox, at, ticket: None, data: json!({"what": what}) });
    }

    /// Said once: it is forgotten here, and left alone where it runs.
    pub(super) fn say_foreign(&mut self, kick: &KickId) {
        self.say_of_turn(kick, "it belongs to the workspace that this one was copied from; it is left alone");
    }

    fn turn_over(&mut self, kick: &KickId, end: &End) {
        fault::point("before", "turn-over");
        let outcome = outcome(end);
        self.failed_deliveries += u64::from(matches!(outcome, TurnOutcome::NotDelivered(_)));
        let _ = self.ports.state.remove_kick(kick);
        fault::point("before", "judged");
        self.tell(Event::TurnEnded { kick: kick.clone(), outcome, jitter: jitter() });
        fault::point("before", "forget");
        self.forget_run(&kick.into());
    }

    /// Last of all: as long as a run is not forgotten, the next daemon takes its end in.
    pub(super) fn forget_run(&self, run: &RunId) {
        if let Err(error) = self.ports.runs.forget(run) {
            tracing::warn!(run = %run.0, %error, "the files of an ended run could not be removed");
        }
    }
}

/// A full disk passes by itself.
fn not_delivered(what: &str, error: &io::Error) -> TurnOutcome {
    let why = format!("{what}: {error}");
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => TurnOutcome::NoRoom(why),
        _ => TurnOutcome::NotDelivered(why),
    }
}

/// What former daemons left of their runs.
#[derive(Default)]
pub(super) struct FormerRuns {
    /// The one that goes on.
    pub(super) running: Option<RunningTurn>,
    /// Those that ended, and whose end nobody has taken in.
    pub(super) ended: Vec<EndedTurn>,
    /// Those that are over and done with.
    pub(super) over: Vec<RunId>,
    /// Turns among them that are another workspace's.
    pub(super) foreign: Vec<KickId>,
    /// Pods that go on.
    pub(super) pods: Vec<PodRun>,
    /// Those that ended, and whose claims may not have been given back.
    pub(super) ended_pods: Vec<(PodRun, End)>,
}

impl FormerRuns {
    pub(super) fn find(ports: &Ports, history: &History) -> Self {
        ports.runs.tidy();
        let found = ports.runs.found().unwrap_or_else(|error| {
            tracing::error!(%error, "runs of a former daemon cannot be looked for; none is adopted");
            Vec::new()
        });
        let mut former = Self::default();
        for Found { whose, standing } in found {
            let id = whose.id();
            match (whose, standing) {
                // There is one turn at a time, so there is one at most. Were there two, the newer is the session's.
                (Whose::Turn(turn), Standing::Running) => former.running = Some(turn),
                (Whose::Pod(pod), Standing::Running) => former.pods.push(pod),
                (Whose::Pod(pod), Standing::Ended(end)) => former.ended_pods.push((pod, end)),
                (_, Standing::NeverBegan) | (Whose::Pod(_), Standing::Foreign) => former.over.push(id),
                (Whose::Turn(turn), Standing::Foreign) => {
                    former.over.push(id);
                    former.foreign.push(turn.kick);
                }
                (Whose::Turn(turn), Standing::Ended(end)) => {
                    former.over.push(id);
                    if !is_recorded(history, &turn.kick) {
                        let outcome = outcome(&end);
                        let RunningTurn { kick, since, .. } = turn;
                        former.ended.push(EndedTurn { kick, since, at: end.at, outcome, jitter: jitter() });
                    }
                }
            }
        }
        former
    }
}

/// Whether the history has the turn's end already: the daemon that wrote it was killed before it forgot the run.
fn is_recorded(history: &History, kick: &KickId) -> bool {
    let query = Query { newest: Some(RECENT), ..Query::default() };
    let records = history.records(&query).unwrap_or_default();
    records.iter().any(|stored| {
        stored.record.kind == RecordKind::TurnEnded && stored.record.data.get("kick") == Some(&kick.0.clone().into())
    })
}

fn outcome(end: &End) -> TurnOutcome {
    let how = match &end.how {
        How::Exited(0) => Some("rate limited".to_owned()),
        How::Exited(code) => Some(format!("exit code {code} (rate limited)")),
        How::Signalled(signal) => Some(format!("ended by signal {signal} (rate limited)")),
        _ => None,
    };
    // Whoever ran into a limit did not come to look at what was handed over: it is offered again.
    if let (Some(limit), Some(why)) = (end.rate_limited, how) {
        return TurnOutcome::Limited { why, limit };
    }
    match &end.how {
        How::Exited(0) => TurnOutcome::Succeeded,
        How::Exited(code) => TurnOutcome::Failed(format!("exit code {code}")),
        How::Signalled(signal) => TurnOutcome::Failed(format!("ended by signal {signal}")),
        How::TimedOut => TurnOutcome::Failed("ran longer than [orchestrator] turn_timeout; ended".into()),
        How::Stalled => TurnOutcome::Failed("wrote nothing for [orchestrator] stall_timeout; ended".into()),
        // Whoever asked for it knows; it says nothing of the Orchestrator.
        How::Asked => TurnOutcome::Unknown,
        // A turn works under no claim.
        How::ClaimLost(why) | How::Over(why) => TurnOutcome::Failed(why.clone()),
        How::NotStarted(why) => TurnOutcome::NotDelivered(why.clone()),
        How::SupervisorLost => TurnOutcome::Failed("its supervisor was killed, and it with it".into()),
    }
}

/// Spreads retries of several workspaces: the time of day's smallest digits are as good as any other draw here.
pub(super) fn jitter() -> u16 {
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
    u16::try_from(nanos % 1000).unwrap_or(0)
}
