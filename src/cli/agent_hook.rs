//! `yoi hook claude-code` and `yoi hook codex`: called by the agent itself, in the middle of its turn. Whatever happens
//! here, the agent goes on: exit code 0, within a bound, and nothing printed but a list.
//!
//! Must not know: what follows from a report.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::context::Context;
use super::hook::Arguments;
use super::output;
use crate::adapters::ancestry::{self, Ancestry};
use crate::adapters::environment::{agent_session, reports_as};
use crate::api::request::{HookRequest, Request};
use crate::api::view::HookView;
use crate::app::App;
use crate::domain::classify::ORCHESTRATOR;
use crate::domain::rate_limit::named_wait;
use crate::domain::ticket::Timestamp;
use crate::text::agent_hook::{self, AgentHook, Moment};

/// How long the agent may be kept waiting.
const BOUND: Duration = Duration::from_millis(4500);
/// How long it may be kept waiting for word that its list is printed.
const CONFIRMING: Duration = Duration::from_secs(1);
/// The longest input that is read: a tool hook carries what the tool was given.
const MOST_BYTES: u64 = 32 << 20;

/// Reports, and prints the list that is the answer, if one is.
pub fn run(directory: Option<PathBuf>, arguments: Arguments) -> ExitCode {
    let (tell, told) = mpsc::channel();
    let (role, pod) = reports_as();
    let said_to_count = role.as_deref() == Some(ORCHESTRATOR) || pod.is_some();
    // A thread that is stuck (an input that never ends, a daemon that does not answer) ends with this process.
    let working = directory.clone();
    thread::spawn(move || {
        let _ = tell.send(report(working, &arguments, role, pod));
    });
    let failed = match told.recv_timeout(BOUND) {
        Ok(Ok(answer)) => answer.and_then(Answer::print),
        Ok(Err(why)) => Some(why),
        Err(RecvTimeoutError::Timeout) => Some(format!("nothing came of it within {} ms", BOUND.as_millis())),
        Err(RecvTimeoutError::Disconnected) => Some("it broke off".into()),
    };
    // Of other people's sessions nothing is kept.
    if let Some(why) = failed.filter(|_| said_to_count)
        && let Ok(context) = Context::new(directory)
        && let Ok(app) = context.open_as_it_is()
    {
        app.note_hook(&why);
    }
    ExitCode::SUCCESS
}

/// What is to be printed, and whom to tell that it is.
struct Answer {
    text: String,
    kick: Option<String>,
    app: App,
}

impl Answer {
    /// Prints it to its end, and says so. Returns why not.
    fn print(self) -> Option<String> {
        match output::offer(&format!("{}\n", self.text)) {
            Ok(true) => {
                confirm(self.app, self.kick);
                None
            }
            Ok(false) => Some("nobody read the list".into()),
            Err(failure) => Some(failure.message),
        }
    }
}

/// Says that a list is printed. The agent waits for this process: not for long.
pub(super) fn confirm(app: App, kick: Option<String>) {
    let Some(kick) = kick else { return };
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let _ = tell.send(app.call_daemon(&Request::Printed { kick }).is_ok());
    });
    let _ = told.recv_timeout(CONFIRMING);
}

/// The name of the kick whose list an answer is.
pub(super) fn kick_of(view: &HookView) -> Option<String> {
    Some(view.kick.as_ref()?["kick"].as_str()?.to_owned())
}

/// What is to be printed.
fn report(
    directory: Option<PathBuf>,
    arguments: &Arguments,
    role: Option<String>,
    pod: Option<String>,
) -> Result<Option<Answer>, String> {
    // Read first, whatever comes of it: an agent that writes into a closed pipe might take that for a failure.
    let hook = agent_hook::read(&input(arguments)?)?;
    let app = Context::new(directory).and_then(|context| context.open()).map_err(|failure| failure.message)?;
    let ancestry = ancestry::of(arguments.pid);
    if let Some(trouble) = ancestry.trouble() {
        return Err(trouble);
    }
    let request = request(&hook, arguments, (role, pod), ancestry, app.now());
    let answer = call(&app, request)?;
    if let Some(why) = &answer.ignored {
        app.note_hook(why);
    }
    let list = answer.list.as_deref().and_then(|list| hook.answer(list));
    Ok(list.map(|value| Answer { text: value.to_string(), kick: kick_of(&answer), app }))
}

pub(super) fn input(arguments: &Arguments) -> Result<Vec<u8>, String> {
    if let Some(input) = arguments.input.as_ref().filter(|input| *input != "-") {
        return Ok(input.clone().into_bytes());
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MOST_BYTES).read_to_end(&mut bytes);
    read.map(|_| bytes).map_err(|error| format!("standard input: {error}"))
}

fn call(app: &App, request: HookRequest) -> Result<HookView, String> {
    let answer = app.call_daemon(&Request::Hook(request)).map_err(|failure| failure.message)?;
    output::view(answer).map_err(|failure| failure.message)
}

fn request(
    hook: &AgentHook,
    arguments: &Arguments,
    (role, pod): (Option<String>, Option<String>),
    ancestry: Ancestry,
    now: Timestamp,
) -> HookRequest {
    let Ancestry { agent, program, pids, is_host: _ } = ancestry;
    let mut request = HookRequest {
        event: event(&hook.moment).into(),
        // The hook's own JSON is about this very session; a variable may have been handed down from another one.
        session: arguments
            .session
            .clone()
            .or_else(|| hook.session.clone())
            .or_else(|| agent_session().map(|(_, id)| id)),
        role: arguments.role.clone().or(role),
        pod,
        agent: Some(arguments.event.clone()),
        pid: arguments.pid.or(agent),
        program,
        ancestors: pids,
        of_agent: true,
        takes_list: hook.takes(),
        confirms: true,
        ..HookRequest::default()
    };
    match &hook.moment {
        Moment::Stopped { continued, background } => {
            (request.first, request.background) = (!continued, *background);
        }
        Moment::Failed { why, rate_limit } => {
            (request.reason, request.rate_limited) = (Some(why.clone()), rate_limit.is_some());
            let wait = rate_limit.as_ref().and_then(|said| named_wait(said, now));
            request.retry_after = wait.map(|wait| wait.as_secs());
        }
        _ => {}
    }
    request
}

fn event(moment: &Moment) -> &'static str {
    match moment {
        Moment::Started { resumed: false } => "orchestrator-spawn",
        Moment::Started { resumed: true } => "orchestrator-restore",
        Moment::Compacted => "compacted",
        Moment::Prompted => "busy",
        Moment::Stopped { .. } => "idle",
        Moment::Failed { .. } => "turn-failed",
        Moment::Interrupted => "interrupted",
        Moment::Active { own: true } => "active",
        Moment::Active { own: false } => "alive",
        Moment::Ended => "gone",
    }
}
