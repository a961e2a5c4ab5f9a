//! Delivers a kick by running the Orchestrator's command, and ends a turn (DESIGN.md 5.1, `exec`).

use std::collections::VecDeque;
use std::time::Duration;

use super::{Host, Message};
use crate::domain::engine::{Event, Kick, KickId, RunningTurn, TurnOutcome};
use crate::domain::worklist;
use crate::ports::{Launch, Launched};

/// How long a group may take to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(1500);

impl Host {
    pub(super) fn launch(&mut self, kick: &Kick, events: &mut VecDeque<Event>) {
        match self.start_turn(kick) {
            Ok(process) => events.push_back(Event::TurnStarted { kick: kick.id.clone(), process }),
            Err(why) => {
                self.failed_deliveries += 1;
                let _ = self.ports.state.remove_kick(&kick.id);
                let outcome = TurnOutcome::NotDelivered(why);
                events.push_back(Event::TurnEnded { kick: kick.id.clone(), outcome, jitter: jitter() });
            }
        }
    }

    fn start_turn(&mut self, kick: &Kick) -> Result<crate::domain::facts::ProcessIdentity, String> {
        let Some(command) = self.command.clone() else { return Err("no Orchestrator command is configured".into()) };
        let file = self
            .ports
            .state
            .write_kick(&kick.id, &worklist::json(kick).to_string())
            .map_err(|error| format!("the kick file could not be written: {error}"))?;
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
        };
        let (mail, id) = (self.mail.clone(), kick.id.clone());
        let ended = Box::new(move |how: Launched| {
            let _ = mail.send(Message::TurnEnded(id, outcome(&how)));
        });
        let program = command.command.first().cloned().unwrap_or_default();
        let process =
            self.ports.processes.launch(launch, ended).map_err(|error| not_started(&program, &error.to_string()))?;
        self.turn = Some((kick.id.clone(), process.clone()));
        let running = RunningTurn {
            kick: kick.id.clone(),
            session: kick.session.clone(),
            process: process.clone(),
            since: self.now(),
        };
        if let Err(error) = self.ports.state.save_turn(Some(&running)) {
            tracing::warn!(%error, "the running turn could not be kept: a restart would not find it");
        }
        Ok(process)
    }

    pub(super) fn turn_over(&mut self, kick: KickId, outcome: TurnOutcome) {
        if self.turn.as_ref().is_some_and(|(running, _)| *running == kick) {
            self.turn = None;
            self.adopted_until = None;
        }
        let _ = self.ports.state.save_turn(None);
        let _ = self.ports.state.remove_kick(&kick);
        self.tell(Event::TurnEnded { kick, outcome, jitter: jitter() });
    }

    /// Ends an adopted turn that has run for longer than a turn may: the daemon that kept its time is gone. Its end is
    /// seen like any other.
    pub(super) fn end_overdue_turn(&mut self) {
        let now = self.now();
        if self.adopted_until.take_if(|until| *until <= now).is_some()
            && let Some((kick, process)) = &self.turn
        {
            tracing::warn!(kick = %kick.0, "an adopted turn ran longer than [orchestrator] turn_timeout; it is ended");
            self.ports.processes.end_group(process, GRACE);
        }
    }

    /// Ends the running turn's process group: a stopping daemon leaves no Orchestrator behind that nobody owns.
    pub(super) fn end_turn(&mut self) {
        if let Some((kick, process)) = self.turn.take() {
            self.ports.processes.end_group(&process, GRACE);
            let _ = self.ports.state.save_turn(None);
            let _ = self.ports.state.remove_kick(&kick);
        }
    }
}

/// Names the program, unless the error does.
fn not_started(program: &str, error: &str) -> String {
    let name = format!("`{program}`");
    if error.contains(&name) { error.to_owned() } else { format!("{name} cannot be started: {error}") }
}

fn outcome(how: &Launched) -> TurnOutcome {
    match how {
        Launched::Exited(0) => TurnOutcome::Succeeded,
        Launched::Exited(code) => TurnOutcome::Failed(format!("exit code {code}")),
        Launched::Signalled(signal) => TurnOutcome::Failed(format!("ended by signal {signal}")),
        Launched::TimedOut => TurnOutcome::Failed("ran longer than [orchestrator] turn_timeout; ended".into()),
        Launched::Stalled => TurnOutcome::Failed("wrote nothing for [orchestrator] stall_timeout; ended".into()),
    }
}

/// Spreads retries of several workspaces: the time of day's smallest digits are as good as any other draw here.
pub(super) fn jitter() -> u16 {
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
    u16::try_from(nanos % 1000).unwrap_or(0)
}
