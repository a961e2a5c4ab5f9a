//! A workspace whose Orchestrator registers itself, agents that call their hooks, and recorded conversations.

use std::cell::RefCell;
use std::io::Write;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::support::Answer;
use crate::support::stage::Stage;

/// What every conversation begins with.
pub const ORCHESTRATED: &str = "[dispatch]\nmode = \"orchestrated\"\n";

/// A stage without a command.
pub fn stage(settings: &str) -> Stage {
    let stage = Stage::new();
    stage.bench.write("work/.yoi/config.toml", &format!("{ORCHESTRATED}{settings}"));
    stage
}

/// An agent: a process that does nothing, whose hooks the test calls.
pub struct Agent<'a> {
    stage: &'a Stage,
    process: RefCell<Child>,
    session: RefCell<String>,
    /// Whose hooks it calls.
    name: &'static str,
    /// `YOI_ROLE`.
    role: Option<&'static str>,
}

impl<'a> Agent<'a> {
    /// One that was started as the Orchestrator.
    pub fn new(stage: &'a Stage, session: &str) -> Self {
        Self::of("claude-code", stage, session)
    }

    /// Another program that was.
    pub fn of(name: &'static str, stage: &'a Stage, session: &str) -> Self {
        Self::with(name, stage, session, Some("orchestrator"))
    }

    /// One that nobody said is the Orchestrator.
    pub fn stranger(stage: &'a Stage, session: &str) -> Self {
        Self::with("claude-code", stage, session, None)
    }

    fn with(name: &'static str, stage: &'a Stage, session: &str, role: Option<&'static str>) -> Self {
        let process = stage.bench.program("sleep", "work").arg("600").spawn().unwrap();
        Self { stage, process: RefCell::new(process), session: RefCell::new(session.into()), name, role }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.process.borrow().id()
    }

    /// It goes on under another id.
    pub fn rename(&self, session: &str) {
        session.clone_into(&mut self.session.borrow_mut());
    }

    /// It ends.
    pub fn end(&self) {
        let mut process = self.process.borrow_mut();
        let _ = process.kill();
        let _ = process.wait();
    }

    /// Calls its hook with this input, as it is.
    pub fn raw(&self, agent: &str, input: &[u8]) -> Answer {
        let mut command = self.stage.bench.command("work");
        command.args(["hook", agent, "--pid", &self.pid().to_string()]);
        if let Some(role) = self.role {
            command.env("YOI_ROLE", role);
        }
        hand_in(command, input)
    }

    /// Calls its hook with the fields that all have and these.
    pub fn hook(&self, fields: &Value) -> Answer {
        let mut input = json!({"cwd": self.stage.bench.path("work")});
        if fields.get("hook_event_name").is_some() {
            input["session_id"] = json!(*self.session.borrow());
            input["transcript_path"] = json!("/home/a/t.jsonl");
        }
        for (key, value) in fields.as_object().unwrap() {
            input[key] = value.clone();
        }
        let answer = self.raw(self.name, input.to_string().as_bytes());
        assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "a hook never breaks a turn: {fields} {answer}");
        answer
    }

    /// What it is told: `context IDS`, `block IDS`, `notes`, or nothing.
    pub fn says(&self, fields: &Value) -> String {
        told(&self.hook(fields).stdout)
    }

    /// A session begins.
    pub fn start(&self, source: &str) -> String {
        self.says(&json!({"hook_event_name": "SessionStart", "source": source}))
    }

    /// Somebody gives it a prompt.
    pub fn prompt(&self) -> String {
        self.says(&json!({"hook_event_name": "UserPromptSubmit", "prompt": "go on"}))
    }

    /// Its turn ends.
    pub fn stop(&self) -> String {
        self.says(&json!({"hook_event_name": "Stop", "stop_hook_active": false}))
    }

    /// The stop after one that was answered.
    pub fn stop_again(&self) -> String {
        self.says(&json!({"hook_event_name": "Stop", "stop_hook_active": true}))
    }

    /// One of its own commands, in its session.
    pub fn yoi(&self, line: &str) -> Answer {
        let mut command = self.stage.bench.command("work");
        command.args(line.split_whitespace()).env("CLAUDE_CODE_SESSION_ID", &*self.session.borrow());
        hand_in(command, b"")
    }
}

impl Drop for Agent<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// Runs a command with this on its standard input.
pub fn hand_in(mut command: std::process::Command, input: &[u8]) -> Answer {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Whoever does not read it all is no failure of the test's.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Answer { code: output.status.code().unwrap(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// An answer in short.
pub fn told(stdout: &str) -> String {
    if stdout.is_empty() {
        return String::new();
    }
    let answer: Value = serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"));
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str();
    let (how, list) = match (context, &answer["decision"]) {
        (Some(list), Value::Null) => ("context", list),
        (None, decision) if decision == "block" => ("block", answer["reason"].as_str().unwrap()),
        _ => panic!("an answer that no agent reads: {stdout}"),
    };
    if list.starts_with("# yoi work set") {
        return "notes".into();
    }
    assert!(list.starts_with("# yoi work list\n"), "{list}");
    let items = list.lines().filter_map(|line| line.split_once(". `")).filter_map(|(_, rest)| rest.split_once('`'));
    let ids: Vec<_> = items.map(|(id, _)| id).collect();
    format!("{how} {}", ids.join(" "))
}

/// Plays a recorded conversation: each line of the recording is a hook's fields and the expected answer, a command of
/// the Orchestrator's session or of somebody's, or a session's new id.
pub fn replay(stage: &Stage, agent: &Agent<'_>, recording: &str) {
    for (number, line) in recording.lines().enumerate() {
        let step: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("line {}: {error}", number + 1));
        let place = format!("line {}: {line}\n{}", number + 1, stage.yoi("events"));
        if let Some(given) = step.get("given") {
            assert_eq!(agent.says(given), step["answer"].as_str().unwrap_or_default(), "{place}");
        } else if let Some(line) = step["agent"].as_str() {
            assert_eq!(agent.yoi(line).code, 0, "{place}");
        } else if let Some(line) = step["somebody"].as_str() {
            assert_eq!(stage.yoi(line).code, 0, "{place}");
        } else if let Some(session) = step["session"].as_str() {
            agent.rename(session);
        } else {
            panic!("no step: {place}");
        }
    }
}
