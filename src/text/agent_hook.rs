//! The JSON that an agent's own hooks give and take: Claude Code's, which Codex's hooks share, and Codex's `notify`.
//! docs/orchestrating.md names the documented fields that are relied on; every other one is passed over.
//!
//! Must not know: who the session is to yoi, what follows from what it says.

#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde_json::{Value, json};

/// The longest session id.
const LONGEST_ID: usize = 128;

/// One call of an agent's hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentHook {
    /// The agent's own session id.
    pub session: Option<String>,
    /// What it says.
    pub moment: Moment,
}

/// What a hook says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A session begins; `resumed` with the memory of a former one.
    Started {
        /// Under the id of a former one.
        resumed: bool,
    },
    /// The session's memory was compacted.
    Compacted,
    /// A prompt was given.
    Prompted,
    /// A turn has ended.
    Stopped {
        /// The agent was made to go on since the last prompt: it must not be again.
        continued: bool,
        /// Tasks of its own go on in the background.
        background: bool,
    },
    /// A turn has failed.
    Failed {
        /// In words.
        why: String,
        /// By a rate limit; what is said about it, perhaps how long it holds.
        rate_limit: Option<String>,
    },
    /// A turn was interrupted, or the agent waits for a word.
    Interrupted,
    /// A sign of life: of the session itself, or of a sub-agent or something beside its turn.
    Active {
        /// Of the session itself, in a turn.
        own: bool,
    },
    /// The session ends.
    Ended,
}

/// The fields that matter, of whatever type they are.
#[derive(Deserialize)]
struct Input {
    hook_event_name: Option<String>,
    session_id: Option<String>,
    agent_id: Option<Value>,
    source: Option<Value>,
    reason: Option<Value>,
    stop_hook_active: Option<Value>,
    background_tasks: Option<Value>,
    error: Option<Value>,
    error_type: Option<Value>,
    error_details: Option<Value>,
    retry_after: Option<Value>,
    resets_at: Option<Value>,
    last_assistant_message: Option<Value>,
    is_interrupt: Option<Value>,
    notification_type: Option<Value>,
    #[serde(rename = "type")]
    kind: Option<Value>,
    #[serde(rename = "thread-id")]
    thread_id: Option<String>,
}

/// Reads what an agent gave; why not, where it is nothing of the kind.
pub fn read(bytes: &[u8]) -> Result<AgentHook, String> {
    let input: Input = serde_json::from_slice(bytes).map_err(|error| format!("no hook JSON: {error}"))?;
    let session = input.session_id.clone().or(input.thread_id.clone());
    if session.as_deref().is_some_and(|id| !is_id(id)) {
        return Err("no hook JSON: a session id of letters, digits, `-`, `_`, `.` and `:` is needed".into());
    }
    let moment = match (&input.hook_event_name, text(input.kind.as_ref())) {
        (Some(name), _) => moment(name, &input),
        // Nobody reads an answer to it, and it comes from threads that the session never shows, too (the one that finds a
        // title). The hooks say when a turn ends.
        (None, "agent-turn-complete") => Moment::Active { own: false },
        (None, _) => return Err("no hook JSON: it has no `hook_event_name`".into()),
    };
    Ok(AgentHook { session, moment })
}

/// What an agent whose hooks are none of these says of itself, beside the event's name (`yoi hook idle -`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// Its session.
    pub session: Option<String>,
    /// It was made to go on since the last prompt.
    pub continued: bool,
    /// Tasks of its own go on in the background.
    pub background: bool,
    /// Why the turn failed.
    pub reason: Option<String>,
    /// In seconds.
    pub retry_after: Option<u64>,
    /// A sub-agent's, and not the session's.
    pub beside: bool,
}

/// Reads them, by the names that they have in the agents' own hooks; every other field is passed over.
pub fn fields(bytes: &[u8]) -> Result<Fields, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("no hook JSON: {error}"))?;
    let object = value.as_object().ok_or("no hook JSON: it is no object")?;
    let session = ["session_id", "thread-id", "session"].into_iter().find_map(|name| object.get(name)?.as_str());
    if session.is_some_and(|id| !is_id(id)) {
        return Err("no hook JSON: a session id of letters, digits, `-`, `_`, `.` and `:` is needed".into());
    }
    Ok(Fields {
        session: session.map(str::to_owned),
        continued: is_true(object.get("stop_hook_active")),
        background: goes_on(object.get("background_tasks")),
        reason: ["reason", "error"].into_iter().find_map(|name| object.get(name)?.as_str()).map(str::to_owned),
        retry_after: object.get("retry_after").and_then(Value::as_u64),
        beside: object.get("agent_id").is_some_and(|id| !id.is_null()),
    })
}

/// Whether a text can be a session's id: it is shown, compared, and part of a kick's name.
pub fn is_id(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    !text.is_empty() && text.len() <= LONGEST_ID && text.chars().all(plain)
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

fn is_true(value: Option<&Value>) -> bool {
    value.and_then(Value::as_bool).unwrap_or_default()
}

fn moment(name: &str, input: &Input) -> Moment {
    // Whatever a sub-agent does, it is not the session.
    if input.agent_id.as_ref().is_some_and(|id| !id.is_null()) {
        return Moment::Active { own: false };
    }
    match name {
        "SessionStart" => match text(input.source.as_ref()) {
            "startup" | "clear" | "fork" | "" => Moment::Started { resumed: false },
            "resume" => Moment::Started { resumed: true },
            "compact" => Moment::Compacted,
            _ => Moment::Active { own: false },
        },
        "UserPromptSubmit" => Moment::Prompted,
        "Stop" => Moment::Stopped {
            continued: is_true(input.stop_hook_active.as_ref()),
            background: goes_on(input.background_tasks.as_ref()),
        },
        "StopFailure" => failure(input),
        "Interrupt" => Moment::Interrupted,
        "PostToolUseFailure" if is_true(input.is_interrupt.as_ref()) => Moment::Interrupted,
        "Notification" if text(input.notification_type.as_ref()) == "idle_prompt" => Moment::Interrupted,
        "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PostToolBatch" => Moment::Active { own: true },
        // The same agent goes on with another conversation, which says so itself.
        "SessionEnd" if matches!(text(input.reason.as_ref()), "clear" | "resume") => Moment::Active { own: false },
        "SessionEnd" => Moment::Ended,
        // What a later version of the agent says is at least a sign of life.
        _ => Moment::Active { own: false },
    }
}

fn failure(input: &Input) -> Moment {
    let kinds = [text(input.error.as_ref()), text(input.error_type.as_ref())];
    if kinds.contains(&"interrupted") || is_true(input.is_interrupt.as_ref()) {
        return Moment::Interrupted;
    }
    // A kind is one word; whatever else somebody writes there is not told on.
    let word = |kind: &&str| is_id(kind);
    let kind = kinds.into_iter().find(word).unwrap_or("unknown");
    let rate_limit = kinds.contains(&"rate_limit").then(|| {
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        // Claude Code puts the API's words where the agent's own would be.
        let said = [
            ("", &input.last_assistant_message),
            ("", &input.error_details),
            ("retry-after: ", &input.retry_after),
            ("resets_at: ", &input.resets_at),
        ];
        let lines = said.iter().filter_map(|(name, value)| Some(format!("{name}{}", plain(value.as_ref()?))));
        lines.collect::<Vec<_>>().join("\n")
    });
    Moment::Failed { why: format!("the agent reports `{kind}`"), rate_limit }
}

/// Whether one of the listed tasks still runs.
fn goes_on(tasks: Option<&Value>) -> bool {
    let ended = |task: &Value| {
        matches!(text(task.get("status")), "completed" | "failed" | "killed" | "stopped" | "cancelled" | "canceled")
    };
    tasks.and_then(Value::as_array).is_some_and(|tasks| tasks.iter().any(|task| !ended(task)))
}

impl AgentHook {
    /// Whether the agent reads a list as the answer to this call.
    pub fn takes(&self) -> bool {
        match self.moment {
            Moment::Started { .. } | Moment::Prompted => true,
            Moment::Stopped { continued, .. } => !continued,
            _ => false,
        }
    }

    /// The answer that hands this text over, as the agent reads it.
    pub fn answer(&self, list: &str) -> Option<Value> {
        let context = |name: &str| json!({"hookSpecificOutput": {"hookEventName": name, "additionalContext": list}});
        match self.moment {
            Moment::Started { .. } | Moment::Compacted => Some(context("SessionStart")),
            Moment::Prompted => Some(context("UserPromptSubmit")),
            Moment::Stopped { .. } if self.takes() => Some(json!({"decision": "block", "reason": list})),
            _ => None,
        }
    }
}
